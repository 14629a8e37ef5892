// The files of a data directory that `tk recover` makes anew beside the partitions: unreadable checkpoints,
// and partition.metadata files that are missing or damaged.
#pragma once

#include <string>
#include <vector>

#include "core/io/file_system.h"
#include "core/io/turn_lock.h"

namespace tk {

/// Replaces checkpoints that cannot be read, which keep a broker from starting: high watermarks become the
/// ends of the logs (of a lone replica's everything counts), recovery points 0 (a broker then looks at
/// everything), log starts and cleaner offsets are forgotten. The old file is kept as NAME.damaged. Returns a
/// line for each; with `dry_run` nothing is changed. Call it when the partitions are whole. Throws
/// log_dir_locked.
std::vector<std::string> restore_checkpoints(FileSystem& fs, const std::string& directory,
                                             const LockWait& wait, bool dry_run);

/// Writes the partition's partition.metadata if a KRaft broker's directory lacks it or it is damaged, and the
/// metadata log or another partition of the topic tells the id. A line about it; empty if nothing is to be
/// done.
std::string restore_partition_metadata(FileSystem& fs, const std::string& partition_directory, bool dry_run);

}  // namespace tk
