#include "core/log/compaction_pass.h"

#include <algorithm>
#include <future>
#include <memory>
#include <system_error>

#include "core/base/ordered_workers.h"
#include "core/log/compaction_map.h"
#include "core/log/partition_cursor.h"
#include "core/log/segment_replacement.h"

namespace tk {
namespace {

std::int64_t size_of(FileSystem& fs, const std::string& path) {
  const auto stat = fs.stat(path);
  return stat ? static_cast<std::int64_t>(stat->size) : 0;
}

struct Job {
  Job(const PassContext& context, const SettledStretches& known)
      : rules(context.rules), settled(known), filter(context.rules) {}

  /// What lies in a settled stretch was counted as a whole.
  [[nodiscard]] bool counted(std::uint64_t position) const {
    return settled.find(chunk.segment->base, position) != nullptr;
  }

  const FilterRules& rules;
  const SettledStretches& settled;
  CursorChunk chunk;
  UnitFilter filter;
  Buffer out;
  std::vector<FilteredUnit> units;
  std::uint64_t bytes = 0;
  bool changed = false;
};

/// Drops json records that are superseded, which their offsets tell, up to one that may stay. Only where
/// there are no producers: theirs may have to leave a trace.
/// `position`: of `at` in the segment.
const std::uint8_t* drop_superseded(Job& job, std::uint64_t position, const std::uint8_t* at,
                                    const std::uint8_t* end, Offset& last) {
  const LatestOffsets* const latest = job.rules.history == nullptr ? job.rules.latest : nullptr;
  if (latest == nullptr) return at;
  const std::uint8_t* const begin = at;
  std::int32_t dropped = 0;
  for (; at < end && framed_kind({at, framed_size(at)}) == UnitKind::json; at += framed_size(at)) {
    const Offset offset(load_be<std::int64_t>(at));
    if (!latest->covers(offset, offset) || latest->is_latest(offset)) break;
    if (offset + 1 == job.rules.high_watermark) break;
    last = offset;
    if (!job.counted(position + static_cast<std::uint64_t>(at - begin))) ++dropped;
  }
  if (at != begin) {
    job.changed = true;
    FilteredUnit& result = job.units.emplace_back();
    result.records_before = dropped;
    result.last_offset = last;
  }
  return at;
}

void filter_chunk(Job& job, std::int64_t legacy_horizon_ms) {
  job.out.clear();
  job.units.clear();
  job.bytes = 0;
  job.changed = false;
  const SegmentFile& segment = *job.chunk.segment;
  const auto refuse = [&](std::uint64_t position, std::uint64_t, const Fault& fault, ByteView) {
    refuse_to_compact(segment.log_path, position, fault);
  };
  for (const Stretch& stretch : job.chunk.scan.stretches) {
    if (stretch.kind != StretchKind::units) refuse(stretch.position, 0, stretch.fault, {});
    job.bytes += stretch.size;
    walk_units(
        job.chunk.scan, stretch,
        [&](ByteView unit, UnitKind kind, std::uint64_t position) {
          UnitInfo info;
          if (const Fault fault = read_unit_info(unit, kind, info)) refuse(position, 0, fault, {});
          const bool keeps_tombstones = segment.mtime_ms > legacy_horizon_ms;
          const std::size_t before = job.out.size();
          FilteredUnit& result = job.units.emplace_back();
          if (const Fault fault = job.filter.filter(unit, info, keeps_tombstones, job.out, result))
            refuse(position, 0, fault, {});
          if (job.counted(position)) result.records_before = result.records_after = 0;
          job.changed |= result.size != unit.size() ||
                         std::memcmp(job.out.data() + before, unit.data(), unit.size()) != 0;
        },
        refuse,
        [&](const std::uint8_t* at, const std::uint8_t* end, Offset& last) {
          const auto in_stretch = static_cast<std::size_t>(at - job.chunk.scan.bytes.data()) - stretch.at;
          return drop_superseded(job, stretch.position + in_stretch, at, end, last);
        });
  }
}

/// Closes files beside other work. One set at a time; the last is waited for at the end.
class FileCloser {
 public:
  using Files = std::vector<std::unique_ptr<File>>;

