#include <doctest/doctest.h>

#include <set>

#include "core/io/memory_file_system.h"
#include "tests/unit/io/caught.h"
#include "tests/unit/io/memory_disk_steps.h"

using namespace tk;
using tk::test::caught;
using tk::test::cut;
using tk::test::put;
using tk::test::put_durably;

TEST_CASE("memory: behaves like a file system") {
  MemoryFileSystem fs;
  fs.now_ms = 77;
  fs.make_directories("/a/b");
  const auto file = fs.open("/a/b/f", OpenMode::create_new);
  file->write_at(2, as_bytes("xyz"));
  CHECK(read_whole(fs, "a/b/../b/./f") == std::string("\0\0xyz", 5));
  file->truncate(3);
  CHECK(read_whole(fs, "/a/b/f") == std::string("\0\0x", 3));
  CHECK(fs.stat("/a/b/f")->mtime_ms == 77);
  fs.set_mtime("/a/b/f", 5);
  CHECK(file->stat().mtime_ms == 5);
  CHECK(file->stat().is_regular);
  CHECK(fs.stat("/a/b")->is_directory);
  std::uint8_t bytes[8];
  CHECK(file->read_at(2, bytes) == 1);
  CHECK(file->read_at(3, bytes) == 0);

  CHECK(caught([&] { fs.open("/a/b/f", OpenMode::create_new); })->message() == "cannot create: File exists");
  CHECK(caught([&] { fs.open("/a/b", OpenMode::read); })->message() == "cannot open: Is a directory");
  CHECK(caught([&] { fs.open("/a/f/f", OpenMode::create); })->message() ==
        "cannot open: No such file or directory");
  CHECK(caught([&] { fs.open("/a/b/f/g", OpenMode::create); })->message() == "cannot open: Not a directory");
  CHECK(caught([&] { fs.open("/a/b/f", OpenMode::read)->write_at(0, as_bytes("x")); }));
  CHECK(caught([&] { file->write_at(UINT64_MAX - 1, as_bytes("xyz")); }));

  put(fs, "/a/g", "g", false);
  REQUIRE(fs.list("/a").size() == 2);
  CHECK(fs.list("/a")[0].name == "b");
  CHECK(fs.list("/a")[0].is_directory);
  CHECK(fs.list("/a")[1].name == "g");
  fs.rename("/a/g", "/a/b/f");
  CHECK(read_whole(fs, "/a/b/f") == "g");
  CHECK(file->size() == 3);
  CHECK(file->stat().inode != fs.stat("/a/b/f")->inode);

  fs.make_directories("/c/d");
  CHECK(caught([&] { fs.rename("/c", "/c/d/e"); }));
  CHECK(caught([&] { fs.rename("/c", "/a/b"); })->message() == "cannot rename to /a/b: Directory not empty");
  CHECK(caught([&] { fs.rename("/a/b/f", "/c"); }));
  CHECK(caught([&] { fs.rename("/none", "/x"); }));
  fs.rename("/a/b", "/c/d");
  CHECK(read_whole(fs, "/c/d/f") == "g");
  CHECK(caught([&] { fs.remove_directory("/c/d"); }));
  CHECK(caught([&] { fs.remove("/c/d"); }));
  fs.remove("/c/d/f");
  fs.remove("/c/d/f");
  fs.remove("/none/at/all");
  fs.remove_directory("/c/d");
  fs.remove_directory("/c/d");
  CHECK(fs.list("/c").empty());
}

TEST_CASE("memory: unsynced content is lost or kept") {
  for (const UnsyncedFate fate : {UnsyncedFate::all_lost, UnsyncedFate::all_kept}) {
    MemoryFileSystem fs;
    put_durably(fs, "/f", "synced");
    const auto file = fs.open("/f", OpenMode::write);
    file->write_at(0, as_bytes("S"));
    file->write_at(6, as_bytes(" and more"));
    put_durably(fs, "/shrunk", "0123456789");
    const auto shrunk = fs.open("/shrunk", OpenMode::write);
    shrunk->truncate(4);
    shrunk->write_at(6, as_bytes("x"));
    cut(fs, fate);
    const bool kept = fate == UnsyncedFate::all_kept;
    CHECK(read_whole(fs, "/f") == (kept ? "Synced and more" : "synced"));
    CHECK(read_whole(fs, "/shrunk") == (kept ? std::string("0123\0\0x", 7) : "0123456789"));
  }
}

TEST_CASE("memory: what was synced after a truncation is all there") {
  MemoryFileSystem fs;
  put_durably(fs, "/f", "0123456789");
  const auto file = fs.open("/f", OpenMode::write);
  file->truncate(2);
  file->write_at(5, as_bytes("x"));
  file->sync();
  cut(fs, UnsyncedFate::all_lost);
  CHECK(read_whole(fs, "/f") == std::string("01\0\0\0x", 6));
}

