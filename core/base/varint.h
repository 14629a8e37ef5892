// Variable-length integers: base-128 groups, least significant first (kafka-on-disk.md §0.2).
//
// The signed forms are zigzag. As Kafka's reader does, overlong forms are accepted, a varint whose fifth byte
// (a varlong whose tenth) still announces another is refused, and surplus high bits of the last byte are
// dropped.
#pragma once

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

/// Bytes of the shortest form of `u`.
constexpr std::size_t uvarint_size(std::uint64_t u) {
  std::size_t size = 1;
  while (u >= 0x80) {
    u >>= 7;
    ++size;
  }
  return size;
}
constexpr std::size_t varint_size(std::int32_t n) {
  return uvarint_size(zigzag(n));
}
constexpr std::size_t varlong_size(std::int64_t n) {
  return uvarint_size(zigzag(n));
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
