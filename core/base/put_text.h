// Words and numbers written to memory that has room for them, for lines of which there are millions. Each
// function returns the place behind what it wrote.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/base/bytes.h"

namespace tk {

/// Characters that put_number writes at most: a sign and 19 digits.
inline constexpr std::size_t kMaxDigits = 20;

namespace detail {

inline constexpr std::array<char, 200> kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

inline constexpr std::array<std::uint64_t, 20> kPowersOfTen = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
  return powers;
}();

}  // namespace detail

/// Writes a literal: by plain stores, not by a call.
template <std::size_t N>
char* put(char* at, const char (&words)[N]) {
  std::memcpy(at, words, N - 1);
  return at + (N - 1);
}

inline char* put_text(char* at, std::string_view text) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

/// Decimal digits of `number`, 1 to 20.
inline std::size_t digit_count(std::uint64_t number) {
  // 1233 / 4096 is just above log10(2): the estimate is right or one too small.
  const auto bits = static_cast<std::size_t>(std::bit_width(number | 1));
  const std::size_t estimate = bits * 1233 >> 12;
  return estimate + ((number | 1) >= detail::kPowersOfTen[estimate] ? 1 : 0);
}

/// Writes the digits, two at a time from the back, straight to their place: a copy of just written pieces
/// would stall.
inline char* put_digits(char* at, std::uint64_t number) {
  if (number < 10) {
    *at = static_cast<char>('0' + number);
    return at + 1;
  }
  char* const end = at + digit_count(number);
  char* behind = end;
  while (number >= 100) {
    behind -= 2;
    std::memcpy(behind, &detail::kDigitPairs[2 * (number % 100)], 2);
    number /= 100;
  }
  if (number >= 10) {
    std::memcpy(at, &detail::kDigitPairs[2 * number], 2);
  } else {
    *at = static_cast<char>('0' + number);
  }
  return end;
}

/// The same of a signed number.
inline char* put_number(char* at, std::int64_t number) {
  auto magnitude = static_cast<std::uint64_t>(number);
  if (number < 0) {
    *at++ = '-';
    magnitude = 0 - magnitude;
  }
  return put_digits(at, magnitude);
}

namespace detail {

/// The same byte in all places of a word.
constexpr std::uint64_t in_each_byte(std::uint8_t byte) {
  return 0x0101010101010101U * byte;
}

/// Eight numbers below 16, one a byte, as lower-case hexadecimal digits.
inline std::uint64_t hex_digits_of(std::uint64_t nibbles) {
  constexpr std::uint8_t letters_ahead = 'a' - '9' - 1;
  const std::uint64_t letters = ((nibbles + in_each_byte(6)) >> 4) & in_each_byte(1);
  return nibbles + in_each_byte('0') + letters * letters_ahead;
}

}  // namespace detail

/// Writes eight lower-case hexadecimal digits, all in one word.
inline char* put_hex32(char* at, std::uint32_t number) {
  std::uint64_t spread = detail::byte_swapped(number);
  spread = (spread | spread << 16) & 0x0000ffff0000ffffU;
  spread = (spread | spread << 8) & 0x00ff00ff00ff00ffU;
  spread = ((spread >> 4) & detail::in_each_byte(0x0f) & 0x00ff00ff00ff00ffU) |
           ((spread << 8) & 0x0f000f000f000f00U);
  store_le(at, detail::hex_digits_of(spread));
  return at + 8;
}

/// Reads the eight hexadecimal digits of either case at `at`; nothing if one of them is none.
inline std::optional<std::uint32_t> read_hex32(const char* at) {
  const auto text = load_le<std::uint64_t>(at);
  const std::uint64_t letters = (text >> 6) & detail::in_each_byte(1);
  const std::uint64_t nibbles =
      ((text & detail::in_each_byte(0x0f)) + 9 * letters) & detail::in_each_byte(0x0f);
  // Written again it must be what was read, but for the bit that makes letters small.
  if (detail::hex_digits_of(nibbles) != (text | letters << 5)) return std::nullopt;
  std::uint64_t packed = (nibbles << 4 | nibbles >> 8) & 0x00ff00ff00ff00ffU;
  packed = (packed | packed >> 8) & 0x0000ffff0000ffffU;
  return detail::byte_swapped(static_cast<std::uint32_t>(packed | packed >> 16));
}

}  // namespace tk
