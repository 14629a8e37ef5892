// The simulator's randomness (replication.md §7.2): xoshiro256** seeded by splitmix64, one stream per
// purpose, so that a draw more in one leaves the others alone.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace tk {

class SimRandom {
 public:
  SimRandom(std::uint64_t seed, std::string_view stream) {
    std::uint64_t state = seed;
    for (const char c : stream) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    for (std::uint64_t& word : words_) word = split_mix(state);
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(words_[1] * 5, 7) * 9;
    const std::uint64_t t = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= t;
    words_[3] = std::rotl(words_[3], 45);
    return result;
  }

  /// From 0 to below `limit`, which is not 0; by rejection, so that every number is as likely.
  std::uint64_t below(std::uint64_t limit) {
    const std::uint64_t most = UINT64_MAX - UINT64_MAX % limit;
    std::uint64_t draw = next();
    while (draw >= most) draw = next();
    return draw % limit;
  }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  /// True `of` times in `in`.
  bool chance(std::uint64_t of, std::uint64_t in) { return below(in) < of; }

 private:
  static std::uint64_t split_mix(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::array<std::uint64_t, 4> words_{};
};

}  // namespace tk
