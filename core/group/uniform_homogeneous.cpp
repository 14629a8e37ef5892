// Uniform with identical subscriptions (KIP-848; groups.md §4.8).
#include <algorithm>

#include "core/group/placement.h"

namespace tk {

// A quota goes by a member's place, not by what it holds: the first ones get the larger quota, even where
// that costs a move. What a member must give up are its last partitions; free ones are dealt out in blocks.
Owners place_uniform_homogeneous(const AssignmentProblem& problem, Owners owner) {
  const auto members = static_cast<std::int32_t>(problem.members.size());
  const std::int32_t each = problem.partition_count() / members;
  const std::int32_t extra = problem.partition_count() % members;
  std::vector<PartitionIndex> free;
  for (PartitionIndex p = 0; p < problem.partition_count(); ++p) {
    if (owner[p] == kNobody) free.push_back(p);
  }
  std::vector<std::int32_t> room(problem.members.size());
  for (MemberIndex m = 0; m < members; ++m) {
    room[m] = each + (m < extra ? 1 : 0);
    for (const PartitionIndex p : problem.members[m].claims) {
      if (owner[p] != m) continue;
      if (room[m] > 0) {
        --room[m];
      } else {
        owner[p] = kNobody;
        free.push_back(p);
      }
    }
  }
  auto next = free.begin();
  for (MemberIndex m = 0; m < members; ++m) {
    for (; room[m] > 0; --room[m]) owner[*next++] = m;
  }
  return owner;
}

}  // namespace tk
