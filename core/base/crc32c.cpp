#include <zlib.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "core/base/crc.h"
#include "core/base/crc32c_kernels.h"

namespace tk {
namespace crc_kernel {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? 0x82F63B78U : 0U);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t portable(std::uint32_t state, const std::uint8_t* data, std::size_t size) {
  for (; size >= 8; data += 8, size -= 8) {
    const std::uint64_t word = load_le<std::uint64_t>(data) ^ state;
    state = kTables[7][word & 0xff] ^ kTables[6][(word >> 8) & 0xff] ^ kTables[5][(word >> 16) & 0xff] ^
            kTables[4][(word >> 24) & 0xff] ^ kTables[3][(word >> 32) & 0xff] ^
            kTables[2][(word >> 40) & 0xff] ^ kTables[1][(word >> 48) & 0xff] ^ kTables[0][word >> 56];
  }
  for (; size > 0; ++data, --size) state = (state >> 8) ^ kTables[0][(state ^ *data) & 0xff];
  return state;
}

}  // namespace crc_kernel

namespace {

using Kernel = std::uint32_t (*)(std::uint32_t, const std::uint8_t*, std::size_t);

Kernel kernel_of(Crc32cKernel kernel) {
#if defined(__x86_64__)
  if (kernel == Crc32cKernel::sse42) return crc_kernel::sse42;
  if (kernel == Crc32cKernel::wide) return crc_kernel::wide;
#endif
  (void)kernel;
  return crc_kernel::portable;
}

/// Chosen at the first sum, by whoever comes first: all choose the same.
std::uint32_t choose_and_sum(std::uint32_t state, const std::uint8_t* data, std::size_t size);
std::atomic<Kernel> chosen{choose_and_sum};

Kernel choose() {
  const char* wish = std::getenv("TK_CRC");
  const std::string_view name = wish == nullptr ? "" : wish;
  if (name == "portable") return crc_kernel::portable;
  if (name != "sse42" && crc32c_supported(Crc32cKernel::wide)) return kernel_of(Crc32cKernel::wide);
  return kernel_of(crc32c_supported(Crc32cKernel::sse42) ? Crc32cKernel::sse42 : Crc32cKernel::portable);
}

std::uint32_t choose_and_sum(std::uint32_t state, const std::uint8_t* data, std::size_t size) {
  const Kernel kernel = choose();
  chosen.store(kernel, std::memory_order_relaxed);
  return kernel(state, data, size);
}

}  // namespace

bool crc32c_supported(Crc32cKernel kernel) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool sse = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
  if (kernel == Crc32cKernel::sse42) return sse;
  if (kernel == Crc32cKernel::wide) {
    return sse && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("vpclmulqdq");
  }
#endif
  return kernel == Crc32cKernel::portable;
}

std::uint32_t crc32c_by(Crc32cKernel kernel, ByteView bytes, std::uint32_t seed) {
  return ~kernel_of(kernel)(~seed, bytes.data(), bytes.size());
}

std::uint32_t crc32c(ByteView bytes, std::uint32_t seed) {
  return ~chosen.load(std::memory_order_relaxed)(~seed, bytes.data(), bytes.size());
}

std::uint32_t crc32(ByteView bytes, std::uint32_t seed) {
  return static_cast<std::uint32_t>(::crc32_z(seed, bytes.data(), bytes.size()));
}

}  // namespace tk
