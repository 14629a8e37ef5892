#include "core/io/memory_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"

namespace tk {
namespace {

Error power_error(std::string_view action, const std::string& path) {
  return Error(ErrorCode::storage_error, fmt::format("cannot {}: the power is off", action)).at(path);
}

}  // namespace

using State = MemoryFileSystem::State;
using memory::InodePtr;
using memory::Place;

FileStat memory_stat(const memory::Inode& inode) {
  FileStat stat;
  stat.size = inode.cached.size();
  stat.mtime_ms = inode.mtime_ms;
  stat.device = 1;
  stat.inode = inode.id;
  stat.is_directory = inode.is_directory;
  stat.is_regular = !inode.is_directory;
  return stat;
}

void State::require_power(std::string_view action, const std::string& path,
                          std::uint64_t handle_epoch) const {
  if (off || handle_epoch != epoch) throw power_error(action, path);
}

DiskFate State::decide(DiskCall call, std::string_view action) {
  const bool counted = call.kind != DiskCall::Kind::read && call.kind != DiskCall::Kind::list;
  call.number = counted ? counted_calls++ : UINT64_MAX;
  if (owner == nullptr || !owner->on_call) return DiskFate::done;
  const DiskFate fate = owner->on_call(call);
  const bool torn_write = fate == DiskFate::torn && call.kind == DiskCall::Kind::write;
  if (fate == DiskFate::fails || (fate == DiskFate::torn && !torn_write)) {
    throw system_error(action, call.path, EIO);
  }
  return fate;
}

void State::cut(std::string_view action, const std::string& path) {
  off = true;
  undecided = true;
  ++epoch;
  throw power_error(action, path);
}

Place State::place(const std::string& path, std::string_view action) const {
  int error_number = 0;
  Place place = disk.locate(path, error_number);
  if (place.directory == nullptr) throw system_error(action, path, error_number);
  return place;
}

InodePtr State::existing(const std::string& path, std::string_view action) const {
  const Place place = this->place(path, action);
  if (place.found == nullptr) throw system_error(action, path, ENOENT);
  return place.found;
}

InodePtr State::open_file(const std::string& path, OpenMode mode, std::string_view action) {
  require_power(action, path, epoch);
  const Place found = place(path, action);
  const bool may_make = mode == OpenMode::create || mode == OpenMode::create_new;
  if (found.found == nullptr && !may_make) throw system_error(action, path, ENOENT);
  if (found.found != nullptr && mode == OpenMode::create_new) throw system_error(action, path, EEXIST);
  if (found.found != nullptr && found.found->is_directory) throw system_error(action, path, EISDIR);
  if (found.found != nullptr) {
    pass({DiskCall::Kind::open, path}, action);
    return found.found;
  }
  const InodePtr made = disk.make(false, now_ms());
  perform({DiskCall::Kind::open, path}, action, [&] { disk.change({{found.directory, found.name, made}}); });
  return made;
}

std::uint64_t State::room_for(const memory::Inode& file, std::uint64_t position, std::uint64_t size) const {
  const std::uint64_t old_size = file.cached.size();
  if (owner == nullptr || owner->capacity == UINT64_MAX || position + size <= old_size) return size;
  const std::uint64_t used = disk.used();
  const std::uint64_t last = old_size + (owner->capacity > used ? owner->capacity - used : 0);
  return last > position ? std::min(size, last - position) : 0;
}

}  // namespace tk
