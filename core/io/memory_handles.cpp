// Open files and lock files of a MemoryFileSystem.
#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/io/memory_state.h"

namespace tk {
namespace {

// Far above what a test writes, far below what would exhaust the memory by a wrong position.
constexpr std::uint64_t kLargestFile = 1ULL << 34;

}  // namespace

using State = MemoryFileSystem::State;

State::OpenFile::OpenFile(std::shared_ptr<State> state, memory::InodePtr inode, std::string path,
                          bool writable)
    : state_(std::move(state)),
      inode_(std::move(inode)),
      path_(std::move(path)),
      writable_(writable),
      epoch_(state_->epoch) {}

std::size_t State::OpenFile::read_at(std::uint64_t position, MutableBytes to) {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("read", path_, epoch_);
  state_->pass({DiskCall::Kind::read, path_, position, to.size()}, "read");
  const auto& content = inode_->cached;
  if (position >= content.size()) return 0;
  const std::size_t count = std::min<std::size_t>(to.size(), content.size() - position);
  std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(position), count, to.begin());
  return count;
}

void State::OpenFile::require_writable(std::string_view action) const {
  if (!writable_) throw system_error(action, path_, EBADF);
}

void State::OpenFile::put(std::uint64_t position, ByteView bytes) {
  inode_->write(position, bytes);
  inode_->mtime_ms = state_->now_ms();
}

void State::OpenFile::write_at(std::uint64_t position, ByteView bytes) {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("write", path_, epoch_);
  require_writable("write");
  if (position > kLargestFile || bytes.size() > kLargestFile) throw system_error("write", path_, EFBIG);
  const DiskFate fate = state_->decide({DiskCall::Kind::write, path_, position, bytes.size()}, "write");
  if (fate == DiskFate::torn) {
    put(position, bytes.first(bytes.size() / 2));
    throw system_error("write", path_, EIO);
  }
  const std::uint64_t fitting = state_->room_for(*inode_, position, bytes.size());
  put(position, bytes.first(fitting));
  if (fate == DiskFate::power_off) state_->cut("write", path_);
  if (fitting < bytes.size()) throw system_error("write", path_, ENOSPC).at(path_, position + fitting);
}

void State::OpenFile::truncate(std::uint64_t size) {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("truncate", path_, epoch_);
  require_writable("truncate");
  if (size > kLargestFile) throw system_error("truncate", path_, EFBIG);
  state_->perform({DiskCall::Kind::truncate, path_, size}, "truncate", [&] {
    inode_->resize(size);
    inode_->mtime_ms = state_->now_ms();
  });
}

void State::OpenFile::sync() {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("force to disk", path_, epoch_);
  state_->pass({DiskCall::Kind::sync, path_}, "force to disk");
  inode_->sync();
  if (state_->owner != nullptr && state_->owner->names_follow_sync) state_->disk.sync_name_of(inode_);
}

FileStat State::OpenFile::stat() {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("get the status of the file", path_, epoch_);
  return memory_stat(*inode_);
}

State::OpenLock::OpenLock(std::shared_ptr<State> state, memory::InodePtr inode, std::string path)
    : state_(std::move(state)),
      inode_(std::move(inode)),
      path_(std::move(path)),
      holder_(state_->next_holder++),
      epoch_(state_->epoch) {}

State::OpenLock::~OpenLock() {
  const std::scoped_lock lock(state_->mutex);
  inode_->locks.drop(holder_, memory::range_of(0, 0));
}

bool State::OpenLock::try_lock(LockKind kind, std::uint64_t start, std::uint64_t length) {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("lock", path_, epoch_);
  state_->pass({DiskCall::Kind::lock, path_, start, length}, "lock");
  return inode_->locks.take(holder_, kind, memory::range_of(start, length));
}

void State::OpenLock::unlock(std::uint64_t start, std::uint64_t length) {
  const std::scoped_lock lock(state_->mutex);
  inode_->locks.drop(holder_, memory::range_of(start, length));
}

bool State::OpenLock::held_by_other(std::uint64_t start, std::uint64_t length) {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("look at the locks", path_, epoch_);
  return inode_->locks.blocked(holder_, LockKind::exclusive, memory::range_of(start, length));
}

FileStat State::OpenLock::stat() {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("get the status of the file", path_, epoch_);
  return memory_stat(*inode_);
}

}  // namespace tk
