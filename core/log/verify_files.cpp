#include "core/log/verify_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/crc.h"
#include "core/base/error.h"
#include "core/format/checkpoint_file.h"
#include "core/log/index_file.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

/// Left-over and foreign files named one by one.
constexpr std::size_t kNamedFiles = 20;
/// A text file of a partition larger than this is not one.
constexpr std::uint64_t kLargestText = 64U << 20;
constexpr std::uint64_t kLargestSnapshot = 256U << 20;

constexpr std::size_t kSnapshotHeader = 10;
constexpr std::size_t kSnapshotEntry = 46;

const char* other_words(OtherFile::Kind kind) {
  switch (kind) {
    case OtherFile::Kind::cleaned:
      return "unfinished output of a compaction";
    case OtherFile::Kind::swap:
      return "output of a compaction about to take its segments' place";
    case OtherFile::Kind::deleted:
      return "waits for removal";
    case OtherFile::Kind::temporary:
      return "an unfinished replacement of a file";
    case OtherFile::Kind::orphan:
      return "an index without its .log";
    case OtherFile::Kind::foreign:
      break;
  }
  return "nothing of Kafka's or tk's";
}

/// True if every .log.swap belongs to a compaction that did not finish: the segments stand as they are.
bool swaps_are_void(const PartitionFiles& files) {
  std::optional<Offset> least_cleaned, least_swap;
  const auto lower = [](std::optional<Offset>& least, Offset base) {
    least = std::min(least.value_or(base), base);
  };
  for (const OtherFile& other : files.others) {
    const auto name = parse_segment_file_name(other.name);
    if (!name) continue;
    if (other.kind == OtherFile::Kind::cleaned) lower(least_cleaned, name->base);
    if (other.kind == OtherFile::Kind::swap && name->suffix == ".log.swap") lower(least_swap, name->base);
  }
  return least_cleaned && least_swap && *least_swap >= *least_cleaned;
}

/// Runs a look at one file; one that cannot be read is named and the others go on.
template <class Look>
void look_at(const std::string& path, std::string_view kind, ProblemCounter& report, Look&& look) {
  try {
    look();
  } catch (const Error& error) {
    report({.severity = Severity::derived, .kind = kind, .file = path, .message = error.message()});
  }
}

void report_text_fault(const std::string& path, std::string_view kind, const TextFault& fault,
                       ProblemCounter& report) {
  Problem problem{.severity = Severity::derived, .kind = kind, .file = path, .message = fault.reason};
  if (fault.line > 0) problem.position = fault.line;
  report(problem);
}

void check_snapshot(FileSystem& fs, const std::string& path, ProblemCounter& report) {
  const std::string bytes = read_whole(fs, path, kLargestSnapshot);
  const auto wrong = [&](std::uint64_t position, const char* what, std::int64_t found,
                         std::int64_t expected) {
    report({.severity = Severity::derived,
            .kind = "snapshot",
            .file = path,
            .position = position,
            .found = found,
            .expected = expected,
            .message = what});
  };
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (bytes.size() >= 2 && load_be<std::int16_t>(bytes.data()) != 1) {
    return wrong(0, "unknown version", load_be<std::int16_t>(bytes.data()), 1);
  }
  if (bytes.size() < kSnapshotHeader) return wrong(0, "shorter than its header", size, kSnapshotHeader);
  const std::uint32_t stored = load_be<std::uint32_t>(bytes.data() + 2);
  const std::uint32_t computed = crc32c(as_bytes(bytes).subspan(6));
  if (stored != computed) return wrong(2, "checksum mismatch", stored, computed);
  const std::int64_t count = load_be<std::int32_t>(bytes.data() + 6);
  const std::int64_t expected =
      static_cast<std::int64_t>(kSnapshotHeader) + count * static_cast<std::int64_t>(kSnapshotEntry);
  if (size != expected) wrong(6, "the size does not fit the number of producers", size, expected);
}

void check_txn_index(FileSystem& fs, const std::string& path, ProblemCounter& report) {
  const auto file = fs.open(path, OpenMode::read);
  const std::uint64_t size = file->size();
  Buffer block;
  constexpr std::uint64_t kBlock = kTxnIndexEntry * 1024;
  for (std::uint64_t at = 0; at < size; at += kBlock) {
    block.resize(static_cast<std::size_t>(std::min(kBlock, size - at)));
    block.cut(file->read_at(at, {block.data(), block.size()}));
    for (std::size_t i = 0; i + kTxnIndexEntry <= block.size(); i += kTxnIndexEntry) {
      const auto version = load_be<std::int16_t>(block.data() + i);
      if (version == 0) continue;
      return report({.severity = Severity::derived,
                     .kind = "txnindex",
                     .file = path,
                     .position = at + i,
                     .found = version,
                     .expected = 0,
                     .message = "entry of unknown version"});
    }
  }
  if (size % kTxnIndexEntry == 0) return;
  report({.severity = Severity::derived,
          .kind = "txnindex",
          .file = path,
          .position = size / kTxnIndexEntry * kTxnIndexEntry,
          .found = static_cast<std::int64_t>(size),
          .message = "the size is no multiple of an entry's"});
}

