// A lock that writers take in turns: byte 0 of a lock file is the right to write, byte 1 the head of the
// line.
//
// Whoever wants the right first stands in line (byte 1), then waits for byte 0, then leaves the line. The
// holder looks now and then whether somebody stands in line and gives the right up if so; as it must queue
// itself to get it back, writers alternate (design.md §3).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/io/file_system.h"

namespace tk {

/// How long somebody waits for a lock.
struct LockWait {
  /// In ms of real time; 0: not at all.
  std::int64_t timeout_ms = 10000;
  /// True ends the waiting (a signal); asked every few ms.
  std::function<bool()> interrupted = {};

  LockWait(std::int64_t timeout, std::function<bool()> stop = {})
      : timeout_ms(timeout), interrupted(std::move(stop)) {}
};

class TurnLock {
 public:
  /// Opens `path` without taking anything.
  TurnLock(FileSystem& fs, std::string path);

  /// Takes the right to write. Throws log_dir_locked when the wait is over.
  void acquire(const LockWait& wait);
  void release();
  [[nodiscard]] bool held() const { return held_; }
  /// True if another writer stands in line: the holder should finish what it has and release.
  [[nodiscard]] bool wanted_by_other();
  /// False if the lock file was removed or replaced since it was opened (the partition was deleted): then
  /// holding it means nothing.
  [[nodiscard]] bool still_in_place(FileSystem& fs);

 private:
  std::unique_ptr<LockFile> file_;
  bool held_ = false;
};

/// The right to take segments out of a partition (retention, compaction, repair): byte 2 of its lock file
/// `path`. Held together with the right to write it comes first, so that who goes through a long log keeps no
/// writer out. Throws log_dir_locked when the wait is over.
std::unique_ptr<LockFile> lock_upkeep(FileSystem& fs, const std::string& path, const LockWait& wait);

/// The directory's own `.lock`, taken shared by tk's writers; a live broker holds it whole and exclusively.
/// Throws log_dir_locked at once if one does.
std::unique_ptr<LockFile> lock_directory_shared(FileSystem& fs, const std::string& directory);
/// An exclusive lock on a state file's lock file: first come, first served. Throws log_dir_locked at the end.
std::unique_ptr<LockFile> lock_exclusive(FileSystem& fs, const std::string& path, const LockWait& wait);

}  // namespace tk
