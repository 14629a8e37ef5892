#include "core/store/upkeep.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/catalog/broker_metadata.h"
#include "core/catalog/log_directory.h"
#include "core/log/segment_names.h"
#include "core/log/segment_replacement.h"
#include "core/store/store_transactions.h"

namespace tk {
namespace {

std::vector<SegmentFile> going(const RetentionPlan& plan) {
  std::vector<SegmentFile> segments;
  for (const SegmentVerdict& verdict : plan.segments) {
    if (verdict.goes) segments.push_back(verdict.segment);
  }
  return segments;
}

RetentionRules rules_of(const UpkeepConfig& config, std::int64_t now_ms, const LogView& view) {
  return {.now_ms = now_ms,
          .deletes = config.deletes,
          .retention_ms = config.retention_ms,
          .retention_bytes = config.retention_bytes,
          .high_watermark = view.log_end};
}

/// What of a broker's metadata log may go is decided by the snapshots of its controllers (KIP-630), not by
/// times, sizes and keys.
bool is_metadata_log(const PartitionInfo& partition) {
  return partition_directory_name(partition.topic, partition.partition) == kMetadataDirectory;
}

void refuse_metadata_log(const PartitionInfo& partition) {
  if (!is_metadata_log(partition)) return;
  throw Error(ErrorCode::invalid_request, "the metadata log is not shortened: its controllers do that")
      .at(partition.directory);
}

/// The right to take segments out of a partition, and to write to it.
struct BothRights {
  BothRights(Store& store, const TopicInfo& topic, const PartitionInfo& partition)
      : log(store.open_for_append(topic, partition.partition)),
        upkeep(lock_upkeep(store.file_system(), join_path(partition.directory, kPartitionLockFile),
                           store.lock_wait())) {
    log->begin();
  }

