#include "core/cluster/interrupted.h"

#include <fmt/format.h>

#include <vector>

namespace tk {
namespace {

bool is_behind(const Cluster& cluster, const Broker& of) {
  for (const auto& [name, topic] : cluster.image().topics) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      const auto slot = of.slots.find(fmt::format("{}-{}", name, i));
      if (slot == of.slots.end()) continue;
      if (slot->second.replica->memory().partition_epoch < topic.partitions[i].partition_epoch) return true;
    }
  }
  return false;
}

}  // namespace

void finish_interrupted(Cluster& cluster) {
  std::vector<BrokerId> stopping, behind;
  for (const auto& [id, state] : cluster.image().brokers) {
    if (state.in_controlled_shutdown) stopping.push_back(id);
  }
  for (const BrokerId id : stopping) cluster.stop(id);
  // Where news are told by hand, being behind is what is looked at.
  if (!cluster.propagates()) return;
  for (const auto& [id, of] : cluster.brokers()) {
    if (of.up && is_behind(cluster, of)) behind.push_back(id);
  }
  for (const BrokerId id : behind) cluster.learn(id);
}

}  // namespace tk
