#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "tests/unit/io/caught.h"
#include "tests/unit/io/memory_disk_steps.h"

using namespace tk;
using tk::test::caught;
using tk::test::cut;
using tk::test::put;
using tk::test::put_durably;

TEST_CASE("memory: calls fail on demand") {
  MemoryFileSystem fs;
  put_durably(fs, "/f", "0123456789");
  const auto file = fs.open("/f", OpenMode::write);
  const std::uint64_t next = fs.calls();
  fs.on_call = [&](const DiskCall& call) {
    return call.number == next + 1 ? DiskFate::fails : DiskFate::done;
  };
  file->write_at(0, as_bytes("a"));
  const auto error = caught([&] { file->write_at(1, as_bytes("b")); });
  REQUIRE(error);
  CHECK(error->message() == "cannot write: Input/output error");
  CHECK(error->path() == "/f");
  file->write_at(2, as_bytes("c"));
  CHECK(fs.calls() == next + 3);
  CHECK(read_whole(fs, "/f") == "a1c3456789");

  SUBCASE("a torn write leaves its first half") {
    fs.on_call = [](const DiskCall& call) {
      return call.kind == DiskCall::Kind::write ? DiskFate::torn : DiskFate::done;
    };
    CHECK(caught([&] { file->write_at(4, as_bytes("wxyz")); }));
    CHECK(read_whole(fs, "/f") == "a1c3wx6789");
  }
  SUBCASE("any other torn call fails") {
    fs.on_call = [](const DiskCall&) { return DiskFate::torn; };
    CHECK(caught([&] { fs.rename("/f", "/g"); }));
    CHECK(caught([&] { file->sync(); }));
    CHECK(caught([&] { fs.open("/h", OpenMode::create); }));
    fs.on_call = nullptr;
    CHECK(fs.list("/").size() == 1);
    cut(fs, UnsyncedFate::all_lost);
    CHECK(read_whole(fs, "/f") == "0123456789");
  }
  SUBCASE("a sync that fails makes nothing durable") {
    fs.on_call = [](const DiskCall& call) {
      return call.kind == DiskCall::Kind::sync ? DiskFate::fails : DiskFate::done;
    };
    CHECK(caught([&] { file->sync(); }));
    cut(fs, UnsyncedFate::all_lost);
    CHECK(read_whole(fs, "/f") == "0123456789");
  }
  SUBCASE("reads fail, too, and know what they read") {
    fs.on_call = [](const DiskCall& call) {
      const bool it = call.kind == DiskCall::Kind::read && call.position == 3 && call.number == UINT64_MAX;
      return it ? DiskFate::fails : DiskFate::done;
    };
    const std::uint64_t calls = fs.calls();
    std::uint8_t byte[1];
    CHECK(file->read_at(2, byte) == 1);
    CHECK(caught([&] { file->read_at(3, byte); }));
    CHECK(fs.calls() == calls);
  }
}

TEST_CASE("memory: the disk fills up") {
  MemoryFileSystem fs;
  put(fs, "/a", std::string(600, 'a'), false);
  fs.capacity = 1000;
  const auto file = fs.open("/b", OpenMode::create);
  file->write_at(0, as_bytes(std::string(300, 'b')));
  const auto error = caught([&] { file->write_at(300, as_bytes(std::string(300, 'c'))); });
  REQUIRE(error);
  CHECK(error->message() == "cannot write: No space left on device");
  CHECK(error->position() == 400);
  CHECK(file->size() == 400);
  file->write_at(0, as_bytes(std::string(400, 'd')));
  CHECK(caught([&] { file->write_at(500, as_bytes("x")); }));
  CHECK(file->size() == 400);
  fs.remove("/a");
  file->write_at(400, as_bytes(std::string(600, 'e')));
  CHECK(file->size() == 1000);
}

TEST_CASE("memory: a power cut kills what is open, and all calls until the power is back") {
  MemoryFileSystem fs;
  put_durably(fs, "/f", "synced");
  const auto file = fs.open("/f", OpenMode::write);
  auto lock = fs.open_lock("/lock");
  fs.sync_directory("/");
  CHECK(lock->try_lock(LockKind::exclusive, 0, 0));
  fs.power_off(UnsyncedFate::all_kept);
  CHECK(caught([&] { file->sync(); }));
  CHECK(caught([&] { fs.open("/f", OpenMode::read); }));
  CHECK(caught([&] { fs.stat("/f"); }));
  CHECK(caught([&] { fs.list("/"); }));
  fs.power_on();
  std::uint8_t byte[1];
  CHECK(caught([&] { file->read_at(0, byte); })->message() == "cannot read: the power is off");
  CHECK(caught([&] { file->write_at(0, as_bytes("x")); }));
  CHECK(caught([&] { file->sync(); }));
  CHECK(caught([&] { lock->try_lock(LockKind::shared, 0, 1); }));
  const auto after = fs.open_lock("/lock");
  CHECK(after->try_lock(LockKind::exclusive, 0, 0));
  lock = nullptr;
  CHECK(fs.open_lock("/lock")->held_by_other(0, 1));
  CHECK(read_whole(fs, "/f") == "synced");
}

