// Writing json records; json_record.cpp reads them.
#include <algorithm>
#include <optional>

#include "core/base/crc.h"
#include "core/base/json_escape.h"
#include "core/base/put_text.h"
#include "core/base/text.h"
#include "core/format/json_record.h"
#include "core/format/json_record_layout.h"

namespace tk {

using namespace json_layout;

namespace {

char* put_base64(char* to, std::string_view bytes) {
  TextBuffer encoded;  // rare: only bytes that are not text
  append_base64(encoded, bytes);
  return put_text(to, {encoded.data(), encoded.size()});
}

/// `":"text"` or `_b64":"..."`, behind the name of a member.
inline char* put_member_text(char* const behind_name, std::string_view bytes) {
  bool non_ascii = false;
  char* to = put_json_escaped(put(behind_name, "\":\""), bytes, non_ascii);
  if (non_ascii && !is_utf8(bytes)) to = put_base64(put(behind_name, "_b64\":\""), bytes);
  *to++ = '"';
  return to;
}

/// A member with what stands before it; `name` begins with that.
template <std::size_t N>
char* put_member(char* to, const char (&name)[N], const std::optional<std::string_view>& bytes) {
  to = put(to, name);
  return bytes ? put_member_text(to, *bytes) : put(to, "\":null");
}

template <std::size_t N>
char* put_number(char* to, const char (&before)[N], std::int64_t number) {
  return tk::put_number(put(to, before), number);
}

/// `"text"` or `{"b64":"..."}`.
char* put_text_or_base64(char* to, std::string_view bytes) {
  char* const start = to;
  bool non_ascii = false;
  *to++ = '"';
  to = put_json_escaped(to, bytes, non_ascii);
  if (non_ascii && !is_utf8(bytes)) return put(put_base64(put(start, "{\"b64\":\""), bytes), "\"}");
  *to++ = '"';
  return to;
}

char* put_headers(char* to, std::span<const HeaderView> headers) {
  to = put(to, ",\"headers\":[");
  bool first = true;
  for (const HeaderView& header : headers) {
    to = put_text(to, first ? "[" : ",[");
    first = false;
    to = put_text_or_base64(to, header.name);
    *to++ = ',';
    to = header.value ? put_text_or_base64(to, *header.value) : put(to, "null");
    *to++ = ']';
  }
  *to++ = ']';
  return to;
}

char* put_fields(char* to, const JsonFields& fields) {
  if (fields.leader_epoch.value() != 0) to = put_number(to, ",\"epoch\":", fields.leader_epoch.value());
  if (fields.producer_id != kNoProducerId) {
    to = put_number(to, ",\"pid\":", fields.producer_id.value());
    to = put_number(to, ",\"pepoch\":", fields.producer_epoch);
    to = put_number(to, ",\"seq\":", fields.sequence);
  }
  if (fields.transactional) to = put(to, ",\"txn\":true");
  if (fields.control == JsonControl::commit) to = put(to, ",\"control\":\"commit\"");
  if (fields.control == JsonControl::abort) to = put(to, ",\"control\":\"abort\"");
  if (fields.control == JsonControl::empty) to = put(to, ",\"control\":\"empty\"");
  if (fields.delete_horizon != kNoTimestamp) to = put_number(to, ",\"horizon\":", fields.delete_horizon);
  return to;
}

/// Bytes that a text takes with its quotes and what marks it as base64.
constexpr std::size_t text_bound(std::size_t size) {
  return json_escaped_bound(size) + 32;
}

}  // namespace

std::size_t json_record_bound(const RecordView& record) {
  // Six bytes for each byte that may need \u00XX; base64 takes less.
  std::size_t bound = 256 + text_bound(record.key ? record.key->size() : 0) +
                      text_bound(record.value ? record.value->size() : 0);
  for (const HeaderView& header : record.headers) {
    bound += text_bound(header.name.size()) + text_bound(header.value ? header.value->size() : 0);
  }
  return bound;
}

namespace {

/// Ends a record that began at `unit` and goes up to the comma before its crc, which lies kCrcStart before
/// `to`.
inline void finish(Buffer& out, std::uint8_t* unit, char* to) {
  const auto covered =
      static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(to) - unit) - (sizeof kCrcStart - 1);
  store_be<std::int32_t>(unit + 8, static_cast<std::int32_t>(covered + kCrcSuffix - kUnitPrefix));
  to = put(put_hex32(to, crc32c({unit, covered})), "\"}");
  out.commit_to(reinterpret_cast<std::uint8_t*>(to));
}

}  // namespace

void JsonRecordEncoder::encode(Buffer& out, Offset offset, const RecordView& record,
                               const JsonFields& fields) {
  std::uint8_t* const unit = out.room(json_record_bound(record));
  store_be<std::int64_t>(unit, offset.value());
  char* to = put_member(reinterpret_cast<char*>(unit) + kUnitPrefix, "{\"key", record.key);
  if (record.value_is_json && record.value) {
    to = put_text(put(to, ",\"value\":"), *record.value);
  } else {
    to = put_member(to, ",\"value", record.value);
  }
  to = put_number(to, ",\"ts\":", record.timestamp);
  if (!record.headers.empty()) to = put_headers(to, record.headers);
  finish(out, unit, put(put_fields(to, fields), kCrcStart));
}

void JsonRecordEncoder::make_tail(std::int64_t timestamp, LeaderEpoch leader_epoch) {
  tail_timestamp_ = timestamp;
  tail_epoch_ = leader_epoch;
  char* to = put_number(tail_.data(), ",\"ts\":", timestamp);
  to = put(put_fields(to, {.leader_epoch = leader_epoch}), kCrcStart);
  tail_size_ = static_cast<std::size_t>(to - tail_.data());
}

void JsonRecordEncoder::encode_plain(Buffer& out, Offset offset, const char* key, std::int32_t key_size,
                                     const char* value, std::int32_t value_size, std::int64_t timestamp,
                                     LeaderEpoch leader_epoch) {
  if (tail_size_ == 0 || timestamp != tail_timestamp_ || leader_epoch != tail_epoch_) {
    make_tail(timestamp, leader_epoch);
  }
  const auto text = [](const char* data, std::int32_t size) {
    return std::string_view(data, static_cast<std::size_t>(size));
  };
  const std::size_t bound = text_bound(static_cast<std::size_t>(std::max(key_size, 0)) +
                                       static_cast<std::size_t>(std::max(value_size, 0)));
  std::uint8_t* const unit = out.room(256 + 2 * kJsonEscapeSlack + bound);
  store_be<std::int64_t>(unit, offset.value());
  char* to = reinterpret_cast<char*>(unit) + kUnitPrefix;
  if (key_size < 0 && value_size >= 0) {
    to = put_member_text(put(to, "{\"key\":null,\"value"), text(value, value_size));
  } else {
    const auto nullable = [&](const char* data, std::int32_t size) {
      return size < 0 ? std::nullopt : std::optional(text(data, size));
    };
    to = put_member(put_member(to, "{\"key", nullable(key, key_size)), ",\"value",
                    nullable(value, value_size));
  }
  std::memcpy(to, tail_.data(), tail_.size());
  finish(out, unit, to + tail_size_);
}

void encode_json_record(Buffer& out, Offset offset, const RecordView& record, const JsonFields& fields) {
  JsonRecordEncoder().encode(out, offset, record, fields);
}

}  // namespace tk
