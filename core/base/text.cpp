#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/utf8.h"

namespace tk {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

/// The fewest insertions, removals, replacements and swaps of neighbours that turn `a` into `b`, no part of
/// the text being edited twice.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

/// True for a well-formed sequence that a terminal shows as a character, without moving the cursor or turning
/// the direction of what follows.
bool is_printable(std::string_view sequence) {
  if (sequence.size() == 1) return sequence[0] >= 0x20 && sequence[0] != 0x7f;
  if (sequence.size() == 2) return sequence >= "\xC2\xA0";  // below: the control characters U+0080 to U+009F
  const bool separator_or_override =
      sequence >= "\xE2\x80\xA8" && sequence <= "\xE2\x80\xAE";                   // U+2028 to U+202E
  const bool isolate = sequence >= "\xE2\x81\xA6" && sequence <= "\xE2\x81\xA9";  // U+2066 to U+2069
  return !separator_or_override && !isolate;
}

}  // namespace

void append_number(TextBuffer& to, std::int64_t number) {
  std::array<char, 20> digits;  // the sign and 19 digits
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  to.insert(to.end(), digits.data(), end);
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || behind != end) return std::nullopt;
  return number;
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  constexpr std::string_view units = "KMG";
  const std::size_t unit = units.find(text.back());
  std::int64_t factor = 1;
  if (unit != std::string_view::npos) {
    factor <<= 10 * (unit + 1);
    text.remove_suffix(1);
  }
  const auto number = parse_int(text);
  std::int64_t size = 0;
  if (!number || __builtin_mul_overflow(*number, factor, &size)) return std::nullopt;
  return size;
}

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& names) {
  const std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
  const std::string* nearest = nullptr;
  std::size_t nearest_distance = limit + 1;
  for (const std::string& candidate : names) {
    const auto [shorter, longer] = std::minmax({name.size(), candidate.size()});
    if (longer - shorter > limit) continue;
    const std::size_t distance = edit_distance(name, candidate);
    // A name that has not one letter in common with it is no misspelling, however short both are.
    if (distance >= nearest_distance || (distance > 0 && distance >= longer)) continue;
    nearest = &candidate;
    nearest_distance = distance;
  }
  if (nearest == nullptr) return std::nullopt;
  return *nearest;
}

std::string printable(std::string_view bytes, std::size_t limit) {
  constexpr std::string_view cut_mark = "...";
  std::string shown;
  std::size_t room_for_mark = 0;  // how much of `shown` stays when the mark must follow
  const char* const end = bytes.data() + bytes.size();
  for (const char* at = bytes.data(); at != end;) {
    const Utf8Step step = utf8_step(at, end);
    std::string piece(at, step.length);
    if (!step.valid || !is_printable(piece)) {
      piece.clear();
      for (std::size_t i = 0; i < step.length; ++i) {
        const auto byte = static_cast<unsigned char>(at[i]);
        piece += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
      }
    }
    if (shown.size() + piece.size() > limit) {
      shown.resize(room_for_mark);
      return shown.append(cut_mark.substr(0, limit - room_for_mark));
    }
    shown += piece;
    at += step.length;
    if (shown.size() + cut_mark.size() <= limit) room_for_mark = shown.size();
  }
  return shown;
}

}  // namespace tk
