#include "core/io/file_system.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace tk {
namespace {

std::string_view without_slashes_behind(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

// A failure here must not hide the one that led to it.
void remove_quietly(FileSystem& fs, const std::string& path) noexcept {
  try {
    fs.remove(path);
  } catch (...) {
  }
}

}  // namespace

std::string join_path(std::string_view directory, std::string_view name) {
  while (!name.empty() && name.front() == '/') name.remove_prefix(1);
  if (directory.empty()) return std::string(name);
  directory = without_slashes_behind(directory);
  std::string joined(directory);
  if (name.empty()) return joined;
  if (joined.back() != '/') joined += '/';
  return joined.append(name);
}

std::string base_name(std::string_view path) {
  path = without_slashes_behind(path);
  if (path == "/") return "/";
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string parent_path(std::string_view path) {
  path = without_slashes_behind(path);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(without_slashes_behind(path.substr(0, slash == 0 ? 1 : slash)));
}

std::string read_whole(FileSystem& fs, const std::string& path, std::uint64_t limit) {
  const auto file = fs.open(path, OpenMode::read);
  const std::uint64_t size = file->size();
  if (size > limit) {
    throw Error(ErrorCode::storage_error,
                fmt::format("the file is too large: {} bytes, and at most {} can be right", size, limit))
        .at(path);
  }
  std::string content(size, '\0');
  const MutableBytes to(reinterpret_cast<std::uint8_t*>(content.data()), content.size());
  content.resize(file->read_at(0, to));
  return content;
}

void replace_atomically(FileSystem& fs, const std::string& path, ByteView content, bool durable) {
  const std::string temporary = path + ".tmp";
  // A leftover is removed, not reused: it may be a link to something else.
  fs.remove(temporary);
  const auto file = fs.open(temporary, OpenMode::create_new);
  try {
    file->write_at(0, content);
    if (durable) file->sync();
    fs.rename(temporary, path);
  } catch (...) {
    remove_quietly(fs, temporary);
    throw;
  }
  if (durable) fs.sync_directory(parent_path(path));
}

}  // namespace tk
