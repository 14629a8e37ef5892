// The kernels behind crc32c(): each works on the register (not inverted), and each is compiled with its own
// flags.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tk::crc_kernel {

std::uint32_t portable(std::uint32_t state, const std::uint8_t* data, std::size_t size);
std::uint32_t sse42(std::uint32_t state, const std::uint8_t* data, std::size_t size);
std::uint32_t wide(std::uint32_t state, const std::uint8_t* data, std::size_t size);

/// x^n mod P for the reflected Castagnoli polynomial, in the bit order that pclmul wants; the constants that
/// the fast kernels fold with come from here, at compile time, so none is copied from a table.
constexpr std::uint32_t x_power_mod(std::uint64_t n) {
  std::uint32_t value = 0x80000000U;  // x^0, reflected
  for (std::uint64_t i = 0; i < n; ++i) value = (value >> 1) ^ ((value & 1) ? 0x82F63B78U : 0U);
  return value;
}

}  // namespace tk::crc_kernel
