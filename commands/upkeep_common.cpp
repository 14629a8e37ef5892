#include "commands/upkeep_common.h"

#include <algorithm>

#include "commands/diagnostics.h"

namespace tk {

std::vector<NamedPartition> named_partitions(const Store& store, const std::vector<std::string>& names) {
  std::vector<NamedPartition> partitions;
  const auto add = [&](const TopicInfo& topic, std::optional<PartitionId> only) {
    for (const PartitionInfo& partition : topic.partitions) {
      if (only && partition.partition != *only) continue;
      const bool there = std::ranges::any_of(
          partitions, [&](const NamedPartition& named) { return named.partition == &partition; });
      if (!there)
        partitions.push_back({&topic, &partition, partition_directory_name(topic.name, partition.partition)});
    }
  };
  for (const std::string& name : names) {
    const Store::Selection selection = store.resolve(name);
    add(*selection.topic, selection.partition);
  }
  if (names.empty()) {
    for (const TopicInfo& topic : store.topics()) add(topic, {});
  }
  return partitions;
}

void for_each_partition(const std::vector<NamedPartition>& partitions, Context& context,
                        const std::function<void(const NamedPartition&)>& work) {
  for (const NamedPartition& partition : partitions) {
    if (context.interrupted.load() != 0) return;
    try {
      work(partition);
    } catch (const Error& error) {
      context.diagnostics.error(error);
    }
  }
}

}  // namespace tk
