// The loop thread of `tk serve`: descriptors that become ready, timers, and tasks from other threads. All
// sockets, timers and parked requests belong to it (serve.md §1.6). Nothing in it may block.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

namespace tk::net {

class Loop {
 public:
  using Task = std::function<void()>;
  using TimerId = std::uint64_t;
  static constexpr TimerId kNoTimer = 0;

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Runs until stop(). What a task throws goes to `failed`, and the loop goes on.
  void run(const std::function<void(const std::exception&)>& failed = {});
  /// For any thread.
  void stop();
  /// Has `task` run by the loop, in the order of the calls. For any thread.
  void post(Task task);
  /// Once, after so many ms of real time.
  TimerId after(std::int64_t ms, Task task);
  /// One that has fired, or none, is no mistake.
  void cancel(TimerId timer);

  /// Waits for one descriptor, which stays the caller's and must be open as long. Each wait is for one event.
  class Watch {
   public:
    Watch(Loop& loop, int descriptor);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    void when_readable(Task task);
    void when_writable(Task task);

   private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
  };

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tk::net
