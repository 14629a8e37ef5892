// Putting a partition right after a crash or damage: plan and apply (cli.md §5 `recover`; kafka-on-disk.md
// §9).
//
// The plan only reads. It says per segment what is there, what would go and why; `apply_recovery` performs
// it: what is cut is saved beside the segment first (a torn or zero tail excepted), a rewritten segment is
// forced and renamed over the old one, and indexes that do not fit are made anew. A crash in between leaves
// what a second run puts right.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/log/leftovers.h"
#include "core/log/log_files.h"
#include "core/log/tail_scan.h"

namespace tk {

enum class RecoveryMode : std::uint8_t {
  refuse,    // cut only what no whole record follows
  truncate,  // as a broker: everything from the first damage on that it notices
  salvage,   // drop only the damaged bytes
};

enum class RecoveryAction : std::uint8_t { none, truncated, salvaged, refused };
/// "none", "truncated" ...; with `dry_run` "would_truncate" and "would_salvage".
std::string_view action_name(RecoveryAction action, bool dry_run);

/// A range of a segment's bytes.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// What is found in one segment, and what is to be done with it.
struct SegmentRecovery {
  SegmentFile segment;
  /// Bytes kept, records in them, and the offset behind them.
  std::uint64_t valid_bytes = 0;
  std::uint64_t cut_bytes = 0;
  std::int64_t records = 0;
  Offset next_offset;
  /// The first thing wrong, and where.
  Fault reason;
  std::uint64_t position = 0;
  /// Offsets lost with it, as far as what stands around it tells: first and last.
  std::optional<std::pair<Offset, Offset>> bad_offsets;
  std::optional<Offset> next_good_offset;
  std::optional<std::uint64_t> next_good_position;
  std::int64_t good_records_after = 0;
  RecoveryAction action = RecoveryAction::none;
  /// The indexes on disk do not fit and are made anew.
  bool rebuild_indexes = false;
  /// The whole segment goes, with what belongs to it (it follows a truncation).
  bool remove = false;
  /// What stays, in order; one range from 0 is a truncation.
  std::vector<ByteRange> keep;
  /// What is saved beside the segment before it goes.
  std::vector<ByteRange> save;
};

struct RecoveryPlan {
  std::string directory;
  RecoveryMode mode = RecoveryMode::refuse;
  std::int64_t index_interval = 4096;
  std::vector<RecoveryStep> steps;
  std::vector<SegmentRecovery> segments;
  Offset log_end;
  /// New content of leader-epoch-checkpoint, if it has to be written.
  std::optional<std::string> leader_epochs;
  bool keep_old_leader_epochs = false;  // it cannot be read: it is set aside
  /// A snapshot speaks of more than the log will hold.
  bool snapshots_beyond = false;
  /// Snapshots and .txnindex files are made anew where they are not as the log has it.
  bool producer_files = false;
  /// Also where there are no snapshots at all: a broker keeps them wherever a producer has an id.
  bool demand_snapshots = false;
  /// Snapshots of a log that is not there any more.
  std::vector<std::string> orphaned_snapshots;
  /// Damage that stays: refused, or not noticed by a broker.
  std::vector<std::pair<std::string, DamageRange>> remaining;
  /// Lines for people: leftovers, what a step does.
  std::vector<std::string> notes;

  [[nodiscard]] bool whole_afterwards() const { return remaining.empty(); }
  [[nodiscard]] bool cuts_anything() const;
  [[nodiscard]] bool changes_anything() const;
};

struct RecoveryOptions {
  RecoveryMode mode = RecoveryMode::refuse;
  /// From the first segment on.
  bool full = false;
  /// The last index entry is a trusted point (a partition that tk made).
  bool trust_index = false;
  /// Everything below is trusted (a broker's recovery point); without it the last segment is looked at.
  std::optional<Offset> recovery_point;
  /// The topic's index.interval.bytes; with `infer_interval` only where the indexes on disk do not tell.
  std::int64_t index_interval = 4096;
  bool infer_interval = true;
  /// The partition lies in a broker's directory, which keeps snapshots, and epochs from the log's start on.
  bool in_broker_directory = false;
  /// Of log-start-offset-checkpoint.
  std::optional<Offset> log_start;
};

RecoveryPlan plan_recovery(FileSystem& fs, const std::string& directory, const RecoveryOptions& options);
void apply_recovery(FileSystem& fs, const RecoveryPlan& plan);

}  // namespace tk
