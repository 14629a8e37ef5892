// Uniform with identical subscriptions (KIP-848; groups.md §4.8).
#include <algorithm>

#include "core/group/placement.h"

namespace tk {

// Any member that holds more than the lower quota may keep one more while there are larger quotas
// (KAFKA-18688, Kafka 4.1); what is left of these goes to the first members. What a member must give up are
// its last partitions; free ones are dealt out in blocks.
Owners place_uniform_homogeneous(const AssignmentProblem& problem, Owners owner) {
  const auto members = static_cast<std::int32_t>(problem.members.size());
  const std::int32_t each = problem.partition_count() / members;
  std::int32_t extra = problem.partition_count() % members;
  std::vector<PartitionIndex> free;
  for (PartitionIndex p = 0; p < problem.partition_count(); ++p) {
    if (owner[p] == kNobody) free.push_back(p);
  }
  std::vector<std::int32_t> room(problem.members.size(), each);
  std::vector<bool> large(problem.members.size());
  for (MemberIndex m = 0; m < members; ++m) {
    for (const PartitionIndex p : problem.members[m].claims) {
      if (owner[p] != m) continue;
      if (room[m] > 0) {
        --room[m];
      } else if (!large[m] && extra > 0) {
        large[m] = true;
        --extra;
      } else {
        owner[p] = kNobody;
        free.push_back(p);
      }
    }
  }
  for (MemberIndex m = 0; extra > 0; ++m) {
    if (large[m]) continue;
    ++room[m];
    --extra;
  }
  auto next = free.begin();
  for (MemberIndex m = 0; m < members; ++m) {
    for (; room[m] > 0; --room[m]) owner[*next++] = m;
  }
  return owner;
}

}  // namespace tk
