#include "core/net/workers.h"

#include <algorithm>
#include <system_error>

namespace tk::net {

Workers::Workers(int threads, std::function<void(const std::exception&)> failed)
    : failed_(std::move(failed)), most_threads_(static_cast<std::size_t>(std::max(threads, 1))) {
  threads_.emplace_back([this] { run(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  // Tasks that run to the end may post others, and these may start threads.
  for (std::size_t i = 0;; ++i) {
    std::unique_lock lock(mutex_);
    if (i == threads_.size()) break;
    std::thread thread = std::move(threads_[i]);
    lock.unlock();
    thread.join();
  }
}

void Workers::post(Task task, std::size_t free_soon) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (tasks_.size() > idle_ + free_soon && threads_.size() < most_threads_) {
      try {
        threads_.emplace_back([this] { run(); });
      } catch (const std::system_error&) {
        // There is no more room for threads: those that are there do it.
      }
    }
  }
  changed_.notify_one();
}

void Workers::run_task(Task& task) const {
  try {
    task();
  } catch (const std::exception& error) {
    if (failed_) failed_(error);
  }
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    run_task(task);
    task = nullptr;
    lock.lock();
  }
}

void SerialQueue::post(Workers::Task task) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->tasks.push_back(std::move(task));
    if (state_->running) return;
    state_->running = true;
  }
  state_->workers.post([state = state_] { run_one(state); });
}

// One task a turn, so that a long queue does not keep a worker from the others.
void SerialQueue::run_one(const std::shared_ptr<State>& state) {
  Workers::Task task;
  {
    const std::lock_guard lock(state->mutex);
    task = std::move(state->tasks.front());
    state->tasks.pop_front();
  }
  state->workers.run_task(task);
  task = nullptr;
  {
    const std::lock_guard lock(state->mutex);
    if (state->tasks.empty()) {
      state->running = false;
      return;
    }
  }
  state->workers.post([state] { run_one(state); }, 1);
}

}  // namespace tk::net