/// True if the last segment's index has been trimmed, as only a clean end does it: a running or killed
/// broker's is preallocated.
bool was_closed(FileSystem& fs, const PartitionFiles& files) {
  if (files.segments.empty() || files.segments.back().size == 0) return false;
  const SegmentFile& last = files.segments.back();
  constexpr std::uint64_t entry = OffsetIndexEntry::kSize;
  const std::string path = last.beside(kIndexSuffix);
  const auto stat = last.has_index ? fs.stat(path) : std::nullopt;
  if (!stat || stat->size == 0 || stat->size % entry != 0) return false;
  std::uint8_t bytes[entry] = {};
  const auto file = fs.open(path, OpenMode::read);
  if (file->read_at(stat->size - entry, bytes) < entry) return false;
  return std::any_of(std::begin(bytes), std::end(bytes), [](std::uint8_t byte) { return byte != 0; });
}

// A broker keeps one for each segment's base and at most one behind all of them (kafka-on-disk.md §6.3);
// releases before 2.8 only for the last segments.
void check_snapshot_places(FileSystem& fs, const PartitionFiles& files, const VerifyScope& scope,
                           ProducersSeen producers, Offset log_end, ProblemCounter& report) {
  const auto at_base = [&](Offset offset) {
    return std::any_of(files.segments.begin(), files.segments.end(),
                       [&](const SegmentFile& segment) { return segment.base == offset; });
  };
  const auto say = [&](Severity severity, Offset offset, std::string message) {
    report({.severity = severity,
            .kind = "snapshot",
            .file = join_path(files.directory, segment_file_name(offset, kSnapshotSuffix)),
            .offset = offset,
            .message = std::move(message)});
  };
  const Offset last_base = files.segments.empty() ? Offset(0) : files.segments.back().base;
  bool last_has_one = false;
  for (const Offset offset : files.snapshots) {
    last_has_one |= offset == last_base;
    if (offset > log_end) {
      say(Severity::derived, offset, fmt::format("lies behind the end of the log, {}", log_end.value()));
    } else if (scope.in_broker_directory && offset < last_base && !at_base(offset)) {
      say(Severity::note, offset, "belongs to no segment, as a restart in the middle of one leaves it");
    }
  }
  if (!scope.in_broker_directory) return;
  if (producers.before_last && !last_has_one) {
    say(Severity::derived, last_base, "the last segment has no snapshot of the producers before it");
  }
  // Whoever appends without a broker may leave the one of the clean end behind.
  const bool has_last = !files.snapshots.empty() && files.snapshots.back() > last_base;
  if (producers.any && !has_last && log_end > last_base && was_closed(fs, files)) {
    say(Severity::derived, log_end,
        "the log was closed cleanly, as its last index shows, but the snapshot of that moment is not there");
  }
}

/// The problem with what was found, the offset, and what could be expected at most, the log's end.
Problem beyond_end(Problem problem, Offset log_end) {
  problem.found = problem.offset->value();
  problem.expected = log_end.value();
  return problem;
}

/// What the broker's checkpoints say of this partition cannot lie behind its end. `words` has places for the
/// offset and for the end.
void check_checkpoints(const PartitionFiles& files, const VerifyScope& scope, Offset log_end,
                       ProblemCounter& report) {
  const auto check = [&](std::optional<Offset> offset, Severity severity, const char* words) {
    if (!offset || *offset <= log_end) return;
    report(beyond_end({.severity = severity,
                       .kind = "offset_checkpoint",
                       .file = files.directory,
                       .offset = *offset,
                       .message = fmt::format(fmt::runtime(words), offset->value(), log_end.value())},
                      log_end));
  };
  check(scope.log_start, Severity::derived,
        "log-start-offset-checkpoint says that the log begins at {}, behind its end {}");
  check(scope.recovery_point, Severity::derived,
        "recovery-point-offset-checkpoint says that everything below {} was forced to disk; the log ends at "
        "{}");
  check(scope.first_dirty, Severity::derived,
        "cleaner-offset-checkpoint says that everything below {} was compacted; the log ends at {}");
  check(scope.high_watermark, Severity::damage,
        "replication-offset-checkpoint says that everything below {} was committed; the log ends at {}");
}

}  // namespace

void check_other_files(const PartitionFiles& files, ProblemCounter& report) {
  if (!files.pending.empty()) {
    report({.severity = swaps_are_void(files) ? Severity::note : Severity::derived,
            .kind = "leftover",
            .file = files.directory,
            .message = "holds " + files.pending});
  }
  for (std::size_t i = 0; i < std::min(files.others.size(), kNamedFiles); ++i) {
    const OtherFile& other = files.others[i];
    report({.severity = Severity::note,
            .kind = other.kind == OtherFile::Kind::foreign ? "foreign" : "leftover",
            .file = join_path(files.directory, other.name),
            .message = other_words(other.kind)});
  }
  if (files.others.size() <= kNamedFiles) return;
  const std::size_t more = files.others.size() - kNamedFiles;
  report({.severity = Severity::note,
          .kind = "leftover",
          .file = files.directory,
          .found = static_cast<std::int64_t>(more),
          .message = fmt::format("{} more left-over or foreign files", more)});
}

