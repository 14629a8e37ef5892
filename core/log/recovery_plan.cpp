#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/format/checkpoint_file.h"
#include "core/format/record_decoder.h"
#include "core/log/broker_scan.h"
#include "core/log/index_check.h"
#include "core/log/index_file.h"
#include "core/log/partition_cursor.h"
#include "core/log/recovery.h"
#include "core/log/recovery_point.h"
#include "core/log/recovery_scan.h"
#include "core/log/segment_lookup.h"
#include "core/log/segment_names.h"

namespace tk {

std::string_view action_name(RecoveryAction action, bool dry_run) {
  switch (action) {
    case RecoveryAction::none:
      return "none";
    case RecoveryAction::truncated:
      return dry_run ? "would_truncate" : "truncated";
    case RecoveryAction::salvaged:
      return dry_run ? "would_salvage" : "salvaged";
    case RecoveryAction::refused:
      return "refused";
  }
  return "none";
}

bool RecoveryPlan::cuts_anything() const {
  return std::any_of(segments.begin(), segments.end(),
                     [](const SegmentRecovery& s) { return s.remove || s.cut_bytes > 0; });
}

bool RecoveryPlan::changes_anything() const {
  const bool indexes = std::any_of(segments.begin(), segments.end(),
                                   [](const SegmentRecovery& s) { return s.rebuild_indexes; });
  return indexes || cuts_anything() || snapshots_beyond || !orphaned_snapshots.empty() || !steps.empty() ||
         leader_epochs.has_value();
}

namespace {

class Planner {
 public:
  Planner(FileSystem& fs, RecoveryPlan& plan, const RecoveryOptions& options)
      : fs_(fs), plan_(plan), options_(options) {}

  void run() {
    PartitionFiles files = list_partition(fs_, plan_.directory);
    settle_leftovers(files);
    if (files.segments.empty()) {
      plan_.log_end = Offset(0);
      plan_leader_epochs(files, true);
      for (const Offset snapshot : files.snapshots)
        plan_.orphaned_snapshots.push_back(
            join_path(files.directory, segment_file_name(snapshot, kSnapshotSuffix)));
      return;
    }
    if (options_.infer_interval)
      plan_.index_interval = spacing_of_indexes(fs_, files).value_or(plan_.index_interval + 1) - 1;
    const std::size_t first = start_segment(files);
    Offset after(-1);
    if (first > 0) after = last_offset_in(files, first - 1);
    for (std::size_t i = first; i < files.segments.size(); ++i) after = plan_segment(files, i, after);
    count_records_behind();
    plan_leader_epochs(files, first == 0 && !trusts_tail(files, first));
    plan_.snapshots_beyond = !files.snapshots.empty() && files.snapshots.back() > plan_.log_end;
    plan_.demand_snapshots = options_.in_broker_directory;
    plan_.producer_files = options_.full || plan_.snapshots_beyond || plan_.cuts_anything();
  }

 private:
  [[nodiscard]] bool trusts_tail(const PartitionFiles& files, std::size_t i) const {
    return options_.trust_index && !options_.full && i + 1 == files.segments.size();
  }

  /// The last offset of a segment that is not looked at any further. One that reaches into the next segment
  /// is not its own: taken for the end, it would rule out what lies there.
  [[nodiscard]] Offset last_offset_in(const PartitionFiles& files, std::size_t i) const {
    const SegmentFile& segment = files.segments[i];
    const TrustedPlace place = find_last_indexed(fs_, segment);
    return scan_to_end(fs_, segment,
                       {.position = place.position,
                        .end = segment.size,
                        .segment_base = segment.base,
                        .after = place.after,
                        .below = upper_bound_of(fs_, files.segments, i)})
               .next_offset -
           1;
  }

  std::size_t start_segment(const PartitionFiles& files) const {
    if (options_.full) return 0;
    std::size_t first = files.segments.size() - 1;
    if (options_.recovery_point) {
      while (first > 0 && files.segments[first].base > *options_.recovery_point) --first;
    }
    return first;
  }

