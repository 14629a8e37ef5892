// Where a group's member begins to read a partition (groups.md §8).
#pragma once

#include <cstdint>
#include <optional>

#include "core/group/commits.h"

namespace tk {

/// Where reading begins when nothing is committed, or what is committed is not in the log any more.
struct ResetPolicy {
  enum class Kind : std::uint8_t { earliest, latest, none, by_duration };
  Kind kind = Kind::earliest;
  /// by_duration (KIP-1106): so many ms before now.
  std::int64_t duration_ms = 0;
};

struct Position {
  enum class Reason : std::uint8_t {
    committed,     // where the group left off
    no_commit,     // by the policy: nothing is committed
    out_of_range,  // by the policy: retention or a deletion took what was committed
    truncated,     // the log has lost what was read: the end of the epoch that it was read in (KIP-320)
    no_epoch,      // by the policy: the log knows nothing of that epoch
  };
  Offset offset;
  Reason reason = Reason::committed;
  /// Truncated: the epoch whose end that is, and how many offsets are read again under another history.
  std::optional<LeaderEpoch> epoch;
  std::int64_t rewound = 0;
};

struct PositionQuestion {
  TopicPartition partition;
  ResetPolicy policy = {};
  /// read_committed: a reset to the latest goes to the last stable offset.
  bool read_committed = false;
  std::int64_t now_ms = 0;
};

/// `committed` may be null. Throws no_offset_for_partition, offset_out_of_range or log_truncation where the
/// policy is `none`, unknown_topic_or_partition if there is no such partition. An offset in (high watermark,
/// log end] is kept: nothing is read until the high watermark passes it.
Position position_of(const PositionQuestion& question, const CommittedOffset* committed,
                     const GroupTopics& topics);

}  // namespace tk