std::optional<std::vector<LeaderEpochEntry>> check_epoch_file(FileSystem& fs, const PartitionFiles& files,
                                                              ProblemCounter& report) {
  std::optional<std::vector<LeaderEpochEntry>> entries(std::in_place);
  if (!files.has_leader_epochs) return entries;
  const std::string path = join_path(files.directory, kLeaderEpochFile);
  look_at(path, "epoch_checkpoint", report, [&] {
    entries.reset();
    LeaderEpochCheckpoint checkpoint = parse_leader_epoch_checkpoint(read_whole(fs, path, kLargestText));
    if (checkpoint.fault) return report_text_fault(path, "epoch_checkpoint", *checkpoint.fault, report);
    for (std::size_t i = 1; i < checkpoint.entries.size(); ++i) {
      const LeaderEpochEntry& before = checkpoint.entries[i - 1];
      const LeaderEpochEntry& entry = checkpoint.entries[i];
      if (entry.epoch > before.epoch && entry.start > before.start) continue;
      // Two lines come before the entries.
      return report({.severity = Severity::derived,
                     .kind = "epoch_checkpoint",
                     .file = path,
                     .position = i + 3,
                     .offset = entry.start,
                     .found = entry.epoch.value(),
                     .expected = before.epoch.value() + 1,
                     .message = "epochs and offsets do not rise"});
    }
    entries = std::move(checkpoint.entries);
  });
  return entries;
}

void check_partition_metadata(FileSystem& fs, const PartitionFiles& files, const VerifyScope& scope,
                              ProblemCounter& report) {
  const std::string path = join_path(files.directory, kPartitionMetadataFile);
  if (!files.has_metadata && scope.kraft) {
    report(
        {.severity = Severity::derived,
         .kind = "partition_metadata",
         .file = path,
         .message = "the file is missing: a broker renames the directory to -stray and starts an empty log"});
  }
  if (!files.has_metadata) return;
  look_at(path, "partition_metadata", report, [&] {
    const PartitionMetadata metadata = parse_partition_metadata(read_whole(fs, path, kLargestText));
    if (metadata.fault) report_text_fault(path, "partition_metadata", *metadata.fault, report);
  });
}

void check_snapshots_and_txn_indexes(FileSystem& fs, const PartitionFiles& files, ProblemCounter& report) {
  for (const Offset offset : files.snapshots) {
    const std::string path = join_path(files.directory, segment_file_name(offset, kSnapshotSuffix));
    look_at(path, "snapshot", report, [&] { check_snapshot(fs, path, report); });
  }
  for (const SegmentFile& segment : files.segments) {
    if (!segment.has_txn_index) continue;
    const std::string path = segment.beside(kTxnIndexSuffix);
    look_at(path, "txnindex", report, [&] { check_txn_index(fs, path, report); });
  }
}

void check_ends(FileSystem& fs, const PartitionFiles& files, const VerifyScope& scope,
                const std::optional<std::vector<LeaderEpochEntry>>& entries, Offset log_end,
                ProducersSeen producers, ProblemCounter& report) {
  const bool orphans = std::any_of(files.others.begin(), files.others.end(), [](const OtherFile& other) {
    return other.kind == OtherFile::Kind::orphan;
  });
  if (files.segments.empty() && (orphans || !files.snapshots.empty())) {
    report(beyond_end({.severity = Severity::damage,
                       .kind = "gap",
                       .file = files.directory,
                       .offset = Offset(0),
                       .message = "no segment is left, though there were some"},
                      log_end));
  }
  check_snapshot_places(fs, files, scope, producers, log_end, report);
  const std::string epoch_path = join_path(files.directory, kLeaderEpochFile);
  if (entries && !entries->empty()) {
    const Offset log_start = std::max(scope.log_start.value_or(Offset(0)),
                                      files.segments.empty() ? Offset(0) : files.segments.front().base);
    if (entries->back().start > log_end) {
      report(beyond_end(
          {.severity = Severity::derived,
           .kind = "epoch_checkpoint",
           .file = epoch_path,
           .offset = entries->back().start,
           .message = fmt::format("an epoch begins behind the end of the log, {}", log_end.value())},
          log_end));
    }
    if (scope.in_broker_directory && entries->front().start < log_start && log_start <= log_end) {
      report({.severity = Severity::derived,
              .kind = "epoch_checkpoint",
              .file = epoch_path,
              .offset = entries->front().start,
              .found = entries->front().start.value(),
              .expected = log_start.value(),
              .message = fmt::format("begins before the log, which starts at {}", log_start.value())});
    }
  }
  check_checkpoints(files, scope, log_end, report);
}

}  // namespace tk
