// Range: each topic by itself in runs of consecutive partitions, so that topics of equal size and equal
// subscribers come out co-partitioned.
#include <algorithm>

#include "core/group/placement.h"

namespace tk {

Owners place_range(const AssignmentProblem& problem) {
  const auto places = problem.static_first_places();
  Owners owner(static_cast<std::size_t>(problem.partition_count()), kNobody);
  for (const auto& topic : problem.topics) {
    auto order = topic.subscribers;
    std::sort(order.begin(), order.end(),
              [&](MemberIndex a, MemberIndex b) { return places[a] < places[b]; });
    const auto members = static_cast<std::int32_t>(order.size());
    const std::int32_t each = topic.count / members;
    std::int32_t extra = topic.count % members;
    PartitionIndex next = topic.first;
    for (const MemberIndex m : order) {
      const std::int32_t run = each + (extra-- > 0 ? 1 : 0);
      std::fill_n(owner.begin() + next, run, m);
      next += run;
    }
  }
  return owner;
}

}  // namespace tk
