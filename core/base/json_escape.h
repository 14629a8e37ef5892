// Escaping of JSON strings, sixteen bytes at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/base/chunk16.h"

namespace tk {

namespace detail {

/// What stands for a byte in a string; all of `text` is copied and `size` of it kept.
struct JsonEscape {
  std::array<char, 7> text{};
  std::uint8_t size = 0;
};

inline constexpr std::array<JsonEscape, '\\' + 1> kJsonEscapes = [] {
  constexpr std::string_view hex_digits = "0123456789abcdef";
  std::array<JsonEscape, '\\' + 1> escapes{};
  for (std::size_t c = 0; c < 0x20; ++c) {
    escapes[c] = {{'\\', 'u', '0', '0', hex_digits[c >> 4], hex_digits[c & 15]}, 6};
  }
  escapes['\n'] = {{'\\', 'n'}, 2};
  escapes['\t'] = {{'\\', 't'}, 2};
  escapes['\r'] = {{'\\', 'r'}, 2};
  escapes['\b'] = {{'\\', 'b'}, 2};
  escapes['\f'] = {{'\\', 'f'}, 2};
  escapes['"'] = {{'\\', '"'}, 2};
  escapes['\\'] = {{'\\', '\\'}, 2};
  return escapes;
}();

inline constexpr std::array<char, 256> kJsonShortEscapes = [] {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  std::array<char, 256> escapes{};
  for (std::size_t i = 0; i < letters.size(); ++i)
    escapes[static_cast<unsigned char>(letters[i])] = meanings[i];
  return escapes;
}();

}  // namespace detail

/// What the letter behind a backslash stands for; 0 where it is none of the short escapes.
inline char json_short_escape(char letter) {
  return detail::kJsonShortEscapes[static_cast<unsigned char>(letter)];
}

/// Room that a chunk may take beyond its own bytes: an escape for each of them, and what the last copy stores
/// too much.
inline constexpr std::size_t kJsonEscapeSlack =
    5 * Chunk16::kSize + sizeof(detail::JsonEscape) + Chunk16::kSize;

/// Bytes that put_json_escaped writes at most, or touches beyond.
constexpr std::size_t json_escaped_bound(std::size_t size) {
  return 6 * size + kJsonEscapeSlack;
}

/// Writes the next `step` bytes at `at`, at most a chunk of what lies before `end`, escaped to `out`, which
/// has room for all of them escaped and kJsonEscapeSlack more; returns the place behind. `mask` has the bytes
/// to escape; the chunk itself is at `out` already.
inline char* escape_json_chunk(const char* at, std::size_t step, const char* end, std::uint32_t mask,
                               char* out) {
  std::size_t done = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto next = static_cast<std::size_t>(std::countr_zero(mask));
    const detail::JsonEscape& escape = detail::kJsonEscapes[static_cast<unsigned char>(at[next])];
    out += next - done;
    std::memcpy(out, &escape, sizeof escape);
    out += escape.size;
    done = next + 1;
    Chunk16::load_some(at + done, static_cast<std::size_t>(end - at) - done).store(out);
  }
  return out + (step - done);
}

namespace detail {

/// Copies `text` up to the first chunk that needs an escape, and returns how much that is; all of a text that
/// needs none. `high` gets the bits of what was copied.
inline std::size_t copy_plain(char* out, std::string_view text, Chunk16& high) {
  constexpr std::size_t step = Chunk16::kSize;
  const char* const from = text.data();
  std::size_t at = 0;
  while (text.size() - at >= 2 * step) {
    const Chunk16 first = Chunk16::load(from + at), second = Chunk16::load(from + at + step);
    first.store(out + at);
    second.store(out + at + step);
    if ((first.json_escapes() | second.json_escapes()) != 0) return at;
    high = high | first | second;
    at += 2 * step;
  }
  if (text.size() - at > step) {
    const Chunk16 chunk = Chunk16::load(from + at);
    if (chunk.json_escapes() != 0) return at;
    chunk.store(out + at);
    high = high | chunk;
    at += step;
  }
  if (text.size() == at || text.size() < step) return at;
  // The last chunk goes back over what is copied already.
  const Chunk16 last = Chunk16::load(from + text.size() - step);
  if (last.json_escapes() != 0) return at;
  last.store(out + text.size() - step);
  high = high | last;
  return text.size();
}

/// Copies `text` and says whether it is ASCII without anything to escape, which nearly all texts are; if not,
/// what was written is of no use. Only for texts of a chunk at least.
inline bool copy_ascii_text(char* out, std::string_view text) {
  constexpr std::size_t step = Chunk16::kSize;
  const char* const from = text.data();
  // The last chunk goes back over what is copied already.
  const Chunk16 last = Chunk16::load(from + text.size() - step);
  last.store(out + text.size() - step);
  Chunk16 stops = last.marked_stops();
  for (std::size_t at = 0; at + step < text.size(); at += step) {
    const Chunk16 chunk = Chunk16::load(from + at);
    chunk.store(out + at);
    stops = stops | chunk.marked_stops();
  }
  return stops.non_ascii() == 0;
}

}  // namespace detail

/// Writes `text` escaped, without quotes, to `out`, which has room for json_escaped_bound(text.size()) bytes;
/// returns the place behind. Sets `non_ascii` if a byte above 0x7f occurs: whether it is UTF-8 is the
/// caller's to know.
inline char* put_json_escaped(char* out, std::string_view text, bool& non_ascii) {
  // (A text full of quotes mostly begins with one.)
  if (text.size() >= Chunk16::kSize && Chunk16::load(text.data()).json_stops() == 0 &&
      detail::copy_ascii_text(out, text)) {
    return out + text.size();
  }
  Chunk16 high = Chunk16::load_part("", 0);
  const std::size_t plain = detail::copy_plain(out, text, high);
  out += plain;
  const char* at = text.data() + plain;
  const char* const end = text.data() + text.size();
  while (at != end) {
    const auto left = static_cast<std::size_t>(end - at);
    const std::size_t step = left < Chunk16::kSize ? left : Chunk16::kSize;
    const Chunk16 chunk = Chunk16::load_some(at, left);
    chunk.store(out);
    high = high | chunk;
    // The zeros of a part are controls, too, but none of the text.
    const std::uint32_t mask = chunk.json_escapes() & ((1U << step) - 1);
    out = mask == 0 ? out + step : escape_json_chunk(at, step, end, mask, out);
    at += step;
  }
  non_ascii |= high.non_ascii() != 0;
  return out;
}

}  // namespace tk
