// Files that an interrupted replacement, deletion or repair left in a partition, and what settles them
// (kafka-on-disk.md §9.3).
#pragma once

#include <string>
#include <vector>

#include "core/log/log_files.h"

namespace tk {

/// One file and what becomes of it.
struct RecoveryStep {
  enum class Kind : std::uint8_t { remove, rename, save };
  Kind kind = Kind::remove;
  std::string path;
  std::string to;
};

/// What is to be done, in order, with the leftovers of a listing: what was cleaned but not finished, and what
/// waits for removal, goes (but the index of a segment that is still there gets its name back); a finished
/// replacement takes the place of what it covers; a swap file that is not whole is saved under another name.
/// The segments of `files` lose the indexes that go.
std::vector<RecoveryStep> plan_leftovers(FileSystem& fs, PartitionFiles& files);
void perform(FileSystem& fs, const RecoveryStep& step);

/// Lists the partition, settles its leftovers, and makes that durable. For whoever holds the right to write:
/// no replacement is then under way.
void settle_leftovers(FileSystem& fs, const std::string& directory);

/// `wanted`, or with a number behind it if there is such a file.
std::string free_path(FileSystem& fs, const std::string& wanted);

}  // namespace tk
