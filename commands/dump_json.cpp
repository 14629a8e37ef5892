#include "commands/dump_json.h"

#include <string>

#include "commands/dump_style.h"
#include "core/base/json_writer.h"
#include "core/format/control_record.h"

namespace tk {
namespace {

std::optional<std::int64_t> known(bool has_it, std::int64_t value) {
  return has_it ? std::optional(value) : std::nullopt;
}

std::string_view control_name(ControlType type) {
  switch (type) {
    case ControlType::abort:
      return "ABORT";
    case ControlType::commit:
      return "COMMIT";
    case ControlType::leader_change:
      return "LEADER_CHANGE";
    case ControlType::snapshot_header:
      return "SNAPSHOT_HEADER";
    case ControlType::snapshot_footer:
      return "SNAPSHOT_FOOTER";
    case ControlType::kraft_version:
      return "KRAFT_VERSION";
    case ControlType::kraft_voters:
      return "KRAFT_VOTERS";
    case ControlType::unknown:
      break;
  }
  return "UNKNOWN";
}

void append_text_or_b64(TextBuffer& to, std::string_view bytes) {
  if (is_utf8(bytes)) return append_json_string(to, bytes);
  append(to, R"({"b64":")");
  append_base64(to, bytes);
  append(to, "\"}");
}

void append_headers(TextBuffer& to, std::span<const HeaderView> headers) {
  append(to, ",\"headers\":[");
  for (std::size_t i = 0; i < headers.size(); ++i) {
    append(to, i == 0 ? "[" : ",[");
    append_text_or_b64(to, headers[i].name);
    to.push_back(',');
    if (headers[i].value) {
      append_text_or_b64(to, *headers[i].value);
    } else {
      append(to, "null");
    }
    to.push_back(']');
  }
  to.push_back(']');
}

/// Up to the key.
void open_record(TextBuffer& to, const RecordView& record) {
  append(to, R"({"type":"record","offset":)");
  append_number(to, record.offset.value());
  append(to, ",\"ts\":");
  append_number(to, record.timestamp);
  to.push_back(',');
}

/// From behind the value on, without the closing brace.
void finish_members(TextBuffer& to, const RecordView& record, std::optional<std::int64_t> create_ts) {
  append_headers(to, record.headers);
  append(to, ",\"sequence\":");
  append_number(to, record.sequence);
  if (!create_ts) return;
  append(to, ",\"create_ts\":");
  append_number(to, *create_ts);
}

void append_b64_member(TextBuffer& to, std::string_view name, const std::optional<std::string_view>& bytes) {
  to.push_back('"');
  append(to, name);
  if (!bytes) return append(to, "\":null");
  append(to, "_b64\":\"");
  append_base64(to, *bytes);
  to.push_back('"');
}

/// The fields behind the name of a control type: the epoch of an end marker, or the message as JSON.
Fault append_control_fields(TextBuffer& to, const RecordView& record, const ControlKey& key) {
  if (key.type == ControlType::unknown) return {};
  if (key.ends_transaction()) {
    std::int32_t epoch = 0;
    if (const Fault fault = parse_end_marker(record.value, epoch)) return fault;
    append(to, ",\"coordinator_epoch\":");
    append_number(to, epoch);
    return {};
  }
  // The text form is a label, a blank, and the message as JSON.
  TextBuffer text;
  if (const Fault fault = append_control_text(text, record)) return fault;
  const std::string_view whole(text.data(), text.size());
  append(to, ",\"data\":");
  append(to, whole.substr(whole.find('{')));
  return {};
}

}  // namespace

void append_batch_object(TextBuffer& to, const UnitInfo& info, const BatchObject& batch) {
  const bool v2 = info.kind == UnitKind::batch;
  const bool json = info.kind == UnitKind::json;
  const bool wrapper = info.kind == UnitKind::legacy && info.compressed();
  std::optional<std::int64_t> first = known(!wrapper, info.base_offset.value());
  std::optional<std::int64_t> count = known(!wrapper, info.count);
  if (batch.first_offset) first = batch.first_offset->value();
  if (batch.count) count = batch.count;

  JsonLine line(to);
  line.text("type", "batch").text("file", batch.file);
  line.number("position", static_cast<std::int64_t>(batch.position));
  line.number("size", static_cast<std::int64_t>(info.size));
  line.number_or_null("magic", known(!json, info.magic));
  line.number_or_null("base_offset", first).number("last_offset", info.last_offset.value());
  line.number_or_null("count", count).text("codec", shown_codec(info));
  line.number_or_null("crc", known(!info.unprotected, info.crc)).boolean("valid", batch.valid);
  line.number_or_null("leader_epoch", known(v2 || json, info.leader_epoch.value()));
  line.number("producer_id", info.producer_id.value()).number("producer_epoch", info.producer_epoch);
  line.number("base_sequence", info.base_sequence);
  line.boolean("transactional", info.transactional).boolean("control", info.control);
  line.number("max_ts", info.max_timestamp);
  line.number_or_null("last_offset_delta", known(v2, info.last_offset - info.base_offset));
  line.number_or_null("base_timestamp", known(v2, info.base_timestamp));
  line.text("timestamp_type", timestamp_type_name(info.timestamp_type));
  line.number_or_null("delete_horizon_ms", known(info.has_delete_horizon(), info.base_timestamp));
  line.number_or_null("attributes", known(!json, info.attributes));
  line.end();
}

void append_record_object(TextBuffer& to, const RecordView& record, std::optional<std::int64_t> create_ts,
                          DumpDecoder decoder) {
  open_record(to, record);
  append_json_bytes_member(to, "key", record.key);
  to.push_back(',');
  if (record.value_is_json && record.value) {
    append(to, "\"value\":");
    append(to, *record.value);
  } else {
    append_json_bytes_member(to, "value", record.value);
  }
  finish_members(to, record, create_ts);
  if (decoder != DumpDecoder::none) append_decoded_members(to, decoder, record);
  append(to, "}\n");
}

Fault append_control_object(TextBuffer& to, const RecordView& record, std::optional<std::int64_t> create_ts) {
  open_record(to, record);
  append_b64_member(to, "key", record.key);
  to.push_back(',');
  append_b64_member(to, "value", record.value);
  finish_members(to, record, create_ts);
  append(to, ",\"control\":");
  const std::size_t before = to.size();
  ControlKey key;
  Fault fault = parse_control_key(record.key, key);
  if (!fault) {
    append(to, R"({"type":")");
    append(to, control_name(key.type));
    append(to, R"(","type_id":)");
    append_number(to, key.type_id);
    fault = append_control_fields(to, record, key);
    to.push_back('}');
  }
  if (fault) {
    to.resize(before);
    append(to, "null");
  }
  append(to, "}\n");
  return fault;
}

void append_json_control_object(TextBuffer& to, const RecordView& record, JsonControl control) {
  open_record(to, record);
  append(to, R"("key":null,"value":null)");
  finish_members(to, record, {});
  append(to, R"(,"control":{"type":")");
  append(to, control == JsonControl::commit ? "COMMIT" : control == JsonControl::abort ? "ABORT" : "EMPTY");
  append(to, "\"}}\n");
}

void append_damage_object(TextBuffer& to, std::string_view file, std::uint64_t position, std::uint64_t size,
                          const Fault& fault) {
  JsonLine line(to);
  line.text("type", "damage").text("file", file).number("position", static_cast<std::int64_t>(position));
  line.number("size", static_cast<std::int64_t>(size)).text("reason", fault_name(fault.kind));
  line.text("detail", fault.detail);
  line.end();
}

}  // namespace tk
