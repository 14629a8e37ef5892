#include "commands/dump_decoder.h"

#include <fmt/format.h>

#include "commands/dump_framed.h"
#include "core/base/bytes.h"
#include "core/base/json_writer.h"
#include "core/format/internal_record.h"
#include "core/format/schema_json.h"

namespace tk {
namespace {

std::string_view family_of(DumpDecoder decoder) {
  if (decoder == DumpDecoder::transactions) return "transaction";
  return decoder == DumpDecoder::share ? "share" : "group";
}

/// By number (§13.2).
std::string_view transaction_status(std::int64_t status) {
  constexpr std::string_view names[] = {"Empty",        "Ongoing",          "PrepareCommit",
                                        "PrepareAbort", "CompleteCommit",   "CompleteAbort",
                                        "Dead",         "PrepareEpochFence"};
  return status >= 0 && status < static_cast<std::int64_t>(std::size(names))
             ? names[static_cast<std::size_t>(status)]
             : std::string_view();
}

/// A member's subscription or assignment of the consumer protocol: an int16 version and a message.
bool print_protocol(std::string_view name, const std::string& bytes, TextBuffer& to) {
  ByteReader reader(as_bytes(bytes));
  const auto version = reader.be<std::int16_t>();
  if (!reader.ok() || version < 0) return false;
  // Later versions only add to the end.
  const SchemaRecord* const record = internal_schemas().record(name);
  if (record == nullptr) return false;
  const SchemaType* const type = internal_schemas().find(name, std::min<int>(version, record->highest));
  SchemaValue value;
  std::size_t used = 0;
  if (type == nullptr || decode_schema_prefix(*type, as_bytes(bytes).subspan(2), value, used)) return false;
  append_schema_json(to, value);
  return true;
}

/// How the fields of a group's or transaction's record differ from the plain form.
SchemaFieldPrinter printer_of(DumpDecoder decoder, const SchemaValue& value) {
  if (decoder == DumpDecoder::transactions) {
    return [](std::string_view field, const SchemaValue& held, TextBuffer& to) {
      if (field != "transaction_status") return false;
      const std::string_view name = transaction_status(held.integer());
      if (!name.empty()) append_json_string(to, name);
      return !name.empty();
    };
  }
  const SchemaValue* const protocol =
      std::holds_alternative<SchemaStruct>(value.data()) ? value.find("protocol_type") : nullptr;
  if (protocol == nullptr || !std::holds_alternative<std::string>(protocol->data()) ||
      protocol->text() != "consumer")
    return {};
  return [](std::string_view field, const SchemaValue& held, TextBuffer& to) {
    const bool bytes = std::holds_alternative<SchemaValue::Bytes>(held.data());
    if (!bytes || held.bytes().empty()) return false;
    if (field == "subscription") return print_protocol("ConsumerProtocolSubscription", held.bytes(), to);
    return field == "assignment" && print_protocol("ConsumerProtocolAssignment", held.bytes(), to);
  };
}

void append_data(TextBuffer& to, DumpDecoder decoder, const SchemaValue& value) {
  append(to, ",\"data\":");
  append_schema_json(to, value, printer_of(decoder, value));
  append(to, "}");
}

std::string text_of(const TextBuffer& buffer) {
  return {buffer.data(), buffer.size()};
}

std::string coordinator_json(DumpDecoder decoder, const char* number_name, std::int32_t number,
                             const SchemaValue& value) {
  TextBuffer to;
  append(to, fmt::format("{{\"{}\":\"{}\"", number_name, number));
  append_data(to, decoder, value);
  return text_of(to);
}

DecodedRecord coordinator_text(DumpDecoder decoder, const RecordView& record) {
  DecodedRecord text;
  if (!record.key) {
    text.ends_tool = true;
    return text;
  }
  const auto fault_text = [&](const Fault& fault) {
    text.key = fmt::format("Error at offset {}, skipping. {} ({})", record.offset.value(), fault.detail,
                           fault.found);
    return text;
  };
  InternalRecord key;
  const Fault of_key = decode_coordinator_key(family_of(decoder), record.key, key);
  if (of_key) return fault_text(of_key);
  if (key.record == nullptr) {
    text.key =
        fmt::format("Unknown record type {} at offset {}, skipping.", key.type_id, record.offset.value());
    return text;
  }
  std::string payload = "<DELETE>";
  if (record.value) {
    InternalRecord value;
    if (const Fault fault = decode_coordinator_value(family_of(decoder), key.type_id, record.value, value))
      return fault_text(fault);
    payload = coordinator_json(decoder, "version", value.version, value.value);
  }
  text.key = coordinator_json(decoder, "type", key.type_id, key.value);
  text.payload = std::move(payload);
  return text;
}

void append_hex(TextBuffer& to, const std::optional<std::string_view>& bytes) {
  append(to, "\"hex\":\"");
  if (bytes) {
    for (const char c : *bytes) append(to, fmt::format("{:02x}", static_cast<unsigned char>(c)));
  }
  append(to, "\"}");
}

/// Why something is shown by its bytes.
void append_raw(TextBuffer& to, const Fault& fault, std::string_view number_name, std::int32_t number,
                const std::optional<std::string_view>& bytes) {
  append(to, "{");
  if (number >= 0) append(to, fmt::format("\"{}\":{},", number_name, number));
  if (fault) {
    append(to, "\"error\":");
    append_json_string(to, fmt::format("{} ({})", fault.detail, fault.found));
    append(to, ",");
  }
  append_hex(to, bytes);
}

void append_framed_members(TextBuffer& to, DumpDecoder decoder, const RecordView& record) {
  append(to, ",\"value_decoded\":");
  InternalRecord decoded;
  const Fault fault = decode_framed_record(framed_family(decoder), record.value, decoded);
  if (!fault && decoded.record != nullptr) return append(to, framed_json(decoded));
  append_raw(to, fault, "type", decoded.type_id, record.value);
}

void append_coordinator_members(TextBuffer& to, DumpDecoder decoder, const RecordView& record) {
  append(to, ",\"key_decoded\":");
  if (!record.key) return append(to, "null,\"value_decoded\":null");
  InternalRecord key;
  const Fault of_key = decode_coordinator_key(family_of(decoder), record.key, key);
  const bool known = !of_key && key.record != nullptr;
  if (known) {
    append(to, coordinator_json(decoder, "type", key.type_id, key.value));
  } else {
    append_raw(to, of_key, "type", key.type_id, record.key);
  }
  append(to, ",\"value_decoded\":");
  if (!record.value) return append(to, "null");
  InternalRecord value;
  const Fault of_value =
      known ? decode_coordinator_value(family_of(decoder), key.type_id, record.value, value) : Fault();
  if (known && !of_value) {
    append(to, coordinator_json(decoder, "version", value.version, value.value));
  } else {
    append_raw(to, of_value, "version", known ? value.version : -1, record.value);
  }
}

}  // namespace

DumpDecoder decoder_of_topic(std::string_view topic) {
  if (topic == "__consumer_offsets") return DumpDecoder::offsets;
  if (topic == "__transaction_state") return DumpDecoder::transactions;
  if (topic == "__cluster_metadata") return DumpDecoder::metadata;
  if (topic == "__remote_log_metadata") return DumpDecoder::remote;
  return topic == "__share_group_state" ? DumpDecoder::share : DumpDecoder::none;
}

DecodedRecord decode_as_text(DumpDecoder decoder, const RecordView& record) {
  return is_framed(decoder) ? framed_text(decoder, record) : coordinator_text(decoder, record);
}

void append_decoded_members(TextBuffer& to, DumpDecoder decoder, const RecordView& record) {
  if (is_framed(decoder)) return append_framed_members(to, decoder, record);
  append_coordinator_members(to, decoder, record);
}

}  // namespace tk
