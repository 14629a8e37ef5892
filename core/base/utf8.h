// UTF-8 one sequence at a time, for those who must know where it ends or breaks (is_utf8() in text.h says
// only whether).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/bytes.h"

namespace tk {

/// What begins at a place in a text: a well-formed sequence of `length` bytes (1 to 4), or the first `length`
/// bytes (1 to 3) of one that breaks off there, which a decoder replaces by one U+FFFD.
struct Utf8Step {
  std::size_t length;
  bool valid;
};

/// Looks at what begins at `at`, which is below `end`.
inline Utf8Step utf8_step(const char* at, const char* end) {
  const auto byte = [at](std::size_t i) { return static_cast<unsigned char>(at[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const std::size_t there = std::min(length, static_cast<std::size_t>(end - at));
  // Narrower second bytes keep out overlong forms (E0, F0), surrogates (ED) and what lies above U+10FFFF
  // (F4).
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (there < 2 || byte(1) < low || byte(1) > high) return {1, false};
  for (std::size_t i = 2; i < length; ++i) {
    if (i == there || (byte(i) & 0xC0) != 0x80) return {i, false};
  }
  return {length, true};
}

inline bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

namespace detail {
/// The length of the well-formed sequence of two to four bytes that `word`, the next four bytes (the first
/// one lowest), begins with; 0 if there is none.
inline std::size_t multibyte_length(std::uint32_t word) {
  if ((word & 0xC0E0) == 0x80C0) return (word & 0x1E) != 0 ? 2 : 0;
  if ((word & 0xC0C0F0) == 0x8080E0) {
    const std::uint32_t top = word & 0x200F;  // the highest five bits of the code point
    return top != 0 && top != 0x200D ? 3 : 0;
  }
  if ((word & 0xC0C0C0F8) == 0x808080F0) {
    const std::uint32_t plane = (word & 0x07) << 2 | (word >> 12 & 0x03);
    return plane >= 1 && plane <= 16 ? 4 : 0;
  }
  return 0;
}
}  // namespace detail

/// Passes well-formed sequences of two to four bytes; stops at `end`, at ASCII, or where one breaks.
inline const char* multibyte_end(const char* at, const char* end) {
  while (end - at >= 4) {
    const std::size_t length = detail::multibyte_length(load_le<std::uint32_t>(at));
    if (length == 0) return at;
    at += length;
  }
  while (at != end && !is_ascii(*at)) {
    const Utf8Step step = utf8_step(at, end);
    if (!step.valid) break;
    at += step.length;
  }
  return at;
}

/// The length of the longest prefix that is well-formed UTF-8.
std::size_t utf8_prefix(std::string_view bytes);

}  // namespace tk
