#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "core/base/clock.h"
#include "core/io/file_system.h"
#include "core/io/memory_file_system.h"
#include "core/io/turn_lock.h"
#include "tests/unit/io/caught.h"
#include "tests/unit/io/temp_directory.h"

using namespace tk;
using tk::test::caught;
using tk::test::TempDirectory;

namespace {

// A process that holds a POSIX record lock on a whole file, as a broker does, until this object ends.
class Broker {
 public:
  explicit Broker(const std::string& path) {
    int ready[2];
    int stop[2];
    REQUIRE(::pipe(ready) == 0);
    REQUIRE(::pipe(stop) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::close(stop[1]);
      const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
      struct flock whole {};
      whole.l_type = F_WRLCK;
      whole.l_whence = SEEK_SET;
      char answer = ::fcntl(file, F_SETLK, &whole) == 0 ? 'y' : 'n';
      (void)!::write(ready[1], &answer, 1);
      (void)!::read(stop[0], &answer, 1);
      ::_exit(0);
    }
    char answer = '?';
    REQUIRE(::read(ready[0], &answer, 1) == 1);
    started_ = answer == 'y';
    for (const int end : {ready[0], ready[1], stop[0]}) ::close(end);
    stop_ = stop[1];
  }
  ~Broker() {
    ::close(stop_);
    ::waitpid(child_, nullptr, 0);
  }
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  [[nodiscard]] bool started() const { return started_; }

 private:
  pid_t child_ = 0;
  int stop_ = -1;
  bool started_ = false;
};

// What holds for both file systems.
void check_ranges(FileSystem& fs, const std::string& path) {
  const auto a = fs.open_lock(path);
  auto b = fs.open_lock(path);
  CHECK(a->try_lock(LockKind::exclusive, 0, 1));
  CHECK_FALSE(b->try_lock(LockKind::exclusive, 0, 1));
  CHECK_FALSE(b->try_lock(LockKind::shared, 0, 0));
  CHECK(b->held_by_other(0, 1));
  CHECK_FALSE(a->held_by_other(0, 1));
  CHECK(b->try_lock(LockKind::exclusive, 1, 1));
  CHECK(a->held_by_other(0, 0));
  CHECK_FALSE(a->try_lock(LockKind::exclusive, 0, 0));

  // Converted to shared, then back while nobody shares it.
  CHECK(a->try_lock(LockKind::shared, 0, 1));
  CHECK(b->try_lock(LockKind::shared, 0, 1));
  CHECK_FALSE(a->try_lock(LockKind::exclusive, 0, 1));
  CHECK(b->held_by_other(0, 1));
  b->unlock(0, 1);
  CHECK(a->try_lock(LockKind::exclusive, 0, 1));
  b->unlock(1, 1);
  CHECK(a->try_lock(LockKind::exclusive, 0, 0));

  // A hole in the middle of a range.
  a->unlock(10, 5);
  CHECK(b->try_lock(LockKind::exclusive, 10, 5));
  CHECK_FALSE(b->try_lock(LockKind::exclusive, 9, 1));
  CHECK_FALSE(b->try_lock(LockKind::exclusive, 15, 1));
  CHECK_FALSE(b->try_lock(LockKind::exclusive, 1U << 30, 1));
  CHECK(a->held_by_other(12, 1));
  b = nullptr;
  CHECK_FALSE(a->held_by_other(12, 1));
}

}  // namespace

TEST_CASE("locks of ranges, posix") {
  const TempDirectory dir;
  check_ranges(posix_file_system(), dir / ".lock");
}

TEST_CASE("locks of ranges, in memory") {
  MemoryFileSystem fs;
  check_ranges(fs, "/.lock");
}

TEST_CASE("posix: closing another descriptor of the file keeps the lock") {
  const TempDirectory dir;
  FileSystem& fs = posix_file_system();
  const auto lock = fs.open_lock(dir / "l");
  CHECK(lock->try_lock(LockKind::exclusive, 0, 1));
  ::close(::open((dir / "l").c_str(), O_RDWR));
  CHECK(fs.open_lock(dir / "l")->held_by_other(0, 1));
}

TEST_CASE("the directory's lock meets a broker's") {
  const TempDirectory dir;
  FileSystem& fs = posix_file_system();
  {
    const Broker broker(dir / ".lock");
    REQUIRE(broker.started());
    const std::int64_t before = monotonic_ms();
    const auto error = caught([&] { lock_directory_shared(fs, dir.path()); });
    CHECK(monotonic_ms() - before < 5000);
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::log_dir_locked);
    CHECK(error->path() == dir / ".lock");
    CHECK(error->message().find("live broker") != std::string::npos);
    CHECK(error->message().find(dir / ".lock") != std::string::npos);
  }
  auto first = lock_directory_shared(fs, dir.path());
  auto second = lock_directory_shared(fs, dir.path());
  CHECK_FALSE(Broker(dir / ".lock").started());
  first = nullptr;
  CHECK_FALSE(Broker(dir / ".lock").started());
  second = nullptr;
  CHECK(Broker(dir / ".lock").started());
}

