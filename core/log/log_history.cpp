#include "core/log/log_history.h"

#include <algorithm>

#include "core/log/compaction_map.h"
#include "core/log/partition_cursor.h"

namespace tk {

void LogHistory::add(ByteView unit, const UnitInfo& info) {
  if (info.control && info.count > 0 && !is_end_marker(unit, info)) {
    other_controls_.push_back(info.last_offset);
    return;
  }
  if (info.producer_id.value() < 0) return;
  transactions_.add(unit, info);
  const ProducerState::Step step = state_.add(unit, info);
  if (!info.control) {
    if (info.transactional) open_.try_emplace(info.producer_id, info.base_offset);
    return;
  }
  if (info.count == 0) return;
  open_.erase(info.producer_id);
  if (!step.ended) return;
  full_markers_.push_back(info.last_offset);
  if (!step.ended->aborted) return;
  Offset stable = info.last_offset + 1;
  for (const auto& [producer, first] : open_) stable = std::min(stable, first);
  aborted_.push_back({step.ended->producer, step.ended->first, step.ended->last, stable});
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
  if (view.empty()) return history;
  PartitionCursor cursor(fs, view, view.files.segments.front().base);
  CursorChunk chunk;
  const auto refuse = [&](std::uint64_t position, const Fault& fault) {
    refuse_to_compact(chunk.segment->log_path, position, fault);
  };
  while (cursor.next(chunk)) {
    for (const Stretch& stretch : chunk.scan.stretches) {
      if (stretch.kind == StretchKind::damage) refuse(stretch.position, stretch.fault);
      if (stretch.kind != StretchKind::units) continue;
      walk_units(
          chunk.scan, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t position) {
            UnitInfo info;
            if (const Fault fault = read_unit_info(unit, kind, info)) refuse(position, fault);
            history.add(unit, info);
          },
          [&](std::uint64_t position, std::uint64_t, const Fault& fault, ByteView) {
            refuse(position, fault);
          });
    }
  }
  return history;
}

}  // namespace tk
