// Fetch sessions (KIP-227, serve.md §2.5): what a client fetches is remembered, so that it asks for what has
// changed only, and is told what has changed only. Sessions belong to the server, not to a connection.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/uuid.h"
#include "core/net/kafka/messages_fetch.h"
#include "core/net/service.h"

namespace tk::kafka {

/// A partition of a fetch, and what its client was last told of it.
struct FetchEntry {
  std::string topic;  // by the name where the request has names
  Uuid topic_id;
  std::int32_t partition = 0;
  std::int32_t current_leader_epoch = -1;
  std::int64_t fetch_offset = 0;
  std::int32_t last_fetched_epoch = -1;
  std::int32_t max_bytes = 0;
  /// -1: nothing was sent yet.
  std::int64_t sent_high_watermark = -1;
  std::int64_t sent_log_start = -1;
  bool sent_error = false;
};

struct FetchSession {
  std::int32_t id = 0;
  std::int32_t next_epoch = 1;
  bool by_id = false;
  /// In the order of serving: those that gave records go to the end.
  std::list<FetchEntry> entries;
  std::int64_t last_used_ms = 0;
};

using FetchSessionPtr = std::shared_ptr<FetchSession>;

/// All sessions. For the loop.
class FetchSessions {
 public:
  static constexpr std::size_t kMostSessions = 1000;
  static constexpr std::size_t kMostPartitions = 100000;
  /// An idle session makes room for a new one after so long.
  static constexpr std::int64_t kIdleMs = 120000;

  explicit FetchSessions(net::Service&) {}

  /// Null if there is none of that id.
  [[nodiscard]] FetchSessionPtr find(std::int32_t id) const;
  /// A new one with these partitions; null if there is no room.
  FetchSessionPtr make(std::list<FetchEntry> entries, bool by_id, std::int64_t now_ms);
  void close(std::int32_t id);
  /// To be called when a session's partitions have changed in number.
  void count_again(const FetchSession& session, std::size_t before);
  [[nodiscard]] bool too_many() const { return partitions_ > kMostPartitions; }
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }

 private:
  [[nodiscard]] std::int32_t new_id();

  std::unordered_map<std::int32_t, FetchSessionPtr> sessions_;
  std::size_t partitions_ = 0;
};

/// What one request fetches, by its session id and epoch.
struct FetchPlan {
  /// Kafka's code if the request is refused as a whole.
  std::int16_t error = 0;
  /// Of the answer; 0: no session.
  std::int32_t session_id = 0;
  /// Only what has changed is answered.
  bool incremental = false;
  FetchSessionPtr session;
  /// The session's epoch as this request left it: another one means that a later request has changed it.
  std::int32_t next_epoch = 1;
  /// Without a session.
  std::list<FetchEntry> entries;

  [[nodiscard]] std::list<FetchEntry>& all() { return session ? session->entries : entries; }
};
FetchPlan plan_fetch(FetchSessions& sessions, const FetchRequest& request, bool by_id, std::int64_t now_ms);

}  // namespace tk::kafka
