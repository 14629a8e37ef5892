// The log cleaner (kafka-on-disk.md §11): of records with the same key only the last stays.
//
// A pass reads what is dirty into a map from key to last offset, then writes every segment below the map's
// end anew, without the records that the map says are superseded, and puts the new segments in the place of
// the old ones, group by group. Where the map has no room for all keys, passes follow each other. Offsets
// never change, and the active segment is never touched: producers go on meanwhile.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/io/turn_lock.h"
#include "core/log/compaction_range.h"
#include "core/log/log_config.h"
#include "core/log/log_history.h"

namespace tk {

struct CompactionOptions {
  CompactionRules rules;
  LogConfig config;
  std::int64_t delete_retention_ms = 86400000;
  /// Bytes for the map (KeyMap::kLeastBytes at least).
  std::size_t map_bytes = 128U << 20;
  /// Looks and counts, and changes nothing.
  bool dry_run = false;
  /// In a dry run: as if the active segment had been closed first.
  bool as_if_rolled = false;
  /// Without a producer snapshot no batch has a producer id (a partition that tk made): else the log is read
  /// once more, for its transactions.
  bool trust_snapshots = false;
  /// Producers that do not expire; asked only where there are producers. None if it is not set.
  std::function<std::vector<ProducerId>()> known_producers;
  LockWait lock_wait = 10000;
  /// True ends the work after the group of segments at hand is given up.
  std::function<bool()> interrupted;
  /// Told of bytes read, and of how many there are to read in this pass.
  std::function<void(std::uint64_t done, std::uint64_t of)> progress;
  /// Says what an interrupted run left behind, one line each.
  std::function<void(const std::string&)> note;
};

struct CompactionResult {
  enum class Action : std::uint8_t { compacted, skipped, would_compact };
  Action action = Action::skipped;
  /// Why nothing was cleaned; empty if something was.
  std::string reason;
  CompactionRange range;
  /// Everything below is clean now (the next first dirty offset).
  Offset cleaned_to;
  /// Of the segments below range.upper; records only if they were read.
  std::optional<std::int64_t> records_before, records_after;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  std::int64_t passes = 0;
  bool interrupted = false;
};

/// Compacts one partition. Takes and releases its upkeep lock, and its right to write at each replacement.
/// Throws corrupt_message for a log with damage, invalid_config for a map that has no room for the keys of a
/// single batch, log_dir_locked, storage_error (then the segments at hand stay as they were).
CompactionResult compact_partition(FileSystem& fs, const std::string& directory,
                                   std::optional<Offset> checkpointed_start,
                                   const CompactionOptions& options);

}  // namespace tk
