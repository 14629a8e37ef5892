// Which partition a record with a key goes to (kafka-on-disk.md §14).
#pragma once

#include <cstdint>
#include <string_view>

namespace tk {

enum class Partitioner : std::uint8_t {
  murmur2,      // Kafka's own default
  crc32,        // librdkafka's "consistent"
  fnv1a,        // librdkafka's "fnv1a", sarama's default
  round_robin,  // the key is not looked at
  sticky,       // the key is not looked at: one partition a batch
};

/// Kafka's 32-bit murmur2 of the key's bytes.
std::uint32_t murmur2(std::string_view key);
std::uint32_t fnv1a(std::string_view key);

/// The partition of a key among `count` (at least 1) by a hashing partitioner.
std::int32_t partition_for_key(Partitioner partitioner, std::string_view key, std::int32_t count);

}  // namespace tk
