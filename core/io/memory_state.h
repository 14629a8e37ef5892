// What the parts of a MemoryFileSystem share: the disk, and whether a call succeeds.
#pragma once

#include <mutex>
#include <string_view>

#include "core/io/memory_disk.h"
#include "core/io/memory_file_system.h"

namespace tk {

struct MemoryFileSystem::State {
  class OpenFile;
  class OpenLock;

  /// Recursive, as `on_call` may ask the file system something.
  std::recursive_mutex mutex;
  /// Null once the file system is gone, which open files may outlive.
  MemoryFileSystem* owner = nullptr;
  memory::Disk disk;
  bool off = false;
  /// The cut came from DiskFate::power_off, and what it left is still to be decided.
  bool undecided = false;
  /// Counts power cuts: what was opened before the last one is dead.
  std::uint64_t epoch = 0;
  std::uint64_t counted_calls = 0;
  std::uint64_t next_holder = 1;

  [[nodiscard]] std::int64_t now_ms() const { return owner == nullptr ? 0 : owner->now_ms; }

  /// Throws if the power is off, for this handle or at all.
  void require_power(std::string_view action, const std::string& path, std::uint64_t handle_epoch) const;
  /// The fate of a call: done, torn (of writes only) or power_off; throws if it fails.
  DiskFate decide(DiskCall call, std::string_view action);
  /// The power goes in the middle of a call.
  [[noreturn]] void cut(std::string_view action, const std::string& path);

  /// A call that changes something by `change`, which has checked everything before it is called.
  template <class Change>
  void perform(DiskCall call, std::string_view action, Change change) {
    const std::string path = call.path;
    const DiskFate fate = decide(std::move(call), action);
    change();
    if (fate == DiskFate::power_off) cut(action, path);
  }
  /// A call that changes nothing, or nothing when the power goes.
  void pass(DiskCall call, std::string_view action) {
    const std::string path = call.path;
    if (decide(std::move(call), action) == DiskFate::power_off) cut(action, path);
  }

  /// What is at a path, which must be there.
  memory::InodePtr existing(const std::string& path, std::string_view action) const;
  /// The place of a path, whose directory must be there.
  memory::Place place(const std::string& path, std::string_view action) const;
  /// Opens or makes a file, as open() does.
  memory::InodePtr open_file(const std::string& path, OpenMode mode, std::string_view action);
  /// Bytes that a write of `size` at `position` may still put down.
  [[nodiscard]] std::uint64_t room_for(const memory::Inode& file, std::uint64_t position,
                                       std::uint64_t size) const;
};

/// What stat() says of an inode.
FileStat memory_stat(const memory::Inode& inode);

class MemoryFileSystem::State::OpenFile final : public File {
 public:
  OpenFile(std::shared_ptr<State> state, memory::InodePtr inode, std::string path, bool writable);

  std::size_t read_at(std::uint64_t position, MutableBytes to) override;
  void write_at(std::uint64_t position, ByteView bytes) override;
  void truncate(std::uint64_t size) override;
  void sync() override;
  FileStat stat() override;
  const std::string& path() const override { return path_; }

 private:
  void require_writable(std::string_view action) const;
  void put(std::uint64_t position, ByteView bytes);

  std::shared_ptr<State> state_;
  memory::InodePtr inode_;
  std::string path_;
  bool writable_;
  std::uint64_t epoch_;
};

class MemoryFileSystem::State::OpenLock final : public LockFile {
 public:
  OpenLock(std::shared_ptr<State> state, memory::InodePtr inode, std::string path);
  ~OpenLock() override;

  bool try_lock(LockKind kind, std::uint64_t start, std::uint64_t length) override;
  void unlock(std::uint64_t start, std::uint64_t length) override;
  bool held_by_other(std::uint64_t start, std::uint64_t length) override;
  FileStat stat() override;
  const std::string& path() const override { return path_; }

 private:
  std::shared_ptr<State> state_;
  memory::InodePtr inode_;
  std::string path_;
  std::uint64_t holder_;
  std::uint64_t epoch_;
};

}  // namespace tk
