#include "core/log/verify.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/ordered_workers.h"
#include "core/log/segment_names.h"
#include "core/log/verify_files.h"

namespace tk {

struct PartitionVerifier::Job {
  CursorChunk chunk;
  ChunkFacts facts;
  UnitInspector careful{false};
  UnitInspector quick{true};
};

namespace {

/// Where leader-epoch-checkpoint begins to speak: at the log's start, or, where a kill has lost that, at its
/// own first entry if that lies in the first segment, as after a deletion of records.
Offset known_epochs_from(const PartitionFiles& files, const VerifyScope& scope,
                         const std::optional<std::vector<LeaderEpochEntry>>& epochs) {
  Offset from = scope.log_start.value_or(Offset(0));
  if (!epochs || epochs->empty() || files.segments.empty()) return from;
  const Offset first = epochs->front().start;
  if (files.segments.size() == 1 || first < files.segments[1].base) from = std::max(from, first);
  return from;
}

}  // namespace

PartitionVerifier::PartitionVerifier(FileSystem& fs, ProblemSink sink, std::function<bool()> stopped)
    : fs_(fs), sink_(std::move(sink)), stopped_(std::move(stopped)), report_(sink_, totals_) {
  for (unsigned i = 0; i < job_count(); ++i) jobs_.push_back(std::make_unique<Job>());
}

PartitionVerifier::~PartitionVerifier() = default;

void PartitionVerifier::verify(const std::string& directory, const VerifyScope& scope) {
  const PartitionFiles files = list_partition(fs_, directory);
  ++totals_.partitions;
  check_other_files(files, report_);
  check_partition_metadata(fs_, files, scope, report_);
  check_snapshots_and_txn_indexes(fs_, files, report_);
  const auto epochs = check_epoch_file(fs_, files, report_);
  scan(files, scope, epochs);
}

void PartitionVerifier::verify_segment(const std::string& path, const VerifyScope& scope) {
  const auto name = parse_segment_file_name(base_name(path));
  if (!name ||
      (name->suffix != kLogSuffix && name->suffix != kIndexSuffix && name->suffix != kTimeIndexSuffix)) {
    throw Error(ErrorCode::invalid_request, "no segment and no index of one").at(path);
  }
  PartitionFiles files = list_partition(fs_, parent_path(path));
  const bool was_last = !files.segments.empty() && files.segments.back().base == name->base;
  std::erase_if(files.segments, [&](const SegmentFile& segment) { return segment.base != name->base; });
  if (files.segments.empty())
    throw Error(ErrorCode::storage_error, "there is no .log of this number").at(path);
  files.snapshots.clear();
  files.others.clear();
  ++totals_.partitions;
  VerifyScope alone = scope;
  alone.last_is_closed = !was_last;
  scan(files, alone, std::nullopt);
}

void PartitionVerifier::scan(const PartitionFiles& files, const VerifyScope& scope,
                             const std::optional<std::vector<LeaderEpochEntry>>& epochs) {
  const std::uint64_t unprotected = totals_.unprotected;
  const bool demanded = scope.in_broker_directory;
  const std::string epoch_path = join_path(files.directory, kLeaderEpochFile);
  OrderCheck order(fs_, files, scope,
                   EpochCheck(epochs, demanded, known_epochs_from(files, scope, epochs), epoch_path),
                   held_by_writer(files.directory, scope.in_broker_directory), report_);
  if (!files.segments.empty()) {
    LogView view;
    view.files = files;
    PartitionCursor cursor(fs_, view, files.segments.front().base);
    const SegmentFile* const seen = view.files.segments.data();
    run_ordered(
        jobs_, [&](Job& job) { return cursor.next(job.chunk); },
        [&](Job& job) { (scope.quick ? job.quick : job.careful).inspect(job.chunk, job.facts); },
        [&](Job& job) {
          order.add(files.segments[static_cast<std::size_t>(job.chunk.segment - seen)], job.facts);
          return !stopped_();
        },
        [](const Job&) { return true; }, [&](Job& job) { cursor.read_ahead(job.chunk); });
    if (stopped_()) return;
  }
  order.finish();
  check_protection(files, totals_.unprotected - unprotected);
  if (!scope.last_is_closed) {
    check_ends(fs_, files, scope, epochs, order.log_end(), order.producers_seen(), report_);
  }
}

void PartitionVerifier::check_protection(const PartitionFiles& files, std::uint64_t unprotected) {
  if (unprotected == 0) return;
  report_({.severity = Severity::note,
           .kind = fault_name(FaultKind::record),
           .file = files.directory,
           .found = static_cast<std::int64_t>(unprotected),
           .message = fmt::format(
               "{} json record{} without a checksum: damage in them shows only where it breaks the "
               "JSON",
               unprotected, unprotected == 1 ? "" : "s")});
}

// Nothing is made: a lock file that is not there is held by nobody.
bool PartitionVerifier::held_by_writer(const std::string& directory, bool in_broker_directory) const {
  const auto held = [&](const std::string& path, std::uint64_t length) {
    try {
      return fs_.stat(path) && fs_.open_lock(path)->held_by_other(0, length);
    } catch (const Error&) {
      return false;  // no right to ask, as on a read-only mount: where nobody writes
    }
  };
  if (held(join_path(directory, kPartitionLockFile), 1)) return true;
  return in_broker_directory && held(join_path(parent_path(directory), kPartitionLockFile), 0);
}

}  // namespace tk
