#include "commands/dump_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace tk {
namespace {

struct NumberMember {
  std::string_view name;
  std::optional<std::int64_t> DumpBatch::*to;
};
constexpr std::array kBatchNumbers = {
    NumberMember{"base_offset", &DumpBatch::base_offset},
    NumberMember{"last_offset", &DumpBatch::last_offset},
    NumberMember{"last_offset_delta", &DumpBatch::last_offset_delta},
    NumberMember{"count", &DumpBatch::count},
    NumberMember{"leader_epoch", &DumpBatch::leader_epoch},
    NumberMember{"producer_id", &DumpBatch::producer_id},
    NumberMember{"producer_epoch", &DumpBatch::producer_epoch},
    NumberMember{"base_sequence", &DumpBatch::base_sequence},
    NumberMember{"base_timestamp", &DumpBatch::base_timestamp},
    NumberMember{"max_ts", &DumpBatch::max_ts},
    NumberMember{"attributes", &DumpBatch::attributes},
    NumberMember{"magic", &DumpBatch::magic},
    NumberMember{"delete_horizon_ms", &DumpBatch::delete_horizon_ms},
};

struct FlagMember {
  std::string_view name;
  std::optional<bool> DumpBatch::*to;
};
constexpr std::array kBatchFlags = {
    FlagMember{"transactional", &DumpBatch::transactional},
    FlagMember{"control", &DumpBatch::control},
    FlagMember{"valid", &DumpBatch::valid},
};

std::optional<std::int64_t> number(JsonReader& reader) {
  if (reader.null()) return std::nullopt;
  return reader.integer();
}

}  // namespace

void DumpReader::refuse(std::string why) {
  if (fault_.empty()) fault_ = std::move(why);
}

DumpReader::Kind DumpReader::read(std::string_view line) {
  fault_.clear();
  texts_.clear();
  // Decoded text never takes more than the line it comes from.
  texts_.reserve(line.size() + 16);
  const Kind kind = kind_of(line);
  if (kind != Kind::batch && kind != Kind::record) return kind;
  JsonReader reader(line);
  if (kind == Kind::batch) {
    read_batch(reader);
  } else {
    read_record(reader);
  }
  if (!reader.ok())
    fault_ = fmt::format("not a {} object: {} at byte {} of it", kind == Kind::batch ? "batch" : "record",
                         reader.error(), reader.position());
  return fault_.empty() ? kind : Kind::faulty;
}

// The type may stand anywhere (`jq -S` sorts members), and what the others mean depends on it.
DumpReader::Kind DumpReader::kind_of(std::string_view line) {
  JsonReader reader(line);
  std::string_view name;
  std::optional<std::string> type;
  reader.enter_object();
  while (reader.next_member(name)) {
    if (name == "type" && reader.peek() == JsonType::string) {
      std::string scratch;
      type = reader.string(scratch);
    } else {
      reader.skip();
    }
  }
  if (!reader.finish()) {
    refuse(fmt::format("not a JSON object: {} at byte {} of it", reader.error(), reader.position()));
    return Kind::faulty;
  }
  if (!type) {
    refuse("an object without a \"type\"");
    return Kind::faulty;
  }
  if (*type == "record") return Kind::record;
  if (*type == "batch") return Kind::batch;
  return *type == "damage" ? Kind::damage : Kind::other;
}

void DumpReader::read_batch(JsonReader& reader) {
  batch_ = {};
  std::string_view name;
  reader.enter_object();
  while (reader.next_member(name)) {
    const auto numbered = std::find_if(kBatchNumbers.begin(), kBatchNumbers.end(),
                                       [&](const NumberMember& member) { return member.name == name; });
    const auto flag = std::find_if(kBatchFlags.begin(), kBatchFlags.end(),
                                   [&](const FlagMember& member) { return member.name == name; });
    if (name == "magic") batch_.has_magic = true;
    if (name == "delete_horizon_ms") batch_.has_delete_horizon = true;
    if (numbered != kBatchNumbers.end()) {
      batch_.*numbered->to = number(reader);
    } else if (flag != kBatchFlags.end()) {
      if (!reader.null()) batch_.*flag->to = reader.boolean();
    } else if (name == "codec") {
      if (const auto codec = text(reader)) {
        batch_.codec = parse_codec(*codec);
        if (!batch_.codec) refuse(fmt::format("unknown codec '{}'", printable(*codec)));
      }
    } else if (name == "file") {
      const auto file = text(reader);
      batch_.of_snapshot = file && file->ends_with(".checkpoint");
    } else if (name == "timestamp_type") {
      const auto type = text(reader);
      for (const auto known :
           {TimestampType::none, TimestampType::create_time, TimestampType::log_append_time}) {
        if (type == timestamp_type_name(known)) batch_.timestamp_type = known;
      }
      if (type && !batch_.timestamp_type)
        refuse(fmt::format("unknown timestamp type '{}'", printable(*type)));
    } else {
      reader.skip();
    }
  }
}