namespace {

// A disk with a durable file "/f" whose power goes at the next call of a kind.
struct CutDuring {
  explicit CutDuring(DiskCall::Kind kind) {
    put_durably(fs, "/f", "old");
    file = fs.open("/f", OpenMode::write);
    fs.on_call = [kind](const DiskCall& call) {
      return call.kind == kind ? DiskFate::power_off : DiskFate::done;
    };
  }
  void back_on(bool kept) {
    CHECK(caught([&] { file->truncate(0); }));
    CHECK(caught([&] { fs.stat("/f"); }));
    if (kept) fs.power_off(UnsyncedFate::all_kept);
    fs.power_on();
  }
  MemoryFileSystem fs;
  std::unique_ptr<File> file;
};

}  // namespace

TEST_CASE("memory: the power goes in the middle of a call") {
  for (const bool kept : {false, true}) {
    // A write or a rename is as uncertain as what was not synced before.
    CutDuring write(DiskCall::Kind::write);
    CHECK(caught([&] { write.file->write_at(0, as_bytes("new")); }));
    write.back_on(kept);
    CHECK(read_whole(write.fs, "/f") == (kept ? "new" : "old"));

    CutDuring rename(DiskCall::Kind::rename);
    CHECK(caught([&] { rename.fs.rename("/f", "/g"); }));
    rename.back_on(kept);
    CHECK(rename.fs.stat("/g").has_value() == kept);
    CHECK(rename.fs.stat("/f").has_value() != kept);
  }
  // A sync has not happened.
  CutDuring sync(DiskCall::Kind::sync);
  sync.file->write_at(0, as_bytes("new"));
  CHECK(caught([&] { sync.file->sync(); }));
  sync.back_on(false);
  CHECK(read_whole(sync.fs, "/f") == "old");
}

TEST_CASE("memory: a state file survives a cut at every call of its replacement") {
  for (const UnsyncedFate fate :
       {UnsyncedFate::all_lost, UnsyncedFate::all_kept, UnsyncedFate::random_blocks}) {
    bool finished = false;
    for (std::uint64_t at = 0; !finished; ++at) {
      REQUIRE(at < 20);
      MemoryFileSystem fs;
      replace_atomically(fs, "/s", as_bytes("old"));
      const std::uint64_t first = fs.calls();
      fs.on_call = [&](const DiskCall& call) {
        return call.number == first + at ? DiskFate::power_off : DiskFate::done;
      };
      finished = !caught([&] { replace_atomically(fs, "/s", as_bytes("new")); });
      fs.on_call = nullptr;
      cut(fs, fate, at);
      const std::string content = read_whole(fs, "/s");
      CHECK((content == "new" || (content == "old" && !finished)));
    }
  }
}

TEST_CASE("memory: a failing call of a replacement leaves the old file and no temporary one") {
  for (std::uint64_t at = 0; at < 4; ++at) {
    MemoryFileSystem fs;
    replace_atomically(fs, "/s", as_bytes("old"));
    const std::uint64_t first = fs.calls();
    fs.on_call = [&](const DiskCall& call) {
      return call.number == first + at ? DiskFate::fails : DiskFate::done;
    };
    CHECK(caught([&] { replace_atomically(fs, "/s", as_bytes("new")); }));
    CHECK(read_whole(fs, "/s") == "old");
    CHECK(fs.list("/").size() == 1);
  }
}

TEST_CASE("memory: bits flip in cache and on the disk; files may outlive the file system") {
  std::unique_ptr<File> file;
  std::unique_ptr<LockFile> lock;
  {
    MemoryFileSystem fs;
    put_durably(fs, "/f", "abc");
    fs.flip_bit("/f", 1, 0);
    CHECK(read_whole(fs, "/f") == "acc");
    cut(fs, UnsyncedFate::all_lost);
    CHECK(read_whole(fs, "/f") == "acc");
    CHECK(caught([&] { fs.flip_bit("/f", 3, 0); }));
    file = fs.open("/f", OpenMode::write);
    lock = fs.open_lock("/l");
    CHECK(lock->try_lock(LockKind::exclusive, 0, 0));
  }
  file->write_at(0, as_bytes("x"));
  file->sync();
  CHECK(file->size() == 3);
}
