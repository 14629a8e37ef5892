#include "core/log/compaction.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/ordered_workers.h"
#include "core/log/compaction_map.h"
#include "core/log/compaction_pass.h"
#include "core/log/leftovers.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

class Compaction {
 public:
  Compaction(FileSystem& fs, const std::string& directory, std::optional<Offset> checkpointed_start,
             const CompactionOptions& options)
      : fs_(fs), directory_(directory), start_(checkpointed_start), options_(options) {}

  CompactionResult run() {
    std::unique_ptr<LockFile> upkeep;
    if (!options_.dry_run) {
      right_to_write_.emplace(fs_, join_path(directory_, kPartitionLockFile));
      upkeep = lock_upkeep(fs_, join_path(directory_, kPartitionLockFile), options_.lock_wait);
      as_writer([&] { settle(); });
    }
    LogView view = open_log_view(fs_, directory_, start_);
    read_history(view);
    if (options_.dry_run && options_.as_if_rolled && !view.files.segments.empty() &&
        view.files.segments.back().size > 0) {
      view.files.segments.emplace_back().base = view.log_end;
    }
    result_.range = choose_compaction_range(fs_, view, last_stable(view), options_.rules);
    result_.cleaned_to = result_.range.first_dirty;
    result_.bytes_before = result_.bytes_after =
        segments_between(view, Offset(0), result_.range.upper).bytes();
    result_.reason = result_.range.not_now;
    if (!result_.reason.empty()) return result_;
    result_.action =
        options_.dry_run ? CompactionResult::Action::would_compact : CompactionResult::Action::compacted;
    std::int64_t removed = 0;
    do {
      if (result_.passes > 0) view = open_log_view(fs_, directory_, start_);
      const PassTally tally = pass(view);
      removed += tally.records_before - tally.records_after;
      result_.records_after = tally.records_after;
      result_.records_before = tally.records_after + removed;
      result_.bytes_after = tally.bytes_after;
      result_.interrupted = tally.interrupted;
    } while (!result_.interrupted && !options_.dry_run && result_.cleaned_to < result_.range.upper);
    return result_;
  }

 private:
  void settle() {
    const PartitionFiles files = list_partition(fs_, directory_);
    const bool left = std::ranges::any_of(files.others, [](const OtherFile& other) {
      return other.kind == OtherFile::Kind::cleaned || other.kind == OtherFile::Kind::swap ||
             other.kind == OtherFile::Kind::deleted;
    });
    if (!left) return;
    if (options_.note) options_.note(directory_ + ": what an interrupted compaction left is settled");
    settle_leftovers(fs_, directory_);
  }

  void as_writer(const std::function<void()>& work) {
    right_to_write_->acquire(options_.lock_wait);
    try {
      if (!right_to_write_->still_in_place(fs_)) {
        throw Error(ErrorCode::unknown_topic_or_partition, "the partition was deleted meanwhile")
            .at(directory_);
      }
      work();
    } catch (...) {
      right_to_write_->release();
      throw;
    }
    right_to_write_->release();
  }

  void read_history(const LogView& view) {
    // Listed after the view: a snapshot is on disk before the first unit with a producer id is, so none of
    // those can lie in the view and be missed here.
    if (options_.trust_snapshots && list_partition(fs_, directory_).snapshots.empty()) return;
    history_ = read_log_history(fs_, view);
    history_->finish(options_.rules.now_ms, kProducerExpirationMs,
                     options_.known_producers ? options_.known_producers() : std::vector<ProducerId>{});
  }

  [[nodiscard]] Offset last_stable(const LogView& view) const {
    return history_ ? history_->transactions().last_stable(view.log_end) : view.log_end;
  }

  PassTally pass(const LogView& view) {
    const Offset from = result_.cleaned_to, upper = result_.range.upper;
    ++result_.passes;
    std::uint64_t seed = 0;
    static_cast<void>(getrandom(&seed, sizeof seed, 0));
    KeyMaps keys(options_.map_bytes, seed);
    const LogView dirty = segments_between(view, from, upper);
    std::uint64_t done = 0;
    const std::uint64_t all = dirty.bytes() + segments_between(view, Offset(0), upper).bytes();
    const auto advanced = [&](std::uint64_t bytes) {
      done += bytes;
      if (options_.progress) options_.progress(done, all);
    };
    const LogHistory* const history = history_ ? &*history_ : nullptr;
    const MapContent content =
        build_key_map(fs_, {.view = dirty, .from = from, .upper = upper, .history = history}, keys,
                      side_by_side_, advanced);
    const Offset map_end = content.end;
    if (map_end < from && from < upper) throw too_small(keys, from);

    // Within what the map does not need itself (it keeps a third of its limit free for growing).
    std::optional<LatestOffsets> latest;
    if (from <= map_end && LatestOffsets::bytes_for(keys, from, map_end) <= options_.map_bytes / 4)
      latest.emplace(keys, from, map_end);
    FilterRules rules{.keys = &keys,
                      .latest = latest ? &*latest : nullptr,
                      .history = history,
                      .map_end = map_end,
                      .high_watermark = view.log_end,
                      .now_ms = options_.rules.now_ms,
                      .delete_retention_ms = options_.delete_retention_ms};
    const PassContext context{.fs = fs_,
                              .options = options_,
                              .rules = rules,
                              .read = content.read,
                              .legacy_horizon_ms = legacy_horizon(view, from),
                              .as_writer = [this](const std::function<void()>& work) { as_writer(work); }};
    LogView below = segments_between(view, Offset(0), map_end + 1);
    below.log_end = upper_of(view, map_end);
    PassTally tally = run_compaction_pass(context, below, advanced);
    if (!tally.interrupted) result_.cleaned_to = map_end + 1;
    return tally;
  }

  /// The base of the first segment that the pass leaves alone.
  static Offset upper_of(const LogView& view, Offset map_end) {
    for (const SegmentFile& segment : view.files.segments) {
      if (segment.base > map_end) return segment.base;
    }
    return view.log_end;
  }

  [[nodiscard]] std::int64_t legacy_horizon(const LogView& view, Offset first_dirty) const {
    std::int64_t horizon = 0;
    for (const SegmentFile& segment : view.files.segments) {
      if (segment.base < first_dirty) horizon = segment.mtime_ms - options_.delete_retention_ms;
    }
    return horizon;
  }

  [[nodiscard]] Error too_small(const KeyMaps& keys, Offset from) const {
    return Error(ErrorCode::invalid_config,
                 fmt::format(
                     "a map of {} bytes holds {} keys: fewer than the first batch from offset {} on has",
                     options_.map_bytes, keys.capacity(), from.value()))
        .at(directory_)
        .hint("give it more memory with --map-bytes");
  }

  FileSystem& fs_;
  const std::string& directory_;
  std::optional<Offset> start_;
  const CompactionOptions& options_;
  std::optional<TurnLock> right_to_write_;  // none in a dry run, which leaves no trace
  std::optional<LogHistory> history_;
  bool side_by_side_ = worker_count() > 1;
  CompactionResult result_;
};

}  // namespace

CompactionResult compact_partition(FileSystem& fs, const std::string& directory,
                                   std::optional<Offset> checkpointed_start,
                                   const CompactionOptions& options) {
  return Compaction(fs, directory, checkpointed_start, options).run();
}

}  // namespace tk
