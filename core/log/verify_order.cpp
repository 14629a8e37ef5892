#include "core/log/verify_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/log/segment_names.h"
#include "core/log/verify_files.h"
#include "core/log/verify_range.h"

namespace tk {

OrderCheck::OrderCheck(FileSystem& fs, const PartitionFiles& files, const VerifyScope& scope,
                       EpochCheck epochs, bool live, ProblemCounter& report)
    : fs_(fs),
      files_(files),
      scope_(scope),
      epochs_(std::move(epochs)),
      snapshots_(fs, files),
      live_(live),
      report_(report),
      compacted_(scope.compacted) {
  if (scope.compacted) snapshots_.compacted();
  if (scope.compacted) snapshots_.compacted();
  for (const SegmentFile& segment : files.segments) {
    any_index_ |= segment.has_index;
    any_time_index_ |= segment.has_time_index;
  }
}

Offset OrderCheck::log_end() const {
  const Offset base = files_.segments.empty() ? Offset(0) : files_.segments.back().base;
  return last_ ? std::max(*last_ + 1, base) : base;
}

void OrderCheck::add(const SegmentFile& segment, const ChunkFacts& facts) {
  const auto index = static_cast<std::size_t>(&segment - files_.segments.data());
  while (!started_ || index_ < index) {
    if (started_) finish_segment();
    start_segment(started_ ? index_ + 1 : 0);
  }
  std::size_t taken = 0;
  for (const UnitEvent& event : facts.events) {
    while (taken < event.units_before) take_unit(facts.units[taken++]);
    take_event(event);
  }
  while (taken < facts.units.size()) take_unit(facts.units[taken++]);
  report_.totals().records += facts.records;
  report_.totals().unprotected += facts.unprotected;
}

void OrderCheck::finish() {
  if (files_.segments.empty()) return;
  if (!started_) start_segment(0);
  finish_segment();
  while (!is_last()) {
    start_segment(index_ + 1);
    finish_segment();
  }
  snapshots_.finish(log_end(), report_);
  report_open_transactions();
  report_gaps();
  report_unindexed();
}

// Readers of committed records wait there, for ever where no coordinator knows of it.
void OrderCheck::report_open_transactions() {
  constexpr std::size_t most_named = 20;
  // transaction.max.timeout.ms: a coordinator ends what is older.
  constexpr std::int64_t longest = 900000;
  std::vector<std::pair<Offset, ProducerId>> open;
  for (const auto& [id, known] : snapshots_.producers()) {
    if (known.transaction_first) open.emplace_back(*known.transaction_first, id);
  }
  std::sort(open.begin(), open.end());
  for (std::size_t i = 0; i < std::min(open.size(), most_named); ++i) {
    const auto& [first, id] = open[i];
    const SnapshotCheck::Known& known = snapshots_.producers().at(id);
    const std::optional<bool> hangs = scope_.hangs ? scope_.hangs(id) : std::nullopt;
    const bool old = snapshots_.newest() - known.last_timestamp > longest;
    const char* more = "";
    if (hangs == true) {
      more =
          ", and hangs: __transaction_state has no open transaction of that producer here, so none will end "
          "it";
    } else if (!hangs && old) {
      more = ", and hangs: nothing came of it for more than 15 minutes of the log";
    }
    report_({.severity = Severity::note,
             .kind = fault_name(FaultKind::record),
             .file = files_.directory,
             .offset = first,
             .found = known.last_timestamp,
             .message = fmt::format("the transaction of producer {} (epoch {}) is open from offset {} on{}",
                                    id.value(), known.epoch, first.value(), more)});
  }
  if (open.size() > most_named) {
    report_({.severity = Severity::note,
             .kind = fault_name(FaultKind::record),
             .file = files_.directory,
             .found = static_cast<std::int64_t>(open.size() - most_named),
             .message = fmt::format("{} more open transactions", open.size() - most_named)});
  }
}

// ---- segments ----

void OrderCheck::start_segment(std::size_t index) {
  started_ = true;
  index_ = index;
  units_ = aborted_ = largest_unit_ = last_position_ = 0;
  const SegmentFile& it = segment();
  ++report_.totals().segments;
  report_.totals().bytes += it.size;
  if (last_ && *last_ >= it.base) {
    report_({.severity = Severity::damage,
             .kind = fault_name(FaultKind::offset_regression),
             .file = it.log_path,
             .position = 0,
             .offset = it.base,
             .found = it.base.value(),
             .expected = last_->value() + 1,
             .message = "the segment's name lies within the offsets of the one before"});
  }
  offset_index_.reset();
  time_index_.reset();
  if (it.has_index) offset_index_.emplace(fs_, it, !is_closed());
  if (it.has_time_index) time_index_.emplace(fs_, it, !is_closed());
  report_missing_index(it, !is_closed());
}

// An empty active segment may have none yet, and one that a tool made or a kill has left. A broker's always
// has.
void OrderCheck::report_missing_index(const SegmentFile& it, bool last) {
  if (!it.log_path.ends_with(kLogSuffix) || (last && (it.size == 0 || !scope_.in_broker_directory))) return;
  const auto missing = [&](std::string_view kind, std::string_view suffix) {
    report_({.severity = Severity::derived,
             .kind = kind,
             .file = it.beside(suffix),
             .message = "the file is missing, though other segments have theirs"});
  };
  if (any_index_ && !it.has_index) missing("index", kIndexSuffix);
  if (any_time_index_ && !it.has_time_index) missing("timeindex", kTimeIndexSuffix);
}

void OrderCheck::finish_segment() {
  report_waiting();
  finish_indexes();
  check_txn_index();
}

void OrderCheck::finish_indexes() {
  if (offset_index_) {
    offset_index_->finish();
    report_index(offset_index_->verdict(), "index", segment().beside(kIndexSuffix));
    if (const auto spacing = offset_index_->least_spacing()) {
      least_spacing_ = std::min(least_spacing_.value_or(*spacing), *spacing);
    }
    const bool timed = time_index_ && time_index_->entries() > 1;
    if (offset_index_->entries() == 0 && timed && is_closed()) {
      unindexed_.push_back({index_, last_position_, largest_unit_});
    }
  }
  if (!time_index_) return;
  time_index_->finish();
  report_index(time_index_->verdict(), "timeindex", segment().beside(kTimeIndexSuffix));
}

namespace {

/// What is wrong with an index, and what a broker that trusts it does.
std::string effect_of(const IndexVerdict& verdict, std::string_view kind) {
  if (verdict.state != IndexState::wrong) return verdict.reason;
  return std::string(verdict.reason) +
         (kind == "index" ? ": a broker that trusts it may skip records or end the log early"
                          : ": a broker that trusts it finds wrong offsets for times");
}

}  // namespace

void OrderCheck::report_index(const IndexVerdict& verdict, std::string_view kind, std::string path) {
  if (verdict.state == IndexState::good) return;
  const bool wrong = verdict.state == IndexState::wrong;
  report_({.severity = wrong ? Severity::derived : Severity::note,
           .kind = kind,
           .file = std::move(path),
           .position = verdict.position,
           .offset = verdict.offset,
           .found = verdict.found,
           .expected = verdict.expected,
           .message = effect_of(verdict, kind)});
}

// A closed segment without entries in twice the bytes that other segments let go by should have had some:
// even a restart, which begins the count anew, would not explain it.
void OrderCheck::report_unindexed() {
  if (!least_spacing_) return;
  for (const Unindexed& it : unindexed_) {
    if (it.bytes <= 2 * *least_spacing_ + it.largest_unit) continue;
    report_({.severity = Severity::derived,
             .kind = "index",
             .file = files_.segments[it.segment].beside(kIndexSuffix),
             .position = 0,
             .message = "the index of a closed segment is empty, though its time index is not"});
  }
}

// A broker takes what the index does not name as committed, so a short one hands out aborted records.
void OrderCheck::check_txn_index() {
  const SegmentFile& it = segment();
  if (aborted_ == 0 || (!scope_.in_broker_directory && !it.has_txn_index)) return;
  const std::string path = it.beside(kTxnIndexSuffix);
  const auto stat = it.has_txn_index ? fs_.stat(path) : std::nullopt;
  const std::uint64_t entries = stat ? stat->size / kTxnIndexEntry : 0;
  if (entries >= aborted_) return;
  report_(
      {.severity = Severity::derived,
       .kind = "txnindex",
       .file = path,
       .found = static_cast<std::int64_t>(entries),
       .expected = static_cast<std::int64_t>(aborted_),
       .message =
           "fewer entries than the segment has aborted transactions: a broker that trusts it gives aborted "
           "records as committed"});
}

// ---- units ----

void OrderCheck::take_unit(const UnitFacts& unit) {
  const Offset before = last_.value_or(segment().base - 1);
  check_offsets(unit);
  const Offset first =
      unit.kind == UnitKind::legacy ? std::min(unit.last, std::max(before + 1, segment().base)) : unit.first;
  const IndexedUnit indexed{unit.position, unit.size,         first, unit.last, unit.max_timestamp,
                            unit.kind,     unit.has_timestamp};
  if (offset_index_) offset_index_->add(indexed);
  if (time_index_) time_index_->add(indexed);
  epochs_.add(unit, segment().log_path, report_);
  const bool behind_gap = unit.first > before + 1;
  if (unit.sparse) snapshots_.compacted();
  if (behind_gap && last_) snapshots_.forget();
  snapshots_.add(unit, report_);
  if (producers_.add(unit, behind_gap, segment().log_path, report_)) ++aborted_;
  producers_before_last_ |= unit.producer_id.value() >= 0 && !is_last();
  compacted_ |= unit.sparse && !unit.bad_records;
  last_ = std::max(last_.value_or(unit.last), unit.last);
  largest_unit_ = std::max(largest_unit_, unit.size);
  last_position_ = unit.position;
  after_damage_ = false;
  ++report_.totals().batches;
  if (unit.bad_records) return;
  ++units_;
  for (; resolved_ < waiting_.size(); ++resolved_) {
    waiting_[resolved_].next_offset = unit.first;
    waiting_[resolved_].next_position = unit.position;
  }
}

void OrderCheck::check_offsets(const UnitFacts& unit) {
  const Offset base = segment().base;
  if (unit.last - base > INT32_MAX) {
    report_({.severity = Severity::damage,
             .kind = fault_name(FaultKind::offset_regression),
             .file = segment().log_path,
             .position = unit.position,
             .offset = unit.last,
             .found = unit.last.value(),
             .expected = base.value() + INT32_MAX,
             .message = "the offset is too far from the segment's base to be indexed"});
  }
  if (after_damage_ || !unit.first_known) return;
  const bool first_in_segment = unit.position == 0;
  const Offset expected = last_ ? std::max(*last_ + 1, Offset(0)) : base;
  if (unit.first <= expected) return;
  if (!first_in_segment) compacted_ = true;
  ++gap_count_;
  if (gaps_.size() >= kNamedGaps) return;
  gaps_.push_back({index_, unit.position, expected, unit.first - 1, first_in_segment && last_.has_value()});
}

void OrderCheck::report_gaps() {
  for (const Gap& gap : gaps_) {
    // A salvage drops damage at a segment's end or beginning, and leaves what it dropped beside it.
    const bool lost = gap.between_segments && !compacted_ && !files_.has_cuts;
    report_({.severity = lost ? Severity::damage : Severity::note,
             .kind = "gap",
             .file = files_.segments[gap.segment].log_path,
             .position = gap.position,
             .offset = gap.from,
             .found = gap.to.value() + 1,
             .expected = gap.from.value(),
             .message = fmt::format("offsets {} to {} are not there{}", gap.from.value(), gap.to.value(),
                                    lost ? ": a segment seems to be missing before this one" : "")});
  }
  if (gap_count_ <= gaps_.size()) return;
  report_({.severity = Severity::note,
           .kind = "gap",
           .file = files_.directory,
           .found = static_cast<std::int64_t>(gap_count_ - gaps_.size()),
           .message = fmt::format("{} more gaps between offsets", gap_count_ - gaps_.size())});
}

// ---- what is found between units ----

void OrderCheck::take_event(const UnitEvent& event) {
  switch (event.kind) {
    case UnitEvent::Kind::tail:
      take_tail(event);
      return;
    case UnitEvent::Kind::oddity:
      report_({.severity = Severity::note,
               .kind = fault_name(FaultKind::record),
               .file = segment().log_path,
               .position = event.position,
               .offset = event.offsets ? std::optional(event.offsets->first) : std::nullopt,
               .message = event.fault.detail});
      return;
    case UnitEvent::Kind::overlap:
      report_({.severity = Severity::damage,
               .kind = fault_name(event.fault.kind),
               .file = segment().log_path,
               .position = event.position,
               .offset = Offset(event.fault.found),
               .found = event.fault.found,
               .expected = event.fault.expected,
               .message =
                   "the batch begins below the last offset that the one before claims: one of the headers is "
                   "wrong"});
      return;
    case UnitEvent::Kind::damage:
      break;
  }
  if (waiting_.size() >= kMostWaiting) report_waiting();
  waiting_.push_back({event, last_.value_or(segment().base - 1), {}, 0, units_});
  if (event.checksum_good) return;  // its unit follows, with an offset to go by
  after_damage_ = true;
  producers_.forget();
  snapshots_.forget();
  if (offset_index_) offset_index_->skip(event.position, event.size);
  if (time_index_) time_index_->skip();
}

void OrderCheck::take_tail(const UnitEvent& event) {
  Waiting waiting{event, last_.value_or(segment().base - 1), {}, 0, units_};
  Problem problem = range_problem({.file = segment().log_path, .event = event, .after = waiting.after});
  if (live_) {
    problem.severity = Severity::note;
    problem.message += "; a writer is at work on the partition";
  }
  report_(problem);
}

void OrderCheck::report_waiting() {
  for (const Waiting& waiting : waiting_) report_range(waiting);
  waiting_.clear();
  resolved_ = 0;
}

void OrderCheck::report_range(const Waiting& waiting) {
  const bool last = is_last();
  report_(
      range_problem({.file = segment().log_path,
                     .event = waiting.event,
                     .after = waiting.after,
                     .next_offset = waiting.next_offset,
                     .next_position = waiting.next_position,
                     .units_after = waiting.next_offset ? units_ - waiting.units_then : 0,
                     .next_segment = last ? std::nullopt : std::optional(files_.segments[index_ + 1].base)}));
}

}  // namespace tk