TEST_CASE("memory: random blocks are whole blocks, old or new, and a seed repeats itself") {
  constexpr std::size_t block = 512;
  constexpr std::size_t blocks = 16;
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::string left[2];
    for (std::string& result : left) {
      MemoryFileSystem fs;
      put_durably(fs, "/f", std::string(blocks * block, 'o'));
      const auto file = fs.open("/f", OpenMode::write);
      // The first two blocks stay as they are, and the third one half.
      file->write_at(2 * block + 256, as_bytes(std::string((blocks - 2) * block - 256, 'n')));
      cut(fs, UnsyncedFate::random_blocks, seed);
      result = read_whole(fs, "/f");
    }
    REQUIRE((left[0] == left[1]));
    REQUIRE(left[0].size() == blocks * block);
    CHECK(left[0].substr(0, 2 * block + 256).find_first_not_of('o') == std::string::npos);
    std::string pattern;
    for (std::size_t i = 3; i < blocks; ++i) {
      const std::string part = left[0].substr(i * block, block);
      CHECK(part.find_first_not_of(part[0]) == std::string::npos);
      pattern += part[0];
    }
    outcomes.insert(pattern);
  }
  CHECK(outcomes.size() > 40);
}

TEST_CASE("memory: an unsynced append may leave zeros, a part, nothing or all of it") {
  std::set<std::size_t> sizes;
  bool zeros = false;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    MemoryFileSystem fs;
    put_durably(fs, "/f", "begin");
    fs.open("/f", OpenMode::write)->write_at(5, as_bytes(std::string(2000, 'x')));
    cut(fs, UnsyncedFate::random_blocks, seed);
    const std::string left = read_whole(fs, "/f");
    CHECK(left.starts_with("begin"));
    CHECK(left.substr(5).find_first_not_of(std::string("x\0", 2)) == std::string::npos);
    zeros = zeros || left.find('\0') != std::string::npos;
    sizes.insert(left.size());
  }
  CHECK(zeros);
  CHECK(sizes.contains(5));
  CHECK(sizes.contains(2005));
  CHECK(sizes.size() > 10);
}

TEST_CASE("memory: names are lost without a sync of their directory") {
  MemoryFileSystem fs;
  fs.make_directories("/d/e");
  put(fs, "/d/new", "synced", true);
  SUBCASE("made") {
    cut(fs, UnsyncedFate::all_lost);
    CHECK_FALSE(fs.stat("/d/new"));
    CHECK(fs.stat("/d/e"));
  }
  SUBCASE("made, and the directory synced") {
    fs.sync_directory("/d");
    cut(fs, UnsyncedFate::all_lost);
    CHECK(read_whole(fs, "/d/new") == "synced");
  }
  SUBCASE("made, and another directory synced") {
    fs.sync_directory("/d/e");
    fs.sync_directory("/");
    cut(fs, UnsyncedFate::all_lost);
    CHECK_FALSE(fs.stat("/d/new"));
  }
  SUBCASE("the name lasts, the content does not") {
    put(fs, "/d/hollow", "unsynced", false);
    fs.sync_directory("/d");
    cut(fs, UnsyncedFate::all_lost);
    CHECK(read_whole(fs, "/d/hollow").empty());
  }
  SUBCASE("a sync of the file makes its name last where the system does so") {
    fs.names_follow_sync = true;
    put(fs, "/d/second", "x", true);
    cut(fs, UnsyncedFate::all_lost);
    CHECK(fs.stat("/d/second"));
    CHECK_FALSE(fs.stat("/d/new"));
  }
  SUBCASE("removed and renamed") {
    fs.sync_directory("/d");
    put_durably(fs, "/d/old", "old");
    fs.remove("/d/new");
    fs.rename("/d/old", "/d/renamed");
    SUBCASE("lost") {
      cut(fs, UnsyncedFate::all_lost);
      CHECK(fs.stat("/d/new"));
      CHECK(fs.stat("/d/old"));
      CHECK_FALSE(fs.stat("/d/renamed"));
    }
    SUBCASE("kept") {
      cut(fs, UnsyncedFate::all_kept);
      CHECK_FALSE(fs.stat("/d/new"));
      CHECK_FALSE(fs.stat("/d/old"));
      CHECK(read_whole(fs, "/d/renamed") == "old");
    }
  }
}

TEST_CASE("memory: a rename survives whole or not at all, in either directory's sync") {
  MemoryFileSystem fs;
  fs.make_directories("/a");
  fs.make_directories("/b");
  put(fs, "/a/f", "x", true);
  fs.rename("/a/f", "/b/f");
  SUBCASE("source synced") {
    fs.sync_directory("/a");
  }
  SUBCASE("target synced, and later the source") {
    fs.sync_directory("/b");
    fs.sync_directory("/a");
  }
  cut(fs, UnsyncedFate::all_lost);
  const bool nothing_synced = !fs.stat("/b/f");
  CHECK_FALSE(fs.stat("/a/f"));
  if (!nothing_synced) CHECK(read_whole(fs, "/b/f") == "x");

  int replaced = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    MemoryFileSystem disk;
    put_durably(disk, "/state", "old");
    put(disk, "/state.tmp", "new", true);
    disk.rename("/state.tmp", "/state");
    cut(disk, UnsyncedFate::random_blocks, seed);
    const std::string content = read_whole(disk, "/state");
    CHECK((content == "old" || content == "new"));
    if (content == "new") {
      ++replaced;
      CHECK_FALSE(disk.stat("/state.tmp"));
    }
  }
  CHECK(replaced > 5);
  CHECK(replaced < 55);
}
