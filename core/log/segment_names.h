// Names of the files of a partition (kafka-on-disk.md §1.5): no other file builds or takes apart such a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"

namespace tk {

inline constexpr std::string_view kLogSuffix = ".log";
inline constexpr std::string_view kIndexSuffix = ".index";
inline constexpr std::string_view kTimeIndexSuffix = ".timeindex";
inline constexpr std::string_view kTxnIndexSuffix = ".txnindex";
inline constexpr std::string_view kSnapshotSuffix = ".snapshot";
inline constexpr std::string_view kCheckpointSuffix = ".checkpoint";
inline constexpr std::string_view kSwapSuffix = ".swap";
inline constexpr std::string_view kCleanedSuffix = ".cleaned";
inline constexpr std::string_view kDeletedSuffix = ".deleted";
inline constexpr std::string_view kLeaderEpochFile = "leader-epoch-checkpoint";
inline constexpr std::string_view kPartitionMetadataFile = "partition.metadata";
inline constexpr std::string_view kPartitionLockFile = ".lock";

/// "00000000000000000042" + suffix.
std::string segment_file_name(Offset base, std::string_view suffix);

/// A name of exactly 20 digits (at most 2^63-1) and what follows them, beginning with a dot.
struct SegmentFileName {
  Offset base;
  std::string suffix;
};
std::optional<SegmentFileName> parse_segment_file_name(std::string_view name);

/// A KRaft snapshot, "OOOOOOOOOOOOOOOOOOOO-EEEEEEEEEE" and what follows: where it ends (exclusive), and its
/// epoch.
struct KraftSnapshotName {
  Offset end;
  LeaderEpoch epoch;
};
std::optional<KraftSnapshotName> parse_snapshot_name(std::string_view name);

}  // namespace tk
