#include "core/log/settled_stretches.h"

#include <algorithm>
#include <tuple>

namespace tk {
namespace {

bool is_all_of(const ReadStretch& read, const std::vector<SegmentFile>& alone) {
  const auto segment = std::ranges::find(alone, read.segment, &SegmentFile::base);
  return segment != alone.end() && read.begin == 0 && read.end == segment->size;
}

}  // namespace

SettledStretches::SettledStretches(const std::vector<ReadStretch>& read, const LatestOffsets& latest,
                                   Offset log_end, const std::vector<SegmentFile>& alone) {
  for (const ReadStretch& it : read) {
    const Offset first = it.after + 1;
    if (!latest.covers(first, it.last)) continue;
    const std::int64_t last_of_keys = latest.count_latest(first, it.last);
    if (last_of_keys == 0) {
      if (it.last + 1 < log_end) add(it, false);
    } else if (last_of_keys == it.records && it.only_records &&
               latest.count_tombstones(first, it.last) == 0) {
      add(it, true);
    }
  }
  std::erase_if(stretches_, [&](const SettledStretch& it) { return it.stays && !is_all_of(it.read, alone); });
}

void SettledStretches::add(const ReadStretch& read, bool stays) {
  if (!stretches_.empty()) {
    SettledStretch& before = stretches_.back();
    if (before.stays == stays && before.read.segment == read.segment && before.read.end == read.begin) {
      before.read.end = read.end;
      before.read.last = read.last;
      before.read.records += read.records;
      return;
    }
  }
  stretches_.push_back({read, stays});
}

const SettledStretch* SettledStretches::find(Offset segment, std::uint64_t position) const {
  const auto above = std::upper_bound(stretches_.begin(), stretches_.end(), std::tuple(segment, position),
                                      [](const auto& place, const SettledStretch& it) {
                                        return place < std::tuple(it.read.segment, it.read.begin);
                                      });
  if (above == stretches_.begin()) return nullptr;
  const SettledStretch& it = *(above - 1);
  return it.read.segment == segment && position < it.read.end ? &it : nullptr;
}

}  // namespace tk
