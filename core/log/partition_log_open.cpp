// The opening of a partition for writing: where it ends, and what a crash left there (docs/architecture.md).
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/format/batch.h"
#include "core/format/checkpoint_file.h"
#include "core/log/cut.h"
#include "core/log/leftovers.h"
#include "core/log/partition_log.h"
#include "core/log/recovery_point.h"
#include "core/log/segment_lookup.h"
#include "core/log/segment_names.h"

namespace tk {

void PartitionLog::open() {
  opened_ = false;
  epochs_.clear();
  producers_.reset();
  may_have_producers_ = false;
  PartitionFiles files = list_partition(fs_, directory_);
  // Whoever replaces or removes segments holds the right to write meanwhile: this one was interrupted. What a
  // broker left for later is its own.
  const bool removing = options_.trust_index && std::ranges::any_of(files.others, [](const OtherFile& other) {
                          return other.kind == OtherFile::Kind::deleted;
                        });
  if (!files.pending.empty() || removing) {
    if (!files.pending.empty()) note(directory_ + ": " + files.pending);
    settle_leftovers(fs_, directory_);
    files = list_partition(fs_, directory_);
  }
  if (files.has_leader_epochs) {
    const auto parsed = parse_leader_epoch_checkpoint(
        as_text(as_bytes(read_whole(fs_, join_path(directory_, kLeaderEpochFile)))));
    if (!parsed.fault) epochs_ = LeaderEpochs(parsed.entries);
  }
  if (files.segments.empty()) {
    create_first_segment();
  } else {
    open_active(files.segments.back());
  }
  may_have_producers_ |= !options_.trust_index || !files.snapshots.empty();
  if (options_.trust_index && may_have_producers_) load_producers();
  remove_snapshots_beyond(fs_, directory_, files.snapshots, log_end_);
  if (options_.sync == SyncPolicy::never) durable_end_ = log_end_;
  durable_end_ = std::min(durable_end_, log_end_);
  opened_ = true;
}

void PartitionLog::create_first_segment() {
  log_end_ = options_.start_if_empty;
  start_segment(log_end_);
  leader_epoch_ =
      std::max(epochs_.latest().value_or(LeaderEpoch(0)), options_.leader_epoch.value_or(LeaderEpoch(0)));
}

void PartitionLog::open_active(const SegmentFile& segment) {
  forget_active();
  active_ = segment;
  file_ = fs_.open(active_.log_path, OpenMode::write);
  identity_ = file_->stat();
  index_.emplace(active_.base, options_.config.index_interval_bytes);

  RecoveryPoint from = options_.trust_index ? find_recovery_point(fs_, active_)
                                            : RecoveryPoint{{0, active_.base - 1, std::nullopt}, 0, 0, {}};
  index_bytes_ = from.index_bytes;
  time_index_bytes_ = from.time_index_bytes;
  if (options_.recovery_point && *options_.recovery_point > from.place.after + 1) {
    // The unit that holds the last offset below it; a log that ends before is looked at as a whole.
    const std::uint64_t at = find_unit_after(fs_, active_, *options_.recovery_point - 2).position;
    Buffer unit;
    unit.resize(static_cast<std::size_t>(std::min<std::uint64_t>(active_.size - at, kBatchHeader)));
    unit.cut(file_->read_at(at, {unit.data(), unit.size()}));
    const Frame frame = frame_unit(unit.view(), active_.size - at);
    const bool there = frame.status == FrameStatus::whole || frame.status == FrameStatus::need_more;
    if (there && unit.size() >= kUnitPrefix) {
      from.place.position =
          at + kUnitPrefix +
          static_cast<std::uint64_t>(load_be<std::int32_t>(unit.data() + batch_layout::kLength));
      from.place.after =
          frame.kind == UnitKind::batch && unit.size() < kBatchHeader
              ? *options_.recovery_point - 1
              : std::max(last_offset_of(unit.view(), frame.kind), *options_.recovery_point - 1);
    }
  }
  // The scan takes the indexed unit in once more, which counts its bytes towards the next entry.
  index_->resume(from.last_time, from.last_time, 0);
  indexes_untrimmed_ = true;
  size_ = forced_size_ = from.place.position;
  log_end_ = from.place.after + 1;
  durable_end_ = std::max(durable_end_, log_end_);
  take_in_tail();
  if (options_.trust_index && !from.place.entry) forget_wrong_indexes();
}

// Indexes that do not lead anywhere are emptied before anything is appended, and not before the damage at
// hand was judged: was_never_forced() goes by what they speak of.
void PartitionLog::forget_wrong_indexes() {
  for (const std::string_view suffix : {kIndexSuffix, kTimeIndexSuffix}) {
    const auto stat = fs_.stat(active_.beside(suffix));
    if (!stat || stat->size <= TimeIndexEntry::kSize) continue;  // at most a final entry
    const auto file = fs_.open(active_.beside(suffix), OpenMode::write);
    file->truncate(0);
    file->sync();
  }
}

// Scans from size_ to the end of the active segment, takes in what is whole and settles what is not.
void PartitionLog::take_in_tail() {
  active_.size = file_->size();
  const ScanRange range{.position = size_,
                        .end = active_.size,
                        .segment_base = active_.base,
                        .after = std::max(log_end_ - 1, active_.base - 1),
                        .below = {}};
  std::uint64_t at = size_;  // behind the last whole unit before any damage
  std::vector<LeaderEpochEntry> epochs;
  const TailScan scan =
      scan_to_end(fs_, active_, range, [&](ByteView unit, UnitKind kind, std::uint64_t position) {
        UnitInfo info;
        if (position != at) return;
        at += unit.size();
        if (read_unit_info(unit, kind, info)) return;
        index_->add(info.last_offset, position, unit.size(), info.max_timestamp);
        take_in_producer(unit, info);
        if (info.kind != UnitKind::batch) return;
        // No checksum covers the epoch of a batch: one that falls again was none.
        while (!epochs.empty() && epochs.back().epoch > info.leader_epoch) epochs.pop_back();
        if (epochs.empty() || epochs.back().epoch != info.leader_epoch)
          epochs.push_back({info.leader_epoch, info.base_offset});
      });
  if (scan.stop != TailScan::Stop::clean) settle_damage(active_, scan);
  size_ = scan.good_bytes;
  log_end_ = std::max(scan.next_offset_before_damage, active_.base);
  // An epoch is noted before its first unit is written, which may not have come to be.
  bool changed = epochs_.truncate_from_end(log_end_);
  for (const LeaderEpochEntry& entry : epochs) {
    if (entry.epoch > epochs_.latest().value_or(kNoLeaderEpoch))
      changed |= epochs_.assign(entry.epoch, entry.start);
  }
  if (changed) save_leader_epochs();
  leader_epoch_ =
      std::max(epochs_.latest().value_or(LeaderEpoch(0)), options_.leader_epoch.value_or(LeaderEpoch(0)));
  // What a crashed writer left may not be on the disk yet: it is forced before anything is promised about it.
  forced_size_ = std::min(forced_size_, size_);
  if (first_timestamp_ == kNoTimestamp && size_ > 0) first_timestamp_ = first_unit_timestamp(*file_, size_);
}

void PartitionLog::settle_damage(const SegmentFile& segment, const TailScan& scan) {
  const bool never_forced = options_.trust_index && was_never_forced(fs_, segment, scan);
  if (scan.stop == TailScan::Stop::damaged && scan.damage.front().next_good && !never_forced) {
    const DamageRange& damage = scan.damage.front();
    throw Error(ErrorCode::corrupt_message,
                fmt::format("{} ({}) before readable records: nothing can be appended behind them",
                            fault_name(damage.fault.kind), damage.fault.detail))
        .at(segment.log_path, damage.position)
        .hint(fmt::format("look with 'tk verify {0}', then choose 'tk recover {0} --salvage' or '--truncate'",
                          directory_));
  }
  const std::uint64_t from = scan.good_bytes;
  const std::uint64_t bytes = segment.size - from;
  if (scan.stop == TailScan::Stop::damaged) {
    const std::string saved = save_cut(fs_, segment, from, segment.size);
    note(fmt::format("{}: {} at byte {}: {} bytes {} cut{}", segment.log_path,
                     fault_name(scan.damage.front().fault.kind), from, bytes,
                     never_forced ? "that were never forced to disk" : "without a whole record",
                     saved.empty() ? "" : ", saved as " + base_name(saved)));
  } else {
    note(fmt::format("{}: {} at byte {}: {} bytes cut", segment.log_path, fault_name(scan.tail.kind), from,
                     bytes));
  }
  file_->truncate(from);
  file_->sync();
}

// True if the segment that this writer left is still the last one: the same file, not cut, nothing rolled
// since. What others appended to it is then taken in from size_ on.
bool PartitionLog::still_active() {
  const auto on_disk = fs_.stat(active_.log_path);
  if (!on_disk || on_disk->inode != identity_.inode || on_disk->device != identity_.device) return false;
  if (on_disk->size < size_) return false;
  for (const DirEntry& entry : fs_.list(directory_)) {
    const auto name = parse_segment_file_name(entry.name);
    if (name && name->suffix.starts_with(kLogSuffix) && name->base > active_.base) return false;
  }
  return true;
}

}  // namespace tk
