// A record as a JSON object on a line of its own: what `consume -J` prints, and what `produce -i json` takes.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/log/chunk_encoder.h"

namespace tk {

/// Prints records of one partition: {"topic","partition","offset","ts","tstype","key","value","headers"}.
class RecordJson {
 public:
  RecordJson(const std::string& topic, PartitionId partition);
  /// Appends the object and a line feed.
  void append(Buffer& out, const RecordView& record) const;

 private:
  std::string start_;  // {"topic":"t","partition":0,"offset":
};

/// Reads such an object as a record to append; members that say where it came from are passed over. Strings
/// go into the last text store of the chunk.
class JsonRecordReader {
 public:
  JsonRecordReader(std::string_view line, ParsedChunk& out)
      : reader_(line), store_(*out.texts.back()), out_(out) {}

  bool read(InputRecord& record, InputExtra& extra) {
    std::string_view name;
    reader_.enter_object();
    while (wrong_ == nullptr && reader_.next_member(name)) member(name, record, extra);
    if (wrong_ != nullptr) return false;
    return reader_.finish();
  }
  [[nodiscard]] std::string fault() const {
    const char* what = wrong_ != nullptr ? wrong_ : reader_.error();
    return fmt::format("it is no record in JSON: {} at byte {} of it", what, reader_.position());
  }

 private:
  void member(std::string_view name, InputRecord& record, InputExtra& extra) {
    if (name == "key" || name == "key_b64") {
      nullable(name.size() > 3, record.key, record.key_size);
    } else if (name == "value" && reader_.peek() != JsonType::string && reader_.peek() != JsonType::null) {
      const std::string_view raw = reader_.skip();
      record.value = raw.data();
      record.value_size = static_cast<std::int32_t>(raw.size());
      extra.value_is_json = true;
    } else if (name == "value" || name == "value_b64") {
      nullable(name.size() > 5, record.value, record.value_size);
    } else if (name == "ts") {
      if (reader_.null()) return;
      const std::int64_t timestamp = reader_.integer();
      if (timestamp < kNoTimestamp) wrong_ = "a timestamp is not negative (-1: none)";
      extra.timestamp = timestamp;
    } else if (name == "partition") {
      if (reader_.null()) return;
      const std::int64_t partition = reader_.integer();
      if (partition < 0 || partition > INT32_MAX) wrong_ = "a partition is a number from 0 on";
      record.partition = static_cast<std::int32_t>(partition);
    } else if (name == "headers") {
      headers(extra);
    } else {
      reader_.skip();  // topic, offset, tstype, and what a later version may add
    }
  }

  std::optional<std::string_view> text(bool base64) {
    if (reader_.null()) return std::nullopt;
    const std::size_t held = store_.size();
    const std::string_view decoded = reader_.string(store_);
    if (!base64) return decoded;
    auto bytes = decode_base64(decoded);
    if (!bytes) {
      wrong_ = "malformed base64";
      return std::nullopt;
    }
    store_.resize(held);
    store_.append(*bytes);
    return std::string_view(store_).substr(held);
  }

  void nullable(bool base64, const char*& data, std::int32_t& size) {
    const auto bytes = text(base64);
    data = bytes ? bytes->data() : nullptr;
    size = bytes ? static_cast<std::int32_t>(bytes->size()) : -1;
  }

  void headers(InputExtra& extra) {
    if (reader_.null()) return;
    extra.first_header = static_cast<std::uint32_t>(out_.headers.size());
    reader_.enter_array();
    while (reader_.next_element()) {
      HeaderView header;
      reader_.enter_array();
      if (!reader_.next_element()) {
        wrong_ = "a header is [name, value]";
        return;
      }
      header.name = text_or_b64().value_or("");
      if (reader_.next_element()) header.value = text_or_b64();
      if (reader_.next_element()) wrong_ = "a header is [name, value]";
      out_.headers.push_back(header);
      ++extra.header_count;
      if (wrong_ != nullptr) return;
    }
  }

  std::optional<std::string_view> text_or_b64() {
    if (reader_.peek() != JsonType::object) return text(false);
    std::optional<std::string_view> bytes;
    std::string_view name;
    reader_.enter_object();
    while (reader_.next_member(name)) {
      if (name == "b64") {
        bytes = text(true);
      } else {
        reader_.skip();
      }
    }
    return bytes;
  }

  JsonReader reader_;
  std::string& store_;
  ParsedChunk& out_;
  const char* wrong_ = nullptr;
};

}  // namespace tk
