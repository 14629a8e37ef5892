#include "core/io/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "core/base/error.h"
#include "core/io/file_system.h"

namespace tk {
namespace {

Descriptor nameless_file() {
  const char* const named = std::getenv("TMPDIR");
  const std::string directory = named != nullptr && *named != '\0' ? named : "/tmp";
  std::string path = join_path(directory, "tk-input-XXXXXX");
  Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (file.get() < 0) throw system_error("make a temporary file", directory, errno);
  ::unlink(path.c_str());
  return file;
}

void write_all(int descriptor, const char* bytes, std::size_t size, const std::string& name) {
  while (size > 0) {
    const ssize_t put = ::write(descriptor, bytes, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) throw system_error("copy the input of", name, put < 0 ? errno : EIO);
    bytes += put;
    size -= static_cast<std::size_t>(put);
  }
}

}  // namespace

bool needs_spooling(const std::string& path) {
  if (path == "-") return true;
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return false;
  return !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

SpooledInput spool_input(const std::string& path) {
  Descriptor opened;
  if (path != "-") {
    opened = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (opened.get() < 0) throw system_error("open", path, errno);
  }
  const int from = path == "-" ? STDIN_FILENO : opened.get();
  SpooledInput spooled;
  spooled.descriptor = nameless_file();
  std::vector<char> block(1U << 20);
  for (;;) {
    const ssize_t got = ::read(from, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("read", path, errno);
    if (got == 0) break;
    write_all(spooled.descriptor.get(), block.data(), static_cast<std::size_t>(got), path);
  }
  spooled.path = "/proc/self/fd/" + std::to_string(spooled.descriptor.get());
  return spooled;
}

}  // namespace tk
