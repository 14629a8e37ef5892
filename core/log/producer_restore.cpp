#include "core/log/producer_restore.h"

#include <map>

#include "core/base/error.h"
#include "core/log/partition_cursor.h"
#include "core/log/producer_history.h"
#include "core/log/segment_names.h"
#include "core/log/unit_walk.h"

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
};

Expected read_log(FileSystem& fs, const LogView& view) {
  Expected expected;
  ProducerState state = producer_state_at_start(fs, view);
  const SegmentFile* segment = &view.files.segments.front();
  PartitionCursor cursor(fs, view, segment->base);
  CursorChunk chunk;
  while (cursor.next(chunk)) {
    for (const SegmentFile& passed : view.files.segments) {
      if (passed.base <= segment->base || passed.base > chunk.segment->base) continue;
      expected.snapshots[passed.base] = encoded(state);
    }
    segment = chunk.segment;
    for (const Stretch& stretch : chunk.scan.stretches) {
      if (stretch.kind != StretchKind::units) continue;
      walk_units(
          chunk.scan, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t) {
            UnitInfo info;
            if (read_unit_info(unit, kind, info)) return;
            const ProducerState::Step step = state.add(unit, info);
            if (const auto entry = txn_index_entry(state, step))
              entry->append_to(expected.txn_indexes[segment->base]);
          },
          [](std::uint64_t, std::uint64_t, const Fault&, ByteView) {});
    }
  }
  for (const SegmentFile& behind : view.files.segments) {
    if (behind.base > segment->base) expected.snapshots[behind.base] = encoded(state);
  }
  expected.snapshots[view.log_end] = encoded(state);
  return expected;
}

void put(FileSystem& fs, const std::string& path, std::string_view content) {
  if (fs.stat(path) && read_whole(fs, path) == content) return;
  replace_atomically(fs, path, as_bytes(content));
}

}  // namespace

void restore_producer_files(FileSystem& fs, const std::string& directory) {
  const LogView view = open_log_view(fs, directory);
  if (view.empty() || view.files.snapshots.empty()) return;
  const Expected expected = read_log(fs, view);
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
