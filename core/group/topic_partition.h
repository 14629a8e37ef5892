// One partition of one topic, as groups name them.
#pragma once

#include <compare>
#include <string>

#include "core/base/ids.h"

namespace tk {

/// Ordered by topic, as unsigned bytes, then by partition number (groups.md §4.1).
struct TopicPartition {
  std::string topic;
  PartitionId partition;

  auto operator<=>(const TopicPartition&) const = default;
};

}  // namespace tk
