#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/io/descriptor.h"
#include "core/io/file_system.h"

namespace tk {
namespace {

// Repeats a system call that a signal interrupted.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

FileStat stat_from(const struct stat& from) {
  FileStat to;
  to.size = static_cast<std::uint64_t>(from.st_size);
  to.mtime_ms = static_cast<std::int64_t>(from.st_mtim.tv_sec) * 1000 + from.st_mtim.tv_nsec / 1000000;
  to.device = from.st_dev;
  to.inode = from.st_ino;
  to.is_directory = S_ISDIR(from.st_mode);
  to.is_regular = S_ISREG(from.st_mode);
  return to;
}

FileStat stat_of(int descriptor, const std::string& path) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) throw system_error("get the status of the file", path, errno);
  return stat_from(found);
}

// Opens a regular file and nothing else. Without O_NONBLOCK a named pipe in place of a segment would block
// for ever; a regular file does not care.
Descriptor open_regular(const std::string& path, int flags, std::string_view action) {
  constexpr int always = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  Descriptor opened(uninterrupted([&] { return ::open(path.c_str(), flags | always, 0666); }));
  if (opened.get() < 0) throw system_error(action, path, errno);
  const FileStat found = stat_of(opened.get(), path);
  if (found.is_directory) throw system_error(action, path, EISDIR);
  if (!found.is_regular) throw Error(ErrorCode::storage_error, "not a regular file").at(path);
  return opened;
}

Descriptor open_directory(const std::string& path, std::string_view action) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  Descriptor opened(uninterrupted([&] { return ::open(path.c_str(), flags); }));
  if (opened.get() < 0) throw system_error(action, path, errno);
  return opened;
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  std::size_t read_at(std::uint64_t position, MutableBytes to) override {
    std::size_t done = 0;
    while (done < to.size()) {
      const auto at = static_cast<off_t>(position + done);
      const ssize_t got =
          uninterrupted([&] { return ::pread(descriptor_.get(), to.data() + done, to.size() - done, at); });
      if (got < 0) throw system_error("read", path_, errno).at(path_, position + done);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  void write_at(std::uint64_t position, ByteView bytes) override {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto at = static_cast<off_t>(position + done);
      const ssize_t put = uninterrupted(
          [&] { return ::pwrite(descriptor_.get(), bytes.data() + done, bytes.size() - done, at); });
      // A write that takes nothing and names no error would be repeated for ever.
      if (put <= 0) throw system_error("write", path_, put < 0 ? errno : EIO).at(path_, position + done);
      done += static_cast<std::size_t>(put);
    }
  }

  void truncate(std::uint64_t size) override {
    if (uninterrupted([&] { return ::ftruncate(descriptor_.get(), static_cast<off_t>(size)); }) != 0) {
      throw system_error("truncate", path_, errno);
    }
  }

  void sync() override {
    if (uninterrupted([&] { return ::fdatasync(descriptor_.get()); }) != 0) {
      throw system_error("force to disk", path_, errno);
    }
  }

  FileStat stat() override { return stat_of(descriptor_.get(), path_); }
  const std::string& path() const override { return path_; }
  int descriptor() const override { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
  std::string path_;
};

class PosixLockFile final : public LockFile {
 public:
  PosixLockFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  bool try_lock(LockKind kind, std::uint64_t start, std::uint64_t length) override {
    struct flock range = range_of(kind == LockKind::shared ? F_RDLCK : F_WRLCK, start, length);
    if (uninterrupted([&] { return ::fcntl(descriptor_.get(), F_OFD_SETLK, &range); }) == 0) return true;
    if (errno == EAGAIN || errno == EACCES) return false;
    throw system_error("lock", path_, errno);
  }

  void unlock(std::uint64_t start, std::uint64_t length) override {
    struct flock range = range_of(F_UNLCK, start, length);
    if (uninterrupted([&] { return ::fcntl(descriptor_.get(), F_OFD_SETLK, &range); }) != 0) {
      throw system_error("unlock", path_, errno);
    }
  }

  bool held_by_other(std::uint64_t start, std::uint64_t length) override {
    struct flock range = range_of(F_WRLCK, start, length);
    if (uninterrupted([&] { return ::fcntl(descriptor_.get(), F_OFD_GETLK, &range); }) != 0) {
      throw system_error("look at the locks", path_, errno);
    }
    return range.l_type != F_UNLCK;
  }

  FileStat stat() override { return stat_of(descriptor_.get(), path_); }
  const std::string& path() const override { return path_; }

 private:
  // The kernel wants l_pid to be 0 for an open-file-description lock.
  static struct flock range_of(int type, std::uint64_t start, std::uint64_t length) {
    struct flock range {};
    range.l_type = static_cast<short>(type);
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(start);
    range.l_len = static_cast<off_t>(length);
    return range;
  }

  Descriptor descriptor_;
  std::string path_;
};

bool is_directory_entry(DIR* directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN && entry.d_type != DT_LNK) return entry.d_type == DT_DIR;
  struct stat found {};
  return ::fstatat(::dirfd(directory), entry.d_name, &found, 0) == 0 && S_ISDIR(found.st_mode);
}

