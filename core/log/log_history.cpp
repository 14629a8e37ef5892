#include "core/log/log_history.h"

#include <algorithm>

#include "core/log/compaction_map.h"
#include "core/log/producer_history.h"
#include "core/log/view_walk.h"

namespace tk {

void LogHistory::add(ByteView unit, const UnitInfo& info) {
  if (info.control && info.count > 0 && !is_end_marker(unit, info)) {
    other_controls_.push_back(info.last_offset);
    return;
  }
  if (info.producer_id.value() < 0) return;
  transactions_.add(unit, info);
  const ProducerState::Step step = state_.add(unit, info);
  if (!step.ended) return;
  full_markers_.push_back(info.last_offset);
  if (const auto entry = txn_index_entry(state_, step)) aborted_.push_back(*entry);
}

void LogHistory::finish(std::int64_t now_ms, std::int64_t expiration_ms,
                        const std::vector<ProducerId>& known) {
  transactions_.finish();
  for (const auto& [id, entry] : state_.producers()) {
    const bool expired = !entry.transaction_first && now_ms - entry.last_timestamp >= expiration_ms;
    if (expired && std::ranges::find(known, id) == known.end()) continue;
    const ProducedBatch* const last = entry.last_batch();
    active_.emplace(id, Last{last != nullptr ? last->last_offset : Offset(-1), entry.epoch});
  }
}

bool LogHistory::is_last_of_producer(const UnitInfo& info) const {
  if (info.producer_id.value() < 0) return false;
  const auto last = active_.find(info.producer_id);
  if (last == active_.end()) return false;
  if (last->second.data.value() >= 0) return info.last_offset == last->second.data;
  return info.control && info.producer_epoch == last->second.epoch;
}

bool LogHistory::is_bare_marker(const UnitInfo& info) const {
  if (!info.control) return false;
  if (info.count == 0) return true;
  return !std::ranges::binary_search(full_markers_, info.last_offset) &&
         !std::ranges::binary_search(other_controls_, info.last_offset);
}

LogHistory read_log_history(FileSystem& fs, const LogView& view) {
  LogHistory history;
  walk_view(
      fs, view, first_base(view),
      [&](ByteView unit, const UnitInfo& info, const SegmentFile&) {
        history.add(unit, info);
        return true;
      },
      [](const WalkDamage& damage) { refuse_to_compact(damage.path, damage.position, damage.fault); });
  return history;
}

}  // namespace tk
