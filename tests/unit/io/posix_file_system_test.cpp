#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>

#include "core/io/file_system.h"
#include "tests/unit/io/caught.h"
#include "tests/unit/io/temp_directory.h"

using namespace tk;
using tk::test::caught;
using tk::test::TempDirectory;

namespace {

FileSystem& fs() {
  return posix_file_system();
}

// By other means than the code under test.
std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

void put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string read_text(File& file, std::uint64_t position, std::size_t size) {
  std::string text(size, '?');
  text.resize(file.read_at(position, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  return text;
}

// Files of this process cannot grow beyond `bytes` while this lives: writing is cut short, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_signal_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, before_signal_);
  }

 private:
  rlimit before_{};
  void (*before_signal_)(int) = SIG_DFL;
};

}  // namespace

TEST_CASE("path parts") {
  CHECK(join_path("a", "b") == "a/b");
  CHECK(join_path("a/", "b") == "a/b");
  CHECK(join_path("a//", "/b") == "a/b");
  CHECK(join_path("/", "b") == "/b");
  CHECK(join_path("", "b") == "b");
  CHECK(join_path("a", "") == "a");
  CHECK(base_name("a/b/") == "b");
  CHECK(base_name("b") == "b");
  CHECK(base_name("/a") == "a");
  CHECK(base_name("/") == "/");
  CHECK(base_name("") == "");
  CHECK(parent_path("a/b") == "a");
  CHECK(parent_path("a//b/") == "a");
  CHECK(parent_path("b") == ".");
  CHECK(parent_path("/a") == "/");
  CHECK(parent_path("/") == "/");
}

TEST_CASE("posix: read, write, truncate") {
  const TempDirectory dir;
  const auto file = fs().open(dir / "f", OpenMode::create_new);
  file->write_at(0, as_bytes("hello"));
  file->write_at(8, as_bytes("world"));
  file->sync();
  CHECK(content_of(dir / "f") == std::string("hello\0\0\0world", 13));
  CHECK(file->size() == 13);
  CHECK(read_text(*file, 8, 100) == "world");
  CHECK(read_text(*file, 13, 4).empty());
  CHECK(read_text(*file, 1, 3) == "ell");
  file->truncate(4);
  CHECK(content_of(dir / "f") == "hell");
  CHECK(file->stat().is_regular);

  CHECK(fs().open(dir / "f", OpenMode::create)->size() == 4);
  const auto again = caught([&] { fs().open(dir / "f", OpenMode::create_new); });
  REQUIRE(again);
  CHECK(again->code() == ErrorCode::storage_error);
  CHECK(again->message() == "cannot create: File exists");
  CHECK(again->path() == dir / "f");
  const auto reader = fs().open(dir / "f", OpenMode::read);
  CHECK(caught([&] { reader->write_at(0, as_bytes("x")); })->message() ==
        "cannot write: Bad file descriptor");
  CHECK(caught([&] { fs().open(dir / "none", OpenMode::write); })->message() ==
        "cannot open: No such file or directory");
}

TEST_CASE("posix: only regular files are opened, and a named pipe does not block") {
  const TempDirectory dir;
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  for (const OpenMode mode : {OpenMode::read, OpenMode::write, OpenMode::create}) {
    CHECK(caught([&] { fs().open(dir / "pipe", mode); })->message() == "not a regular file");
  }
  CHECK(caught([&] { fs().open(dir.path(), OpenMode::read); })->message() == "cannot open: Is a directory");
}

TEST_CASE("posix: a full disk is reported with the position, and the fitting prefix is there") {
  const TempDirectory dir;
  const auto file = fs().open(dir / "f", OpenMode::create);
  {
    const FileSizeLimit limit(1000);
    const std::string big(4096, 'x');
    const auto error = caught([&] { file->write_at(100, as_bytes(big)); });
    REQUIRE(error);
    CHECK(error->message() == "cannot write: File too large");
    CHECK(error->position() == 1000);
  }
  CHECK(file->size() == 1000);
  const auto full = fs().stat("/dev/full");
  if (full) CHECK_FALSE(full->is_regular);
}

