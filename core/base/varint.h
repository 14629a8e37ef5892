// Variable-length integers: base-128 groups, least significant first (kafka-on-disk.md §0.2).
//
// The signed forms are zigzag. As Kafka's reader does, overlong forms are accepted, a varint whose fifth byte
// (a varlong whose tenth) still announces another is refused, and surplus high bits of the last byte are
// dropped.
#pragma once

#include <bit>
#include <cstdint>

#include "core/base/bytes.h"

namespace tk {

inline constexpr std::size_t kMaxVarintBytes = 5;
inline constexpr std::size_t kMaxVarlongBytes = 10;

constexpr std::uint32_t zigzag(std::int32_t n) {
  return (static_cast<std::uint32_t>(n) << 1) ^ static_cast<std::uint32_t>(n >> 31);
}
constexpr std::uint64_t zigzag(std::int64_t n) {
  return (static_cast<std::uint64_t>(n) << 1) ^ static_cast<std::uint64_t>(n >> 63);
}
constexpr std::int32_t unzigzag(std::uint32_t u) {
  return static_cast<std::int32_t>((u >> 1) ^ (0U - (u & 1)));
}
constexpr std::int64_t unzigzag(std::uint64_t u) {
  return static_cast<std::int64_t>((u >> 1) ^ (0ULL - (u & 1)));
}

/// Bytes of the shortest form of `u`: one for every seven bits begun.
constexpr std::size_t uvarint_size(std::uint64_t u) {
  if (u < 0x4000) [[likely]]
    return 1 + static_cast<std::size_t>(u >= 0x80);
  return (static_cast<std::size_t>(std::bit_width(u | 1)) + 6) / 7;
}
constexpr std::size_t varint_size(std::int32_t n) {
  return uvarint_size(zigzag(n));
}
constexpr std::size_t varlong_size(std::int64_t n) {
  return uvarint_size(zigzag(n));
}

/// Numbers below this take one byte or two: their shortest form without a loop. Mostly one size follows the
/// same one, so asking costs less than computing both.
inline constexpr std::uint64_t kTwoByteLimit = 0x4000;
constexpr std::size_t small_uvarint_size(std::uint64_t u) {
  return u < 0x80 ? 1 : 2;
}
inline std::uint8_t* put_small_uvarint(std::uint8_t* to, std::uint64_t u) {
  if (u < 0x80) {
    *to = static_cast<std::uint8_t>(u);
    return to + 1;
  }
  store_le(to, static_cast<std::uint16_t>((u & 0x7f) | 0x80 | (u >> 7) << 8));
  return to + 2;
}

/// Writes the shortest form of `u` and returns the place behind it; up to 10 bytes are written.
inline std::uint8_t* put_uvarint(std::uint8_t* to, std::uint64_t u) {
  while (u >= 0x80) {
    *to++ = static_cast<std::uint8_t>(u | 0x80);
    u >>= 7;
  }
  *to++ = static_cast<std::uint8_t>(u);
  return to;
}
inline std::uint8_t* put_varint(std::uint8_t* to, std::int32_t n) {
  return put_uvarint(to, zigzag(n));
}
inline std::uint8_t* put_varlong(std::uint8_t* to, std::int64_t n) {
  return put_uvarint(to, zigzag(n));
}

namespace detail {
/// Reads up to MaxBytes groups in [at, end); null when the number does not end in time.
template <class U, std::size_t MaxBytes>
const std::uint8_t* get_groups(const std::uint8_t* at, const std::uint8_t* end, U& out) {
  U value = 0;
  for (std::size_t i = 0; i < MaxBytes && at != end; ++i) {
    const std::uint8_t byte = *at++;
    value |= static_cast<U>(static_cast<U>(byte & 0x7f) << (7 * i));
    if (byte < 0x80) {
      out = value;
      return at;
    }
  }
  return nullptr;
}
}  // namespace detail

/// Reads an unsigned number of at most kMaxShortVarint bytes in its shortest form and moves `at` behind it;
/// false for any other, which the functions below then judge. Reads up to kMaxShortVarint bytes at `at`: the
/// caller knows that they are there. Lengths, deltas and counts of nearly all records are such numbers.
inline constexpr std::size_t kMaxShortVarint = 3;
[[gnu::always_inline]] inline bool get_short_uvarint(const std::uint8_t*& at, std::uint32_t& out) {
  const std::uint32_t two = load_le<std::uint16_t>(at);
  if ((two & 0x80) == 0) {
    out = two & 0xff;
    at += 1;
    return true;
  }
  out = (two & 0x7f) | (two & 0x7f00) >> 1;
  if (two < 0x8000) [[likely]] {
    if (two < 0x100) [[unlikely]]
      return false;
    at += 2;
    return true;
  }
  const std::uint32_t third = at[2];
  if (third - 1 >= 0x7f) [[unlikely]]
    return false;
  out |= third << 14;
  at += 3;
  return true;
}

/// Reads a varint in [at, end) and returns the place behind it, or null when it is cut or too long.
inline const std::uint8_t* get_varint(const std::uint8_t* at, const std::uint8_t* end, std::int32_t& out) {
  if (at != end && *at < 0x80) {
    out = unzigzag(static_cast<std::uint32_t>(*at));
    return at + 1;
  }
  std::uint32_t u = 0;
  at = detail::get_groups<std::uint32_t, kMaxVarintBytes>(at, end, u);
  out = unzigzag(u);
  return at;
}

inline const std::uint8_t* get_varlong(const std::uint8_t* at, const std::uint8_t* end, std::int64_t& out) {
  if (at != end && *at < 0x80) {
    out = unzigzag(static_cast<std::uint64_t>(*at));
    return at + 1;
  }
  std::uint64_t u = 0;
  at = detail::get_groups<std::uint64_t, kMaxVarlongBytes>(at, end, u);
  out = unzigzag(u);
  return at;
}

inline const std::uint8_t* get_uvarint(const std::uint8_t* at, const std::uint8_t* end, std::uint32_t& out) {
  return detail::get_groups<std::uint32_t, kMaxVarintBytes>(at, end, out);
}

}  // namespace tk