std::vector<DirEntry> read_entries(DIR* directory, const std::string& path) {
  std::vector<DirEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory);
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      entries.push_back({std::string(name), is_directory_entry(directory, *entry)});
    }
  }
  if (errno != 0) throw system_error("list the directory", path, errno);
  std::ranges::sort(entries, {}, &DirEntry::name);
  return entries;
}

class PosixFileSystem final : public FileSystem {
 public:
  std::unique_ptr<File> open(const std::string& path, OpenMode mode) override {
    int flags = O_RDWR;
    if (mode == OpenMode::read) flags = O_RDONLY;
    if (mode == OpenMode::create) flags |= O_CREAT;
    if (mode == OpenMode::create_new) flags |= O_CREAT | O_EXCL;
    return std::make_unique<PosixFile>(
        open_regular(path, flags, mode == OpenMode::create_new ? "create" : "open"), path);
  }

  std::optional<FileStat> stat(const std::string& path) override {
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0) return stat_from(found);
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw system_error("get the status of the file", path, errno);
  }

  std::vector<DirEntry> list(const std::string& path) override {
    const auto closing = [](DIR* directory) { ::closedir(directory); };
    const std::unique_ptr<DIR, decltype(closing)> directory(::opendir(path.c_str()), closing);
    if (directory == nullptr) throw system_error("list the directory", path, errno);
    return read_entries(directory.get(), path);
  }

  void rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) throw system_error("rename to " + to, from, errno);
  }

  void remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw system_error("remove", path, errno);
  }

  void remove_directory(const std::string& path) override {
    if (::rmdir(path.c_str()) != 0 && errno != ENOENT) {
      throw system_error("remove the directory", path, errno);
    }
  }

  void make_directories(const std::string& path) override {
    if (const auto found = stat(path)) {
      if (!found->is_directory) throw system_error("make the directory", path, EEXIST);
      return;
    }
    const std::string parent = parent_path(path);
    // Ends at "/" or ".", which exist; the comparison stops a path under a working directory that was
    // removed.
    if (parent != path) make_directories(parent);
    if (::mkdir(path.c_str(), 0777) != 0) {
      const int reason = errno;
      // Another process may have been faster; its name is as good, and made durable below all the same.
      const auto found = reason == EEXIST ? stat(path) : std::nullopt;
      if (!found || !found->is_directory) throw system_error("make the directory", path, reason);
    }
    sync_directory(parent);
  }

  void sync_directory(const std::string& path) override {
    const Descriptor directory = open_directory(path, "open the directory");
    if (uninterrupted([&] { return ::fsync(directory.get()); }) == 0) return;
    // Some network and user-space file systems know no such thing as forcing a directory: there is nothing to
    // force.
    if (errno != EINVAL && errno != ENOTSUP) throw system_error("force the directory to disk", path, errno);
  }

  std::unique_ptr<LockFile> open_lock(const std::string& path) override {
    return std::make_unique<PosixLockFile>(open_regular(path, O_RDWR | O_CREAT, "open the lock file"), path);
  }

  void set_mtime(const std::string& path, std::int64_t mtime_ms) override {
    // Rounded down, so that times before 1970 keep a nanosecond part of 0 to 999999999.
    std::int64_t seconds = mtime_ms / 1000;
    std::int64_t rest_ms = mtime_ms % 1000;
    if (rest_ms < 0) {
      rest_ms += 1000;
      --seconds;
    }
    timespec times[2] = {};
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = static_cast<time_t>(seconds);
    times[1].tv_nsec = static_cast<long>(rest_ms * 1000000);
    if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) {
      throw system_error("set the modification time", path, errno);
    }
  }
};

}  // namespace

FileSystem& posix_file_system() {
  static PosixFileSystem instance;
  return instance;
}

}  // namespace tk
