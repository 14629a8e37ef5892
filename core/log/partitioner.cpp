#include "core/log/partitioner.h"

#include "core/base/bytes.h"
#include "core/base/crc.h"

namespace tk {

std::uint32_t murmur2(std::string_view key) {
  constexpr std::uint32_t kMultiplier = 0x5bd1e995;
  const auto* at = reinterpret_cast<const std::uint8_t*>(key.data());
  std::size_t left = key.size();
  std::uint32_t hash = 0x9747b28cU ^ static_cast<std::uint32_t>(key.size());
  for (; left >= 4; at += 4, left -= 4) {
    std::uint32_t word = load_le<std::uint32_t>(at) * kMultiplier;
    word = (word ^ (word >> 24)) * kMultiplier;
    hash = hash * kMultiplier ^ word;
  }
  if (left > 0) {
    std::uint32_t rest = 0;
    for (std::size_t i = 0; i < left; ++i) rest |= static_cast<std::uint32_t>(at[i]) << (8 * i);
    hash = (hash ^ rest) * kMultiplier;
  }
  hash = (hash ^ (hash >> 13)) * kMultiplier;
  return hash ^ (hash >> 15);
}

std::uint32_t fnv1a(std::string_view key) {
  std::uint32_t hash = 0x811c9dc5U;
  for (const char c : key) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x01000193U;
  return hash;
}

std::int32_t partition_for_key(Partitioner partitioner, std::string_view key, std::int32_t count) {
  const auto n = static_cast<std::uint32_t>(count);
  if (partitioner == Partitioner::crc32) return static_cast<std::int32_t>(crc32(as_bytes(key)) % n);
  if (partitioner == Partitioner::fnv1a) {
    // The hash as int32, its absolute value modulo the count.
    const auto hash = static_cast<std::int64_t>(static_cast<std::int32_t>(fnv1a(key)));
    return static_cast<std::int32_t>((hash < 0 ? -hash : hash) % count);
  }
  return static_cast<std::int32_t>((murmur2(key) & 0x7fffffffU) % n);
}

}  // namespace tk
