// Threads for what may block: locks, forces, cold reads, compression (serve.md §1.6).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tk::net {

class Workers {
 public:
  using Task = std::function<void()>;

  /// So many threads at most; each is started when a task finds all others at work. What a task throws goes
  /// to `failed`, which any of the threads may call.
  explicit Workers(int threads, std::function<void(const std::exception&)> failed = {});
  /// Runs what was posted to its end first.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// For any thread. A task answers whoever waits for it itself, also when it fails.
  void post(Task task) { post(std::move(task), 0); }

 private:
  /// `free_soon`: threads that are about to look for work, as the calling one.
  void post(Task task, std::size_t free_soon);
  void run();
  friend class SerialQueue;
  /// Runs a task, and lets nothing out that it throws.
  void run_task(Task& task) const;

  std::function<void(const std::exception&)> failed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::size_t most_threads_;
  std::size_t idle_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

/// Tasks that run one after the other, in the order posted, by whichever worker is free. What only they touch
/// needs no lock. It may be dropped while tasks wait: they run all the same.
class SerialQueue {
 public:
  explicit SerialQueue(Workers& workers) : state_(std::make_shared<State>(workers)) {}
  /// For any thread.
  void post(Workers::Task task);

 private:
  struct State {
    explicit State(Workers& w) : workers(w) {}
    Workers& workers;
    std::mutex mutex;
    std::deque<Workers::Task> tasks;
    bool running = false;
  };
  static void run_one(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace tk::net
