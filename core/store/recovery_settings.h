// What the directory around a partition says to a recovery: where it is trusted, how it is indexed, who else
// uses it.
#pragma once

#include <memory>
#include <string>

#include "core/io/turn_lock.h"
#include "core/log/recovery.h"

namespace tk {

/// Settings for the partition directory at `path`, by the data directory that it lies in: in tk's own, the
/// last index entry is a trusted point; in a broker's, the recovery-point checkpoint, or the whole log but
/// the last segment after a clean shutdown; elsewhere all but the last segment. Mode and `full` are the
/// caller's.
RecoveryOptions recovery_settings(FileSystem& fs, const std::string& path);

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
