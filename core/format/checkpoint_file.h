// Kafka's checkpoint text files (kafka-on-disk.md §7.1 to §7.3): text to values and back. Reading and
// replacing the files is the caller's.
//
// A result has either its values or a fault, never a part of the values: a checkpoint that is wrong in one
// line may be wrong in all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/uuid.h"
#include "core/format/leader_epochs.h"
#include "core/format/text_file.h"

namespace tk {

/// One line of recovery-point-, replication-, log-start- and cleaner-offset-checkpoint.
struct OffsetCheckpointEntry {
  std::string topic;
  PartitionId partition;
  Offset offset;

  friend bool operator==(const OffsetCheckpointEntry&, const OffsetCheckpointEntry&) = default;
};

struct OffsetCheckpoint {
  std::vector<OffsetCheckpointEntry> entries;  // in file order
  std::optional<TextFault> fault;
};

/// A text without a line, or with the version line alone, has no entries; a missing file is the same to
/// Kafka. The version must be 0, the count that of the lines, and every number fit and not be negative.
OffsetCheckpoint parse_offset_checkpoint(std::string_view text);
std::string format_offset_checkpoint(std::span<const OffsetCheckpointEntry> entries);

struct LeaderEpochCheckpoint {
  /// As the file has them, which need not rise: LeaderEpochs makes a history of them.
  std::vector<LeaderEpochEntry> entries;
  std::optional<TextFault> fault;
};

/// leader-epoch-checkpoint, by the same rules.
LeaderEpochCheckpoint parse_leader_epoch_checkpoint(std::string_view text);
std::string format_leader_epoch_checkpoint(std::span<const LeaderEpochEntry> entries);

struct PartitionMetadata {
  std::int32_t version = 0;
  Uuid topic_id;
  std::optional<TextFault> fault;
};

/// partition.metadata. Any version from 0 on is taken; an empty text and an all-zero id are faults. Further
/// lines are not looked at, as Kafka has it.
PartitionMetadata parse_partition_metadata(std::string_view text);
/// In version 0, without a line feed at the end, as Kafka writes it.
std::string format_partition_metadata(const Uuid& topic_id);

}  // namespace tk
