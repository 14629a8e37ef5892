// Reads the lines of a dump, as dump_json.h writes them, whatever a script between has made of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_reader.h"
#include "core/format/codec.h"
#include "core/format/json_record.h"
#include "core/format/record.h"

namespace tk {

/// A "batch" object. What is not there, or null, has no value.
struct DumpBatch {
  std::optional<std::int64_t> base_offset, last_offset, last_offset_delta, count;
  std::optional<std::int64_t> leader_epoch, producer_id, producer_epoch, base_sequence;
  std::optional<std::int64_t> base_timestamp, max_ts, attributes;
  std::optional<Codec> codec;
  std::optional<TimestampType> timestamp_type;
  std::optional<bool> transactional, control, valid;
  /// It is part of a KRaft snapshot, whose offsets are none of a log's.
  bool of_snapshot = false;
  /// A json record has a null magic; one that was left out is a mistake.
  bool has_magic = false;
  std::optional<std::int64_t> magic;
  /// Whether the member is there: null then says that the batch has no horizon.
  bool has_delete_horizon = false;
  std::optional<std::int64_t> delete_horizon_ms;
};

/// A "record" object; points into the line or the reader's memory.
struct DumpRecord {
  std::optional<std::int64_t> offset, ts, create_ts;
  std::optional<std::string_view> key, value;
  /// The value is neither a string nor null, but JSON text.
  bool value_is_json = false;
  std::vector<HeaderView> headers;
  /// The end of a transaction in the json format.
  JsonControl control = JsonControl::none;
};

/// Takes lines apart one at a time; what it gives is valid until the next. For one thread.
class DumpReader {
 public:
  enum class Kind : std::uint8_t {
    batch,
    record,
    damage,
    other,   // index entries and the like
    faulty,  // fault() says why
  };

  /// `line` must stay as it is until the next call.
  Kind read(std::string_view line);
  [[nodiscard]] const DumpBatch& batch() const { return batch_; }
  [[nodiscard]] const DumpRecord& record() const { return record_; }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  Kind kind_of(std::string_view line);
  void read_batch(JsonReader& reader);
  void read_record(JsonReader& reader);
  void read_record_member(JsonReader& reader, std::string_view name);
  void read_value(JsonReader& reader);
  void read_headers(JsonReader& reader);
  void read_control(JsonReader& reader);
  std::optional<std::string_view> text(JsonReader& reader);
  std::optional<std::string_view> base64(JsonReader& reader);
  std::optional<std::string_view> text_or_base64(JsonReader& reader);
  /// One of two members that mean the same.
  void set_once(bool& is_set, std::optional<std::string_view>& to,
                const std::optional<std::string_view>& bytes, const char* twice);
  void refuse(std::string why);

  DumpBatch batch_;
  DumpRecord record_;
  bool key_set_ = false;
  bool value_set_ = false;
  std::string texts_;  // decoded strings; never outgrows its line, so nothing in it moves
  std::string fault_;
};

}  // namespace tk
