// The content of a disk in memory: what programs see, and what would be left if the power went now.
//
// Every file and every directory exists twice: `cached` is what reads return, `durable` what survives a power
// cut whatever else happens. Syncing copies from the first to the second. Changes of names are remembered as
// operations until they are durable, as a rename survives whole or not at all.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/io/memory_file_system.h"
#include "core/io/memory_locks.h"

namespace tk::memory {

struct Inode;
using InodePtr = std::shared_ptr<Inode>;
using Names = std::map<std::string, InodePtr>;

struct Inode {
  std::uint64_t id = 0;
  bool is_directory = false;
  std::int64_t mtime_ms = 0;

  // A file.
  std::vector<std::uint8_t> cached;
  std::vector<std::uint8_t> durable;
  /// Outside of [dirty_from, dirty_to) both contents agree.
  std::size_t dirty_from = SIZE_MAX;
  std::size_t dirty_to = 0;
  RangeLocks locks;

  // A directory.
  Names cached_names;
  Names durable_names;

  /// Writes in the cache, filling a gap behind the end with zeros.
  void write(std::uint64_t position, ByteView bytes);
  void resize(std::uint64_t size);
  void sync();
  /// Power cut: both contents become what `fate` leaves.
  void lose(UnsyncedFate fate, std::mt19937_64& random);

 private:
  void mark_dirty(std::size_t from, std::size_t to);
  std::vector<std::uint8_t> random_blocks(std::mt19937_64& random) const;
};

/// One name that changes; no target: it goes.
struct NameChange {
  InodePtr directory;
  std::string name;
  InodePtr target;
};
using NameOperation = std::vector<NameChange>;

/// Where a path leads: the directory and the name in it (empty for the root itself), and what is there now,
/// if anything.
struct Place {
  InodePtr directory;
  std::string name;
  InodePtr found;
};

class Disk {
 public:
  Disk();

  InodePtr make(bool is_directory, std::int64_t mtime_ms);
  /// Resolves a path from the root; "." and ".." are followed. No directory if something above it is missing
  /// (then `error_number` says why).
  Place locate(const std::string& path, int& error_number) const;

  /// Changes names in the cache.
  void change(NameOperation operation);
  /// Makes the names in a directory durable.
  void sync_directory(const InodePtr& directory);
  /// Makes the name of a file durable.
  void sync_name_of(const InodePtr& file);
  /// Power cut.
  void lose(UnsyncedFate fate, std::uint64_t seed);
  /// Bytes that all named files hold together.
  [[nodiscard]] std::uint64_t used() const;

 private:
  template <class Wanted>
  void sync_operations(Wanted wanted);
  /// Everything that has a name now, and with `durable_too` also what has one on the disk only; by id, so
  /// that draws repeat.
  [[nodiscard]] std::map<std::uint64_t, InodePtr> all(bool durable_too) const;

  std::uint64_t next_id_ = 1;
  InodePtr root_;
  /// Not durable yet, oldest first.
  std::vector<NameOperation> pending_;
};

}  // namespace tk::memory
