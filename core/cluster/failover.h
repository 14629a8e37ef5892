// What a failover costs: which records each replica gives up, and which of them somebody was promised
// (replication.md §8).
#pragma once

#include <map>

#include "core/cluster/cluster.h"

namespace tk {

struct FailoverLoss {
  /// Offsets that each other replica drops when it next follows, by broker; those that drop none are left
  /// out.
  std::map<BrokerId, std::int64_t> truncated;
  /// Records below the old leader's high watermark that the new leader does not have.
  std::int64_t committed_lost = 0;
  /// Of the missing, by what producers were told.
  Counts acked_lost{};
};

/// How a replica's log looks, whether its broker is up or not.
struct ReplicaLook {
  Offset log_start;
  Offset log_end;
  Offset high_watermark;
  LeaderEpochs epochs;
};
ReplicaLook look_at_replica(Cluster& cluster, BrokerId id, const std::string& partition);

/// What is lost if `leader` leads the partition from now on.
FailoverLoss loss_of(Cluster& cluster, const std::string& partition, BrokerId leader, Offset committed);
/// The offset below which records count as committed: the highest that any replica or producer knows of.
Offset committed_end(Cluster& cluster, const std::string& partition);

}  // namespace tk
