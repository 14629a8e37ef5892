// Checksums (kafka-on-disk.md §0.4).
#pragma once

#include <cstdint>

#include "core/base/bytes.h"

namespace tk {

/// CRC-32C (Castagnoli) of `bytes`; crc32c("123456789") is 0xE3069283. `seed` is the CRC of what came before.
std::uint32_t crc32c(ByteView bytes, std::uint32_t seed = 0);

/// CRC-32 (zlib's polynomial) of `bytes`, as magic 0 and 1 and gzip have it.
std::uint32_t crc32(ByteView bytes, std::uint32_t seed = 0);

/// The kernels of crc32c; the fastest one that the processor has is taken, unless $TK_CRC names a lesser one
/// ("portable", "sse42"): older machines and valgrind take other paths than the one at hand.
enum class Crc32cKernel : std::uint8_t { portable, sse42, wide };
/// True if this processor can run `kernel`.
bool crc32c_supported(Crc32cKernel kernel);
/// The same sum by a kernel of one's choice (tests, benchmarks).
std::uint32_t crc32c_by(Crc32cKernel kernel, ByteView bytes, std::uint32_t seed = 0);

}  // namespace tk
