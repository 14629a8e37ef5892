#include "commands/dump_framed.h"

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/varint.h"
#include "core/format/schema_json.h"

namespace tk {
namespace {

constexpr std::uint32_t kMostFrameNumber = INT16_MAX;

/// The tool's complaint about a number of the frame, `name` by name; empty, and `at` behind it, if it is one.
std::string read_number(const char* name, const std::uint8_t*& at, const std::uint8_t* end,
                        std::uint32_t& number) {
  at = get_uvarint(at, end, number);
  if (at == nullptr) return fmt::format("Error while reading {}", name);
  return number > kMostFrameNumber ? fmt::format("Value for {} was too large.", name) : "";
}

std::string frame_version_fault(std::uint32_t version) {
  if (version == 0)
    return "Could not deserialize metadata record with frame version 0. Note that upgrades from the preview "
           "release of KRaft in 2.8 to newer versions are not supported.";
  if (version == 1) return "";
  return fmt::format(
      "Could not deserialize metadata record due to unknown frame version {}(only frame version 1 is "
      "supported)",
      version);
}

/// Reads a value as the tool does; what it complains of, or empty.
std::string read_framed(DumpDecoder decoder, ByteView bytes, InternalRecord& out) {
  const std::uint8_t* at = bytes.data();
  const std::uint8_t* const end = at + bytes.size();
  std::uint32_t frame = 0, type_id = 0, version = 0;
  if (std::string why = read_number("frame version", at, end, frame); !why.empty()) return why;
  if (std::string why = frame_version_fault(frame); !why.empty()) return why;
  if (std::string why = read_number("type", at, end, type_id); !why.empty()) return why;
  if (std::string why = read_number("version", at, end, version); !why.empty()) return why;
  out.type_id = static_cast<std::int32_t>(type_id);
  out.version = static_cast<std::int32_t>(version);
  out.record = internal_schemas().record(framed_family(decoder), out.type_id);
  if (out.record == nullptr)
    return fmt::format("org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id {}",
                       type_id);
  const SchemaType* const type = internal_schemas().find(out.record->name, out.version);
  if (type == nullptr) return fmt::format("unknown version ({})", version);
  const ByteView message(at, static_cast<std::size_t>(end - at));
  std::size_t used = 0;
  if (decode_schema_prefix(*type, message, out.value, used))
    return fmt::format("Failed to deserialize record with type {}", type_id);
  if (used == message.size()) return "";
  return fmt::format("Found {} byte(s) of garbage after {}", message.size() - used, type_id);
}

}  // namespace

std::string framed_json(const InternalRecord& record) {
  TextBuffer to;
  append(to, fmt::format("{{\"type\":\"{}\",\"version\":{},\"data\":", upper_snake_case(record.record->name),
                         record.version));
  append_schema_json(to, record.value);
  append(to, "}");
  return {to.data(), to.size()};
}

DecodedRecord framed_text(DumpDecoder decoder, const RecordView& record) {
  const bool remote = decoder == DumpDecoder::remote;
  const auto fault_text = [&](const std::string& why) {
    return DecodedRecord{
        {}, fmt::format("Error at {}{}, skipping. {}", remote ? "offset " : "", record.offset.value(), why)};
  };
  if (remote && !record.value)
    return fault_text(
        "Cannot invoke \"java.nio.ByteBuffer.remaining()\" because the return value of "
        "\"org.apache.kafka.common.record.internal.Record.value()\" is null");
  InternalRecord decoded;
  const std::string why = read_framed(decoder, as_bytes(record.value.value_or("")), decoded);
  if (!why.empty()) return fault_text(why);
  if (!remote) return {{}, framed_json(decoded)};
  RemoteText text = remote_text(decoded);
  if (!text.complaint.empty()) return fault_text(text.complaint);
  return {{}, std::move(text.text)};
}

}  // namespace tk
