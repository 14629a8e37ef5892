#include "core/io/turn_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace tk {
namespace {

constexpr std::uint64_t kRightByte = 0;
constexpr std::uint64_t kLineByte = 1;
constexpr std::uint64_t kUpkeepByte = 2;
/// The places of the line for a state file's lock, the foremost first: behind every byte that members use.
constexpr std::uint64_t kFirstPlace = std::uint64_t{1} << 62;
constexpr std::uint64_t kPlaces = 64;
constexpr std::chrono::microseconds kFirstSleep{250};
constexpr std::chrono::microseconds kLongestSleep{10000};

std::int64_t deadline_after(std::int64_t timeout_ms) {
  const std::int64_t now = monotonic_ms();
  return now + std::clamp<std::int64_t>(timeout_ms, 0, std::numeric_limits<std::int64_t>::max() - now);
}

// Tries until the deadline or an interruption, at least once. A blocking lock call could not be given a time
// limit without a signal.
bool lock_until(LockFile& file, std::uint64_t byte, std::int64_t deadline_ms, const LockWait& wait) {
  std::chrono::microseconds sleep = kFirstSleep;
  while (!file.try_lock(LockKind::exclusive, byte, 1)) {
    if (monotonic_ms() >= deadline_ms || (wait.interrupted && wait.interrupted())) return false;
    std::this_thread::sleep_for(sleep);
    sleep = std::min(sleep * 2, kLongestSleep);
  }
  return true;
}

// Whoever waits stands in a line of places and moves up one at a time: it gives its place up only when it has
// the one before it, so that nobody who came later passes. Only where more wait than there are places do the
// ones behind the line get in by chance. The lock free and nobody in line: it is taken at once.
bool lock_in_line(LockFile& file, std::int64_t deadline_ms, const LockWait& wait) {
  const bool others_wait = wait.timeout_ms > 0 && file.held_by_other(kFirstPlace, kPlaces);
  if (!others_wait && file.try_lock(LockKind::exclusive, kRightByte, 1)) return true;
  if (wait.timeout_ms <= 0) return false;
  std::uint64_t mine = kFirstPlace + kPlaces;
  bool moving = true;
  while (moving && mine > kFirstPlace) {
    moving = lock_until(file, mine - 1, deadline_ms, wait);
    if (moving) file.unlock(mine--, 1);
  }
  const bool locked = moving && lock_until(file, kRightByte, deadline_ms, wait);
  file.unlock(kFirstPlace, kPlaces);
  return locked;
}

Error locked_error(const std::string& path, const LockWait& wait) {
  const std::int64_t timeout_ms = wait.timeout_ms;
  if (wait.interrupted && wait.interrupted()) {
    return Error(ErrorCode::log_dir_locked,
                 fmt::format("interrupted while another writer holds the lock {}", path))
        .at(path);
  }
  return Error(ErrorCode::log_dir_locked,
               timeout_ms > 0
                   ? fmt::format("another writer still holds the lock {} after {} ms", path, timeout_ms)
                   : fmt::format("another writer holds the lock {}", path))
      .at(path)
      .hint("run it again when the other writer has finished, or wait longer with --lock-timeout MS");
}

}  // namespace

TurnLock::TurnLock(FileSystem& fs, std::string path) : file_(fs.open_lock(path)) {}

bool TurnLock::still_in_place(FileSystem& fs) {
  const FileStat ours = file_->stat();
  const auto there = fs.stat(file_->path());
  return there && there->inode == ours.inode && there->device == ours.device;
}

void TurnLock::acquire(const LockWait& wait) {
  if (held_) return;
  const std::int64_t deadline_ms = deadline_after(wait.timeout_ms);
  if (!lock_until(*file_, kLineByte, deadline_ms, wait)) throw locked_error(file_->path(), wait);
  try {
    held_ = lock_until(*file_, kRightByte, deadline_ms, wait);
  } catch (...) {
    file_->unlock(kLineByte, 1);
    throw;
  }
  file_->unlock(kLineByte, 1);
  if (!held_) throw locked_error(file_->path(), wait);
}

void TurnLock::release() {
  if (!held_) return;
  held_ = false;
  file_->unlock(kRightByte, 1);
}

bool TurnLock::wanted_by_other() {
  return file_->held_by_other(kLineByte, 1);
}

std::unique_ptr<LockFile> lock_directory_shared(FileSystem& fs, const std::string& directory) {
  const std::string path = join_path(directory, ".lock");
  // A broker removes the file when it stops. A lock on a file that has lost its name keeps nobody away, so
  // the one that was locked must be the one that the name means now; if not, there is a new file to lock.
  constexpr int attempts = 10;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    auto file = fs.open_lock(path);
    if (!file->try_lock(LockKind::shared, 0, 0)) break;
    const FileStat locked = file->stat();
    const auto named = fs.stat(path);
    if (named && named->inode == locked.inode && named->device == locked.device) return file;
  }
  throw Error(ErrorCode::log_dir_locked, fmt::format("a live broker, or another program, holds {}", path))
      .at(path)
      .hint("stop the broker first; commands that only read work beside it");
}

std::unique_ptr<LockFile> lock_upkeep(FileSystem& fs, const std::string& path, const LockWait& wait) {
  auto file = fs.open_lock(path);
  if (!lock_until(*file, kUpkeepByte, deadline_after(wait.timeout_ms), wait)) throw locked_error(path, wait);
  return file;
}

std::unique_ptr<LockFile> lock_exclusive(FileSystem& fs, const std::string& path, const LockWait& wait) {
  auto file = fs.open_lock(path);
  // Not the whole file: the bytes behind the first belong to others (a group's running members).
  if (!lock_in_line(*file, deadline_after(wait.timeout_ms), wait)) throw locked_error(path, wait);
  return file;
}

}  // namespace tk