void DumpReader::read_record(JsonReader& reader) {
  record_.offset.reset();
  record_.ts.reset();
  record_.create_ts.reset();
  record_.key.reset();
  record_.value.reset();
  record_.value_is_json = false;
  record_.headers.clear();
  record_.control = JsonControl::none;
  key_set_ = value_set_ = false;
  std::string_view name;
  reader.enter_object();
  while (reader.next_member(name)) read_record_member(reader, name);
}

void DumpReader::read_record_member(JsonReader& reader, std::string_view name) {
  if (name == "offset") {
    record_.offset = number(reader);
  } else if (name == "ts") {
    record_.ts = number(reader);
  } else if (name == "create_ts") {
    record_.create_ts = number(reader);
  } else if (name == "key") {
    set_once(key_set_, record_.key, text(reader), "a key given twice");
  } else if (name == "key_b64") {
    set_once(key_set_, record_.key, base64(reader), "a key given twice");
  } else if (name == "value") {
    read_value(reader);
  } else if (name == "value_b64") {
    set_once(value_set_, record_.value, base64(reader), "a value given twice");
  } else if (name == "headers") {
    read_headers(reader);
  } else if (name == "control") {
    read_control(reader);
  } else {
    reader.skip();
  }
}

void DumpReader::set_once(bool& is_set, std::optional<std::string_view>& to,
                          const std::optional<std::string_view>& bytes, const char* twice) {
  if (is_set) refuse(twice);
  is_set = true;
  to = bytes;
}

void DumpReader::read_value(JsonReader& reader) {
  const JsonType type = reader.peek();
  if (type == JsonType::string || type == JsonType::null) {
    set_once(value_set_, record_.value, text(reader), "a value given twice");
    return;
  }
  set_once(value_set_, record_.value, reader.skip(), "a value given twice");
  record_.value_is_json = true;
}

std::optional<std::string_view> DumpReader::text(JsonReader& reader) {
  if (reader.null()) return std::nullopt;
  return reader.string(texts_);
}

std::optional<std::string_view> DumpReader::base64(JsonReader& reader) {
  if (reader.null()) return std::nullopt;
  const std::size_t held = texts_.size();
  const std::string_view encoded = reader.string(texts_);
  if (!reader.ok()) return std::nullopt;
  const auto bytes = decode_base64(encoded);
  if (!bytes) {
    refuse("malformed base64");
    return std::nullopt;
  }
  texts_.resize(held);
  texts_.append(*bytes);
  return std::string_view(texts_).substr(held);
}

std::optional<std::string_view> DumpReader::text_or_base64(JsonReader& reader) {
  if (reader.peek() != JsonType::object) return text(reader);
  std::optional<std::string_view> bytes;
  std::string_view name;
  reader.enter_object();
  while (reader.next_member(name)) {
    if (name == "b64") {
      bytes = base64(reader);
    } else {
      reader.skip();
    }
  }
  if (!bytes) refuse("a header object without its \"b64\"");
  return bytes;
}

void DumpReader::read_headers(JsonReader& reader) {
  if (reader.null()) return;
  reader.enter_array();
  while (reader.next_element()) {
    HeaderView header;
    std::size_t elements = 0;
    reader.enter_array();
    while (reader.next_element()) {
      ++elements;
      if (elements == 1) {
        const auto name = text_or_base64(reader);
        if (!name && reader.ok()) refuse("a header without a name");
        header.name = name.value_or("");
      } else if (elements == 2) {
        header.value = text_or_base64(reader);
      } else {
        reader.skip();
      }
    }
    if (elements != 2 && reader.ok()) refuse("a header is [name, value]");
    record_.headers.push_back(header);
  }
}

// Only the json format needs it: in a batch, the bytes of key and value say it all.
void DumpReader::read_control(JsonReader& reader) {
  if (reader.null()) return;
  std::string_view name;
  reader.enter_object();
  while (reader.next_member(name)) {
    if (name != "type") {
      reader.skip();
      continue;
    }
    const auto type = text(reader);
    if (type == "COMMIT") record_.control = JsonControl::commit;
    if (type == "ABORT") record_.control = JsonControl::abort;
    if (type == "EMPTY") record_.control = JsonControl::empty;
  }
}

}  // namespace tk
