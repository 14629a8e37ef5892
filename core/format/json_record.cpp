#include "core/format/json_record.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "core/base/chunk16.h"
#include "core/base/crc.h"
#include "core/base/json_escape.h"
#include "core/base/json_reader.h"
#include "core/base/put_text.h"
#include "core/base/text.h"
#include "core/base/unquote.h"
#include "core/format/json_record_layout.h"

namespace tk {

using namespace json_layout;

namespace {

std::optional<std::uint32_t> parse_crc(std::string_view digits) {
  if (digits.size() != kCrcDigits) return std::nullopt;
  return read_hex32(digits.data());
}

Fault bad_body(const char* detail, std::size_t position = 0) {
  return {FaultKind::record, detail, static_cast<std::int64_t>(position), 0};
}

/// The digits of the crc that tk writes: the last member, at a fixed distance from the end. Empty if the body
/// does not end so.
std::string_view crc_digits_at_end(std::string_view body) {
  static_assert(sizeof kCrcStart - 1 == 8);
  if (body.size() < kCrcSuffix + 1) return {};
  const char* const suffix = body.data() + body.size() - kCrcSuffix;
  if (std::memcmp(suffix, kCrcStart, 8) != 0 || std::memcmp(suffix + 16, "\"}", 2) != 0) return {};
  return {suffix + 8, kCrcDigits};
}

const char* find_quote_or_backslash(const char* at, const char* end) {
  while (end - at >= static_cast<std::ptrdiff_t>(2 * Chunk16::kSize)) {
    const std::uint32_t found = Chunk16::load(at).json_quoting() |
                                Chunk16::load(at + Chunk16::kSize).json_quoting() << Chunk16::kSize;
    if (found != 0) return at + std::countr_zero(found);
    at += 2 * Chunk16::kSize;
  }
  while (at != end) {
    const auto left = static_cast<std::size_t>(end - at);
    const std::uint32_t found = Chunk16::load_some(at, left).json_quoting();
    if (found != 0) return at + std::countr_zero(found);
    at += std::min(left, Chunk16::kSize);
  }
  return at;
}

template <std::size_t N>
bool take(const char*& at, const char* end, const char (&word)[N]) {
  constexpr std::size_t size = N - 1;
  if (static_cast<std::size_t>(end - at) < size || std::memcmp(at, word, size) != 0) return false;
  at += size;
  return true;
}

/// All but the offset, member by member: assigning a whole new record would store more.
void clear(RecordView& record) {
  record.timestamp = kNoTimestamp;
  record.timestamp_type = TimestampType::create_time;
  record.sequence = -1;
  record.key.reset();
  record.value.reset();
  record.headers = {};
  record.value_is_json = false;
}

std::string_view body_of(ByteView unit) {
  return as_text(unit.subspan(kUnitPrefix));
}

}  // namespace

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
  unescaped_.clear();
  keep_crc(crc_digits_at_end(body));
  clear(record);
  record.offset = Offset(load_be<std::int64_t>(unit.data()));
  if (has_digits_ && decode_own_shape(body.substr(0, body.size() - kCrcSuffix), record)) return {};
  scratches_used_ = 0;
  has_digits_ = false;
  clear(record);
  return decode_any(body, record);
}

std::optional<std::uint32_t> JsonRecordDecoder::crc() const {
  if (!has_digits_) return std::nullopt;
  return read_hex32(crc_digits_.data());
}

inline void JsonRecordDecoder::keep_crc(std::string_view digits) {
  has_digits_ = digits.size() == crc_digits_.size();
  if (has_digits_) std::memcpy(crc_digits_.data(), digits.data(), crc_digits_.size());
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
  return own_escaped(at, end, out);
}

// Undoes escapes of one letter in one pass; anything else is left to the strict reader.
bool JsonRecordDecoder::own_escaped(const char*& at, const char* end, std::string_view& out) {
  const char* from = at;
  // Nothing grows by this, and what an earlier string left stays where it is: all was made room for at once.
  auto* const begin =
      reinterpret_cast<char*>(unescaped_.room(static_cast<std::size_t>(end - from) + 2 * Chunk16::kSize));
  char* to = begin;
  while (end - from > static_cast<std::ptrdiff_t>(Chunk16::kSize)) {
    const Unquoted copied = copy_unquoted(from, end, to);
    from = copied.from;
    to = copied.to;
    if (end - from <= static_cast<std::ptrdiff_t>(Chunk16::kSize)) break;
    const Chunk16 chunk = Chunk16::load(from);
    chunk.store(to);
    const std::uint32_t found = chunk.json_quoting();
    const auto plain = found != 0 ? static_cast<std::size_t>(std::countr_zero(found)) : Chunk16::kSize;
    from += plain;
    to += plain;
    if (found == 0) continue;
    const char meaning = *from == '"' ? '\0' : json_short_escape(from[1]);
    if (meaning == '\0') break;
    *to++ = meaning;
    from += 2;
  }
  while (from != end) {
    const auto left = static_cast<std::size_t>(end - from);
    const Chunk16 chunk = Chunk16::load_some(from, left);
    chunk.store(to);
    const std::uint32_t found = chunk.json_quoting();
    const auto plain =
        found != 0 ? static_cast<std::size_t>(std::countr_zero(found)) : std::min(left, Chunk16::kSize);
    from += plain;
    to += plain;
    if (found == 0) continue;
    if (*from == '"') {
      at = from + 1;
      out = {begin, static_cast<std::size_t>(to - begin)};
      unescaped_.commit_to(reinterpret_cast<std::uint8_t*>(to));
      return true;
    }
    const char meaning = end - from < 2 ? '\0' : json_short_escape(from[1]);
    if (meaning == '\0') break;
    *to++ = meaning;
    from += 2;
  }
  // It wants the opening quote, which lies before the string.
  JsonReader reader({at - 1, static_cast<std::size_t>(end - at + 1)});
  out = text_of(reader);
  at = at - 1 + reader.position();
  return reader.ok();
}

