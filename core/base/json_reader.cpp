#include "core/base/json_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "core/base/chunk16.h"
#include "core/base/json_escape.h"
#include "core/base/utf8.h"

namespace tk {
namespace {

constexpr int kMaxDepth = 512;

constexpr std::array<JsonType, 256> kTypes = [] {
  std::array<JsonType, 256> types{};
  types.fill(JsonType::invalid);
  types['{'] = JsonType::object;
  types['['] = JsonType::array;
  types['"'] = JsonType::string;
  types['t'] = types['f'] = JsonType::boolean;
  types['n'] = JsonType::null;
  types['-'] = JsonType::number;
  for (unsigned digit = '0'; digit <= '9'; ++digit) types[digit] = JsonType::number;
  return types;
}();

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

const char* digits_end(const char* at, const char* end) {
  while (at != end && is_digit(*at)) ++at;
  return at;
}

/// Passes what stands for itself in a string. Stops at `end`, a quote, a backslash, a control character, or
/// bytes that are not UTF-8.
const char* plain_end(const char* at, const char* end) {
  while (true) {
    const auto left = static_cast<std::size_t>(end - at);
    if (left >= Chunk16::kSize) {
      const std::uint32_t stops = Chunk16::load(at).json_stops();
      if (stops == 0) {
        at += Chunk16::kSize;
        continue;
      }
      at += std::countr_zero(stops);
    } else {
      // The zeros behind the last bytes are stops themselves, so that the end needs no case of its own.
      at += std::countr_zero(Chunk16::load_part(at, left).json_stops());
    }
    if (at == end || is_ascii(*at)) return at;
    at = multibyte_end(at, end);
    if (at == end || !is_ascii(*at)) return at;
  }
}

/// Four hex digits at `at`, or -1; nothing is read from `end` on.
int hex4(const char* at, const char* end) {
  if (end - at < 4) return -1;
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = at[i];
    const char letter = static_cast<char>(c | 0x20);
    if (is_digit(c)) {
      value = value * 16 + (c - '0');
    } else if (letter >= 'a' && letter <= 'f') {
      value = value * 16 + (letter - 'a' + 10);
    } else {
      return -1;
    }
  }
  return value;
}

/// Writes the UTF-8 form of `code` to `out` and returns the place behind it.
char* put_code_point(char* out, int code) {
  const auto put = [&out](int byte) { *out++ = static_cast<char>(byte); };
  if (code < 0x80) return put(code), out;
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
  return out;
}

/// An escape: the code point it stands for and its size in the text, or what is wrong with it.
struct Escape {
  int code = 0;
  int size = 0;
  const char* error = nullptr;
};

Escape unicode_escape(const char* at, const char* end) {
  constexpr int size = 6;
  const int code = hex4(at + 2, end);
  if (code < 0) return {.error = "four hex digits are expected behind \\u"};
  if (code < 0xD800 || code > 0xDFFF) return {code, size};
  const bool pair = code < 0xDC00 && end - at >= 2 * size && at[size] == '\\' && at[size + 1] == 'u';
  const int low = pair ? hex4(at + size + 2, end) : -1;
  if (low < 0xDC00 || low > 0xDFFF) return {.error = "a surrogate without its other half"};
  return {0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00), 2 * size};
}

/// The escape whose backslash is at `at`.
inline Escape escape_at(const char* at, const char* end) {
  if (end - at < 2) return {.error = "an escape that is cut off"};
  const char meaning = json_short_escape(at[1]);
  if (meaning != 0) return {meaning, 2};
  if (at[1] == 'u') return unicode_escape(at, end);
  return {.error = "an unknown escape"};
}

/// Appends the decoded form of a string that has been checked, [at, end) between its quotes.
std::string_view decode(const char* at, const char* end, std::string& to) {
  const std::size_t used = to.size();
  // No escape is shorter than what it stands for; the last copy may store up to a chunk too much.
  to.resize(used + static_cast<std::size_t>(end - at) + Chunk16::kSize);
  char* out = to.data() + used;
  while (at != end) {
    const auto left = static_cast<std::size_t>(end - at);
    const std::size_t step = std::min(left, Chunk16::kSize);
    const Chunk16 chunk = Chunk16::load_some(at, left);
    chunk.store(out);
    // Of the bytes that json_escapes() looks for, only backslashes can come first here, and zeros behind the
    // end.
    const auto plain = std::min(step, static_cast<std::size_t>(std::countr_zero(chunk.json_escapes())));
    at += plain;
    out += plain;
    if (plain == step) continue;
    const Escape escape = escape_at(at, end);
    out = put_code_point(out, escape.code);
    at += escape.size;
  }
  to.resize(static_cast<std::size_t>(out - to.data()));
  return std::string_view(to).substr(used);
}

}  // namespace

JsonReader::JsonReader(std::string_view text)
    : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

// Nothing is left to read behind a mistake, so that no other call needs to ask whether there was one.
bool JsonReader::fail(const char* error) {
  if (error_ == nullptr) error_ = at_ == end_ ? "the text ends too early" : error;
  end_ = at_;
  return false;
}

inline void JsonReader::blanks() {
  // Nothing above a space is blank, and mostly there is none.
  while (at_ != end_ && static_cast<unsigned char>(*at_) <= ' ' && is_blank(*at_)) ++at_;
}

inline JsonType JsonReader::look() {
  blanks();
  return at_ == end_ ? JsonType::invalid : kTypes[static_cast<unsigned char>(*at_)];
}

JsonType JsonReader::peek() {
  return look();
}

