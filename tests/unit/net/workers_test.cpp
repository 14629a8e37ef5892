// Threads for what may block, and how many appends share a force.
#include "core/net/workers.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "core/net/force_group.h"

using namespace tk::net;

namespace {

/// Waits until `count` threads are in it at the same time.
class Meeting {
 public:
  explicit Meeting(int count) : missing_(count) {}
  void enter() {
    std::unique_lock lock(mutex_);
    if (--missing_ == 0) all_.notify_all();
    all_.wait(lock, [&] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  int missing_;
};

}  // namespace

TEST_CASE("tasks that block run at the same time, up to the number of threads") {
  Meeting meeting(4);
  Workers workers(4);
  for (int i = 0; i < 4; ++i) workers.post([&] { meeting.enter(); });
}

TEST_CASE("what was posted is done before the workers end, also by tasks at the end, in order in a queue") {
  std::vector<int> seen;
  std::atomic<int> more{0};
  {
    Workers workers(3);
    SerialQueue queue(workers);
    for (int i = 0; i < 1000; ++i) {
      queue.post([&, i] {
        seen.push_back(i);
        workers.post([&] { ++more; });
      });
    }
  }
  REQUIRE(seen.size() == 1000);
  for (int i = 0; i < 1000; ++i) CHECK(seen[static_cast<std::size_t>(i)] == i);
  CHECK(more == 1000);
}

TEST_CASE("a force waits for as many appends as are under way, for a part of its own time") {
  ForceGroup group;
  CHECK(group.patience_us(1, 0) == 0);  // nothing is known yet
  group.ended(3, 2, 6000, 100000);      // three were answered, two are there: five under way
  CHECK(group.patience_us(2, 100000) == 2000);
  CHECK(group.patience_us(4, 101500) == 500);
  CHECK(group.patience_us(5, 101500) == 0);
  CHECK(group.patience_us(2, 102001) == 0);  // long enough
  group.ended(5, 0, 60000, 200000);
  CHECK(group.patience_us(1, 200000) == 3000);  // never longer
}

TEST_CASE("one record at a time waits for nobody, and quick forces are not waited for") {
  ForceGroup group;
  group.ended(1, 0, 9000, 1000);
  CHECK(group.patience_us(1, 1001) == 0);
  group.ended(5, 0, 120, 2000);
  CHECK(group.patience_us(1, 2001) == 0);
}
