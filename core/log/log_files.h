// What lies in a partition directory: segments, what belongs to them, and what does not.
#pragma once

#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/io/file_system.h"

namespace tk {

/// One segment as listed; its size is the one at that moment.
struct SegmentFile {
  Offset base;
  std::uint64_t size = 0;
  std::int64_t mtime_ms = 0;
  /// Together they tell whether the path still names the same file (0: not listed).
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// Path of the .log. With a finished swap it is the .log.swap that will take the segment's place.
  std::string log_path;
  bool has_index = false;
  bool has_time_index = false;
  bool has_txn_index = false;

  /// Path of the file beside it with this suffix (".index", ...).
  [[nodiscard]] std::string beside(std::string_view suffix) const;
  /// False if `file` is another one than was listed: the segment was replaced.
  [[nodiscard]] bool is(const FileStat& file) const {
    return inode == 0 || (file.inode == inode && file.device == device);
  }
};

/// A file or directory that is no part of the log (kafka-on-disk.md §1.5, §9.3).
struct OtherFile {
  enum class Kind : std::uint8_t {
    cleaned,    // unfinished output of a clean or split
    swap,       // finished output about to take its segments' place
    deleted,    // waits for removal
    temporary,  // an unfinished atomic replacement
    orphan,     // an index or the like without its .log
    foreign,    // nothing of Kafka's or tk's
  };
  Kind kind = Kind::foreign;
  std::string name;
  bool is_directory = false;
};

struct PartitionFiles {
  std::string directory;
  /// By base offset, rising.
  std::vector<SegmentFile> segments;
  /// Offsets of the .snapshot files, rising.
  std::vector<Offset> snapshots;
  bool has_leader_epochs = false;
  bool has_metadata = false;
  std::vector<OtherFile> others;
  /// What a recovery cut was saved here.
  bool has_cuts = false;
  /// An interrupted replacement is seen as finished or as not begun, as its files tell: what that means, in
  /// words; empty if there is none.
  std::string pending;
};

/// Lists a directory and settles interrupted replacements in the view (the files stay as they are): with a
/// `.cleaned` file each `.swap` at or above its offset is void; any other `.log.swap` replaces the segments
/// it covers, one that is not whole only if none of them is left. Throws if the directory cannot be listed.
PartitionFiles list_partition(FileSystem& fs, const std::string& directory);

}  // namespace tk
