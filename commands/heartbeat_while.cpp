#include "commands/heartbeat_while.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <system_error>

namespace tk {

// Signals are for the thread that waits: its call must be the one that is interrupted.
HeartbeatWhile::HeartbeatWhile(GroupSession& session, std::int64_t interval_ms)
    : session_(session), interval_(interval_ms) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { beat_until_stopped(); });
  } catch (const std::system_error&) {
    // Without it the session lives by the heartbeats between the waits.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HeartbeatWhile::~HeartbeatWhile() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::optional<Membership> HeartbeatWhile::run(const std::function<void()>& slow) {
  {
    const std::scoped_lock lock(mutex_);
    due_ = std::chrono::steady_clock::now() + interval_;
  }
  changed_.notify_one();
  const auto take_back = [this] {
    const std::scoped_lock lock(mutex_);
    due_.reset();
    return std::exchange(brought_, std::nullopt);
  };
  try {
    slow();
  } catch (...) {
    static_cast<void>(take_back());
    throw;
  }
  return take_back();
}

void HeartbeatWhile::beat_until_stopped() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (!due_) {
      changed_.wait(lock);
    } else if (const auto due = *due_; std::chrono::steady_clock::now() < due) {
      changed_.wait_until(lock, due);
    } else {
      due_ = due + interval_;
      try {
        note(session_.heartbeat());
      } catch (const Error&) {
        due_.reset();
      }
    }
  }
}

// Several heartbeats are as one: what any of them took away is lost, all else is as the last one says.
void HeartbeatWhile::note(Membership now) {
  if (brought_) {
    for (const TopicPartition& partition : brought_->lost) now.lost.push_back(partition);
    std::ranges::sort(now.lost);
    now.lost.erase(std::unique(now.lost.begin(), now.lost.end()), now.lost.end());
  }
  if (now.expelled) due_.reset();
  brought_ = std::move(now);
}

}  // namespace tk
