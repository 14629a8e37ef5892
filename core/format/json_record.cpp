#include "core/format/json_record.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/crc.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"

namespace tk {
namespace {

constexpr std::string_view kCrcStart = ",\"crc\":\"";
constexpr std::size_t kCrcDigits = 8;
constexpr std::size_t kCrcSuffix = kCrcStart.size() + kCrcDigits + 2;  // and the closing quote and brace
constexpr char kHex[] = "0123456789abcdef";

/// True for a byte that a JSON string cannot hold as it stands.
constexpr bool needs_escape(unsigned char c) {
  return c < 0x20 || c == '"' || c == '\\';
}

char* put_text(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* put_escaped(char* to, unsigned char c) {
  *to++ = '\\';
  switch (c) {
    case '"':
    case '\\':
      *to++ = static_cast<char>(c);
      return to;
    case '\n':
      *to++ = 'n';
      return to;
    case '\t':
      *to++ = 't';
      return to;
    case '\r':
      *to++ = 'r';
      return to;
    default:
      to = put_text(to, "u00");
      *to++ = kHex[c >> 4];
      *to++ = kHex[c & 15];
      return to;
  }
}

/// Copies `text` with escapes; room for 6 bytes a byte and 16 more is there. Sets `non_ascii` if a byte above
/// 0x7f occurs.
char* put_escaped(char* to, std::string_view text, bool& non_ascii) {
  const char* from = text.data();
  const char* const end = from + text.size();
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
  int high = 0;
  while (end - from >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    const __m128i special =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                     _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
    high |= _mm_movemask_epi8(bytes);
    unsigned mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask == 0) {
      from += 16;
      to += 16;
      continue;
    }
    const unsigned plain = static_cast<unsigned>(__builtin_ctz(mask));
    to = put_escaped(to + plain, static_cast<unsigned char>(from[plain]));
    from += plain + 1;
  }
  non_ascii |= high != 0;
#endif
  for (; from != end; ++from) {
    const auto c = static_cast<unsigned char>(*from);
    non_ascii |= c >= 0x80;
    if (needs_escape(c)) {
      to = put_escaped(to, c);
    } else {
      *to++ = *from;
    }
  }
  return to;
}

char* put_base64(char* to, std::string_view bytes) {
  TextBuffer encoded;  // rare: only bytes that are not text
  append_base64(encoded, bytes);
  return put_text(to, {encoded.data(), encoded.size()});
}

/// `"name":"text"`, `"name":null` or `"name_b64":"..."`.
char* put_member(char* to, std::string_view name, const std::optional<std::string_view>& bytes) {
  char* const start = to;
  to = put_text(to, name);
  if (!bytes) return put_text(to, "\":null");
  to = put_text(to, "\":\"");
  bool non_ascii = false;
  to = put_escaped(to, *bytes, non_ascii);
  if (non_ascii && !is_utf8(*bytes)) {
    to = put_text(put_text(start, name), "_b64\":\"");
    to = put_base64(to, *bytes);
  }
  *to++ = '"';
  return to;
}

char* put_number(char* to, std::string_view before, std::int64_t number) {
  to = put_text(to, before);
  return std::to_chars(to, to + 20, number).ptr;
}

/// `"text"` or `{"b64":"..."}`.
char* put_text_or_base64(char* to, std::string_view bytes) {
  char* const start = to;
  bool non_ascii = false;
  *to++ = '"';
  to = put_escaped(to, bytes, non_ascii);
  if (non_ascii && !is_utf8(bytes)) return put_text(put_base64(put_text(start, "{\"b64\":\""), bytes), "\"}");
  *to++ = '"';
  return to;
}

char* put_headers(char* to, std::span<const HeaderView> headers) {
  to = put_text(to, ",\"headers\":[");
  bool first = true;
  for (const HeaderView& header : headers) {
    to = put_text(to, first ? "[" : ",[");
    first = false;
    to = put_text_or_base64(to, header.name);
    *to++ = ',';
    to = header.value ? put_text_or_base64(to, *header.value) : put_text(to, "null");
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
  if (fields.transactional) to = put_text(to, ",\"txn\":true");
  if (fields.control == JsonControl::commit) to = put_text(to, ",\"control\":\"commit\"");
  if (fields.control == JsonControl::abort) to = put_text(to, ",\"control\":\"abort\"");
  return to;
}

char* put_hex(char* to, std::uint32_t value) {
  for (int shift = 28; shift >= 0; shift -= 4) *to++ = kHex[(value >> shift) & 15];
  return to;
}

std::optional<std::uint32_t> parse_hex(std::string_view digits) {
  if (digits.size() != kCrcDigits) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

Fault bad_body(const char* detail, std::size_t position = 0) {
  return {FaultKind::record, detail, static_cast<std::int64_t>(position), 0};
}

/// The crc that tk writes: the last member, at a fixed distance from the end.
std::optional<std::uint32_t> crc_at_end(std::string_view body) {
  if (body.size() < kCrcSuffix + 1 || body.substr(body.size() - 2) != "\"}") return std::nullopt;
  const std::string_view suffix = body.substr(body.size() - kCrcSuffix);
  if (!suffix.starts_with(kCrcStart)) return std::nullopt;
  return parse_hex(suffix.substr(kCrcStart.size(), kCrcDigits));
}

const char* find_quote_or_backslash(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int mask =
        _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
  }
#endif
  while (at != end && *at != '"' && *at != '\\') ++at;
  return at;
}

bool take(const char*& at, const char* end, std::string_view word) {
  if (static_cast<std::size_t>(end - at) < word.size() || std::memcmp(at, word.data(), word.size()) != 0)
    return false;
  at += word.size();
  return true;
}

std::string_view body_of(ByteView unit) {
  return as_text(unit.subspan(kUnitPrefix));
}

}  // namespace

std::size_t json_record_bound(const RecordView& record) {
  // Six bytes for each byte that may need \u00XX; base64 takes less.
  std::size_t bound = 256 + 16;
  if (record.key) bound += 6 * record.key->size() + 16;
  if (record.value) bound += 6 * record.value->size() + 16;
  for (const HeaderView& header : record.headers) {
    bound += 32 + 6 * (header.name.size() + (header.value ? header.value->size() : 0)) + 32;
  }
  return bound;
}

void encode_json_record(Buffer& out, Offset offset, const RecordView& record, const JsonFields& fields) {
  std::uint8_t* const unit = out.room(json_record_bound(record));
  store_be<std::int64_t>(unit, offset.value());
  char* to = reinterpret_cast<char*>(unit) + kUnitPrefix;
  to = put_member(put_text(to, "{\""), "key", record.key);
  if (record.value_is_json && record.value) {
    to = put_text(put_text(to, ",\"value\":"), *record.value);
  } else {
    to = put_member(put_text(to, ",\""), "value", record.value);
  }
  to = put_number(to, ",\"ts\":", record.timestamp);
  if (!record.headers.empty()) to = put_headers(to, record.headers);
  to = put_fields(to, fields);

  const auto covered = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(to) - unit);
  store_be<std::int32_t>(unit + 8, static_cast<std::int32_t>(covered + kCrcSuffix - kUnitPrefix));
  to = put_hex(put_text(to, kCrcStart), crc32c({unit, covered}));
  to = put_text(to, "\"}");
  out.commit_to(reinterpret_cast<std::uint8_t*>(to));
}

std::string& JsonRecordDecoder::scratch() {
  if (scratches_used_ == scratches_.size()) scratches_.emplace_back();
  std::string& scratch = scratches_[scratches_used_++];
  scratch.clear();
  return scratch;
}

std::string_view JsonRecordDecoder::text_of(JsonReader& reader) {
  std::string& held = scratch();
  const std::string_view text = reader.string(held);
  if (held.empty()) --scratches_used_;
  return text;
}

Fault JsonRecordDecoder::decode(ByteView unit, RecordView& record) {
  const std::string_view body = body_of(unit);
  fields_ = {};
  headers_.clear();
  scratches_used_ = 0;
  const auto crc = crc_at_end(body);
  has_crc_ = crc.has_value();
  crc_ = crc.value_or(0);
  record = {};
  record.offset = Offset(load_be<std::int64_t>(unit.data()));
  if (has_crc_ && decode_own_shape(body.substr(0, body.size() - kCrcSuffix), record)) return {};
  scratches_used_ = 0;
  const Offset offset = record.offset;
  record = {};
  record.offset = offset;
  return decode_any(body, record);
}

bool JsonRecordDecoder::own_string(const char*& at, const char* end, std::string_view& out) {
  const char* const start = at;
  const char* stop = find_quote_or_backslash(at, end);
  if (stop == end) return false;
  if (*stop == '"') {
    out = {start, static_cast<std::size_t>(stop - start)};
    at = stop + 1;
    return true;
  }
  // Escapes: the strict reader undoes them. It wants the opening quote, which lies before `start`.
  JsonReader reader({start - 1, static_cast<std::size_t>(end - start + 1)});
  out = text_of(reader);
  at = start - 1 + reader.position();
  return reader.ok();
}

bool JsonRecordDecoder::decode_own_shape(std::string_view body, RecordView& record) {
  const char* at = body.data();
  const char* const end = at + body.size();
  std::string_view text;
  if (!take(at, end, "{\"key\":")) return false;
  if (take(at, end, "\"")) {
    if (!own_string(at, end, text)) return false;
    record.key = text;
  } else if (!take(at, end, "null")) {
    return false;
  }
  if (!take(at, end, ",\"value\":")) return false;
  if (take(at, end, "\"")) {
    if (!own_string(at, end, text)) return false;
    record.value = text;
  } else if (!take(at, end, "null")) {
    return false;
  }
  if (!take(at, end, ",\"ts\":")) return false;
  const auto [stop, error] = std::from_chars(at, end, record.timestamp);
  if (record.timestamp == kNoTimestamp) record.timestamp_type = TimestampType::none;
  return error == std::errc{} && stop == end;
}

namespace {

/// Decodes base64 text into `scratch`; false if it is malformed.
bool base64_into(std::string_view text, std::string& scratch) {
  auto bytes = decode_base64(text);
  if (!bytes) return false;
  scratch = std::move(*bytes);
  return true;
}

}  // namespace

Fault JsonRecordDecoder::decode_any(std::string_view body, RecordView& record) {
  JsonReader reader(body);
  std::string_view name;
  const char* wrong = nullptr;
  auto nullable = [&](bool base64, std::optional<std::string_view>& out) {
    out.reset();
    if (reader.null()) return;
    out = text_of(reader);
    if (!base64 || !reader.ok()) return;
    std::string& bytes = scratch();
    if (!base64_into(*out, bytes)) wrong = "malformed base64";
    out = bytes;
  };
  auto text_or_base64 = [&](std::optional<std::string_view>& out) {
    if (reader.peek() != JsonType::object) return nullable(false, out);
    reader.enter_object();
    std::string_view member;
    while (reader.next_member(member)) {
      if (member == "b64") {
        nullable(true, out);
      } else {
        reader.skip();
      }
    }
  };
  auto headers = [&] {
    reader.enter_array();
    while (reader.next_element()) {
      HeaderView header;
      reader.enter_array();
      std::optional<std::string_view> name_bytes;
      if (reader.next_element()) text_or_base64(name_bytes);
      if (!name_bytes) {
        wrong = "header without a name";
        return;
      }
      header.name = *name_bytes;
      if (reader.next_element()) {
        text_or_base64(header.value);
        while (reader.next_element()) reader.skip();
      }
      headers_.push_back(header);
    }
  };

  // An integer that fits the type of `like`.
  auto number = [&](auto like) {
    const std::int64_t wide = reader.integer();
    const auto narrow = static_cast<decltype(like)>(wide);
    if (narrow != wide) wrong = "number too large for its member";
    return narrow;
  };

  reader.enter_object();
  while (wrong == nullptr && reader.next_member(name)) {
    if (name == "key" || name == "key_b64") {
      nullable(name.size() > 3, record.key);
    } else if (name == "value" && reader.peek() != JsonType::string && reader.peek() != JsonType::null) {
      record.value = reader.skip();
      record.value_is_json = true;
    } else if (name == "value" || name == "value_b64") {
      nullable(name.size() > 5, record.value);
      record.value_is_json = false;
    } else if (name == "ts") {
      record.timestamp = reader.integer();
    } else if (name == "headers") {
      headers();
    } else if (name == "epoch") {
      fields_.leader_epoch = LeaderEpoch(number(std::int32_t{}));
    } else if (name == "pid") {
      fields_.producer_id = ProducerId(reader.integer());
    } else if (name == "pepoch") {
      fields_.producer_epoch = number(std::int16_t{});
    } else if (name == "seq") {
      fields_.sequence = number(std::int32_t{});
    } else if (name == "txn") {
      fields_.transactional = reader.boolean();
    } else if (name == "control") {
      const std::string_view kind = text_of(reader);
      fields_.control = kind == "abort" ? JsonControl::abort : JsonControl::commit;
      if (kind != "abort" && kind != "commit") wrong = "control is neither commit nor abort";
    } else if (name == "crc") {
      const auto crc = parse_hex(text_of(reader));
      has_crc_ = crc.has_value();
      crc_ = crc.value_or(0);
      if (!crc) wrong = "crc is not 8 hexadecimal digits";
    } else {
      reader.skip();
    }
  }
  if (wrong != nullptr) return bad_body(wrong, reader.position());
  if (!reader.finish()) return bad_body(reader.error(), reader.position());
  record.headers = headers_;
  if (record.timestamp == kNoTimestamp) record.timestamp_type = TimestampType::none;
  return {};
}

namespace {

/// A crc member at another place than the end: covers up to the comma before it.
Fault check_crc_member(ByteView unit) {
  const std::string_view body = body_of(unit);
  JsonReader reader(body);
  std::string_view name;
  std::string held;
  reader.enter_object();
  std::size_t before = reader.position();
  while (reader.next_member(name)) {
    if (name != "crc") {
      reader.skip();
      before = reader.position();
      continue;
    }
    held.clear();
    const auto stored = parse_hex(reader.string(held));
    if (!stored) return bad_body("crc is not 8 hexadecimal digits", before);
    while (before < body.size() && (body[before] == ' ' || body[before] == '\t')) ++before;
    const std::uint32_t computed = crc32c(unit.first(kUnitPrefix + before));
    if (computed != *stored) return {FaultKind::bad_crc, "checksum mismatch", *stored, computed};
    return {};
  }
  if (!reader.finish()) return bad_body(reader.error(), reader.position());
  return {};
}

/// True if the body ends as one with a checksum does, and that checksum fits, but the member is called
/// otherwise: with its name altered a protected record must not pass for one without a checksum.
bool crc_with_altered_name(ByteView unit) {
  const std::string_view body = body_of(unit);
  if (body.size() < kCrcSuffix + 1 || !body.ends_with("\"}")) return false;
  const auto stored = parse_hex(body.substr(body.size() - kCrcDigits - 2, kCrcDigits));
  return stored && crc32c(unit.first(unit.size() - kCrcSuffix)) == *stored;
}

}  // namespace

Fault check_json_unit(ByteView unit) {
  const std::string_view body = body_of(unit);
  const auto stored = crc_at_end(body);
  if (!stored) {
    if (crc_with_altered_name(unit)) return {FaultKind::bad_crc, "the name of the checksum is altered", 0, 0};
    return check_crc_member(unit);
  }
  const std::uint32_t computed = crc32c(unit.first(unit.size() - kCrcSuffix));
  if (computed != *stored) return {FaultKind::bad_crc, "checksum mismatch", *stored, computed};
  return {};
}

Fault read_json_info(ByteView unit, UnitInfo& info) {
  thread_local JsonRecordDecoder decoder;
  RecordView record;
  if (const Fault fault = decoder.decode(unit, record)) return fault;
  const JsonFields& fields = decoder.fields();
  info = {};
  info.kind = UnitKind::json;
  info.magic = -1;
  info.size = unit.size();
  info.base_offset = info.last_offset = record.offset;
  info.leader_epoch = fields.leader_epoch;
  info.crc = decoder.crc();
  info.unprotected = !decoder.has_crc();
  info.base_timestamp = info.max_timestamp = record.timestamp;
  info.timestamp_type = record.timestamp_type;
  info.producer_id = fields.producer_id;
  info.producer_epoch = fields.producer_epoch;
  info.base_sequence = fields.sequence;
  info.transactional = fields.transactional || fields.control != JsonControl::none;
  info.control = fields.control != JsonControl::none;
  return {};
}

}  // namespace tk
