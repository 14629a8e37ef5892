#include "core/io/memory_disk.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>

namespace tk::memory {
namespace {

constexpr std::size_t kBlock = 512;

void apply(Names& names, const NameChange& change) {
  if (change.target == nullptr) {
    names.erase(change.name);
  } else {
    names[change.name] = change.target;
  }
}

bool coin(std::mt19937_64& random) {
  return (random() & 1) != 0;
}

// A size that a file which grew or shrank may have after the cut: journals keep the old or the new one, or,
// when it grew, any step on the way.
std::size_t surviving_size(std::size_t durable, std::size_t cached, std::mt19937_64& random) {
  const std::uint64_t draw = random() % 4;
  if (cached > durable && draw >= 2) return durable + random() % (cached - durable + 1);
  return draw % 2 == 0 ? durable : cached;
}

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  return parts;
}

}  // namespace

void Inode::mark_dirty(std::size_t from, std::size_t to) {
  dirty_from = std::min(dirty_from, from);
  dirty_to = std::max(dirty_to, to);
}

void Inode::write(std::uint64_t position, ByteView bytes) {
  if (bytes.empty()) return;
  const auto from = static_cast<std::size_t>(position);
  mark_dirty(std::min(from, cached.size()), from + bytes.size());
  if (cached.size() < from + bytes.size()) cached.resize(from + bytes.size());
  std::ranges::copy(bytes, cached.begin() + static_cast<std::ptrdiff_t>(from));
}

void Inode::resize(std::uint64_t size) {
  const auto to = static_cast<std::size_t>(size);
  if (to == cached.size()) return;
  mark_dirty(std::min(to, cached.size()), std::max(to, cached.size()));
  cached.resize(to);
}

void Inode::sync() {
  durable.resize(cached.size());
  const std::size_t to = std::min(dirty_to, cached.size());
  for (std::size_t i = dirty_from; i < to; ++i) durable[i] = cached[i];
  dirty_from = SIZE_MAX;
  dirty_to = 0;
}

std::vector<std::uint8_t> Inode::random_blocks(std::mt19937_64& random) const {
  std::vector<std::uint8_t> left = durable;
  left.resize(surviving_size(durable.size(), cached.size(), random));
  const std::size_t to = std::min({dirty_to, cached.size(), left.size()});
  if (dirty_from >= to) return left;
  for (std::size_t block = dirty_from / kBlock * kBlock; block < to; block += kBlock) {
    if (!coin(random)) continue;
    const std::size_t end = std::min({block + kBlock, cached.size(), left.size()});
    for (std::size_t i = block; i < end; ++i) left[i] = cached[i];
  }
  return left;
}

void Inode::lose(UnsyncedFate fate, std::mt19937_64& random) {
  if (dirty_from == SIZE_MAX) return;
  if (fate == UnsyncedFate::all_lost) cached = durable;
  if (fate == UnsyncedFate::random_blocks) {
    cached = random_blocks(random);
    dirty_from = 0;
    dirty_to = cached.size();
  }
  sync();
}

Disk::Disk() : root_(make(true, 0)) {}

InodePtr Disk::make(bool is_directory, std::int64_t mtime_ms) {
  auto made = std::make_shared<Inode>();
  made->id = next_id_++;
  made->is_directory = is_directory;
  made->mtime_ms = mtime_ms;
  return made;
}

Place Disk::locate(const std::string& path, int& error_number) const {
  Place place{root_, "", root_};
  for (const std::string_view part : parts_of(path)) {
    if (place.found == nullptr || !place.found->is_directory) {
      error_number = place.found == nullptr ? ENOENT : ENOTDIR;
      return {};
    }
    place.directory = place.found;
    place.name = part;
    const auto entry = place.directory->cached_names.find(place.name);
    place.found = entry == place.directory->cached_names.end() ? nullptr : entry->second;
  }
  return place;
}

void Disk::change(NameOperation operation) {
  for (const NameChange& change : operation) apply(change.directory->cached_names, change);
  pending_.push_back(std::move(operation));
}

// Makes the wanted operations durable, and with each the earlier ones about the same names: applied later,
// they would undo it.
template <class Wanted>
void Disk::sync_operations(Wanted wanted) {
  std::set<std::pair<std::uint64_t, std::string>> names;
  std::vector<NameOperation> chosen;
  std::vector<NameOperation> others;
  for (auto operation = pending_.rbegin(); operation != pending_.rend(); ++operation) {
    const bool taken = std::ranges::any_of(*operation, [&](const NameChange& change) {
      return wanted(change) || names.contains({change.directory->id, change.name});
    });
    if (taken) {
      for (const NameChange& change : *operation) names.insert({change.directory->id, change.name});
    }
    (taken ? chosen : others).push_back(std::move(*operation));
  }
  for (auto operation = chosen.rbegin(); operation != chosen.rend(); ++operation) {
    for (const NameChange& change : *operation) apply(change.directory->durable_names, change);
  }
  std::ranges::reverse(others);
  pending_ = std::move(others);
}

void Disk::sync_directory(const InodePtr& directory) {
  sync_operations([&](const NameChange& change) { return change.directory == directory; });
}

void Disk::sync_name_of(const InodePtr& file) {
  sync_operations([&](const NameChange& change) { return change.target == file; });
}

void Disk::lose(UnsyncedFate fate, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto inodes = all(true);
  for (const auto& [id, inode] : inodes) {
    if (!inode->is_directory) inode->lose(fate, random);
    inode->locks = {};
  }
  std::set<Inode*> broken;
  for (const NameOperation& operation : pending_) {
    const bool in_order = std::ranges::none_of(
        operation, [&](const NameChange& change) { return broken.contains(change.directory.get()); });
    // Three in four, so that a later change has a fair chance, too.
    const bool kept = fate == UnsyncedFate::all_kept ||
                      (fate == UnsyncedFate::random_blocks && in_order && random() % 4 != 0);
    for (const NameChange& change : operation) {
      if (kept) {
        apply(change.directory->durable_names, change);
      } else {
        broken.insert(change.directory.get());
      }
    }
  }
  pending_.clear();
  for (const auto& [id, inode] : inodes) inode->cached_names = inode->durable_names;
}

std::map<std::uint64_t, InodePtr> Disk::all(bool durable_too) const {
  std::map<std::uint64_t, InodePtr> found{{root_->id, root_}};
  std::vector<InodePtr> open{root_};
  while (!open.empty()) {
    const InodePtr inode = open.back();
    open.pop_back();
    const auto visit = [&](const Names& names) {
      for (const auto& [name, target] : names) {
        if (found.emplace(target->id, target).second) open.push_back(target);
      }
    };
    visit(inode->cached_names);
    if (durable_too) visit(inode->durable_names);
  }
  return found;
}

std::uint64_t Disk::used() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, inode] : all(false)) bytes += inode->cached.size();
  return bytes;
}

}  // namespace tk::memory
