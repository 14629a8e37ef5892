// The partitions of a store, to read from and to append to.
#include <algorithm>

#include <fmt/format.h>

#include "core/catalog/log_directory.h"
#include "core/store/store.h"
#include "core/store/upkeep.h"

namespace tk {

LogView Store::view(const PartitionInfo& partition) const {
  if (partition.in_cluster && !partition.high_watermark) {
    throw Error(
        ErrorCode::leader_not_available,
        fmt::format("{} has no live leader", partition_directory_name(partition.topic, partition.partition)))
        .at(directory_)
        .hint("see 'tk cluster status', then 'tk cluster start B' or 'tk failover'");
  }
  if (!fs_->stat(partition.directory)) {
    LogView empty;
    empty.files.directory = partition.directory;
    return empty;
  }
  if (partition.in_cluster) {
    LogView view = open_log_view(*fs_, partition.directory, partition.cluster_log_start);
    view.log_end = std::max(std::min(view.log_end, *partition.high_watermark), view.log_start);
    return view;
  }
  return open_log_view(*fs_, partition.directory, checkpointed_start(partition));
}

std::optional<Offset> Store::checkpointed_start(const PartitionInfo& partition) const {
  if (partition.state != PartitionState::live) return std::nullopt;
  const auto at = log_starts_.find(partition_directory_name(partition.topic, partition.partition));
  return at == log_starts_.end() ? std::nullopt : std::optional(at->second);
}

void Store::raise_checkpoint(std::string_view file, const PartitionInfo& partition, Offset offset) {
  const auto lock = lock_topics_file(*fs_, directory_, options_.lock_wait);
  raise_in_checkpoint(*fs_, directory_, file, partition.topic, partition.partition, offset);
  if (file != kLogStartFile) return;
  Offset& start = log_starts_[partition_directory_name(partition.topic, partition.partition)];
  start = std::max(start, offset);
}

Transactions Store::transactions(const PartitionInfo& partition, const LogView& view) const {
  if (may_have_producers(partition, view)) return scan_transactions(*fs_, view);
  Transactions none;
  none.finish();
  return none;
}

std::unique_ptr<PartitionLog> Store::open_for_append(const TopicInfo& topic, PartitionId partition,
                                                     SyncPolicy sync,
                                                     std::function<void(const std::string&)> note,
                                                     Offset start_if_empty) {
  const auto at = std::ranges::lower_bound(topic.partitions, partition, {}, &PartitionInfo::partition);
  if (at == topic.partitions.end() || at->partition != partition) {
    throw Error(ErrorCode::unknown_topic_or_partition,
                fmt::format("topic '{}' has no partition {}", topic.name, partition.value()))
        .at(directory_);
  }
  remove_clean_shutdown();
  if (!at->in_cluster && !fs_->stat(at->directory)) {
    const auto lock = lock_topics_file(*fs_, directory_, options_.lock_wait);
    // Of a topic that somebody deleted meanwhile nothing must come back.
    if (!read_topics_file(*fs_, directory_).topics.contains(topic.name)) throw unknown_topic(topic.name);
    make_partition(topic.name, partition, at->directory, topic.id.value_or(Uuid{}));
  }
  PartitionLog::Options options;
  options.config = log_config(topic.configs);
  options.sync = sync;
  options.lock_wait = options_.lock_wait;
  options.trust_index = at->tk_made;
  options.start_if_empty = start_if_empty;
  options.note = std::move(note);
  if (at->in_cluster) return open_cluster_log(topic, *at, std::move(options));
  if (options_.clock != nullptr && !is_broker_ && sets_retention(topic.configs)) {
    options.rolled = [this, partition = *at, configs = topic.configs] {
      return retain_closed_segments(*this, partition, configs, options_.clock->now_ms());
    };
  }
  return std::make_unique<PartitionLog>(*fs_, at->directory, std::move(options));
}

// With the marker there, a broker would believe its recovery points and look at nothing that was appended
// since. Its removal must be on disk before the first appended byte can be.
void Store::remove_clean_shutdown() {
  if (!is_broker_ || !has_clean_shutdown_) return;
  fs_->remove(join_path(directory_, kCleanShutdownFile));
  fs_->sync_directory(directory_);
  has_clean_shutdown_ = false;
}

}  // namespace tk