  void close(Files files) {
    const auto shared = std::make_shared<Files>(std::move(files));
    try {
      closing_ = std::async(std::launch::async, [shared] { shared->clear(); });
    } catch (const std::system_error&) {
      // Without a thread to spare they are closed here.
    }
  }

 private:
  std::future<void> closing_;
};

/// Takes filtered chunks in order and makes segments of them.
class GroupWriter {
 public:
  GroupWriter(const PassContext& context, const LogView& view, std::vector<SegmentGroup> groups,
              const SettledStretches& settled)
      : context_(context),
        segments_(view.files.segments),
        groups_(std::move(groups)),
        settled_(settled),
        end_(view.log_end) {
    for (const SettledStretch& it : settled.all()) {
      tally_.records_before += it.read.records;
      if (!it.stays) continue;
      tally_.records_after += it.read.records;
      tally_.bytes_after += it.read.end - it.read.begin;
    }
  }

  void take(const Job& job) {
    const auto segment = static_cast<std::size_t>(job.chunk.segment - segments_.data());
    while (segment >= groups_[group_].end) finish_group();
    changed_ |= job.changed;
    for (const FilteredUnit& unit : job.units) {
      tally_.records_before += unit.records_before;
      tally_.records_after += unit.records_after;
    }
    tally_.bytes_after += job.out.size();
    if (context_.options.dry_run) return;
    // What was compressed better before, or gets a header where it had none, may grow (R66).
    if (output_ && output_->size() + job.out.size() > INT32_MAX) next_output(job);
    if (!output_) output_ = make_output(segments_[groups_[group_].first].base);
    output_->append(job.out.view(), job.units);
  }

  void finish_all() {
    while (group_ < groups_.size()) finish_group();
  }
  [[nodiscard]] const PassTally& tally() const { return tally_; }

 private:
  std::unique_ptr<CleanedSegment> make_output(Offset base) const {
    return std::make_unique<CleanedSegment>(context_.fs, directory(), base,
                                            context_.options.config.index_interval_bytes);
  }
  [[nodiscard]] std::string directory() const { return parent_path(segments_.front().log_path); }

  void next_output(const Job& job) {
    outputs_.push_back(std::move(output_));
    const auto left = std::ranges::find_if(job.units, [](const FilteredUnit& unit) { return unit.size > 0; });
    if (left != job.units.end()) output_ = make_output(left->last_offset);
  }

  void finish_group() {
    const SegmentGroup group = groups_[group_++];
    const bool changed = changed_ || group.end - group.first > 1 || has_dropped(segments_[group.first].base);
    changed_ = false;
    std::vector<SegmentFile> old(segments_.begin() + static_cast<std::ptrdiff_t>(group.first),
                                 segments_.begin() + static_cast<std::ptrdiff_t>(group.end));
    for (const SegmentFile& segment : old) tally_.bytes_before += segment.size;
    if (context_.options.dry_run) return;
    if (!changed) {
      output_.reset();
      outputs_.clear();
      return;
    }
    if (!output_) output_ = make_output(old.front().base);
    outputs_.push_back(std::move(output_));
    std::vector<Offset> bases;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const Offset end = i + 1 < outputs_.size() ? outputs_[i + 1]->base() : end_of(group);
      outputs_[i]->set_aborted(aborted_between(outputs_[i]->base(), end));
      outputs_[i]->finish(old.back().mtime_ms);
      bases.push_back(outputs_[i]->base());
    }
    FileCloser::Files removed;
    context_.as_writer([&] { removed = replace_segments(context_.fs, directory(), old, bases); });
    closer_.close(std::move(removed));
    outputs_.clear();
  }

  /// True if a stretch of the segment was stepped over of which nothing stays.
  [[nodiscard]] bool has_dropped(Offset segment) const {
    return std::ranges::any_of(
        settled_.all(), [&](const SettledStretch& it) { return !it.stays && it.read.segment == segment; });
  }

  [[nodiscard]] Offset end_of(const SegmentGroup& group) const {
    return group.end < segments_.size() ? segments_[group.end].base : end_;
  }