TEST_CASE("posix: directories") {
  const TempDirectory dir;
  fs().make_directories(dir / "a/b/c/");
  fs().make_directories(dir / "a/b/c");
  struct stat found {};
  CHECK(::stat((dir / "a/b/c").c_str(), &found) == 0);
  put(dir / "a/z", "1");
  put(dir / "a/B", "1");
  REQUIRE(::symlink("b", (dir / "a/link").c_str()) == 0);
  REQUIRE(::symlink("nowhere", (dir / "a/dangling").c_str()) == 0);
  const auto entries = fs().list(dir / "a");
  REQUIRE(entries.size() == 5);
  const std::array<std::string, 5> names{"B", "b", "dangling", "link", "z"};
  const std::array<bool, 5> directories{false, true, false, true, false};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(entries[i].name == names[i]);
    CHECK(entries[i].is_directory == directories[i]);
  }
  CHECK(caught([&] { fs().make_directories(dir / "a/z"); })->message() ==
        "cannot make the directory: File exists");
  CHECK(caught([&] { fs().make_directories(dir / "a/z/y"); }));
  CHECK(caught([&] { fs().list(dir / "none"); })->message() ==
        "cannot list the directory: No such file or directory");

  fs().sync_directory(dir / "a");
  fs().rename(dir / "a/z", dir / "a/B");
  CHECK_FALSE(fs().stat(dir / "a/z"));
  fs().remove(dir / "a/B");
  fs().remove(dir / "a/B");
  CHECK_FALSE(fs().stat(dir / "a/B"));
  CHECK(caught([&] { fs().remove_directory(dir / "a"); }));
  fs().remove_directory(dir / "a/b/c");
  fs().remove_directory(dir / "a/b/c");
  CHECK_FALSE(fs().stat(dir / "a/b/c"));
  CHECK(caught([&] { fs().rename(dir / "q", dir / "r"); })->path() == dir / "q");
}

TEST_CASE("posix: stat and modification times") {
  const TempDirectory dir;
  put(dir / "f", "abc");
  for (const std::int64_t ms : {1700000000123, std::int64_t{0}, std::int64_t{-1500}}) {
    fs().set_mtime(dir / "f", ms);
    struct stat found {};
    REQUIRE(::stat((dir / "f").c_str(), &found) == 0);
    CHECK(found.st_mtim.tv_sec * 1000 + found.st_mtim.tv_nsec / 1000000 == ms);
    CHECK(fs().stat(dir / "f")->mtime_ms == ms);
    CHECK(fs().stat(dir / "f")->inode == found.st_ino);
    CHECK(fs().stat(dir / "f")->device == found.st_dev);
  }
  CHECK_FALSE(fs().stat(dir / "f/below"));
  CHECK_FALSE(fs().stat(dir / "none"));
  CHECK(fs().stat(dir.path())->is_directory);
}

TEST_CASE("read_whole") {
  const TempDirectory dir;
  put(dir / "f", std::string("a\0b", 3));
  CHECK(read_whole(fs(), dir / "f") == std::string("a\0b", 3));
  CHECK(read_whole(fs(), dir / "f", 3).size() == 3);
  CHECK(caught([&] { read_whole(fs(), dir / "f", 2); })->path() == dir / "f");
  CHECK(caught([&] { read_whole(fs(), dir / "none"); }));
  put(dir / "empty", "");
  CHECK(read_whole(fs(), dir / "empty").empty());
}

TEST_CASE("replace_atomically") {
  const TempDirectory dir;
  const std::string path = dir / "state.json";
  replace_atomically(fs(), path, as_bytes("one"));
  CHECK(content_of(path) == "one");
  put(path + ".tmp", "left by a crash, and longer than the next content");
  replace_atomically(fs(), path, as_bytes("two"));
  CHECK(content_of(path) == "two");
  CHECK_FALSE(fs().stat(path + ".tmp"));

  SUBCASE("a full disk leaves the old file and no temporary one") {
    const FileSizeLimit limit(1000);
    const std::string big(4096, 'x');
    CHECK(caught([&] { replace_atomically(fs(), path, as_bytes(big)); }));
    CHECK(content_of(path) == "two");
    CHECK_FALSE(fs().stat(path + ".tmp"));
  }
  SUBCASE("a rename that fails leaves no temporary file") {
    fs().make_directories(dir / "taken/inside");
    CHECK(caught([&] { replace_atomically(fs(), dir / "taken", as_bytes("x")); }));
    CHECK_FALSE(fs().stat(dir / "taken.tmp"));
    CHECK(fs().stat(dir / "taken/inside"));
  }
  SUBCASE("a link in place of the temporary file is not followed") {
    put(dir / "precious", "precious");
    REQUIRE(::symlink("precious", (path + ".tmp").c_str()) == 0);
    replace_atomically(fs(), path, as_bytes("three"));
    CHECK(content_of(dir / "precious") == "precious");
    CHECK(content_of(path) == "three");
  }
  SUBCASE("a missing directory") {
    CHECK(caught([&] { replace_atomically(fs(), dir / "none/x", as_bytes("x")); }));
  }
}
