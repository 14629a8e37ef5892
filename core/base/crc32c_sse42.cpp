// CRC-32C by the crc32 instruction, three streams side by side: the instruction takes three cycles but one
// can start every cycle. The sums of the first two streams are moved past the bytes behind them by a
// carry-less multiplication.
#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>

#include <array>
#include <cstring>

#include "core/base/crc32c_kernels.h"

namespace tk::crc_kernel {
namespace {

std::uint64_t word_at(const std::uint8_t* data) {
  std::uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

// What moves the register past so many bytes by multiplying it with x^(8*bytes): clmul of two reflected
// values brings one x, crc32 of eight bytes x^32.
constexpr std::uint32_t factor_past(std::size_t bytes) {
  return x_power_mod(8 * bytes - 33);
}

std::uint32_t moved_by(std::uint32_t state, std::uint32_t factor) {
  const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(state)),
                                               _mm_cvtsi64_si128(static_cast<long long>(factor)), 0);
  return static_cast<std::uint32_t>(_mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_cvtsi128_si64(product))));
}

template <std::size_t Bytes>
std::uint32_t moved_past(std::uint32_t state) {
  constexpr std::uint32_t factor = factor_past(Bytes);
  return moved_by(state, factor);
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

// What is left behind blocks of fixed size is split in three, too: a record's text is not much longer than
// one stream takes to get going.
constexpr std::size_t kLeastSplit = 96, kMostWords = 32;
constexpr std::array<std::uint32_t, 2 * kMostWords + 1> kFactorsPastWords = [] {
  std::array<std::uint32_t, 2 * kMostWords + 1> factors{};
  for (std::size_t words = 1; words < factors.size(); ++words) factors[words] = factor_past(8 * words);
  return factors;
}();

std::uint32_t split_in_three(std::uint32_t state, const std::uint8_t*& data, std::size_t& size) {
  const std::size_t words = size / 24;
  const std::size_t block = 8 * words;
  std::uint64_t a = state, b = 0, c = 0;
  for (const std::uint8_t* const end = data + block; data != end; data += 8) {
    a = _mm_crc32_u64(a, word_at(data));
    b = _mm_crc32_u64(b, word_at(data + block));
    c = _mm_crc32_u64(c, word_at(data + 2 * block));
  }
  data += 2 * block;
  size -= 3 * block;
  return moved_by(static_cast<std::uint32_t>(a), kFactorsPastWords[2 * words]) ^
         moved_by(static_cast<std::uint32_t>(b), kFactorsPastWords[words]) ^ static_cast<std::uint32_t>(c);
}

}  // namespace

std::uint32_t sse42(std::uint32_t state, const std::uint8_t* data, std::size_t size) {
  state = three_streams<4096>(state, data, size);
  state = three_streams<256>(state, data, size);
  if (size >= kLeastSplit) state = split_in_three(state, data, size);
  std::uint64_t wide_state = state;
  for (; size >= 8; data += 8, size -= 8) wide_state = _mm_crc32_u64(wide_state, word_at(data));
  state = static_cast<std::uint32_t>(wide_state);
  if (size >= 4) {
    std::uint32_t half = 0;
    std::memcpy(&half, data, sizeof half);
    state = _mm_crc32_u32(state, half);
    data += 4;
    size -= 4;
  }
  for (; size > 0; ++data, --size) state = _mm_crc32_u8(state, *data);
  return state;
}

}  // namespace tk::crc_kernel
#endif