  void settle_leftovers(PartitionFiles& files);
  Scanned scan(const PartitionFiles& files, std::size_t i, Offset after) {
    return scan_for_recovery(fs_, files, i, after,
                             {plan_.index_interval, options_.mode, trusts_tail(files, i)}, epochs_);
  }
  Offset plan_segment(const PartitionFiles& files, std::size_t i, Offset after);
  void decide(const PartitionFiles& files, std::size_t i, const Scanned& scanned, SegmentRecovery& segment);
  void decide_as_broker(SegmentRecovery& segment);
  void describe_damage(const Scanned& scanned, SegmentRecovery& segment) const;
  void count_records_behind();
  void plan_leader_epochs(const PartitionFiles& files, bool scanned_all);
  bool records_behind(const PartitionFiles& files, std::size_t i);
  bool never_forced(const PartitionFiles& files, std::size_t i, const TailScan& scan);

  FileSystem& fs_;
  RecoveryPlan& plan_;
  const RecoveryOptions& options_;
  LeaderEpochs epochs_;                              // as the scanned units have them
  std::vector<std::int64_t> records_found_;          // by segment planned
  std::vector<std::int64_t> records_behind_damage_;  // in the segment itself
  bool broker_stopped_ = false;  // a broker drops everything behind the last segment planned
};

void Planner::settle_leftovers(PartitionFiles& files) {
  if (!files.pending.empty()) plan_.notes.push_back(plan_.directory + ": " + files.pending);
  plan_.steps = plan_leftovers(fs_, files);
}

// True if a segment behind this one holds a whole record.
bool Planner::records_behind(const PartitionFiles& files, std::size_t i) {
  for (std::size_t next = i + 1; next < files.segments.size(); ++next) {
    const SegmentFile& segment = files.segments[next];
    if (segment.size == 0) continue;
    const TailScan scan = scan_to_end(fs_, segment,
                                      {.position = 0,
                                       .end = segment.size,
                                       .segment_base = segment.base,
                                       .after = segment.base - 1,
                                       .below = {}});
    if (scan.units > 0) return true;
  }
  return false;
}

// True if the damage is what a power cut left of an append above the recovery point: nobody was promised it.
bool Planner::never_forced(const PartitionFiles& files, std::size_t i, const TailScan& scan) {
  return options_.trust_index && i + 1 == files.segments.size() &&
         was_never_forced(fs_, files.segments[i], scan);
}

void Planner::describe_damage(const Scanned& scanned, SegmentRecovery& segment) const {
  const TailScan& scan = scanned.scan;
  if (scan.damage.empty() && scan.stop != TailScan::Stop::tail) {
    if (!scanned.bad_records.empty()) {
      segment.reason = scanned.bad_records.front().fault;
      segment.position = scanned.bad_records.front().position;
    }
    return;
  }
  if (scan.damage.empty()) {
    segment.reason = scan.tail;
    segment.position = scan.tail_position;
    return;
  }
  const DamageRange& first = scan.damage.front();
  segment.reason = first.fault;
  segment.position = first.position;
  if (first.next_good) {
    segment.next_good_offset = first.next_good;
    segment.bad_offsets = {first.after + 1, *first.next_good - 1};
    for (const ByteRange& range : scanned.good) {
      if (range.begin > first.position) {
        segment.next_good_position = range.begin;
        break;
      }
    }
  }
}

Offset Planner::plan_segment(const PartitionFiles& files, std::size_t i, Offset after) {
  SegmentRecovery segment;
  segment.segment = files.segments[i];
  if (broker_stopped_) {
    segment.remove = true;
    segment.cut_bytes = segment.segment.size;
    segment.next_offset = segment.segment.base;
    segment.action = RecoveryAction::truncated;
    if (segment.segment.size > 0) segment.save.push_back({0, segment.segment.size});
    const Scanned lost = scan(files, i, segment.segment.base - 1);
    records_found_.push_back(lost.records_between(0, UINT64_MAX));
    records_behind_damage_.push_back(0);
    plan_.segments.push_back(std::move(segment));
    return after;
  }
  Scanned scanned = scan(files, i, after);
  segment.valid_bytes = scanned.scan.good_bytes;
  segment.next_offset = scanned.scan.next_offset;
  segment.keep = scanned.good;
  describe_damage(scanned, segment);
  if (options_.mode == RecoveryMode::truncate) {
    decide_as_broker(segment);
    for (const DamageRange& range : scanned.scan.damage) {
      if (range.position < segment.valid_bytes) plan_.remaining.emplace_back(segment.segment.log_path, range);
    }
    for (const DamageRange& range : scanned.bad_records) {
      if (range.position < segment.valid_bytes) plan_.remaining.emplace_back(segment.segment.log_path, range);
    }
  } else {
    decide(files, i, scanned, segment);
  }
  segment.records = scanned.records_between(0, segment.action == RecoveryAction::truncated
                                                   ? std::max<std::uint64_t>(segment.valid_bytes, 1)
                                                   : UINT64_MAX);
  records_found_.push_back(scanned.records_between(0, UINT64_MAX));
  records_behind_damage_.push_back(segment.reason ? scanned.records_between(segment.position, UINT64_MAX)
                                                  : 0);
  plan_.log_end = segment.next_offset;
  // A partly scanned segment keeps its indexes if they end where they should; one that changes gets new ones.
  const bool partial = trusts_tail(files, i) && indexes_end_at_recovery_point(fs_, segment.segment);
  segment.rebuild_indexes = segment.cut_bytes > 0 ||
                            (!partial && segment.action != RecoveryAction::refused && scanned.indexes_wrong);
  const Offset last = segment.next_offset - 1;
  plan_.segments.push_back(std::move(segment));
  return std::max(after, last);
}

void Planner::decide(const PartitionFiles& files, std::size_t i, const Scanned& scanned,
                     SegmentRecovery& segment) {
  const TailScan& scan = scanned.scan;
  const bool is_last = i + 1 == files.segments.size();
  const bool clean = scan.stop == TailScan::Stop::clean && scanned.bad_records.empty();
  if (clean) {
    segment.keep = {{0, segment.segment.size}};
    return;
  }
  const bool salvage = options_.mode == RecoveryMode::salvage;
  const bool good_behind =
      (!scan.damage.empty() && scan.damage.front().next_good) || (!is_last && records_behind(files, i));
  if (!salvage && good_behind && !never_forced(files, i, scan)) {
    segment.action = RecoveryAction::refused;
    segment.keep = {{0, segment.segment.size}};
    for (const DamageRange& range : scan.damage)
      plan_.remaining.emplace_back(segment.segment.log_path, range);
    if (scan.damage.empty()) {
      plan_.remaining.emplace_back(
          segment.segment.log_path,
          DamageRange{scan.tail_position, scan.tail_size, scan.tail, scan.next_offset - 1, {}});
    }
    return;
  }
  if (!salvage && scan.stop == TailScan::Stop::clean) {
    segment.keep = {{0, segment.segment.size}};
    return;
  }
  // What is not kept goes; torn and zero tails go unsaved.
  if (!salvage) segment.keep = {{0, scan.good_bytes}};
  std::uint64_t at = 0;
  std::uint64_t kept = 0;
  const std::uint64_t unsaved_from = scan.tail_size > 0 ? scan.tail_position : segment.segment.size;
  auto drop = [&](std::uint64_t from, std::uint64_t to) {
    if (from < to && from < unsaved_from) segment.save.push_back({from, std::min(to, unsaved_from)});
  };
  for (const ByteRange& range : segment.keep) {
    drop(at, range.begin);
    at = range.end;
    kept += range.end - range.begin;
  }
  drop(at, segment.segment.size);
  segment.valid_bytes = kept;
  segment.cut_bytes = segment.segment.size - kept;
  const bool one_prefix =
      segment.keep.size() <= 1 && (segment.keep.empty() || segment.keep.front().begin == 0);
  segment.action = one_prefix ? RecoveryAction::truncated : RecoveryAction::salvaged;
  if (!salvage) segment.next_offset = scan.next_offset_before_damage;
}

void Planner::decide_as_broker(SegmentRecovery& segment) {
  const BrokerScan scan = scan_as_broker(fs_, segment.segment, {.index_interval = plan_.index_interval});
  segment.valid_bytes = scan.valid_bytes;
  segment.next_offset = scan.next_offset;
  segment.keep = {{0, scan.valid_bytes}};
  segment.cut_bytes = segment.segment.size - scan.valid_bytes;
  if (segment.cut_bytes == 0) return;
  segment.action = RecoveryAction::truncated;
  const bool tail =
      segment.reason.kind == FaultKind::torn_tail || segment.reason.kind == FaultKind::zero_tail;
  if (!segment.reason || segment.position > scan.valid_bytes) {
    segment.reason = scan.fault;
    segment.position = scan.valid_bytes;
  }
  if (!tail || segment.position != scan.valid_bytes)
    segment.save.push_back({scan.valid_bytes, segment.segment.size});
  broker_stopped_ = true;
}

// Records behind the first damage of each segment, over all segments.
void Planner::count_records_behind() {
  std::int64_t behind = 0;
  for (std::size_t i = plan_.segments.size(); i-- > 0;) {
    if (plan_.segments[i].reason) plan_.segments[i].good_records_after = behind + records_behind_damage_[i];
    behind += records_found_[i];
  }
}

void Planner::plan_leader_epochs(const PartitionFiles& files, bool scanned_all) {
  const std::string path = join_path(plan_.directory, kLeaderEpochFile);
  LeaderEpochCheckpoint held;
  if (files.has_leader_epochs) held = parse_leader_epoch_checkpoint(read_whole(fs_, path));
  LeaderEpochs wanted(held.entries);
  const bool broken = held.fault.has_value() || wanted.entries() != held.entries;
  const bool none = held.entries.empty();
  if ((broken || none) && !scanned_all && !files.segments.empty()) {
    // The batches' own epochs, from the first one on.
    epochs_.clear();
    for (const SegmentFile& segment : files.segments) {
      scan_to_end(fs_, segment,
                  {.position = 0,
                   .end = segment.size,
                   .segment_base = segment.base,
                   .after = segment.base - 1,
                   .below = {}},
                  [&](ByteView unit, UnitKind kind, std::uint64_t) {
                    UnitInfo info;
                    if (kind != UnitKind::legacy && !read_unit_info(unit, kind, info) &&
                        info.leader_epoch.value() >= 0) {
                      epochs_.assign(info.leader_epoch, info.base_offset);
                    }
                  });
    }
  }
  if (broken || none) {
    wanted = epochs_;
  } else if (scanned_all && !epochs_.empty()) {
    // Entries that no batch bears out may be leaderships without records; entries that batches contradict are
    // wrong.
    for (const LeaderEpochEntry& entry : epochs_.entries()) {
      const auto end = wanted.end_offset_for(entry.epoch, plan_.log_end);
      const bool known = std::any_of(
          wanted.entries().begin(), wanted.entries().end(),
          [&](const LeaderEpochEntry& e) { return e.epoch == entry.epoch && e.start <= entry.start; });
      if (!known || end.offset <= entry.start) {
        wanted = epochs_;
        break;
      }
    }
  }
  wanted.truncate_from_end(plan_.log_end);
  if (options_.in_broker_directory && !files.segments.empty()) {
    const Offset start = std::max(options_.log_start.value_or(Offset(0)), files.segments.front().base);
    if (start <= plan_.log_end) wanted.truncate_from_start(start);
  }
  if (wanted.entries() == held.entries && !held.fault) return;
  if (wanted.empty() && !files.has_leader_epochs) return;
  plan_.leader_epochs = format_leader_epoch_checkpoint(wanted.entries());
  plan_.keep_old_leader_epochs = held.fault.has_value();
  if (held.fault)
    plan_.notes.push_back(fmt::format("{}: line {}: {}: made anew from the batches", path, held.fault->line,
                                      held.fault->reason));
}

}  // namespace

RecoveryPlan plan_recovery(FileSystem& fs, const std::string& directory, const RecoveryOptions& options) {
  RecoveryPlan plan;
  plan.directory = directory;
  plan.mode = options.mode;
  plan.index_interval = options.index_interval;
  Planner(fs, plan, options).run();
  return plan;
}

}  // namespace tk
