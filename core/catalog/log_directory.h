// What lies in a data directory: partitions in each of their states, the files that say whose it is, and what
// is none of the log's (kafka-on-disk.md §1.1, §1.4; field cases R25 to R32).
//
// Only the directory's own listing and its log-start-offset-checkpoint are read, whatever the number of
// partitions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/catalog/topic_name.h"
#include "core/io/file_system.h"

namespace tk {

inline constexpr std::string_view kMetaPropertiesFile = "meta.properties";
inline constexpr std::string_view kRecoveryPointFile = "recovery-point-offset-checkpoint";
inline constexpr std::string_view kReplicationFile = "replication-offset-checkpoint";
inline constexpr std::string_view kLogStartFile = "log-start-offset-checkpoint";
inline constexpr std::string_view kCleanerFile = "cleaner-offset-checkpoint";
inline constexpr std::string_view kCleanShutdownFile = ".kafka_cleanshutdown";

/// A directory whose name is a partition's.
struct FoundPartition {
  PartitionName name;
  /// The directory's name, without the path.
  std::string directory;
};

struct LogDirectory {
  /// By state, topic, number and directory name.
  std::vector<FoundPartition> partitions;
  /// True if a Kafka broker has used the directory: its meta.properties, recovery points or high watermarks
  /// are there.
  bool is_broker = false;
  bool has_clean_shutdown = false;
  /// Where logs begin by the checkpoint, by the partition's directory name; empty if that file is missing or
  /// damaged.
  std::map<std::string, Offset> log_starts;
  /// What is not used, one line each: entries that are nothing of Kafka's or tk's, a damaged checkpoint.
  std::vector<std::string> notes;
};

/// Throws storage_error if the directory cannot be listed.
LogDirectory scan_log_directory(FileSystem& fs, const std::string& directory);

/// The partition's offset in one of the checkpoints; nothing if it has none, or the file is missing. Throws
/// corrupt_state for a damaged file.
std::optional<Offset> read_checkpoint(FileSystem& fs, const std::string& directory, std::string_view file,
                                      std::string_view topic, PartitionId partition);
/// Notes an offset there, unless it has a larger one already, and makes that durable. The caller holds the
/// lock of lock_topics_file. Throws corrupt_state for a damaged file, which is left as it is.
void raise_in_checkpoint(FileSystem& fs, const std::string& directory, std::string_view file,
                         std::string_view topic, PartitionId partition, Offset offset);

/// Lowers what the recovery point, high watermark and cleaner checkpoints say of a partition whose log ends
/// at `end` now. A damaged checkpoint is left alone. The caller holds the lock of lock_topics_file.
void lower_in_checkpoints(FileSystem& fs, const std::string& directory, std::string_view topic,
                          PartitionId partition, Offset end);

/// What of log-start-, recovery-point- and cleaner-offset-checkpoint lies behind the partition's log end: the
/// file and what it says. A broker that believes a log start there drops every record of the partition.
std::vector<std::pair<std::string_view, Offset>> false_ends(FileSystem& fs, const std::string& directory,
                                                            std::string_view topic, PartitionId partition,
                                                            Offset end);
/// Mends one of them: a recovery point becomes the end, log start and cleaner offset are forgotten. With the
/// lock of lock_topics_file() held.
void mend_false_end(FileSystem& fs, const std::string& directory, std::string_view file,
                    std::string_view topic, PartitionId partition, Offset end);

/// Takes a topic (or one partition of it) out of the offset checkpoints that are there (log start, recovery
/// point, high watermark, cleaner): a log that is made anew under that name must not begin where the old one
/// did. A damaged checkpoint is left alone. The caller holds the lock of lock_topics_file.
void forget_in_checkpoints(FileSystem& fs, const std::string& directory, std::string_view topic,
                           std::optional<PartitionId> partition = {});

}  // namespace tk
