#include "core/format/leader_epochs.h"

#include <algorithm>

namespace tk {

bool LeaderEpochs::assign(LeaderEpoch epoch, Offset start) {
  if (epoch < LeaderEpoch(0)) return false;
  if (!entries_.empty() && entries_.back().epoch == epoch && start >= entries_.back().start) return false;
  while (!entries_.empty() && (entries_.back().epoch >= epoch || entries_.back().start >= start)) {
    entries_.pop_back();
  }
  entries_.push_back({epoch, start});
  return true;
}

bool LeaderEpochs::truncate_from_end(Offset end) {
  const std::size_t before = entries_.size();
  while (!entries_.empty() && entries_.back().start >= end) entries_.pop_back();
  return entries_.size() != before;
}

bool LeaderEpochs::truncate_from_start(Offset start) {
  const auto kept = std::find_if(entries_.begin(), entries_.end(),
                                 [start](const LeaderEpochEntry& entry) { return entry.start > start; });
  if (kept == entries_.begin()) return false;
  const auto current = kept - 1;
  const bool changed = current != entries_.begin() || current->start != start;
  current->start = start;
  entries_.erase(entries_.begin(), current);
  return changed;
}

LeaderEpochs::End LeaderEpochs::end_offset_for(LeaderEpoch epoch, Offset log_end) const {
  if (epoch < LeaderEpoch(0) || entries_.empty()) return {};
  if (epoch == entries_.back().epoch) return {epoch, log_end};
  const auto higher = std::upper_bound(
      entries_.begin(), entries_.end(), epoch,
      [](LeaderEpoch wanted, const LeaderEpochEntry& entry) { return wanted < entry.epoch; });
  if (higher == entries_.end()) return {};
  if (higher == entries_.begin()) return {epoch, higher->start};
  return {(higher - 1)->epoch, higher->start};
}

std::optional<LeaderEpoch> LeaderEpochs::epoch_at(Offset offset) const {
  const auto next = std::find_if(entries_.begin(), entries_.end(),
                                 [offset](const LeaderEpochEntry& entry) { return entry.start > offset; });
  if (next == entries_.begin()) return std::nullopt;
  return (next - 1)->epoch;
}

std::optional<LeaderEpoch> LeaderEpochs::latest() const {
  if (entries_.empty()) return std::nullopt;
  return entries_.back().epoch;
}

}  // namespace tk
