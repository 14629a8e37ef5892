#include "core/format/internal_record.h"

#include "core/base/varint.h"

namespace tk {
namespace {

constexpr std::uint32_t kFrameVersion = 1;

Fault bad(const char* detail, std::int64_t found = 0) {
  return {FaultKind::record, detail, found};
}

Fault decode_message(ByteView bytes, InternalRecord& out) {
  if (out.record == nullptr) return {};
  const SchemaType* type = internal_schemas().find(out.record->name, out.version);
  if (type == nullptr) return bad("unknown version", out.version);
  return decode_schema(*type, bytes, out.value);
}

/// The 16-bit number in front of a coordinator's key or value.
Fault read_prefix(const std::optional<std::string_view>& from, std::int32_t& prefix, ByteView& rest) {
  if (!from) return bad("a null");
  ByteReader reader(as_bytes(*from));
  prefix = reader.be<std::int16_t>();
  if (!reader.ok()) return bad("shorter than its version");
  rest = as_bytes(*from).subspan(reader.position());
  return {};
}

}  // namespace

Fault decode_metadata_record(const std::optional<std::string_view>& value, InternalRecord& out) {
  return decode_framed_record("metadata", value, out);
}

Fault decode_framed_record(std::string_view family, const std::optional<std::string_view>& value,
                           InternalRecord& out) {
  out = {};
  if (!value) return bad("a null");
  const ByteView bytes = as_bytes(*value);
  const std::uint8_t* at = bytes.data();
  const std::uint8_t* end = at + bytes.size();
  std::uint32_t numbers[3] = {};
  for (std::uint32_t& number : numbers) {
    at = get_uvarint(at, end, number);
    if (at == nullptr) return bad("the frame is cut");
    if (&number == numbers && number != kFrameVersion) return bad("unknown frame version", number);
  }
  constexpr std::uint32_t most = 0x7fff;
  if (numbers[1] > most || numbers[2] > most) return bad("the frame's numbers are out of range");
  out.type_id = static_cast<std::int32_t>(numbers[1]);
  out.version = static_cast<std::int32_t>(numbers[2]);
  out.record = internal_schemas().record(family, out.type_id);
  return decode_message({at, static_cast<std::size_t>(end - at)}, out);
}

Fault encode_metadata_record(std::string_view name, int version, const SchemaValue& value, Buffer& out) {
  const SchemaRecord* record = internal_schemas().record(name);
  const SchemaType* type = internal_schemas().find(name, version);
  if (record == nullptr || type == nullptr) return bad("unknown version", version);
  const std::size_t before = out.size();
  std::uint8_t* at = out.room(3 * kMaxVarintBytes);
  at = put_uvarint(at, kFrameVersion);
  at = put_uvarint(at, static_cast<std::uint64_t>(record->type_id));
  out.commit_to(put_uvarint(at, static_cast<std::uint64_t>(version)));
  const Fault fault = encode_schema(*type, value, out);
  if (fault) out.cut(before);
  return fault;
}

Fault decode_coordinator_key(std::string_view family, const std::optional<std::string_view>& key,
                             InternalRecord& out) {
  out = {};
  ByteView rest;
  if (const Fault fault = read_prefix(key, out.type_id, rest)) return fault;
  out.record = internal_schemas().record(family, out.type_id, "Key");
  return decode_message(rest, out);
}

Fault decode_coordinator_value(std::string_view family, int type_id,
                               const std::optional<std::string_view>& value, InternalRecord& out) {
  out = {};
  ByteView rest;
  out.type_id = type_id;
  if (const Fault fault = read_prefix(value, out.version, rest)) return fault;
  // Commits under keys of type 0 have had the values of type 1 (the table knows their first version alone).
  const bool old_commit = family == "group" && type_id == 0;
  out.record = internal_schemas().record(family, old_commit ? 1 : type_id, "Value");
  return decode_message(rest, out);
}

}  // namespace tk
