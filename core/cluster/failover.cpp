#include "core/cluster/failover.h"

#include <algorithm>

#include "core/format/checkpoint_file.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

/// Where the histories of two logs part: below it both have the same records.
Offset common_end(const ReplicaLook& a, const ReplicaLook& b) {
  Offset at = std::min(a.log_end, b.log_end);
  // Below the later start of a log nothing can differ; from there on epochs tell.
  const auto starts = [](const ReplicaLook& look) {
    std::vector<Offset> all;
    for (const LeaderEpochEntry& entry : look.epochs.entries()) all.push_back(entry.start);
    return all;
  };
  std::vector<Offset> points = starts(a);
  for (const Offset start : starts(b)) points.push_back(start);
  points.push_back(std::max(a.log_start, b.log_start));
  std::sort(points.begin(), points.end());
  for (const Offset point : points) {
    if (point >= at || point < std::max(a.log_start, b.log_start)) continue;
    if (a.epochs.epoch_at(point) != b.epochs.epoch_at(point)) return point;
  }
  return at;
}

}  // namespace

ReplicaLook look_at_replica(Cluster& cluster, BrokerId id, const std::string& partition) {
  ReplicaLook look;
  PartitionReplica* replica = cluster.replica(id, partition);
  if (replica == nullptr) return look;
  look.high_watermark = replica->high_watermark();
  if (replica->log().is_open()) {
    look.log_start = replica->log().start();
    look.log_end = replica->log().end();
    look.epochs = replica->log().epochs();
    return look;
  }
  FileSystem& fs = cluster.file_system();
  const std::string& directory = replica->log().directory();
  look.log_start = replica->log().start();
  if (!fs.stat(directory)) return look;
  look.log_end = replica->log().end_on_disk();
  const std::string path = join_path(directory, kLeaderEpochFile);
  if (!fs.stat(path)) return look;
  const LeaderEpochCheckpoint parsed = parse_leader_epoch_checkpoint(read_whole(fs, path));
  if (!parsed.fault) look.epochs = LeaderEpochs(parsed.entries);
  return look;
}

Offset committed_end(Cluster& cluster, const std::string& partition) {
  Offset end(0);
  for (const BrokerId id : cluster.partition(partition).replicas) {
    const PartitionReplica* replica = cluster.replica(id, partition);
    if (replica != nullptr) end = std::max(end, replica->high_watermark());
  }
  const auto acked = cluster.accounting().partitions().find(partition);
  if (acked == cluster.accounting().partitions().end()) return end;
  for (const AckedRange& range : acked->second[static_cast<std::size_t>(AckLevel::all)])
    end = std::max(end, range.last + 1);
  return end;
}

FailoverLoss loss_of(Cluster& cluster, const std::string& partition, BrokerId leader, Offset committed) {
  FailoverLoss loss;
  const ReplicaLook mine = look_at_replica(cluster, leader, partition);
  Offset common_committed = std::min(committed, mine.log_end);
  for (const BrokerId id : cluster.partition(partition).replicas) {
    if (id == leader) continue;
    const ReplicaLook other = look_at_replica(cluster, id, partition);
    const Offset common = common_end(mine, other);
    if (other.log_end > common) loss.truncated[id] = other.log_end - common;
    if (other.high_watermark > common) common_committed = std::min(common_committed, common);
  }
  loss.committed_lost = std::max<std::int64_t>(committed - common_committed, 0);
  const auto missing = cluster.accounting().missing(partition, mine.epochs, mine.log_start, mine.log_end);
  for (std::size_t level = 0; level < missing.size(); ++level) loss.acked_lost[level] = count(missing[level]);
  return loss;
}

}  // namespace tk
