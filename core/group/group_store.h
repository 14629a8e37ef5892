// The groups of a data directory: reading them, and changing one under its lock (groups.md §1, §13).
//
// Readers take no lock: a group's file is replaced whole. A change is one replacement, so others see it whole
// or not at all; a crash at any point leaves the old file or the new one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/group/group_events.h"
#include "core/group/group_state.h"
#include "core/group/group_turn.h"
#include "core/io/file_system.h"
#include "core/io/turn_lock.h"

namespace tk {

class GroupStore {
 public:
  struct Options {
    LockWait lock_wait = 10000;
    /// False: what is written is left to the system (--sync none).
    bool durable = true;
    GroupConfig config = {};
  };

  /// `fs` and `clock` must outlive it. The directory must be there for changes.
  GroupStore(FileSystem& fs, std::string directory, const Clock& clock, Options options)
      : fs_(fs), directory_(std::move(directory)), clock_(clock), options_(std::move(options)) {}

  /// The keys of all group files, sorted; group_of_key() makes names of them.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The names of all groups whose files can be read, for "did you mean".
  [[nodiscard]] std::vector<std::string> names() const;

  /// What the file holds; nothing if there is none. Throws invalid_group_id, corrupt_state,
  /// unsupported_version.
  [[nodiscard]] std::optional<GroupState> read(const std::string& group) const;
  /// The same by key; the group's id is the one in the file.
  [[nodiscard]] std::optional<GroupState> read_key(const std::string& key) const;
  /// How a group is at this moment, deadlines and retention considered; nothing is written.
  [[nodiscard]] std::optional<GroupState> at_this_moment(std::optional<GroupState> group,
                                                         const GroupTopics& topics) const;

  using Operation = std::function<void(GroupTurn&)>;
  struct Outcome {
    /// The clock is behind what the group has seen; the group's time was taken.
    bool clock_regressed = false;
    /// The group is gone with this change: nothing was left of it.
    bool removed = false;
    /// False: `skips_write` had it so.
    bool written = true;
    /// The history could not be written; the change itself is done.
    std::optional<Error> history_error;
  };
  /// For one who holds a part of a group's time in memory (core/net/groups.h).
  struct Conduct {
    /// Sees the group as the file has it, before its deadlines are fired; may set them later.
    std::function<void(GroupState&)> prepare = {};
    /// Sees the group before (null: there is no file) and after the change; true: that is not written.
    std::function<bool(const GroupState*, const GroupState&)> skips_write = {};
  };
  /// Locks the group, does what has fallen due, then `operation`, and saves. If that throws, only what had
  /// fallen due is saved. Throws what `operation` and read() throw, log_dir_locked, and unknown_server_error
  /// if an invariant would be broken (nothing is saved then).
  Outcome change(const std::string& group, const GroupTopics& topics, const Operation& operation) {
    return change(group, topics, operation, Conduct());
  }
  Outcome change(const std::string& group, const GroupTopics& topics, const Operation& operation,
                 const Conduct& conduct);

  /// Removes a group and its history; `allowed` sees it first, with deadlines caught up with, and may throw.
  /// Throws group_id_not_found.
  void remove(const std::string& group, const GroupTopics& topics,
              const std::function<void(const GroupState&)>& allowed);
  /// Renames a damaged file to `group-<key>.json.damaged-<ms>` and returns that path. Throws
  /// group_id_not_found; if the file can be read after all, nothing is done and the path is empty.
  std::string set_aside(const std::string& group);

  [[nodiscard]] History history(const std::string& group) const;
  /// The lock file, whose bytes behind the first belong to running members (groups.md §13).
  [[nodiscard]] std::unique_ptr<LockFile> open_lock(const std::string& group) const;
  /// The error for a group that does not exist, with the nearest name.
  [[nodiscard]] Error unknown_group(const std::string& group) const;

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::int64_t now_ms() const { return clock_.now_ms(); }
  [[nodiscard]] FileSystem& file_system() const { return fs_; }

 private:
  [[nodiscard]] std::string path_of(const std::string& file) const { return join_path(directory_, file); }
  [[nodiscard]] std::unique_ptr<LockFile> lock(const std::string& key) const;
  /// The turn's events; an error of theirs hinders nothing.
  std::optional<Error> note_history(const std::string& key, const GroupTurn& turn);
  Outcome save(const std::string& key, const std::optional<GroupState>& before, GroupTurn& turn);
  void write(const std::string& key, const std::optional<GroupState>& before, GroupTurn& turn);
  void remove_files(const std::string& key, bool history);

  FileSystem& fs_;
  std::string directory_;
  const Clock& clock_;
  Options options_;
};

}  // namespace tk
