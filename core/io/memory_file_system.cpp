#include "core/io/memory_file_system.h"

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/io/memory_state.h"

namespace tk {
namespace {

using memory::InodePtr;
using memory::Place;

// True if `inside` lies somewhere below `directory`, or is it.
bool holds(const InodePtr& directory, const InodePtr& inside) {
  if (directory == inside) return true;
  return std::ranges::any_of(directory->cached_names, [&](const auto& entry) {
    return entry.second->is_directory && holds(entry.second, inside);
  });
}

// Why a rename is impossible, as rename(2) says it; 0 if it is not.
int rename_obstacle(const Place& from, const Place& to) {
  if (from.found == nullptr) return ENOENT;
  if (from.name.empty() || to.name.empty()) return EBUSY;
  if (from.found->is_directory && holds(from.found, to.directory)) return EINVAL;
  if (to.found == nullptr || to.found == from.found) return 0;
  if (from.found->is_directory && !to.found->is_directory) return ENOTDIR;
  if (!from.found->is_directory && to.found->is_directory) return EISDIR;
  return to.found->cached_names.empty() ? 0 : ENOTEMPTY;
}

}  // namespace

MemoryFileSystem::MemoryFileSystem() : state_(std::make_shared<State>()) {
  state_->owner = this;
}

MemoryFileSystem::~MemoryFileSystem() {
  const std::scoped_lock lock(state_->mutex);
  state_->owner = nullptr;
}

std::unique_ptr<File> MemoryFileSystem::open(const std::string& path, OpenMode mode) {
  const std::scoped_lock lock(state_->mutex);
  InodePtr inode = state_->open_file(path, mode, mode == OpenMode::create_new ? "create" : "open");
  return std::make_unique<State::OpenFile>(state_, std::move(inode), path, mode != OpenMode::read);
}

std::unique_ptr<LockFile> MemoryFileSystem::open_lock(const std::string& path) {
  const std::scoped_lock lock(state_->mutex);
  InodePtr inode = state_->open_file(path, OpenMode::create, "open the lock file");
  return std::make_unique<State::OpenLock>(state_, std::move(inode), path);
}

std::optional<FileStat> MemoryFileSystem::stat(const std::string& path) {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("get the status of the file", path, state_->epoch);
  int error_number = 0;
  const Place place = state_->disk.locate(path, error_number);
  if (place.found == nullptr) return std::nullopt;
  return memory_stat(*place.found);
}

std::vector<DirEntry> MemoryFileSystem::list(const std::string& path) {
  constexpr std::string_view action = "list the directory";
  const std::scoped_lock lock(state_->mutex);
  state_->require_power(action, path, state_->epoch);
  const InodePtr directory = state_->existing(path, action);
  if (!directory->is_directory) throw system_error(action, path, ENOTDIR);
  state_->pass({DiskCall::Kind::list, path}, action);
  std::vector<DirEntry> entries;
  for (const auto& [name, inode] : directory->cached_names) entries.push_back({name, inode->is_directory});
  return entries;
}

void MemoryFileSystem::rename(const std::string& from, const std::string& to) {
  const std::scoped_lock lock(state_->mutex);
  const std::string action = "rename to " + to;
  state_->require_power(action, from, state_->epoch);
  const Place source = state_->place(from, action);
  const Place target = state_->place(to, action);
  const int obstacle = rename_obstacle(source, target);
  if (obstacle != 0) throw system_error(action, from, obstacle);
  if (source.found == target.found) return;
  state_->perform({DiskCall::Kind::rename, from}, action, [&] {
    state_->disk.change(
        {{source.directory, source.name, nullptr}, {target.directory, target.name, source.found}});
  });
}

void MemoryFileSystem::remove(const std::string& path) {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("remove", path, state_->epoch);
  int error_number = 0;
  const Place place = state_->disk.locate(path, error_number);
  if (place.directory == nullptr && error_number != ENOENT) throw system_error("remove", path, error_number);
  if (place.found == nullptr) return;
  if (place.found->is_directory) throw system_error("remove", path, EISDIR);
  state_->perform({DiskCall::Kind::remove, path}, "remove", [&] {
    state_->disk.change({{place.directory, place.name, nullptr}});
  });
}

void MemoryFileSystem::remove_directory(const std::string& path) {
  constexpr std::string_view action = "remove the directory";
  const std::scoped_lock lock(state_->mutex);
  state_->require_power(action, path, state_->epoch);
  int error_number = 0;
  const Place place = state_->disk.locate(path, error_number);
  if (place.directory == nullptr && error_number != ENOENT) throw system_error(action, path, error_number);
  if (place.found == nullptr) return;
  if (!place.found->is_directory) throw system_error(action, path, ENOTDIR);
  if (place.name.empty()) throw system_error(action, path, EBUSY);
  if (!place.found->cached_names.empty()) throw system_error(action, path, ENOTEMPTY);
  state_->perform({DiskCall::Kind::remove, path}, action, [&] {
    state_->disk.change({{place.directory, place.name, nullptr}});
  });
}

void MemoryFileSystem::make_directories(const std::string& path) {
  constexpr std::string_view action = "make the directory";
  const std::scoped_lock lock(state_->mutex);
  if (const auto found = stat(path)) {
    if (!found->is_directory) throw system_error(action, path, EEXIST);
    return;
  }
  make_directories(parent_path(path));
  const Place place = state_->place(path, action);
  const InodePtr made = state_->disk.make(true, now_ms);
  state_->perform({DiskCall::Kind::mkdir, path}, action, [&] {
    state_->disk.change({{place.directory, place.name, made}});
  });
  sync_directory(parent_path(path));
}

void MemoryFileSystem::sync_directory(const std::string& path) {
  constexpr std::string_view action = "force the directory to disk";
  const std::scoped_lock lock(state_->mutex);
  state_->require_power(action, path, state_->epoch);
  const InodePtr directory = state_->existing(path, action);
  if (!directory->is_directory) throw system_error(action, path, ENOTDIR);
  state_->pass({DiskCall::Kind::sync_directory, path}, action);
  state_->disk.sync_directory(directory);
}

void MemoryFileSystem::set_mtime(const std::string& path, std::int64_t mtime_ms) {
  const std::scoped_lock lock(state_->mutex);
  state_->require_power("set the modification time", path, state_->epoch);
  state_->existing(path, "set the modification time")->mtime_ms = mtime_ms;
}

void MemoryFileSystem::power_off(UnsyncedFate fate, std::uint64_t seed) {
  const std::scoped_lock lock(state_->mutex);
  state_->disk.lose(fate, seed);
  state_->off = true;
  state_->undecided = false;
  ++state_->epoch;
}

void MemoryFileSystem::power_on() {
  const std::scoped_lock lock(state_->mutex);
  if (state_->undecided) power_off(UnsyncedFate::all_lost);
  state_->off = false;
}

std::uint64_t MemoryFileSystem::calls() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->counted_calls;
}

void MemoryFileSystem::flip_bit(const std::string& path, std::uint64_t position, int bit) {
  const std::scoped_lock lock(state_->mutex);
  const InodePtr file = state_->existing(path, "flip a bit");
  const auto mask = static_cast<std::uint8_t>(1U << bit);
  if (position >= file->cached.size()) throw system_error("flip a bit", path, EINVAL);
  file->cached[position] ^= mask;
  if (position < file->durable.size()) file->durable[position] ^= mask;
}

}  // namespace tk