  [[nodiscard]] std::vector<TxnIndexEntry> aborted_between(Offset from, Offset below) const {
    std::vector<TxnIndexEntry> entries;
    if (context_.rules.history == nullptr) return entries;
    for (const TxnIndexEntry& entry : context_.rules.history->aborted()) {
      if (entry.last >= from && entry.last < below) entries.push_back(entry);
    }
    return entries;
  }

  const PassContext& context_;
  const std::vector<SegmentFile>& segments_;
  std::vector<SegmentGroup> groups_;
  const SettledStretches& settled_;
  Offset end_;  // of the last segment
  std::size_t group_ = 0;
  std::unique_ptr<CleanedSegment> output_;
  std::vector<std::unique_ptr<CleanedSegment>> outputs_;  // of the group, full
  bool changed_ = false;
  PassTally tally_;
  FileCloser closer_;
};

SettledStretches settle(const PassContext& context, const LogView& view,
                        const std::vector<SegmentGroup>& groups) {
  if (context.rules.latest == nullptr || context.rules.history != nullptr) return {};
  std::vector<SegmentFile> alone;
  for (const SegmentGroup& group : groups) {
    if (group.end - group.first == 1) alone.push_back(view.files.segments[group.first]);
  }
  return {context.read, *context.rules.latest, context.rules.high_watermark, alone};
}

/// False if it was interrupted.
bool filter_all(const PassContext& context, const LogView& view, const SettledStretches& settled,
                GroupWriter& writer, const std::function<void(std::uint64_t bytes)>& advanced) {
  PartitionCursor cursor(context.fs, view, view.files.segments.front().base);
  cursor.skip(settled);
  for (const SettledStretch& it : settled.all()) advanced(it.read.end - it.read.begin);
  std::vector<std::unique_ptr<Job>> jobs;
  for (unsigned i = 0; i < job_count(); ++i) jobs.push_back(std::make_unique<Job>(context, settled));
  bool interrupted = false;
  run_ordered(
      jobs, [&](Job& job) { return cursor.next(job.chunk); },
      [&](Job& job) { filter_chunk(job, context.legacy_horizon_ms); },
      [&](Job& job) {
        writer.take(job);
        advanced(job.bytes);
        interrupted = context.options.interrupted && context.options.interrupted();
        return !interrupted;
      },
      [](const Job&) { return true; }, [&](Job& job) { cursor.read_ahead(job.chunk); });
  return !interrupted;
}

}  // namespace

std::vector<SegmentGroup> group_segments(FileSystem& fs, const std::vector<SegmentFile>& segments,
                                         Offset upper, const LogConfig& config) {
  std::vector<SegmentGroup> groups;
  std::int64_t log = 0, index = 0, time_index = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const SegmentFile& segment = segments[i];
    const auto log_bytes = static_cast<std::int64_t>(segment.size);
    const std::int64_t index_bytes = size_of(fs, segment.beside(".index"));
    const std::int64_t time_index_bytes = size_of(fs, segment.beside(".timeindex"));
    const Offset last = (i + 1 < segments.size() ? segments[i + 1].base : upper) - 1;
    const bool fits = !groups.empty() && log + log_bytes <= config.segment_bytes &&
                      index + index_bytes <= config.segment_index_bytes &&
                      time_index + time_index_bytes <= config.segment_index_bytes &&
                      (segment.size == 0 || last - segments[groups.back().first].base <= INT32_MAX);
    if (!fits) {
      groups.push_back({i, i});
      log = index = time_index = 0;
    }
    groups.back().end = i + 1;
    log += log_bytes;
    index += index_bytes;
    time_index += time_index_bytes;
  }
  return groups;
}

PassTally run_compaction_pass(const PassContext& context, const LogView& view,
                              const std::function<void(std::uint64_t bytes)>& advanced) {
  const std::vector<SegmentGroup> groups =
      group_segments(context.fs, view.files.segments, view.log_end, context.options.config);
  const SettledStretches settled = settle(context, view, groups);
  GroupWriter writer(context, view, groups, settled);
  // The cursor and the jobs hold files open: they are gone before the last of these are removed.
  const bool interrupted = !filter_all(context, view, settled, writer, advanced);
  if (!interrupted) writer.finish_all();
  PassTally tally = writer.tally();
  tally.interrupted = interrupted;
  return tally;
}

}  // namespace tk
