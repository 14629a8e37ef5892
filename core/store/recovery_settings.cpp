#include "core/store/recovery_settings.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/catalog/log_directory.h"
#include "core/catalog/topic_config.h"
#include "core/catalog/topic_name.h"
#include "core/catalog/topics_file.h"
#include "core/format/checkpoint_file.h"
#include "core/log/segment_names.h"
#include "core/store/store.h"

namespace tk {
namespace {

std::optional<Offset> recovery_point(FileSystem& fs, const std::string& directory,
                                     const PartitionName& name) {
  try {
    const auto checkpoint = parse_offset_checkpoint(read_whole(fs, join_path(directory, kRecoveryPointFile)));
    for (const OffsetCheckpointEntry& entry : checkpoint.entries) {
      if (entry.topic == name.topic && entry.partition == name.partition) return entry.offset;
    }
  } catch (const Error&) {
    // Without a readable checkpoint everything is looked at.
  }
  return Offset(0);
}

}  // namespace

RecoveryOptions recovery_settings(FileSystem& fs, const std::string& path) {
  RecoveryOptions options;
  const auto name = parse_partition_directory(base_name(path));
  if (!name) return options;
  const std::string directory = parent_path(path);
  try {
    const Store store = Store::open(fs, directory, {});
    const TopicInfo* topic = store.find(name->topic);
    if (topic != nullptr) {
      options.index_interval = log_config(topic->configs).index_interval_bytes;
      options.infer_interval = !topic->tk_made;
      options.trust_index = topic->tk_made && !store.is_broker();
    }
    options.in_broker_directory = store.is_broker();
    options.log_start = store.checkpointed_start({name->topic, name->partition, name->state, path, false});
    if (store.is_broker() && !fs.stat(join_path(directory, kCleanShutdownFile))) {
      options.recovery_point = recovery_point(fs, directory, *name);
    }
  } catch (const Error&) {
    // The surroundings cannot be read: the partition stands for itself.
  }
  return options;
}

void before_recovery(FileSystem& fs, const std::string& path) {
  const std::string directory = parent_path(path);
  const std::string marker = join_path(directory, kCleanShutdownFile);
  if (!fs.stat(marker)) return;
  fs.remove(marker);
  fs.sync_directory(directory);
}

void after_recovery(FileSystem& fs, const std::string& path, Offset log_end, const LockWait& wait) {
  const auto name = parse_partition_directory(base_name(path));
  if (!name || name->state != PartitionState::live) return;
  const std::string directory = parent_path(path);
  const bool any = fs.stat(join_path(directory, kRecoveryPointFile)) ||
                   fs.stat(join_path(directory, kReplicationFile)) ||
                   fs.stat(join_path(directory, kCleanerFile));
  if (!any) return;
  const auto lock = lock_topics_file(fs, directory, wait);
  lower_in_checkpoints(fs, directory, name->topic, name->partition, log_end);
}

std::vector<std::string> restore_ends(FileSystem& fs, const std::string& path, Offset log_end,
                                      const LockWait& wait, bool dry_run) {
  std::vector<std::string> lines;
  const auto name = parse_partition_directory(base_name(path));
  if (!name || name->state != PartitionState::live) return lines;
  const std::string directory = parent_path(path);
  std::unique_ptr<LockFile> lock;
  for (const auto& [file, offset] : false_ends(fs, directory, name->topic, name->partition, log_end)) {
    const bool forgets = file != kRecoveryPointFile;
    lines.push_back(fmt::format("{}: said {} of {}, whose log ends at {}: {}{}", join_path(directory, file),
                                offset.value(), base_name(path), log_end.value(), dry_run ? "would be " : "",
                                forgets ? "forgotten" : "lowered"));
    if (dry_run) continue;
    if (!lock) lock = lock_topics_file(fs, directory, wait);
    mend_false_end(fs, directory, file, name->topic, name->partition, log_end);
  }
  return lines;
}

RecoveryLocks::RecoveryLocks(FileSystem& fs, const std::string& path, const LockWait& wait)
    : directory_(lock_directory_shared(fs, parent_path(path))),
      upkeep_(lock_upkeep(fs, join_path(path, kPartitionLockFile), wait)),
      partition_(fs, join_path(path, kPartitionLockFile)) {
  partition_.acquire(wait);
}

}  // namespace tk
