#include "core/log/producer_restore.h"

#include <map>

#include "core/log/producer_history.h"
#include "core/log/segment_names.h"
#include "core/log/view_walk.h"

namespace tk {
namespace {

std::string encoded(const ProducerState& state) {
  Buffer out;
  state.encode_snapshot(out);
  return std::string(as_text(out.view()));
}

/// What the files should hold.
struct Expected {
  std::map<Offset, std::string> snapshots;  // by offset
  std::map<Offset, Buffer> txn_indexes;     // by segment
  bool any_producer = false;
};

Expected read_log(FileSystem& fs, const LogView& view) {
  Expected expected;
  ProducerState state = producer_state_at_start(fs, view);
  // The state at a segment's base is the one behind the last unit before it.
  std::size_t passed = 1;
  const auto come_to = [&](Offset base) {
    for (; passed < view.files.segments.size() && view.files.segments[passed].base <= base; ++passed)
      expected.snapshots[view.files.segments[passed].base] = encoded(state);
  };
  walk_view(fs, view, first_base(view), [&](ByteView unit, const UnitInfo& info, const SegmentFile& segment) {
    come_to(segment.base);
    const ProducerState::Step step = state.add(unit, info);
    expected.any_producer |= info.producer_id.value() >= 0;
    if (const auto entry = txn_index_entry(state, step)) entry->append_to(expected.txn_indexes[segment.base]);
    return true;
  });
  come_to(view.log_end);
  expected.snapshots[view.log_end] = encoded(state);
  return expected;
}

void put(FileSystem& fs, const std::string& path, std::string_view content) {
  if (fs.stat(path) && read_whole(fs, path) == content) return;
  replace_atomically(fs, path, as_bytes(content));
}

}  // namespace

void restore_producer_files(FileSystem& fs, const std::string& directory, bool demanded) {
  const LogView view = open_log_view(fs, directory);
  if (view.empty() || (view.files.snapshots.empty() && !demanded)) return;
  const Expected expected = read_log(fs, view);
  if (view.files.snapshots.empty() && !expected.any_producer) return;
  for (const SegmentFile& segment : view.files.segments) {
    const std::string path = segment.beside(kTxnIndexSuffix);
    const auto entries = expected.txn_indexes.find(segment.base);
    if (entries != expected.txn_indexes.end()) {
      put(fs, path, as_text(entries->second.view()));
    } else if (segment.has_txn_index && fs.stat(path)->size > 0) {
      fs.remove(path);
    }
  }
  // The new ones first: at no moment there is none.
  for (const auto& [offset, content] : expected.snapshots)
    put(fs, join_path(directory, segment_file_name(offset, kSnapshotSuffix)), content);
  const Offset first = view.files.segments.front().base;
  for (const Offset offset : view.files.snapshots) {
    if (offset == first || expected.snapshots.contains(offset)) continue;
    fs.remove(join_path(directory, segment_file_name(offset, kSnapshotSuffix)));
  }
  fs.sync_directory(directory);
}

}  // namespace tk
