// Steps that tests of the disk in memory share.
#pragma once

#include <string>
#include <string_view>

#include "core/io/memory_file_system.h"

namespace tk::test {

inline void put(FileSystem& fs, const std::string& path, std::string_view content, bool synced) {
  const auto file = fs.open(path, OpenMode::create);
  file->truncate(0);
  file->write_at(0, as_bytes(content));
  if (synced) file->sync();
}

// With content and name forced to the disk.
inline void put_durably(FileSystem& fs, const std::string& path, std::string_view content) {
  put(fs, path, content, true);
  fs.sync_directory(parent_path(path));
}

inline void cut(MemoryFileSystem& fs, UnsyncedFate fate, std::uint64_t seed = 0) {
  fs.power_off(fate, seed);
  fs.power_on();
}

}  // namespace tk::test