bool JsonRecordDecoder::decode_own_shape(std::string_view body, RecordView& record) {
  const char* at = body.data();
  const char* const end = at + body.size();
  std::string_view text;
  if (take(at, end, "{\"key\":\"")) {
    if (!own_string(at, end, text)) return false;
    record.key = text;
  } else if (!take(at, end, "{\"key\":null")) {
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
  if (!own_timestamp(at, end, record.timestamp)) return false;
  if (record.timestamp == kNoTimestamp) record.timestamp_type = TimestampType::none;
  return true;
}

bool JsonRecordDecoder::own_timestamp(const char* at, const char* end, std::int64_t& out) {
  const auto size = static_cast<std::size_t>(end - at);
  // Two words that overlap cover the digits of any time since 1970 that is not in its first hours.
  if (size == stamp_size_ && size >= 8 && size <= 16 &&
      load_le<std::uint64_t>(at) == load_le<std::uint64_t>(stamp_.data()) &&
      load_le<std::uint64_t>(at + size - 8) == load_le<std::uint64_t>(stamp_.data() + size - 8)) {
    out = stamped_;
    return true;
  }
  const auto [stop, error] = std::from_chars(at, end, out);
  if (error != std::errc{} || stop != end) return false;
  if (size <= stamp_.size()) {
    std::memcpy(stamp_.data(), at, size);
    stamp_size_ = size;
    stamped_ = out;
  }
  return true;
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
      fields_.control = kind == "abort"    ? JsonControl::abort
                        : kind == "commit" ? JsonControl::commit
                                           : JsonControl::empty;
      if (kind != "abort" && kind != "commit" && kind != "empty")
        wrong = "control is none of commit, abort, and empty";
    } else if (name == "horizon") {
      fields_.delete_horizon = reader.integer();
    } else if (name == "crc") {
      keep_crc(text_of(reader));
      if (!crc()) wrong = "crc is not 8 hexadecimal digits";
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

/// True if a body that is JSON has no member "crc" for sure. (Its name may be spelt with \\u.) A body with
/// control characters is never told so: its length may have swallowed other units.
bool surely_without_crc(std::string_view body) {
  // A window looks at sixteen places with the two bytes behind each; the last goes back over what is done.
  constexpr std::size_t window = Chunk16::kSize + 2;
  if (body.size() < window) return false;
  Chunk16 marks = Chunk16::load_part("", 0);
  const char* const last = body.data() + body.size() - window;
  for (const char* at = body.data();; at = std::min(at + Chunk16::kSize, last)) {
    const Chunk16 first = Chunk16::load(at), second = Chunk16::load(at + 1), third = Chunk16::load(at + 2);
    marks = marks | first.marked_controls() | (first.marked('c') & second.marked('r') & third.marked('c')) |
            (first.marked('\\') & second.marked('u'));
    if (at == last) break;
  }
  const auto control = [](char byte) { return static_cast<unsigned char>(byte) < 0x20; };
  return marks.non_ascii() == 0 && !control(body[body.size() - 2]) && !control(body.back());
}

/// A crc member at another place than the end: covers up to the comma before it.
Fault check_crc_member(ByteView unit) {
  const std::string_view body = body_of(unit);
  if (surely_without_crc(body)) return {};
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
    const auto stored = parse_crc(reader.string(held));
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
  const auto stored = parse_crc(body.substr(body.size() - kCrcDigits - 2, kCrcDigits));
  return stored && crc32c(unit.first(unit.size() - kCrcSuffix)) == *stored;
}

}  // namespace

Fault check_json_unit(ByteView unit) {
  const std::string_view body = body_of(unit);
  const auto stored = parse_crc(crc_digits_at_end(body));
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
  info.crc = decoder.crc().value_or(0);
  info.unprotected = !decoder.has_crc();
  info.base_timestamp = info.max_timestamp = record.timestamp;
  info.timestamp_type = record.timestamp_type;
  info.producer_id = fields.producer_id;
  info.producer_epoch = fields.producer_epoch;
  info.base_sequence = fields.sequence;
  // An emptied marker: data that have a producer have a sequence, too.
  const bool bare =
      fields.control == JsonControl::empty && fields.producer_id.value() >= 0 && fields.sequence < 0;
  info.control = fields.control == JsonControl::commit || fields.control == JsonControl::abort || bare;
  info.transactional = fields.transactional || info.control;
  if (fields.control == JsonControl::empty) info.count = 0;
  if (fields.delete_horizon != kNoTimestamp) {
    info.attributes = kDeleteHorizonAttribute;
    info.base_timestamp = fields.delete_horizon;
  }
  return {};
}

}  // namespace tk
