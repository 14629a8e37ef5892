// Where a group's offsets would be set (groups.md §9). Nothing is changed here: set_offsets() does that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/group/commits.h"

namespace tk {

struct ResetScenario {
  enum class Kind : std::uint8_t {
    to_earliest,
    to_latest,
    to_current,
    to_offset,    // `value`
    shift_by,     // `value` offsets on from what is committed
    to_datetime,  // the first record at or after `value`, ms
    by_duration,  // the first record at or after `value` ms before now
    from_file,    // `offsets`
  };
  Kind kind = Kind::to_earliest;
  std::int64_t value = 0;
  std::map<TopicPartition, std::int64_t> offsets = {};
};

struct ResetRow {
  TopicPartition partition;
  /// What is committed now.
  std::optional<std::int64_t> from;
  std::int64_t to = 0;
  /// `to` lies at the nearest end of the log to what was asked for.
  bool clamped = false;
  /// What else is to be known; empty: nothing.
  std::string note;
};

/// The new offsets of `partitions`, in their order. `end` is the high watermark. Throws
/// unknown_topic_or_partition for one that does not exist, no_offset_for_partition for shift_by without a
/// commit.
std::vector<ResetRow> plan_reset(const GroupState& group, const GroupTopics& topics,
                                 const ResetScenario& scenario, const std::vector<TopicPartition>& partitions,
                                 std::int64_t now_ms);

}  // namespace tk
