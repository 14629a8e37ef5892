// Sixteen bytes of text looked at in one step: the only place that knows vector instructions for text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/bytes.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tk {

/// Sixteen bytes. In the masks that it gives, bit i stands for byte i; no bit above 15 is ever set.
class Chunk16 {
 public:
  static constexpr std::size_t kSize = 16;

  /// The kSize bytes at `from`.
  static Chunk16 load(const char* from);
  /// The `count` bytes at `from`, fewer than kSize, and zeros behind them; nothing beyond them is read.
  static Chunk16 load_part(const char* from, std::size_t count);
  /// The first kSize of the `left` bytes at `from`; zeros make up for what is not there.
  static Chunk16 load_some(const char* from, std::size_t left) {
    return left >= kSize ? load(from) : load_part(from, left);
  }
  /// Writes all kSize bytes.
  void store(char* to) const;
  /// All bits that one of them has: what is sought by its high bit is found in both at once.
  [[nodiscard]] Chunk16 operator|(Chunk16 other) const;
  /// All bits that both have.
  [[nodiscard]] Chunk16 operator&(Chunk16 other) const;

  /// Bytes that have a meaning within a JSON string: quote, backslash, control characters, and whatever is
  /// not ASCII.
  [[nodiscard]] std::uint32_t json_stops() const;
  /// The same as bytes: 0xff for each of them, 0 for any other. To look for them in many chunks at once.
  [[nodiscard]] Chunk16 marked_stops() const;
  /// Bytes that must be escaped in a JSON string: quote, backslash, control characters.
  [[nodiscard]] std::uint32_t json_escapes() const;
  /// Quotes and backslashes.
  [[nodiscard]] std::uint32_t json_quoting() const;
  /// The same as bytes: 0xff for each of them, 0 for any other. To look for them in many chunks at once.
  [[nodiscard]] Chunk16 marked_quoting() const;
  /// 0xff for each `byte`, 0 for any other.
  [[nodiscard]] Chunk16 marked(char byte) const;
  /// 0xff for each control character, 0 for any other byte.
  [[nodiscard]] Chunk16 marked_controls() const;
  /// Bytes from 0x80 on.
  [[nodiscard]] std::uint32_t non_ascii() const;

 private:
#if defined(__SSE2__)
  using Bytes = __m128i;
#else
  using Bytes = std::array<std::uint8_t, kSize>;
#endif
  explicit Chunk16(Bytes bytes) : bytes_(bytes) {}

  Bytes bytes_;
};

inline Chunk16 Chunk16::load_part(const char* from, std::size_t count) {
  // Two loads that overlap cover any count of a range; bytes that both hold fall on the same place.
  std::uint64_t low = 0, high = 0;
  if (count >= 8) {
    low = load_le<std::uint64_t>(from);
    high = load_le<std::uint64_t>(from + count - 8) >> 8 >> (8 * (15 - count));
  } else if (count >= 4) {
    low = load_le<std::uint32_t>(from);
    low |= static_cast<std::uint64_t>(load_le<std::uint32_t>(from + count - 4)) << (8 * (count - 4));
  } else if (count > 0) {
    for (const std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
      low |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(from[i])) << (8 * i);
    }
  }
  const std::array<std::uint64_t, 2> words = {low, high};
  Bytes bytes;
  std::memcpy(&bytes, words.data(), kSize);
  return Chunk16(bytes);
}

#if defined(__SSE2__)

inline Chunk16 Chunk16::load(const char* from) {
  return Chunk16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

inline void Chunk16::store(char* to) const {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes_);
}

inline Chunk16 Chunk16::operator|(Chunk16 other) const {
  return Chunk16(_mm_or_si128(bytes_, other.bytes_));
}

inline Chunk16 Chunk16::operator&(Chunk16 other) const {
  return Chunk16(_mm_and_si128(bytes_, other.bytes_));
}

