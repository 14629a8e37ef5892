// Bytes as spans, big-endian loads and stores, and a reader that checks every length.
//
// Everything Kafka owns on disk is big-endian (kafka-on-disk.md §0.1). Bytes from disk are hostile:
// `ByteReader` never reads past its span and latches a failure instead of throwing, so that a decoder checks
// once at the end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace tk {

using ByteView = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

namespace detail {
template <class T>
constexpr T byte_swapped(T value) {
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
  return value;
}
}  // namespace detail

/// Reads a big-endian T at `from`; the caller has checked that sizeof(T) bytes are there.
template <class T>
T load_be(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return detail::byte_swapped(value);
}

/// Writes `value` big-endian at `to`; the caller has checked that sizeof(T) bytes fit.
template <class T>
void store_be(void* to, T value) {
  value = detail::byte_swapped(value);
  std::memcpy(to, &value, sizeof value);
}

/// Reads a little-endian T (codec payloads only).
template <class T>
T load_le(const void* from) {
  static_assert(std::endian::native == std::endian::little, "only little-endian machines are supported");
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store_le(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// A cursor over bytes. After the first read that does not fit, `ok()` is false, every further read gives
/// zero or an empty span, and the position no longer moves.
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }

  template <class T>
  T be() {
    if (!fits(sizeof(T))) return T{};
    T value = load_be<T>(bytes_.data() + position_);
    position_ += sizeof(T);
    return value;
  }

  ByteView take(std::size_t count) {
    if (!fits(count)) return {};
    ByteView part = bytes_.subspan(position_, count);
    position_ += count;
    return part;
  }

  void fail() { ok_ = false; }

 private:
  bool fits(std::size_t count) {
    if (!ok_ || count > remaining()) ok_ = false;
    return ok_;
  }

  ByteView bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace tk
