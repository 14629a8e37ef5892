// What groups must know of topics and logs. The store implements it (core/store/group_logs.h), tests by a
// table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/uuid.h"
#include "core/format/leader_epochs.h"
#include "core/group/topic_partition.h"

namespace tk {

/// Where a partition's log begins and ends at one moment.
struct LogEdges {
  Offset log_start;
  /// A reader sees nothing at or above it.
  Offset high_watermark;
  /// The offset that the next record gets.
  Offset log_end;

  friend bool operator==(const LogEdges&, const LogEdges&) = default;
};

class GroupTopics {
 public:
  virtual ~GroupTopics() = default;
  /// Looks at the topics anew, for those who live longer than a command.
  virtual void refresh() {}
  /// One more than the highest number of a topic's partitions; nothing if there is no such topic.
  [[nodiscard]] virtual std::optional<std::int32_t> partition_count(const std::string& topic) const = 0;
  /// Nothing if there is no such topic, or it has no id.
  [[nodiscard]] virtual std::optional<Uuid> topic_id(const std::string& topic) const = 0;
  /// Nothing if there is no such partition.
  [[nodiscard]] virtual std::optional<LogEdges> edges(const TopicPartition& partition) const = 0;
  /// The last stable offset of a partition that exists. May scan the log for transactions.
  [[nodiscard]] virtual Offset last_stable(const TopicPartition& partition) const = 0;
  /// The history of leader epochs; empty if it is not known.
  [[nodiscard]] virtual LeaderEpochs leader_epochs(const TopicPartition& partition) const = 0;
  /// The first offset at or above the log start whose timestamp is at or after `timestamp_ms`; nothing if
  /// there is none.
  [[nodiscard]] virtual std::optional<Offset> offset_for_time(const TopicPartition& partition,
                                                              std::int64_t timestamp_ms) const = 0;
};

}  // namespace tk
