// Logs that age, in a directory with its configs, checkpoints and locks: retention, compaction, deletion of
// records (cli.md §8).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/catalog/topic_config.h"
#include "core/log/compaction.h"
#include "core/log/retention.h"
#include "core/store/store.h"

namespace tk {

/// A topic's settings for one run: its own with `given` over them. Throws what check_configs throws.
ConfigMap settings_for_run(const TopicInfo& topic, const ConfigMap& given);

/// Performs what it returns, or with `dry_run` only plans it. Needs a store that was opened for writing
/// unless dry.
RetentionPlan retain(Store& store, const TopicInfo& topic, const PartitionInfo& partition,
                     const ConfigMap& settings, std::int64_t now_ms, bool dry_run);

/// True if the topic's own configs ask for retention, so that `produce` applies it.
bool sets_retention(const ConfigMap& configs);
/// Removes what may go of the closed segments of a partition whose right to write the caller holds; nothing
/// if somebody else is at work on its segments. Returns where the log begins then, if something went.
std::optional<Offset> retain_closed_segments(Store& store, const PartitionInfo& partition,
                                             const ConfigMap& settings, std::int64_t now_ms);

struct CompactRun {
  bool dry_run = false;
  bool force = false;
  /// Closes the active segment first, so that it is compacted, too.
  bool roll = false;
  std::size_t map_bytes = 128U << 20;
  std::function<bool()> interrupted;
  std::function<void(std::uint64_t done, std::uint64_t of)> progress;
  std::function<void(const std::string&)> note;
};
CompactionResult compact(Store& store, const TopicInfo& topic, const PartitionInfo& partition,
                         const ConfigMap& settings, std::int64_t now_ms, const CompactRun& run);

struct DeletedRecords {
  Offset from;
  Offset to;
  std::int64_t segments_deleted = 0;
};
/// Moves the partition's log start offset up to `before` (nothing: the high watermark) and removes the
/// segments that lie below it as a whole. Throws offset_out_of_range beyond the high watermark.
DeletedRecords delete_records(Store& store, const TopicInfo& topic, const PartitionInfo& partition,
                              std::optional<Offset> before, bool dry_run);

}  // namespace tk