TEST_CASE("the directory's lock is made if missing; a missing directory is an error") {
  const TempDirectory dir;
  lock_directory_shared(posix_file_system(), dir.path());
  CHECK(posix_file_system().stat(dir / ".lock")->size == 0);
  CHECK(caught([&] { lock_directory_shared(posix_file_system(), dir / "none"); })->code() ==
        ErrorCode::storage_error);
}

namespace {

// A file system on which the lock file is replaced between its opening and its locking, `times` times: a
// broker stops and removes it, another starts and makes a new one.
class ReplacingFileSystem final : public FileSystem {
 public:
  explicit ReplacingFileSystem(int times) : times_(times) {}
  std::unique_ptr<File> open(const std::string& path, OpenMode mode) override {
    return real_.open(path, mode);
  }
  std::optional<FileStat> stat(const std::string& path) override { return real_.stat(path); }
  std::vector<DirEntry> list(const std::string& path) override { return real_.list(path); }
  void rename(const std::string& from, const std::string& to) override { real_.rename(from, to); }
  void remove(const std::string& path) override { real_.remove(path); }
  void remove_directory(const std::string& path) override { real_.remove_directory(path); }
  void make_directories(const std::string& path) override { real_.make_directories(path); }
  void sync_directory(const std::string& path) override { real_.sync_directory(path); }
  void set_mtime(const std::string& path, std::int64_t ms) override { real_.set_mtime(path, ms); }
  std::unique_ptr<LockFile> open_lock(const std::string& path) override {
    auto lock = real_.open_lock(path);
    if (times_-- > 0) {
      real_.remove(path);
      real_.open_lock(path);
    }
    return lock;
  }

 private:
  FileSystem& real_ = posix_file_system();
  int times_;
};

}  // namespace

TEST_CASE("a lock file that was replaced while it was taken does not count") {
  const TempDirectory dir;
  ReplacingFileSystem once(1);
  const auto lock = lock_directory_shared(once, dir.path());
  CHECK_FALSE(Broker(dir / ".lock").started());
  ReplacingFileSystem always(1 << 20);
  CHECK(caught([&] { lock_directory_shared(always, dir.path()); })->code() == ErrorCode::log_dir_locked);
}

TEST_CASE("lock_exclusive waits, and gives up in time") {
  const TempDirectory dir;
  FileSystem& fs = posix_file_system();
  auto held = lock_exclusive(fs, dir / "s.lock", 0);
  const auto at_once = caught([&] { lock_exclusive(fs, dir / "s.lock", 0); });
  REQUIRE(at_once);
  CHECK(at_once->code() == ErrorCode::log_dir_locked);
  CHECK(at_once->path() == dir / "s.lock");
  CHECK_FALSE(at_once->hint().empty());

  const std::int64_t before = monotonic_ms();
  CHECK(caught([&] { lock_exclusive(fs, dir / "s.lock", 60); }));
  CHECK(monotonic_ms() - before >= 60);

  // The bytes behind the first stay free for others.
  CHECK(fs.open_lock(dir / "s.lock")->try_lock(LockKind::exclusive, 1, 5));

  std::thread releasing([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    held = nullptr;
  });
  CHECK(lock_exclusive(fs, dir / "s.lock", 60000) != nullptr);
  releasing.join();
  CHECK(lock_exclusive(fs, dir / "s.lock", INT64_MAX) != nullptr);
}

