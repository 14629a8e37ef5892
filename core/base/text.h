// Numbers to text and back, without locale and without allocation where it matters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tk {

/// Bytes that a record or report line is built in; grows and is reused.
using TextBuffer = std::vector<char>;

inline void append(TextBuffer& to, std::string_view text) {
  to.insert(to.end(), text.begin(), text.end());
}
void append_number(TextBuffer& to, std::int64_t number);

/// A whole decimal number with an optional sign, nothing else around it; nothing on overflow.
std::optional<std::int64_t> parse_int(std::string_view text);
/// A size in bytes: digits, or digits with K, M or G (powers of 1024), cli.md §1.
std::optional<std::int64_t> parse_size(std::string_view text);

/// A point in time: epoch ms, ISO-8601 ("2026-11-29T10:00:00Z", "+05:30", no zone means UTC, seconds and
/// fractions optional), or relative to `now_ms` ("-15m", "-2h", "-7d", "-30s", "-10ms"). Nothing if it is
/// none of them.
std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t now_ms);
/// A length of time in ms: ISO-8601 ("PT10S", "P1DT2H", "PT0.5S"; no years and months, nothing negative), or
/// "500ms", "10s", "15m", "2h", "7d". Nothing if it is neither.
std::optional<std::int64_t> parse_duration(std::string_view text);
/// ISO-8601 in UTC with milliseconds.
std::string format_time(std::int64_t ms);

/// The edit distance within which a name counts as a misspelling of another, and the nearest of `names`
/// within it.
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& names);

/// True if the bytes are well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF).
bool is_utf8(std::string_view bytes);
/// The length of the longest prefix that is ASCII; what lies behind needs the full check.
std::size_t ascii_prefix(std::string_view bytes);

/// Base64 (RFC 4648, padded), as JSON output has it for bytes that are not text.
void append_base64(TextBuffer& to, std::string_view bytes);
/// Decodes padded base64; nothing if it is malformed.
std::optional<std::string> decode_base64(std::string_view text);

/// A text for messages: bytes that are not printable or not UTF-8 as \xNN, cut to `limit` bytes.
std::string printable(std::string_view bytes, std::size_t limit = 80);

}  // namespace tk
