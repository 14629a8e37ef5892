// What the directory around a partition says to a recovery: where it is trusted, how it is indexed, who else
// uses it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/io/turn_lock.h"
#include "core/log/recovery.h"

namespace tk {

/// Settings for the partition directory at `path`, by the data directory that it lies in: in tk's own, the
/// last index entry is a trusted point; in a broker's, the recovery-point checkpoint, or the whole log but
/// the last segment after a clean shutdown; elsewhere all but the last segment. Mode and `full` are the
/// caller's.
RecoveryOptions recovery_settings(FileSystem& fs, const std::string& path);

/// To be called before a recovery changes the partition at `path`: a broker's clean-shutdown marker goes,
/// which would have it trust what it knows of the old files. That is on disk when this returns.
void before_recovery(FileSystem& fs, const std::string& path);
/// To be called when it is done and its locks are given up: the checkpoints of the data directory claim no
/// more than a log that ends at `log_end`.
void after_recovery(FileSystem& fs, const std::string& path, Offset log_end, const LockWait& wait);

/// Mends what a broker's checkpoints claim behind the log's end (log start, recovery point, cleaner offset);
/// a line about each, with what it said. With `dry_run` nothing is changed. Throws log_dir_locked.
std::vector<std::string> restore_ends(FileSystem& fs, const std::string& path, Offset log_end,
                                      const LockWait& wait, bool dry_run);

/// The locks of a writer on one partition, held for the life of this.
class RecoveryLocks {
 public:
  /// Throws log_dir_locked: at once for a live broker, when the wait for another writer is over.
  RecoveryLocks(FileSystem& fs, const std::string& path, const LockWait& wait);

 private:
  std::unique_ptr<LockFile> directory_;
  std::unique_ptr<LockFile> upkeep_;
  TurnLock partition_;
};

}  // namespace tk
