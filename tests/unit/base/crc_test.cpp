#include <doctest/doctest.h>

#include <array>
#include <random>
#include <vector>

#include "core/base/crc.h"

using namespace tk;

namespace {
// One bit at a time, straight from the definition: the reference that the kernels must agree with.
std::uint32_t bitwise_crc32c(ByteView bytes, std::uint32_t seed) {
  std::uint32_t state = ~seed;
  for (const std::uint8_t byte : bytes) {
    state ^= byte;
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) ? 0x82F63B78U : 0U);
  }
  return ~state;
}
}  // namespace

TEST_SUITE("base.crc") {
  TEST_CASE("the check values of the two polynomials") {
    CHECK(crc32c(as_bytes("123456789")) == 0xE3069283U);
    CHECK(crc32(as_bytes("123456789")) == 0xCBF43926U);
    CHECK(crc32c({}) == 0);
  }

  TEST_CASE("every kernel agrees with the bitwise sum at every size, alignment and seed") {
    std::mt19937 random(7);
    std::vector<std::uint8_t> bytes(70000);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    std::vector<std::size_t> sizes;
    for (std::size_t size = 0; size < 1100; ++size) sizes.push_back(size);
    for (const std::size_t size : {3071U, 3072U, 4096U, 12288U, 12289U, 16384U, 65536U, 69000U})
      sizes.push_back(size);
    for (const auto kernel : {Crc32cKernel::portable, Crc32cKernel::sse42, Crc32cKernel::wide}) {
      if (!crc32c_supported(kernel)) continue;
      CAPTURE(static_cast<int>(kernel));
      for (const std::size_t size : sizes) {
        const std::size_t start = random() % 64;
        const auto seed = static_cast<std::uint32_t>(random());
        const ByteView part = ByteView(bytes).subspan(start, size);
        REQUIRE(crc32c_by(kernel, part, seed) == bitwise_crc32c(part, seed));
      }
    }
  }

  TEST_CASE("a sum can be continued") {
    const ByteView all = as_bytes("123456789");
    CHECK(crc32c(all.subspan(4), crc32c(all.first(4))) == 0xE3069283U);
  }
}
