// CRC-32C by the crc32 instruction, three streams side by side: the instruction takes three cycles but one
// can start every cycle. The sums of the first two streams are moved past the bytes behind them by a
// carry-less multiplication.
#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>

#include <cstring>

#include "core/base/crc32c_kernels.h"

namespace tk::crc_kernel {
namespace {

std::uint64_t word_at(const std::uint8_t* data) {
  std::uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

// Multiplies the register by x^(8*Bytes): clmul of two reflected values brings one x, crc32 of eight bytes
// x^32.
template <std::size_t Bytes>
std::uint32_t moved_past(std::uint32_t state) {
  constexpr std::uint32_t factor = x_power_mod(8 * Bytes - 33);
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(state)),
                                               _mm_cvtsi64_si128(static_cast<long long>(factor)), 0);
  return static_cast<std::uint32_t>(_mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(product))));
}

template <std::size_t Block>
std::uint32_t three_streams(std::uint32_t state, const std::uint8_t*& data, std::size_t& size) {
  while (size >= 3 * Block) {
    std::uint64_t a = state, b = 0, c = 0;
    for (std::size_t i = 0; i < Block; i += 8) {
      a = _mm_crc32_u64(a, word_at(data + i));
      b = _mm_crc32_u64(b, word_at(data + Block + i));
      c = _mm_crc32_u64(c, word_at(data + 2 * Block + i));
    }
    state =
        moved_past<Block>(moved_past<Block>(static_cast<std::uint32_t>(a)) ^ static_cast<std::uint32_t>(b)) ^
        static_cast<std::uint32_t>(c);
    data += 3 * Block;
    size -= 3 * Block;
  }
  return state;
}

}  // namespace

std::uint32_t sse42(std::uint32_t state, const std::uint8_t* data, std::size_t size) {
  state = three_streams<4096>(state, data, size);
  state = three_streams<256>(state, data, size);
  std::uint64_t wide_state = state;
  for (; size >= 8; data += 8, size -= 8) wide_state = _mm_crc32_u64(wide_state, word_at(data));
  state = static_cast<std::uint32_t>(wide_state);
  for (; size > 0; ++data, --size) state = _mm_crc32_u8(state, *data);
  return state;
}

}  // namespace tk::crc_kernel
#endif
