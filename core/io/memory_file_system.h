// A disk in memory that fails as real ones do: what was not synced is lost at a power cut, writes tear, the
// disk fills up, the Nth call fails. Unit tests and the simulator run the very same partition log on it.
//
// Durability is modelled per file in blocks of 512 bytes and per directory in names: a write lands in the
// cache; sync() makes the file's content and size durable; a new, renamed or removed name is durable once its
// directory was synced (a file's first sync also makes its own name durable if `names_follow_sync` is set, as
// most journalling systems do).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/io/file_system.h"

namespace tk {

/// What the disk is about to do, for `MemoryFileSystem::on_call`.
struct DiskCall {
  enum class Kind : std::uint8_t {
    read,
    write,
    truncate,
    sync,
    open,
    rename,
    remove,
    mkdir,
    sync_directory,
    list,
    lock
  };
  Kind kind;
  std::string path;
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  /// Number of this call since the start, from 0; reads and listings are not counted and have UINT64_MAX.
  std::uint64_t number = 0;
};

/// What happens to a call.
enum class DiskFate : std::uint8_t {
  done,       // as asked
  fails,      // throws storage_error, nothing changed
  torn,       // a write: the first half of the bytes lands, then it throws; any other call: as `fails`
  power_off,  // throws, and every later call throws too until power_on(); a sync has not happened, any other
              // change is as uncertain as what was not synced before it
};

/// What survives of unsynced writes when the power goes.
enum class UnsyncedFate : std::uint8_t { all_lost, all_kept, random_blocks };

class MemoryFileSystem final : public FileSystem {
 public:
  /// What open files share with it (memory_state.h).
  struct State;

  MemoryFileSystem();
  ~MemoryFileSystem() override;
  MemoryFileSystem(const MemoryFileSystem&) = delete;
  MemoryFileSystem& operator=(const MemoryFileSystem&) = delete;

  std::unique_ptr<File> open(const std::string& path, OpenMode mode) override;
  std::optional<FileStat> stat(const std::string& path) override;
  std::vector<DirEntry> list(const std::string& path) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) override;
  void remove_directory(const std::string& path) override;
  void make_directories(const std::string& path) override;
  void sync_directory(const std::string& path) override;
  std::unique_ptr<LockFile> open_lock(const std::string& path) override;
  void set_mtime(const std::string& path, std::int64_t mtime_ms) override;

  /// Decides the fate of every call but stat(); without it all are done. Unlocking cannot fail and is not
  /// asked about.
  std::function<DiskFate(const DiskCall&)> on_call;
  /// Bytes that all files may hold together; a write beyond writes what fits and throws ("no space left").
  std::uint64_t capacity = UINT64_MAX;
  /// The time that new modification times get.
  std::int64_t now_ms = 0;

  /// A file's sync makes its name durable, too, as most journalling systems do.
  bool names_follow_sync = false;

  /// Cuts the power: open files and locks are dead, unsynced data meet `fate` (drawn by `seed`). Unsynced
  /// names are lost or kept as a whole operation (a rename is never half done), with random_blocks in the
  /// order of each directory: what came after a lost change is lost. After DiskFate::power_off it decides
  /// what that cut left.
  void power_off(UnsyncedFate fate, std::uint64_t seed = 0);
  /// The disk can be used again, by new opens only. A cut by DiskFate::power_off that power_off() did not
  /// decide about loses all that was unsynced.
  void power_on();
  /// Counted calls so far.
  [[nodiscard]] std::uint64_t calls() const;
  /// Flips bit `bit` (0..7) of a byte, in cache and on disk.
  void flip_bit(const std::string& path, std::uint64_t position, int bit);

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tk
