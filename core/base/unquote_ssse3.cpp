// Compiled for SSSE3 and POPCNT: nothing of the other headers may come in here.
#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <cstdint>

#include "core/base/unquote.h"

namespace tk::unquote_kernel {
namespace {

/// For eight bytes, by the mask of those that are left out: which of them comes first, second, ...
using Shuffles = std::array<std::array<std::uint8_t, 8>, 256>;

constexpr Shuffles make_shuffles() {
  Shuffles all{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    unsigned count = 0;
    for (unsigned byte = 0; byte < 8; ++byte) {
      if ((mask >> byte & 1) == 0) all[mask][count++] = static_cast<std::uint8_t>(byte);
    }
  }
  return all;
}

constexpr Shuffles kShuffles = make_shuffles();

inline char* put_eight(char* to, __m128i bytes, std::uint32_t left_out) {
  const __m128i order = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kShuffles[left_out].data()));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(bytes, order));
  return to + 8 - _mm_popcnt_u32(left_out);
}

inline std::uint32_t places_of(__m128i bytes, char byte) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte))));
}

}  // namespace

Unquoted ssse3(const char* from, const char* end, char* to) {
  std::uint32_t escapes_next = 0;  // the last byte of the chunk before was a backslash
  for (; end - from >= 16; from += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    std::uint32_t backslashes = places_of(bytes, '\\');
    const std::uint32_t quotes = places_of(bytes, '"');
    const std::uint32_t escaped = ((backslashes << 1) | escapes_next) & 0xffff;
    const std::uint32_t other_escapes = escaped & ~quotes;
    const std::uint32_t stops = other_escapes | (quotes & ~escaped);
    if (stops != 0) {
      const int stop = __builtin_ctz(stops);
      // An escape is left whole, with its backslash.
      const int whole = stop - static_cast<int>(other_escapes >> stop & 1);
      if (whole < 0) break;
      backslashes &= (1U << whole) - 1;
      const char* const end_of_copy = from + whole;
      char* const end_of_text = to + whole - _mm_popcnt_u32(backslashes);
      to = put_eight(to, bytes, backslashes & 0xff);
      put_eight(to, _mm_srli_si128(bytes, 8), backslashes >> 8);
      return {end_of_copy, end_of_text};
    }
    to = put_eight(to, bytes, backslashes & 0xff);
    to = put_eight(to, _mm_srli_si128(bytes, 8), backslashes >> 8);
    escapes_next = backslashes >> 15;
  }
  return {from - escapes_next, to};
}

}  // namespace tk::unquote_kernel

#endif
