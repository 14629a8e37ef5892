#include <algorithm>

#include "core/base/error.h"
#include "core/log/cut.h"
#include "core/log/index_file.h"
#include "core/log/producer_restore.h"
#include "core/log/recovery.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

constexpr std::size_t kPiece = 1U << 20;
constexpr std::string_view kNewSegment = ".log.tmp";

void copy_range(File& from, const ByteRange& range, File& to, std::uint64_t& written) {
  Buffer piece;
  for (std::uint64_t at = range.begin; at < range.end;) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, range.end - at)));
    piece.cut(from.read_at(at, {piece.data(), piece.size()}));
    if (piece.empty()) break;
    to.write_at(written, piece.view());
    written += piece.size();
    at += piece.size();
  }
}

/// Writes what is kept of a segment as a new file and puts it in the place of the old one.
void rewrite_segment(FileSystem& fs, const SegmentRecovery& plan) {
  const std::string path = plan.segment.beside(kLogSuffix);
  const std::string fresh = plan.segment.beside(kNewSegment);
  fs.remove(fresh);
  {
    const auto from = fs.open(path, OpenMode::read);
    const auto to = fs.open(fresh, OpenMode::create_new);
    std::uint64_t written = 0;
    for (const ByteRange& range : plan.keep) copy_range(*from, range, *to, written);
    to->sync();
  }
  fs.set_mtime(fresh, plan.segment.mtime_ms);
  fs.rename(fresh, path);
  fs.sync_directory(parent_path(path));
}

void rebuild_indexes(FileSystem& fs, const SegmentRecovery& plan, std::int64_t interval) {
  SegmentFile segment = plan.segment;
  segment.log_path = segment.beside(kLogSuffix);
  segment.size = plan.valid_bytes;
  IndexBuilder index(segment.base, interval);
  scan_to_end(fs, segment,
              {.position = 0,
               .end = segment.size,
               .segment_base = segment.base,
               .after = segment.base - 1,
               .below = {}},
              [&](ByteView unit, UnitKind kind, std::uint64_t position) {
                UnitInfo info;
                if (read_unit_info(unit, kind, info)) info.last_offset = last_offset_of(unit, kind);
                index.add(info.last_offset, position, unit.size(), info.max_timestamp);
              });
  index.add_final_time_entry();
  replace_atomically(fs, segment.beside(kIndexSuffix), index.offset_entries().view());
  replace_atomically(fs, segment.beside(kTimeIndexSuffix), index.time_entries().view());
}

void remove_segment(FileSystem& fs, const SegmentRecovery& plan) {
  for (const std::string_view suffix :
       {kLogSuffix, kIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix, kSnapshotSuffix}) {
    fs.remove(plan.segment.beside(suffix));
  }
}

void apply_segment(FileSystem& fs, const SegmentRecovery& plan, const std::string& directory,
                   std::int64_t interval) {
  SegmentFile segment = plan.segment;
  segment.log_path = segment.beside(kLogSuffix);  // a swap file has its own name by now
  for (const ByteRange& range : plan.save) save_cut(fs, segment, range.begin, range.end);
  if (plan.remove) {
    remove_segment(fs, plan);
    fs.sync_directory(directory);
    return;
  }
  if (plan.cut_bytes > 0) {
    if (plan.keep.size() <= 1 && (plan.keep.empty() || plan.keep.front().begin == 0)) {
      const auto file = fs.open(segment.log_path, OpenMode::write);
      file->truncate(plan.valid_bytes);
      file->sync();
    } else {
      rewrite_segment(fs, plan);
    }
  }
  if (plan.rebuild_indexes) rebuild_indexes(fs, plan, interval);
}

}  // namespace

void apply_recovery(FileSystem& fs, const RecoveryPlan& plan) {
  for (const RecoveryStep& step : plan.steps) perform(fs, step);
  if (!plan.steps.empty()) fs.sync_directory(plan.directory);
  // From the last segment to the first: a crash in between leaves a log that ends earlier, never one with a
  // hole that the next run would take for whole.
  for (auto segment = plan.segments.rbegin(); segment != plan.segments.rend(); ++segment) {
    apply_segment(fs, *segment, plan.directory, plan.index_interval);
  }
  // What cannot be read could not be taken in.
  if (plan.producer_files && plan.whole_afterwards())
    restore_producer_files(fs, plan.directory, plan.demand_snapshots);
  for (const std::string& path : plan.orphaned_snapshots) fs.remove(path);
  if (!plan.leader_epochs) return;
  const std::string path = join_path(plan.directory, kLeaderEpochFile);
  if (plan.keep_old_leader_epochs) fs.rename(path, free_path(fs, path + ".damaged"));
  replace_atomically(fs, path, as_bytes(*plan.leader_epochs));
}

}  // namespace tk
