#include "core/store/group_logs.h"

#include <algorithm>

#include "core/format/checkpoint_file.h"
#include "core/log/offset_search.h"
#include "core/log/segment_names.h"

namespace tk {

void GroupLogs::refresh() {
  Store anew = Store::open(store_->file_system(), store_->directory(), {});
  own_.reset();
  own_.emplace(std::move(anew));
  store_ = &*own_;
}

const PartitionInfo* GroupLogs::find(const TopicPartition& partition) const {
  const TopicInfo* topic = store_->find(partition.topic);
  if (topic == nullptr) return nullptr;
  const auto at =
      std::ranges::lower_bound(topic->partitions, partition.partition, {}, &PartitionInfo::partition);
  return at == topic->partitions.end() || at->partition != partition.partition ? nullptr : &*at;
}

std::optional<std::int32_t> GroupLogs::partition_count(const std::string& topic) const {
  const TopicInfo* found = store_->find(topic);
  if (found == nullptr || found->partitions.empty()) return std::nullopt;
  return std::min(found->partitions.back().partition.value(), kMaxPartitions - 1) + 1;
}

std::optional<Uuid> GroupLogs::topic_id(const std::string& topic) const {
  const TopicInfo* found = store_->find(topic);
  return found == nullptr ? std::nullopt : found->id;
}

std::optional<LogEdges> GroupLogs::edges(const TopicPartition& partition) const {
  const PartitionInfo* found = find(partition);
  if (found == nullptr) return std::nullopt;
  if (!found->in_cluster) {
    const LogView view = store_->view(*found);
    // A lone copy's high watermark is its end (cli.md §2).
    return LogEdges{view.log_start, view.log_end, view.log_end};
  }
  // What a cluster shows ends at the high watermark. Where nobody leads, the files that there are say where
  // the log ends.
  PartitionInfo files = *found;
  files.in_cluster = false;
  const LogView view = store_->view(files);
  const Offset start = std::max(view.log_start, found->cluster_log_start.value_or(view.log_start));
  const Offset watermark = found->high_watermark.value_or(view.log_end);
  return LogEdges{start, std::clamp(watermark, start, std::max(start, view.log_end)), view.log_end};
}

Offset GroupLogs::last_stable(const TopicPartition& partition) const {
  const PartitionInfo* found = find(partition);
  if (found == nullptr) return Offset(0);
  const LogView view = store_->view(*found);
  return store_->transactions(*found, view).last_stable(view.log_end);
}

// A checkpoint that is missing or damaged says nothing.
LeaderEpochs GroupLogs::leader_epochs(const TopicPartition& partition) const {
  const PartitionInfo* found = find(partition);
  if (found == nullptr) return {};
  FileSystem& fs = store_->file_system();
  const std::string path = join_path(found->directory, kLeaderEpochFile);
  if (!fs.stat(path)) return {};
  const LeaderEpochCheckpoint checkpoint = parse_leader_epoch_checkpoint(read_whole(fs, path));
  if (checkpoint.fault) return {};
  return LeaderEpochs(checkpoint.entries);
}

std::optional<Offset> GroupLogs::offset_for_time(const TopicPartition& partition,
                                                 std::int64_t timestamp_ms) const {
  const PartitionInfo* found = find(partition);
  if (found == nullptr) return std::nullopt;
  return tk::offset_for_time(store_->file_system(), store_->view(*found), timestamp_ms);
}

}  // namespace tk
