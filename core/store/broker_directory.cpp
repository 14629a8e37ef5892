#include "core/store/broker_directory.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/catalog/log_directory.h"
#include "core/catalog/topic_name.h"
#include "core/format/checkpoint_file.h"
#include "core/format/meta_properties.h"
#include "core/log/recovery_scan.h"

namespace tk {
namespace {

constexpr std::string_view kRemoteIndexes = "remote-log-index-cache";

class Reader {
 public:
  Reader(FileSystem& fs, const std::string& directory) : fs_(fs), directory_(directory) {}

  BrokerDirectory read() {
    for (const DirEntry& entry : fs_.list(directory_)) {
      if (!entry.is_directory) {
        found_.is_broker |= entry.name == kMetaPropertiesFile || entry.name == kRecoveryPointFile ||
                            entry.name == kReplicationFile;
        found_.has_marker |= entry.name == kCleanShutdownFile;
      } else if (entry.name != kRemoteIndexes && !parse_partition_directory(entry.name)) {
        refuse(fmt::format("{}: the name is no partition's", join_path(directory_, entry.name)));
      }
    }
    read_properties();
    found_.recovery_points = checkpoint(kRecoveryPointFile);
    found_.log_starts = checkpoint(kLogStartFile);
    (void)checkpoint(kReplicationFile);
    if (found_.kraft) found_.metadata = read_broker_metadata(fs_, directory_);
    return std::move(found_);
  }

 private:
  /// The first reason is told.
  void refuse(std::string why) {
    if (!found_.refusal) found_.refusal = std::move(why);
  }

  void read_properties() {
    const std::string path = join_path(directory_, kMetaPropertiesFile);
    if (!fs_.stat(path)) return;
    const MetaProperties properties = parse_meta_properties(read_whole(fs_, path));
    if (properties.fault) refuse(fmt::format("{}: {}", path, properties.fault->reason));
    found_.kraft = properties.version == 1;
    found_.node_id = properties.node_id;
  }

  std::map<std::string, Offset> checkpoint(std::string_view name) {
    std::map<std::string, Offset> offsets;
    const std::string path = join_path(directory_, name);
    if (!fs_.stat(path)) return offsets;
    const OffsetCheckpoint checkpoint = parse_offset_checkpoint(read_whole(fs_, path));
    if (checkpoint.fault) {
      refuse(fmt::format("{} is unreadable: line {}: {}: the log directory counts as failed", path,
                         checkpoint.fault->line, checkpoint.fault->reason));
    }
    for (const OffsetCheckpointEntry& entry : checkpoint.entries)
      offsets[partition_directory_name(entry.topic, entry.partition)] = entry.offset;
    return offsets;
  }

  FileSystem& fs_;
  const std::string& directory_;
  BrokerDirectory found_;
};

Offset offset_in(const std::map<std::string, Offset>& offsets, const std::string& name) {
  const auto found = offsets.find(name);
  return found == offsets.end() ? Offset(0) : found->second;
}

}  // namespace

BrokerDirectory read_broker_directory(FileSystem& fs, const std::string& directory) {
  return Reader(fs, directory).read();
}

BrokerStartSettings broker_start_settings(FileSystem& fs, const BrokerDirectory& directory,
                                          const std::string& partition_directory, bool clean) {
  const std::string name = base_name(partition_directory);
  BrokerStartSettings settings;
  settings.clean = clean;
  settings.recovery_point = offset_in(directory.recovery_points, name);
  settings.log_start = offset_in(directory.log_starts, name);
  settings.kraft = directory.kraft;
  settings.metadata_log = name == kMetadataDirectory;
  const auto parsed = parse_partition_directory(name);
  if (directory.metadata && parsed && !settings.metadata_log) {
    const BrokerMetadata::Topic* const topic = directory.metadata->find(parsed->topic);
    settings.topic_exists = topic != nullptr;
    if (topic != nullptr) {
      settings.topic_id = topic->id;
      const auto partition = topic->partitions.find(parsed->partition.value());
      if (directory.node_id && partition != topic->partitions.end()) {
        const auto& replicas = partition->second.replicas;
        settings.assigned = std::find(replicas.begin(), replicas.end(), *directory.node_id) != replicas.end();
      }
    }
  }
  const PartitionFiles files = list_partition(fs, partition_directory);
  settings.index_interval = spacing_of_indexes(fs, files).value_or(settings.index_interval + 1) - 1;
  return settings;
}

}  // namespace tk
