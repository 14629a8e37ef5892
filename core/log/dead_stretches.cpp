#include "core/log/dead_stretches.h"

#include <algorithm>
#include <tuple>

namespace tk {

DeadStretches::DeadStretches(const std::vector<ReadStretch>& read, const LatestOffsets& latest,
                             Offset log_end) {
  for (const ReadStretch& it : read) {
    const Offset first = it.after + 1;
    if (it.last + 1 >= log_end || !latest.covers(first, it.last) || latest.count_latest(first, it.last) > 0)
      continue;
    if (!stretches_.empty() && stretches_.back().segment == it.segment && stretches_.back().end == it.begin) {
      stretches_.back().end = it.end;
      stretches_.back().last = it.last;
      stretches_.back().records += it.records;
    } else {
      stretches_.push_back(it);
    }
  }
}

const ReadStretch* DeadStretches::find(Offset segment, std::uint64_t position) const {
  const auto above = std::upper_bound(stretches_.begin(), stretches_.end(), std::tuple(segment, position),
                                      [](const auto& place, const ReadStretch& stretch) {
                                        return place < std::tuple(stretch.segment, stretch.begin);
                                      });
  if (above == stretches_.begin()) return nullptr;
  const ReadStretch& it = *(above - 1);
  return it.segment == segment && position < it.end ? &it : nullptr;
}

}  // namespace tk
