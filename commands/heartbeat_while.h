// A member's heartbeats while its own thread waits for something slow, such as a full pipe: in Kafka's
// clients, too, the session is kept by a thread of its own, and only who does not come back for the poll
// interval is expelled.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/group/group_session.h"

namespace tk {

class HeartbeatWhile {
 public:
  /// `session` must outlive it. A heartbeat every `interval_ms`.
  HeartbeatWhile(GroupSession& session, std::int64_t interval_ms);
  ~HeartbeatWhile();
  HeartbeatWhile(const HeartbeatWhile&) = delete;
  HeartbeatWhile& operator=(const HeartbeatWhile&) = delete;

  /// Runs `slow`, which does not touch the session. If it takes long, the session is renewed meanwhile; gives
  /// what the heartbeats have brought, if there was one. A heartbeat that fails is the last: the member's
  /// next call will meet the same failure.
  std::optional<Membership> run(const std::function<void()>& slow);

 private:
  void beat_until_stopped();
  void note(Membership now);

  GroupSession& session_;
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;  // held during a heartbeat: who waits for it has the session for himself afterwards
  std::condition_variable changed_;
  bool stopped_ = false;
  /// When the next heartbeat is due; none while nothing slow runs.
  std::optional<std::chrono::steady_clock::time_point> due_;
  std::optional<Membership> brought_;
  std::thread thread_;
};

}  // namespace tk