inline Chunk16 Chunk16::marked(char byte) const {
  return Chunk16(_mm_cmpeq_epi8(bytes_, _mm_set1_epi8(byte)));
}

inline Chunk16 Chunk16::marked_stops() const {
  // With this bit turned the quote lies right above the controls and nothing else does. As signed numbers the
  // bytes from 0x80 on are negative, so one comparison finds all three.
  const __m128i turned = _mm_xor_si128(bytes_, _mm_set1_epi8(0x02));
  return Chunk16(
      _mm_or_si128(_mm_cmplt_epi8(turned, _mm_set1_epi8(0x21)), _mm_cmpeq_epi8(bytes_, _mm_set1_epi8('\\'))));
}

inline std::uint32_t Chunk16::json_stops() const {
  return marked_stops().non_ascii();
}

inline std::uint32_t Chunk16::json_escapes() const {
  return (marked_quoting() | marked_controls()).non_ascii();
}

inline Chunk16 Chunk16::marked_controls() const {
  return Chunk16(_mm_cmpeq_epi8(_mm_min_epu8(bytes_, _mm_set1_epi8(0x1f)), bytes_));
}

inline Chunk16 Chunk16::marked_quoting() const {
  return marked('"') | marked('\\');
}

inline std::uint32_t Chunk16::json_quoting() const {
  return marked_quoting().non_ascii();
}

inline std::uint32_t Chunk16::non_ascii() const {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes_));
}

#else

namespace detail {
template <class Matches>
std::uint32_t mask_of(const std::array<std::uint8_t, Chunk16::kSize>& bytes, Matches matches) {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) mask |= static_cast<std::uint32_t>(matches(bytes[i])) << i;
  return mask;
}
}  // namespace detail

inline Chunk16 Chunk16::load(const char* from) {
  Bytes bytes;
  std::memcpy(bytes.data(), from, kSize);
  return Chunk16(bytes);
}

inline void Chunk16::store(char* to) const {
  std::memcpy(to, bytes_.data(), kSize);
}

inline Chunk16 Chunk16::operator|(Chunk16 other) const {
  Bytes bytes = bytes_;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] |= other.bytes_[i];
  return Chunk16(bytes);
}

inline std::uint32_t Chunk16::json_stops() const {
  return json_escapes() | non_ascii();
}

inline std::uint32_t Chunk16::json_escapes() const {
  return detail::mask_of(bytes_,
                         [](std::uint8_t byte) { return byte < 0x20 || byte == '"' || byte == '\\'; });
}

inline std::uint32_t Chunk16::json_quoting() const {
  return detail::mask_of(bytes_, [](std::uint8_t byte) { return byte == '"' || byte == '\\'; });
}

inline Chunk16 Chunk16::marked_stops() const {
  Bytes marks;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const std::uint8_t byte = bytes_[i];
    marks[i] = byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\' ? 0xff : 0;
  }
  return Chunk16(marks);
}

inline Chunk16 Chunk16::operator&(Chunk16 other) const {
  Bytes bytes = bytes_;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] &= other.bytes_[i];
  return Chunk16(bytes);
}

inline Chunk16 Chunk16::marked(char byte) const {
  Bytes marks;
  for (std::size_t i = 0; i < marks.size(); ++i)
    marks[i] = bytes_[i] == static_cast<std::uint8_t>(byte) ? 0xff : 0;
  return Chunk16(marks);
}

inline Chunk16 Chunk16::marked_controls() const {
  Bytes marks;
  for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = bytes_[i] < 0x20 ? 0xff : 0;
  return Chunk16(marks);
}

inline Chunk16 Chunk16::marked_quoting() const {
  Bytes marks;
  for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = bytes_[i] == '"' || bytes_[i] == '\\' ? 0xff : 0;
  return Chunk16(marks);
}

inline std::uint32_t Chunk16::non_ascii() const {
  return detail::mask_of(bytes_, [](std::uint8_t byte) { return byte >= 0x80; });
}

#endif

}  // namespace tk
