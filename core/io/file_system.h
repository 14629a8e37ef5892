// The file system seam: everything the core does to a disk goes through here.
//
// Two implementations: the real one (posix_file_system()) and a simulated disk (memory_file_system.h) that
// loses what was not synced, tears writes, fills up and fails on demand. The calls are coarse, so the seam
// costs nothing that can be measured. Every call throws Error(storage_error) with the path on failure;
// interrupted and short system calls are continued inside.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"

namespace tk {

struct FileStat {
  std::uint64_t size = 0;
  std::int64_t mtime_ms = 0;
  /// Together they tell whether a path still names the same file.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool is_directory = false;
  bool is_regular = false;
};

struct DirEntry {
  std::string name;
  bool is_directory = false;
};

/// An open file. Closing is the destructor's, and never fails: what must be durable was synced before.
class File {
 public:
  virtual ~File() = default;
  /// Reads up to to.size() bytes; fewer only at the end of the file.
  virtual std::size_t read_at(std::uint64_t position, MutableBytes to) = 0;
  /// Writes all of `bytes`, growing the file. When it throws, any prefix of `bytes` may have been written.
  virtual void write_at(std::uint64_t position, ByteView bytes) = 0;
  virtual void truncate(std::uint64_t size) = 0;
  /// Forces content and size to the disk (fdatasync).
  virtual void sync() = 0;
  [[nodiscard]] virtual FileStat stat() = 0;
  [[nodiscard]] virtual const std::string& path() const = 0;
  /// The number for system calls that the seam has none for (sendfile); -1 if there is none.
  [[nodiscard]] virtual int descriptor() const { return -1; }

  [[nodiscard]] std::uint64_t size() { return stat().size; }
};

enum class OpenMode : std::uint8_t {
  read,        // must exist
  write,       // must exist; read and write
  create,      // made if missing; read and write, content kept
  create_new,  // must not exist
};

enum class LockKind : std::uint8_t { shared, exclusive };

/// A lock file that is open, and byte ranges of it that are locked: open-file-description locks, which meet a
/// broker's POSIX record locks, hold between threads, and survive the closing of another descriptor
/// (design.md §3). All locks of this object end with it.
class LockFile {
 public:
  virtual ~LockFile() = default;
  /// Takes or converts the range [start, start + length) (length 0: to the end of all files); false if
  /// another holder is in the way.
  virtual bool try_lock(LockKind kind, std::uint64_t start, std::uint64_t length) = 0;
  virtual void unlock(std::uint64_t start, std::uint64_t length) = 0;
  /// True if somebody else holds a lock that would keep an exclusive lock on the range away.
  virtual bool held_by_other(std::uint64_t start, std::uint64_t length) = 0;
  /// The open file, which is no longer the one at path() if somebody removed or replaced that.
  [[nodiscard]] virtual FileStat stat() = 0;
  [[nodiscard]] virtual const std::string& path() const = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// Opens a regular file; anything else (a directory, a named pipe) is an error.
  virtual std::unique_ptr<File> open(const std::string& path, OpenMode mode) = 0;
  /// What is at `path` (links followed), or nothing if there is nothing.
  virtual std::optional<FileStat> stat(const std::string& path) = 0;
  /// The entries of a directory but "." and "..", sorted by name.
  virtual std::vector<DirEntry> list(const std::string& path) = 0;
  /// Replaces `to` if it exists.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file; one that is not there is no error.
  virtual void remove(const std::string& path) = 0;
  /// Removes an empty directory; one that is not there is no error.
  virtual void remove_directory(const std::string& path) = 0;
  /// Makes a directory and what is missing above it; each new name is made durable.
  virtual void make_directories(const std::string& path) = 0;
  /// Forces the names in a directory to the disk: after a creation, a rename or a removal that must last.
  virtual void sync_directory(const std::string& path) = 0;
  /// Opens (and makes, if missing) a lock file. A lock file is never removed.
  virtual std::unique_ptr<LockFile> open_lock(const std::string& path) = 0;
  /// Gives a file another modification time (ms); copies that replace a segment keep the original's.
  virtual void set_mtime(const std::string& path, std::int64_t mtime_ms) = 0;
};

/// The real file system.
FileSystem& posix_file_system();

/// Joins with one slash.
std::string join_path(std::string_view directory, std::string_view name);
/// The part behind the last slash (of "a/b/": "b"), and the part before it ("." if there is none).
std::string base_name(std::string_view path);
std::string parent_path(std::string_view path);

/// The whole content of a small file; throws if it is missing or larger than `limit` bytes.
std::string read_whole(FileSystem& fs, const std::string& path, std::uint64_t limit = 64U << 20);

/// Replaces a state file whole: `path`.tmp is written and synced, renamed over `path`, and the directory
/// synced (with `durable` false neither sync is done: a kill loses nothing, a power cut may). On a failure
/// the old file is as it was and no temporary file is left; only if the very last step fails, the new file is
/// in place, but may not outlive a power cut.
void replace_atomically(FileSystem& fs, const std::string& path, ByteView content, bool durable = true);

}  // namespace tk
