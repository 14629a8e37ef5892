// What the commands about ageing logs share: which partitions, and the errors of each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "commands/context.h"
#include "core/store/store.h"

namespace tk {

struct NamedPartition {
  const TopicInfo* topic = nullptr;
  const PartitionInfo* partition = nullptr;
  /// "orders-0"
  std::string label;
};

/// The partitions that topics or TOPIC-P name, in order and once each; without names all live ones. Throws
/// unknown_topic_or_partition.
std::vector<NamedPartition> named_partitions(const Store& store, const std::vector<std::string>& names);

/// Calls `work` for each; an Error of one is reported and the rest goes on. Ends at an interruption.
void for_each_partition(const std::vector<NamedPartition>& partitions, Context& context,
                        const std::function<void(const NamedPartition&)>& work);

}  // namespace tk