  std::unique_ptr<PartitionLog> log;
  std::unique_ptr<LockFile> upkeep;
};

}  // namespace

ConfigMap settings_for_run(const TopicInfo& topic, const ConfigMap& given) {
  ConfigMap settings = topic.configs;
  for (const auto& [key, value] : check_configs(given)) settings[key] = value;
  check_config_relations(settings);
  return settings;
}

RetentionPlan retain(Store& store, const TopicInfo& topic, const PartitionInfo& partition,
                     const ConfigMap& settings, std::int64_t now_ms, bool dry_run) {
  FileSystem& fs = store.file_system();
  UpkeepConfig config = upkeep_config(settings, topic.tk_made);
  const bool metadata = is_metadata_log(partition);
  if (metadata) config.deletes = false;
  const auto plan = [&] {
    const LogView view = store.view(partition);
    RetentionPlan result = plan_retention(fs, view, rules_of(config, now_ms, view));
    if (metadata && !result.segments.empty() && !result.segments.front().goes)
      result.segments.front().reason = "what of the metadata log may go is decided by its controllers";
    return result;
  };
  RetentionPlan looked = plan();
  if (dry_run || looked.going() == 0) return looked;
  BothRights rights(store, topic, partition);
  RetentionPlan now = plan();
  if (now.takes_active()) rights.log->close_active_segment();
  // In a cluster that tells a log that was shortened from one that lost segments, so it comes first.
  if (partition.in_cluster) rights.log->begins_at(now.log_start);
  remove_segments(fs, partition.directory, going(now));
  if (!partition.in_cluster) rights.log->begins_at(now.log_start);
  rights.log->close();
  return now;
}

bool sets_retention(const ConfigMap& configs) {
  const UpkeepConfig config = upkeep_config(configs, true);
  return config.deletes && (config.retention_ms >= 0 || config.retention_bytes >= 0);
}

std::optional<Offset> retain_closed_segments(Store& store, const PartitionInfo& partition,
                                             const ConfigMap& settings, std::int64_t now_ms) {
  FileSystem& fs = store.file_system();
  const auto upkeep = [&]() -> std::unique_ptr<LockFile> {
    try {
      return lock_upkeep(fs, join_path(partition.directory, kPartitionLockFile), LockWait(0));
    } catch (const Error&) {
      return nullptr;
    }
  }();
  if (!upkeep) return {};
  const LogView view = store.view(partition);
  const RetentionPlan plan = plan_retention(fs, view, rules_of(upkeep_config(settings, true), now_ms, view));
  if (plan.going() == 0 || plan.takes_active()) return {};
  remove_segments(fs, partition.directory, going(plan));
  return plan.log_start;
}

CompactionResult compact(Store& store, const TopicInfo& topic, const PartitionInfo& partition,
                         const ConfigMap& settings, std::int64_t now_ms, const CompactRun& run) {
  FileSystem& fs = store.file_system();
  refuse_metadata_log(partition);
  const UpkeepConfig config = upkeep_config(settings, topic.tk_made);
  if (run.roll && !run.dry_run) {
    const auto log = store.open_for_append(topic, partition.partition, SyncPolicy::at_end, run.note);
    log->begin();
    log->close_active_segment();
    log->close();
  }
  CompactionOptions options;
  options.rules = {.now_ms = now_ms,
                   .min_dirty_ratio = config.min_cleanable_dirty_ratio,
                   .min_lag_ms = config.min_compaction_lag_ms,
                   .max_lag_ms = config.max_compaction_lag_ms,
                   .force = run.force,
                   .checkpoint = read_checkpoint(fs, store.directory(), kCleanerFile, partition.topic,
                                                 partition.partition)};
  options.config = log_config(settings);
  options.delete_retention_ms = config.delete_retention_ms;
  options.map_bytes = run.map_bytes;
  options.dry_run = run.dry_run;
  options.as_if_rolled = run.roll;
  options.trust_snapshots = partition.tk_made;
  options.known_producers = [&] { return known_producers(fs, store.directory()); };
  options.lock_wait = store.lock_wait();
  options.interrupted = run.interrupted;
  options.progress = run.progress;
  options.note = run.note;
  const CompactionResult result =
      compact_partition(fs, partition.directory, store.checkpointed_start(partition), options);
  if (!run.dry_run && result.action == CompactionResult::Action::compacted &&
      result.cleaned_to > result.range.first_dirty) {
    store.raise_checkpoint(kCleanerFile, partition, result.cleaned_to);
  }
  return result;
}

DeletedRecords delete_records(Store& store, const TopicInfo& topic, const PartitionInfo& partition,
                              std::optional<Offset> before, bool dry_run) {
  refuse_metadata_log(partition);
  FileSystem& fs = store.file_system();
  const LogView view = store.view(partition);
  const Offset to = before.value_or(view.log_end);
  if (to > view.log_end) {
    throw Error(ErrorCode::offset_out_of_range,
                fmt::format("{}: offset {} is beyond the high watermark {}",
                            partition_directory_name(partition.topic, partition.partition), to.value(),
                            view.log_end.value()))
        .at(partition.directory);
  }
  DeletedRecords result{view.log_start, std::max(view.log_start, to), 0};
  const RetentionRules rules{.deletes = false, .high_watermark = view.log_end};
  LogView after = view;
  after.log_start = result.to;
  result.segments_deleted = static_cast<std::int64_t>(plan_retention(fs, after, rules).going());
  if (dry_run) return result;
  // The offset first: segments that are gone must not come back as a gap at the start of the log. If it is
  // there already, a run that was stopped behind this point may have left segments.
  if (result.to > result.from) store.raise_checkpoint(kLogStartFile, partition, result.to);
  if (result.segments_deleted == 0) return result;
  BothRights rights(store, topic, partition);
  const LogView now = store.view(partition);
  const RetentionPlan plan = plan_retention(fs, now, rules);
  remove_segments(fs, partition.directory, going(plan));
  result.segments_deleted = static_cast<std::int64_t>(plan.going());
  rights.log->begins_at(result.to);
  rights.log->close();
  return result;
}

}  // namespace tk
