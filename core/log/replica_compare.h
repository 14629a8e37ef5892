// Copies of one partition side by side: where they part, and what a follower would drop (kafka-on-disk.md
// §7.4; KIP-101, KIP-279).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/format/leader_epochs.h"
#include "core/log/log_view.h"

namespace tk {

struct Replica {
  /// Of the partition.
  std::string directory;
  LogView view;
  /// Of leader-epoch-checkpoint; empty if it is missing or cannot be read.
  LeaderEpochs epochs;
  /// Of replication-offset-checkpoint.
  std::optional<Offset> high_watermark;
};

/// Reads what is needed of a partition's directory; log start and high watermark are the data directory's.
Replica open_replica(FileSystem& fs, const std::string& directory, std::optional<Offset> log_start,
                     std::optional<Offset> high_watermark);

struct ReplicaComparison {
  /// What is equal in all replicas ends here; it begins where the last of them begins.
  Offset common_end{0};
  /// The first offset that two of them have differently, or that one lacks though its log goes on; nothing if
  /// some are only shorter than others.
  std::optional<Offset> first_difference;
  /// The replicas (by number) that differ there.
  std::size_t differs_a = 0, differs_b = 0;
  /// One of the two has no record there.
  bool missing = false;
  /// Of the last record that all have; nothing if none has an epoch.
  std::optional<LeaderEpoch> common_epoch;
  /// The replica that the others are taken to follow: the one with the newest epoch, then the longest log.
  std::size_t leader = 0;
  /// By replica: where it would be cut before it follows.
  std::vector<Offset> truncate_to;
};

/// Reads the replicas from where the last of them begins up to the first difference; damage is stepped over.
/// `stopped` is asked now and then.
ReplicaComparison compare_replicas(FileSystem& fs, const std::vector<Replica>& replicas,
                                   const std::function<bool()>& stopped);

/// Where a follower would be cut so that it agrees with the leader, by their epochs alone.
Offset truncation_offset(const Replica& follower, const Replica& leader);

}  // namespace tk
