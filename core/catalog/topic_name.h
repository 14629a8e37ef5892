// Names of topics and of partition directories (kafka-on-disk.md §1.4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/uuid.h"

namespace tk {

/// Why `name` cannot be a topic, in words; null if it can: 1 to 249 of [a-zA-Z0-9._-], not "." and not "..".
const char* topic_name_fault(std::string_view name);
/// True if the two differ only by "." against "_": Kafka refuses to create the second.
bool topic_names_collide(std::string_view a, std::string_view b);

enum class PartitionState : std::uint8_t { live, deleting, stray, future };
/// "live", "delete", "stray", "future".
std::string_view partition_state_name(PartitionState state);

struct PartitionName {
  std::string topic;
  PartitionId partition;
  PartitionState state = PartitionState::live;
};

/// Takes a directory's name apart: "orders-0" (the last dash splits), or with ".<32 hex>-delete", "-stray",
/// "-future" behind it. Nothing if it is no partition's. The topic need not be a legal name (an odd one on
/// disk is readable).
std::optional<PartitionName> parse_partition_directory(std::string_view name);

std::string partition_directory_name(std::string_view topic, PartitionId partition);
/// The name that a partition gets before it is removed; the topic's part is cut so that it has at most 255
/// bytes.
std::string deletion_directory_name(std::string_view topic, PartitionId partition, const Uuid& id);

}  // namespace tk
