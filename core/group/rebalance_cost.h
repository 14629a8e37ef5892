// What a rebalance cost those who were reading (groups.md §6).
#pragma once

#include <cstdint>
#include <optional>

#include "core/group/assignor.h"

namespace tk {

/// How members give partitions up: all of them before they join (the classic protocol's eager assignors), or
/// only those that go to another (KIP-429, KIP-848).
enum class Revocation : std::uint8_t { eager, incremental };

/// Numbers of partitions.
struct RebalanceCost {
  /// Owned before and after, by different members; `forced` where the old owner left or subscribes no more.
  std::int64_t moved = 0;
  std::int64_t forced = 0;
  std::int64_t voluntary = 0;
  /// Owned before and after by the same member.
  std::int64_t kept = 0;
  /// Owned by nobody before.
  std::int64_t added = 0;
  /// Owned by nobody after.
  std::int64_t orphaned = 0;
  /// The largest member's size less the smallest one's, after.
  std::int64_t spread = 0;
  /// Whose reading paused though their reader is there still: all owned before (eager), or the revoked ones.
  std::int64_t stopped = 0;
  /// The fewest moves that any balanced assignment (within one) needs; nothing unless all members subscribe
  /// to the same topics.
  std::optional<std::int64_t> least_moved;

  friend bool operator==(const RebalanceCost&, const RebalanceCost&) = default;
};

/// `question` is what led to `after`: who is a member, what each subscribes to, how many partitions there
/// are. `before` may name members that have left since. No partition is owned twice in either.
RebalanceCost rebalance_cost(const Assignment& before, const Assignment& after,
                             const AssignmentQuestion& question, Revocation revocation);

}  // namespace tk
