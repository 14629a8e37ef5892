// tk-topics.json: the topics that were made or changed by tk in a data directory (design.md §2).
//
//   {"format":1,"topics":{"orders":{"id":"...","partitions":3,"format":"json","configs":{"segment.bytes":"1048576"}}}}
//
// The file is replaced whole, by one writer at a time (the lock file beside it). Members that this version
// does not know are kept; a file of another version, or a damaged one, is never written over.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/uuid.h"
#include "core/catalog/topic_config.h"
#include "core/format/topic_format.h"
#include "core/io/file_system.h"
#include "core/io/turn_lock.h"

namespace tk {

inline constexpr std::string_view kTopicsFile = "tk-topics.json";
inline constexpr std::string_view kTopicsLockFile = "tk-topics.lock";
/// What one topic may have, and all topics of the file together: more would be a mistake, and cost memory.
inline constexpr std::int32_t kMaxPartitions = 100000;
inline constexpr std::int64_t kMaxPartitionsInAll = 1000000;

struct TopicEntry {
  Uuid id;
  /// Partitions 0 to this less one belong to the topic, whether their directories are there yet or not.
  std::int32_t partitions = 1;
  TopicFormat format = TopicFormat::json;
  ConfigMap configs;
  /// tk did not make the topic, it only changed it ("adopted":true): what lies in its partitions was not
  /// written by tk's rules.
  bool adopted = false;
  /// Members that are not known here, as one JSON object; empty if there are none.
  std::string others;
};

struct TopicsFile {
  std::map<std::string, TopicEntry, std::less<>> topics;
  /// Members of the file itself that are not known here, as one JSON object; empty if there are none.
  std::string others;
};

/// Throws Error(corrupt_state) with the position, or unsupported_version; `path` is for the message.
TopicsFile parse_topics_file(std::string_view text, const std::string& path);
std::string format_topics_file(const TopicsFile& file);

/// The file of a data directory; one that is missing has no topics. Throws as parse_topics_file does.
TopicsFile read_topics_file(FileSystem& fs, const std::string& directory);
/// Takes the right to change the file, and the others that partitions share; it ends with the object.
/// Throws log_dir_locked when the wait is over. Who changes the file reads it anew under the lock.
std::unique_ptr<LockFile> lock_topics_file(FileSystem& fs, const std::string& directory,
                                           const LockWait& wait);
/// Replaces the file atomically. The caller holds the lock.
void write_topics_file(FileSystem& fs, const std::string& directory, const TopicsFile& file);

}  // namespace tk
