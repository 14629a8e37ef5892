#include "core/cluster/accounting.h"

namespace tk {

void Accounting::acked(const std::string& partition, AckLevel level, LeaderEpoch epoch, Offset first,
                       Offset last) {
  std::vector<AckedRange>& ranges = partitions_[partition][static_cast<std::size_t>(level)];
  if (!ranges.empty() && ranges.back().epoch == epoch && ranges.back().last + 1 == first) {
    ranges.back().last = last;
    return;
  }
  // A retry may be answered with records that count already.
  for (const AckedRange& range : ranges) {
    if (range.epoch == epoch && range.first <= first && last <= range.last) return;
  }
  ranges.push_back({epoch, first, last});
}

std::int64_t count(const std::vector<AckedRange>& ranges) {
  std::int64_t sum = 0;
  for (const AckedRange& range : ranges) sum += range.last - range.first + 1;
  return sum;
}

Counts Accounting::acked_counts() const {
  Counts sums{};
  for (const auto& [name, ranges] : partitions_) {
    for (std::size_t level = 0; level < sums.size(); ++level) sums[level] += count(ranges[level]);
  }
  return sums;
}

std::array<std::vector<AckedRange>, 3> Accounting::missing(const std::string& partition,
                                                           const LeaderEpochs& epochs, Offset start,
                                                           Offset end) const {
  std::array<std::vector<AckedRange>, 3> lost;
  const auto found = partitions_.find(partition);
  if (found == partitions_.end()) return lost;
  const auto& entries = epochs.entries();
  for (std::size_t level = 0; level < lost.size(); ++level) {
    for (const AckedRange& range : found->second[level]) {
      // What the log has of this range lies within the range of its epoch, if it has that.
      Offset have_from = range.last + 1, have_to = range.last + 1;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].epoch != range.epoch) continue;
        have_from = std::max(entries[i].start, range.first);
        have_to = std::min(i + 1 < entries.size() ? entries[i + 1].start : end, range.last + 1);
      }
      const auto add = [&](Offset from, Offset to) {
        from = std::max(from, start);
        if (from < to) lost[level].push_back({range.epoch, from, to - 1});
      };
      // Retention may have moved an epoch's start: what lies below the log start is no loss.
      if (have_from >= have_to) {
        add(range.first, range.last + 1);
      } else {
        add(range.first, have_from);
        add(have_to, range.last + 1);
      }
    }
  }
  return lost;
}

}  // namespace tk