inline bool JsonReader::enter(JsonType type, const char* error) {
  if (look() != type) return fail(error);
  if (depth_ == kMaxDepth) return fail("nested too deep");
  ++at_;
  ++depth_;
  first_ = true;
  return true;
}

bool JsonReader::enter_object() {
  return enter(JsonType::object, "an object is expected");
}
bool JsonReader::enter_array() {
  return enter(JsonType::array, "an array is expected");
}

inline bool JsonReader::next(char closing, const char* error) {
  blanks();
  if (at_ != end_ && *at_ == closing) {
    ++at_;
    --depth_;
    first_ = false;
    return false;
  }
  if (first_) {
    first_ = false;
    return true;
  }
  if (at_ == end_ || *at_ != ',') return fail(error);
  ++at_;
  return true;
}

bool JsonReader::next_member(std::string_view& name) {
  name = {};
  if (!next('}', "a comma or } is expected")) return false;
  if (look() != JsonType::string) return fail("a member name is expected");
  name_.clear();
  name = quoted(&name_);
  blanks();
  if (at_ == end_ || *at_ != ':') {
    name = {};
    return fail("a colon is expected");
  }
  ++at_;
  return true;
}

bool JsonReader::next_element() {
  if (!next(']', "a comma or ] is expected")) return false;
  if (look() == JsonType::invalid) return fail("a value is expected");
  return true;
}

std::string_view JsonReader::string(std::string& scratch) {
  if (look() != JsonType::string) return fail("a string is expected"), std::string_view();
  return quoted(&scratch);
}

std::string_view JsonReader::quoted(std::string* scratch) {
  const char* const start = ++at_;
  at_ = plain_end(start, end_);
  if (at_ != end_ && *at_ == '"') return {start, static_cast<std::size_t>(at_++ - start)};
  if (!pass_escaped()) return {};
  const char* const closing = at_++;
  return scratch != nullptr ? decode(start, closing, *scratch) : std::string_view();
}

bool JsonReader::pass_escaped() {
  while (at_ != end_ && *at_ == '\\') {
    const Escape escape = escape_at(at_, end_);
    if (escape.error != nullptr) return fail(escape.error);
    at_ = plain_end(at_ + escape.size, end_);
  }
  if (at_ != end_ && *at_ == '"') return true;
  const bool ascii = at_ == end_ || is_ascii(*at_);
  return fail(ascii ? "a control character in a string" : "bytes that are not UTF-8");
}

std::int64_t JsonReader::integer() {
  if (look() != JsonType::number) return fail("a number is expected"), 0;
  const bool negative = *at_ == '-';
  const char* const digits = at_ + (negative ? 1 : 0);
  std::uint64_t magnitude = 0;  // may wrap; the count of digits tells
  const char* at = digits;
  for (; at != end_ && is_digit(*at); ++at)
    magnitude = magnitude * 10 + static_cast<std::uint64_t>(*at - '0');

  if (at == digits) return fail("a digit is expected"), 0;
  if (*digits == '0' && at - digits > 1) return fail("a number with a leading zero"), 0;
  if (at != end_ && (*at == '.' || *at == 'e' || *at == 'E')) return fail("a whole number is expected"), 0;
  constexpr std::uint64_t max = std::numeric_limits<std::int64_t>::max();
  constexpr int max_digits = 19;
  if (at - digits > max_digits || magnitude > max + (negative ? 1 : 0)) {
    return fail("a number beyond 64 bits"), 0;
  }
  at_ = at;
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

void JsonReader::pass_number() {
  const auto some_digits = [this] {
    const char* const start = at_;
    at_ = digits_end(at_, end_);
    return at_ != start || fail("a digit is expected");
  };
  if (*at_ == '-') ++at_;
  const char* const whole = at_;
  if (!some_digits()) return;
  if (*whole == '0' && at_ - whole > 1) {
    at_ = whole;
    fail("a number with a leading zero");
    return;
  }
  if (at_ != end_ && *at_ == '.') {
    ++at_;
    if (!some_digits()) return;
  }
  if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    some_digits();
  }
}

bool JsonReader::literal(std::string_view word) {
  const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
  if (!rest.starts_with(word)) return fail("an unknown word");
  at_ += word.size();
  return true;
}

bool JsonReader::boolean() {
  if (peek() != JsonType::boolean) return fail("true or false is expected");
  const bool value = *at_ == 't';
  return literal(value ? "true" : "false") && value;
}

bool JsonReader::null() {
  return peek() == JsonType::null && literal("null");
}

std::string_view JsonReader::skip() {
  blanks();
  const char* const start = at_;
  pass_value();
  if (!ok()) return {};
  return {start, static_cast<std::size_t>(at_ - start)};
}

// Recursive, but never deeper than kMaxDepth.
void JsonReader::pass_value() {
  switch (look()) {
    case JsonType::object:
      enter_object();
      for (std::string_view name; next_member(name);) pass_value();
      return;
    case JsonType::array:
      enter_array();
      while (next_element()) pass_value();
      return;
    case JsonType::string:
      quoted(nullptr);
      return;
    case JsonType::number:
      pass_number();
      return;
    case JsonType::boolean:
      boolean();
      return;
    case JsonType::null:
      null();
      return;
    case JsonType::invalid:
      fail("a value is expected");
      return;
  }
}

bool JsonReader::finish() {
  blanks();
  if (at_ != end_) fail("more text behind the value");
  if (depth_ != 0) fail("an object or array is not closed");
  return ok();
}

}  // namespace tk
