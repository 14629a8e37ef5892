// Copying texts of some dozens of bytes, as keys and values are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tk {

/// Copies `size` bytes that do not overlap, and nothing beyond them on either side. For short texts, whose
/// copy through a call would cost more than itself.
inline void copy_short(void* to, const void* from, std::size_t size) {
  constexpr std::size_t step = 16, most = 512;
  auto* const out = static_cast<std::uint8_t*>(to);
  const auto* const in = static_cast<const std::uint8_t*>(from);
  if (size >= step && size <= most) {
    // The last step goes back over what is copied already instead of counting the rest.
    for (std::size_t at = 0; at + step < size; at += step) std::memcpy(out + at, in + at, step);
    std::memcpy(out + size - step, in + size - step, step);
  } else if (size >= 8 && size < step) {
    std::uint64_t first = 0, last = 0;
    std::memcpy(&first, in, 8);
    std::memcpy(&last, in + size - 8, 8);
    std::memcpy(out, &first, 8);
    std::memcpy(out + size - 8, &last, 8);
  } else if (size > 0) {
    std::memcpy(out, in, size);
  }
}

}  // namespace tk
