// CRC-32C by folding 256 bytes at a time with 512-bit carry-less multiplications (AVX-512 with VPCLMULQDQ).
//
// A 128-bit lane holds a polynomial of degree below 128, reflected. Moving it D bits forward multiplies its
// low half (the higher degrees) by x^(D+63) and its high half by x^(D-1): clmul of reflected values brings
// one x by itself.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

#include "core/base/crc32c_kernels.h"

namespace tk::crc_kernel {
namespace {

template <std::uint64_t Bits>
constexpr long long kLow = static_cast<long long>(static_cast<std::uint64_t>(x_power_mod(Bits + 63)) << 32);
template <std::uint64_t Bits>
constexpr long long kHigh = static_cast<long long>(static_cast<std::uint64_t>(x_power_mod(Bits - 1)) << 32);

template <std::uint64_t Bits>
__m512i factors() {
  return _mm512_set_epi64(kHigh<Bits>, kLow<Bits>, kHigh<Bits>, kLow<Bits>, kHigh<Bits>, kLow<Bits>,
                          kHigh<Bits>, kLow<Bits>);
}

__m512i moved(__m512i value, __m512i by, __m512i next) {
  constexpr int xor_of_three = 0x96;
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(value, by, 0x00),
                                   _mm512_clmulepi64_epi128(value, by, 0x11), next, xor_of_three);
}

__m128i moved_lane(__m128i value, __m128i next) {
  const __m128i by = _mm_set_epi64x(kHigh<128>, kLow<128>);
  return _mm_xor_si128(
      _mm_xor_si128(_mm_clmulepi64_si128(value, by, 0x00), _mm_clmulepi64_si128(value, by, 0x11)), next);
}

// The form with a mask of all four words: GCC 12 warns that the plain one reads an uninitialized value.
template <int Index>
__m128i lane_of(__m512i value) {
  return _mm512_maskz_extracti32x4_epi32(0xf, value, Index);
}

__m512i load(const std::uint8_t* data) {
  return _mm512_loadu_si512(data);
}

}  // namespace

std::uint32_t wide(std::uint32_t state, const std::uint8_t* data, std::size_t size) {
  if (size < 512) return sse42(state, data, size);
  __m512i a =
      _mm512_xor_si512(load(data), _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state))));
  __m512i b = load(data + 64), c = load(data + 128), d = load(data + 192);
  data += 256;
  size -= 256;
  const __m512i by_2048 = factors<2048>();
  for (; size >= 256; data += 256, size -= 256) {
    a = moved(a, by_2048, load(data));
    b = moved(b, by_2048, load(data + 64));
    c = moved(c, by_2048, load(data + 128));
    d = moved(d, by_2048, load(data + 192));
  }
  const __m512i by_512 = factors<512>();
  a = moved(moved(moved(a, by_512, b), by_512, c), by_512, d);
  for (; size >= 64; data += 64, size -= 64) a = moved(a, by_512, load(data));
  __m128i lane = moved_lane(lane_of<0>(a), lane_of<1>(a));
  lane = moved_lane(lane, lane_of<2>(a));
  lane = moved_lane(lane, lane_of<3>(a));
  const std::uint64_t high = static_cast<std::uint64_t>(_mm_extract_epi64(lane, 1));
  const std::uint64_t low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(lane));
  state = static_cast<std::uint32_t>(_mm_crc32_u64(_mm_crc32_u64(0, low), high));
  return sse42(state, data, size);
}

}  // namespace tk::crc_kernel
#endif
