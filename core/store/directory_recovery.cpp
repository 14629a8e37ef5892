#include "core/store/directory_recovery.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/catalog/broker_metadata.h"
#include "core/catalog/log_directory.h"
#include "core/catalog/topics_file.h"
#include "core/format/checkpoint_file.h"
#include "core/format/meta_properties.h"
#include "core/log/leftovers.h"
#include "core/log/log_view.h"
#include "core/log/segment_names.h"
#include "core/store/topic_probe.h"

namespace tk {
namespace {

bool is_readable(FileSystem& fs, const std::string& path) {
  if (!fs.stat(path)) return true;
  return !parse_offset_checkpoint(read_whole(fs, path)).fault;
}

/// What a checkpoint of this name says when nothing is known.
std::vector<OffsetCheckpointEntry> known_offsets(FileSystem& fs, const std::string& directory,
                                                 std::string_view name) {
  std::vector<OffsetCheckpointEntry> entries;
  if (name == kLogStartFile || name == kCleanerFile) return entries;
  for (const FoundPartition& partition : scan_log_directory(fs, directory).partitions) {
    if (partition.name.state != PartitionState::live) continue;
    Offset offset(0);
    if (name == kReplicationFile) {
      try {
        offset = open_log_view(fs, join_path(directory, partition.directory)).log_end;
      } catch (const Error&) {
        continue;  // named by whoever recovers it
      }
    }
    entries.push_back({partition.name.topic, partition.name.partition, offset});
  }
  return entries;
}

const char* what_it_says_now(std::string_view name) {
  if (name == kReplicationFile) return "the high watermarks are the ends of the logs";
  if (name == kRecoveryPointFile) return "a broker looks at every log from its start";
  return name == kLogStartFile ? "logs begin at their first segments"
                               : "logs are compacted from their starts";
}

}  // namespace

std::vector<std::string> restore_checkpoints(FileSystem& fs, const std::string& directory,
                                             const LockWait& wait, bool dry_run) {
  std::vector<std::string> lines;
  std::unique_ptr<LockFile> lock;
  for (const std::string_view name : {kRecoveryPointFile, kReplicationFile, kLogStartFile, kCleanerFile}) {
    const std::string path = join_path(directory, name);
    if (is_readable(fs, path)) continue;
    lines.push_back(fmt::format("{}: cannot be read, {}: {}", path,
                                dry_run ? "would be made anew" : "made anew", what_it_says_now(name)));
    if (dry_run) continue;
    if (!lock) lock = lock_topics_file(fs, directory, wait);
    if (is_readable(fs, path)) continue;  // somebody else was faster
    const std::string text = format_offset_checkpoint(known_offsets(fs, directory, name));
    fs.rename(path, free_path(fs, path + ".damaged"));
    replace_atomically(fs, path, as_bytes(text));
  }
  return lines;
}

namespace {

bool is_kraft(FileSystem& fs, const std::string& directory) {
  const std::string path = join_path(directory, kMetaPropertiesFile);
  if (!fs.stat(path)) return false;
  const MetaProperties properties = parse_meta_properties(read_whole(fs, path));
  return !properties.fault && properties.version == 1;
}

/// The topic's id as the metadata log has it, else as another of its partitions has it.
std::optional<Uuid> known_id(FileSystem& fs, const std::string& directory, const std::string& topic) {
  if (const auto metadata = read_broker_metadata(fs, directory, MetadataDetail::topics)) {
    if (const BrokerMetadata::Topic* known = metadata->find(topic)) return known->id;
  }
  for (const FoundPartition& partition : scan_log_directory(fs, directory).partitions) {
    if (partition.name.topic != topic || partition.name.state != PartitionState::live) continue;
    if (const auto id = probe_topic_id(fs, join_path(directory, partition.directory))) return id;
  }
  return std::nullopt;
}

}  // namespace

std::string restore_partition_metadata(FileSystem& fs, const std::string& partition_directory, bool dry_run) {
  const auto name = parse_partition_directory(base_name(partition_directory));
  if (!name || name->state != PartitionState::live || base_name(partition_directory) == kMetadataDirectory)
    return "";
  const std::string directory = parent_path(partition_directory);
  const std::string path = join_path(partition_directory, kPartitionMetadataFile);
  const bool there = fs.stat(path).has_value();
  if (there && probe_topic_id(fs, partition_directory)) return "";
  if (!is_kraft(fs, directory)) return "";
  const char* const state = there ? "is damaged" : "is missing";
  const std::optional<Uuid> id = known_id(fs, directory, name->topic);
  if (!id) {
    return fmt::format("{} {}, and nothing here tells the topic's id: a broker does not take the directory",
                       path, state);
  }
  if (!dry_run) replace_atomically(fs, path, as_bytes(format_partition_metadata(*id)));
  return fmt::format("{} {}: {} for topic id {}", path, state, dry_run ? "would be written" : "written",
                     id->text());
}

}  // namespace tk
