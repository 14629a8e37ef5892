#include "core/log/producer_history.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/log/segment_names.h"
#include "core/log/view_walk.h"

namespace tk {
namespace {

constexpr std::uint64_t kLargestSnapshot = 256U << 20;

bool read_snapshot(FileSystem& fs, const std::string& path, ProducerState& state) {
  try {
    return !state.decode_snapshot(as_bytes(read_whole(fs, path, kLargestSnapshot)));
  } catch (const Error&) {
    return false;  // the one before it does, and more of the log
  }
}

}  // namespace

std::optional<TxnIndexEntry> txn_index_entry(const ProducerState& state, const ProducerState::Step& step) {
  if (!step.ended || !step.ended->aborted) return std::nullopt;
  Offset stable = step.ended->last + 1;
  for (const auto& [id, entry] : state.producers()) {
    if (entry.transaction_first) stable = std::min(stable, *entry.transaction_first);
  }
  return TxnIndexEntry{step.ended->producer, step.ended->first, step.ended->last, stable};
}

ProducerState producer_state_at_start(FileSystem& fs, const LogView& view) {
  ProducerState state;
  if (view.empty()) return state;
  const Offset first = view.files.segments.front().base;
  if (std::ranges::find(view.files.snapshots, first) != view.files.snapshots.end())
    read_snapshot(fs, join_path(view.files.directory, segment_file_name(first, kSnapshotSuffix)), state);
  return state;
}

ProducerHistory read_producer_history(FileSystem& fs, const LogView& view, bool from_start) {
  ProducerHistory history;
  history.from = view.empty() ? view.log_start : view.files.segments.front().base;
  const auto& snapshots = view.files.snapshots;
  if (from_start) history.state = producer_state_at_start(fs, view);
  for (auto at = snapshots.rbegin(); !from_start && at != snapshots.rend(); ++at) {
    if (*at > view.log_end) continue;
    const std::string path = join_path(view.files.directory, segment_file_name(*at, kSnapshotSuffix));
    if (!read_snapshot(fs, path, history.state)) continue;
    history.from = *at;
    break;
  }
  if (view.empty() || history.from >= view.log_end) return history;
  walk_view(fs, view, history.from, [&](ByteView unit, const UnitInfo& info, const SegmentFile&) {
    if (info.last_offset < history.from) return true;
    const ProducerState::Step step = history.state.add(unit, info);
    if (const auto entry = txn_index_entry(history.state, step)) history.aborted.push_back(*entry);
    return true;
  });
  return history;
}

}  // namespace tk