TEST_CASE("lock_exclusive: who asks first comes first, and a holder that asks again goes behind") {
  const TempDirectory dir;
  FileSystem& fs = posix_file_system();
  const std::string path = dir / "s.lock";
  constexpr std::uint64_t line = std::uint64_t{1} << 62;  // turn_lock.h
  constexpr int waiters = 9;
  auto held = lock_exclusive(fs, path, 0);
  const auto look = fs.open_lock(path);
  std::mutex mutex;
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int i = 0; i < waiters; ++i) {
    threads.emplace_back([&, i] {
      const auto mine = lock_exclusive(fs, path, 60000);
      const std::scoped_lock lock(mutex);
      order.push_back(i);
    });
    // The next one comes when this one stands in its place.
    while (!look->held_by_other(line + static_cast<std::uint64_t>(i), 1)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  held = nullptr;
  held = lock_exclusive(fs, path, 60000);
  {
    const std::scoped_lock lock(mutex);
    CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  }
  for (std::thread& thread : threads) thread.join();
  held = nullptr;
  CHECK_FALSE(look->held_by_other(0, 0));
}

TEST_CASE("lock_exclusive: who gives up, or is killed, leaves no gap in the line") {
  const TempDirectory dir;
  FileSystem& fs = posix_file_system();
  const std::string path = dir / "s.lock";
  constexpr std::uint64_t line = std::uint64_t{1} << 62;
  auto held = lock_exclusive(fs, path, 0);
  const auto look = fs.open_lock(path);
  const auto dead = fs.open_lock(path);  // one in the first place that never moves
  REQUIRE(dead->try_lock(LockKind::exclusive, line, 1));
  std::atomic<bool> got{false};
  std::thread waiter([&] { got = lock_exclusive(fs, path, 60000) != nullptr; });
  while (!look->held_by_other(line + 1, 1)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(caught([&] { lock_exclusive(fs, path, 30); })->code() == ErrorCode::log_dir_locked);
  CHECK_FALSE(look->held_by_other(line + 2, 62));
  held = nullptr;
  CHECK_FALSE(got);
  dead->unlock(line, 1);  // its process ends
  waiter.join();
  CHECK(got);
}

namespace {

// What several threads note, in order. The mutex is for tools that cannot see what file locks order.
class Notes {
 public:
  void add(char note) {
    const std::scoped_lock lock(mutex_);
    notes_ += note;
  }
  std::string all() {
    const std::scoped_lock lock(mutex_);
    return notes_;
  }

 private:
  std::mutex mutex_;
  std::string notes_;
};

}  // namespace

TEST_CASE("turns: the line is seen, and who gives the right up comes second") {
  const TempDirectory dir;
  FileSystem& fs = posix_file_system();
  TurnLock mine(fs, dir / ".lock");
  mine.acquire(0);
  CHECK(mine.held());
  mine.acquire(0);
  CHECK_FALSE(mine.wanted_by_other());
  {
    TurnLock impatient(fs, dir / ".lock");
    CHECK(caught([&] { impatient.acquire(0); })->code() == ErrorCode::log_dir_locked);
    CHECK_FALSE(impatient.held());
    CHECK(caught([&] { impatient.acquire(20); })->code() == ErrorCode::log_dir_locked);
  }
  CHECK_FALSE(mine.wanted_by_other());

  Notes order;
  std::thread other([&] {
    TurnLock theirs(fs, dir / ".lock");
    theirs.acquire(60000);
    order.add('b');
    while (!theirs.wanted_by_other()) std::this_thread::yield();
    order.add('c');
    theirs.release();
  });
  while (!mine.wanted_by_other()) std::this_thread::yield();
  order.add('a');
  mine.release();
  mine.acquire(60000);
  order.add('d');
  CHECK(order.all() == "abcd");
  other.join();
  mine.release();
  mine.release();
  CHECK_FALSE(mine.held());
}

TEST_CASE("turns: two writers that both always want the right alternate") {
  const TempDirectory dir;
  Notes order;
  std::atomic<bool> one_finished = false;
  const auto write = [&](char name) {
    TurnLock lock(posix_file_system(), dir / ".lock");
    for (int turn = 0; turn < 5; ++turn) {
      lock.acquire(60000);
      order.add(name);
      while (!lock.wanted_by_other() && !one_finished) std::this_thread::yield();
      lock.release();
    }
    one_finished = true;
  };
  std::thread a(write, 'a');
  std::thread b(write, 'b');
  a.join();
  b.join();
  const std::string all = order.all();
  CHECK((all == "ababababab" || all == "bababababa"));
}

TEST_CASE("turns: who waits can be interrupted, in line and at its head") {
  const TempDirectory dir;
  FileSystem& fs = posix_file_system();
  TurnLock holder(fs, dir / ".lock");
  holder.acquire(0);
  std::atomic<int> asked = 0;
  TurnLock waiting(fs, dir / ".lock");
  const LockWait wait{INT64_MAX, [&] { return ++asked > 3; }};
  const auto error = caught([&] { waiting.acquire(wait); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::log_dir_locked);
  CHECK(error->message().find("interrupted") != std::string::npos);
  CHECK_FALSE(waiting.held());
  CHECK_FALSE(holder.wanted_by_other());
  const auto state = lock_exclusive(fs, dir / "s.lock", 0);
  CHECK(caught([&] { lock_exclusive(fs, dir / "s.lock", wait); })->code() == ErrorCode::log_dir_locked);
  holder.release();
  waiting.acquire(0);
  CHECK(waiting.held());
}
