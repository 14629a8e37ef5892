#include "core/net/kafka/fetch_session.h"

#include <algorithm>
#include <random>

#include "core/net/kafka/errors.h"

namespace tk::kafka {
namespace {

void update(FetchEntry& entry, const FetchRequest::Topic::Partition& asked) {
  entry.current_leader_epoch = asked.current_leader_epoch;
  entry.fetch_offset = asked.fetch_offset;
  entry.last_fetched_epoch = asked.last_fetched_epoch;
  entry.max_bytes = asked.partition_max_bytes;
}

FetchEntry entry_of(const FetchRequest::Topic& topic, const FetchRequest::Topic::Partition& asked) {
  FetchEntry entry;
  entry.topic = topic.topic;
  entry.topic_id = topic.topic_id;
  entry.partition = asked.partition;
  update(entry, asked);
  return entry;
}

std::list<FetchEntry> entries_of(const FetchRequest& request) {
  std::list<FetchEntry> entries;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) entries.push_back(entry_of(topic, partition));
  }
  return entries;
}

using Key = std::tuple<std::string, std::array<std::uint8_t, 16>, std::int32_t>;

void apply(FetchSession& session, const FetchRequest& request) {
  if (request.topics.empty() && request.forgotten_topics_data.empty()) return;
  std::map<Key, std::list<FetchEntry>::iterator> index;
  for (auto at = session.entries.begin(); at != session.entries.end(); ++at)
    index[{at->topic, at->topic_id.bytes, at->partition}] = at;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      const Key key{topic.topic, topic.topic_id.bytes, partition.partition};
      if (const auto known = index.find(key); known != index.end()) {
        update(*known->second, partition);
      } else {
        index[key] = session.entries.insert(session.entries.end(), entry_of(topic, partition));
      }
    }
  }
  for (const auto& topic : request.forgotten_topics_data) {
    for (const std::int32_t partition : topic.partitions) {
      const auto known = index.find({topic.topic, topic.topic_id.bytes, partition});
      if (known == index.end()) continue;
      session.entries.erase(known->second);
      index.erase(known);
    }
  }
}

FetchPlan refused(std::int16_t error) {
  FetchPlan plan;
  plan.error = error;
  return plan;
}

}  // namespace

FetchSessionPtr FetchSessions::find(std::int32_t id) const {
  const auto at = sessions_.find(id);
  return at == sessions_.end() ? nullptr : at->second;
}

std::int32_t FetchSessions::new_id() {
  static std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<std::int32_t> any(1, INT32_MAX);
  for (;;) {
    const std::int32_t id = any(random);
    if (!sessions_.contains(id)) return id;
  }
}

FetchSessionPtr FetchSessions::make(std::list<FetchEntry> entries, bool by_id, std::int64_t now_ms) {
  if (entries.empty()) return nullptr;
  while (sessions_.size() >= kMostSessions || partitions_ + entries.size() > kMostPartitions) {
    const auto oldest =
        std::ranges::min_element(sessions_, {}, [](const auto& entry) { return entry.second->last_used_ms; });
    if (oldest == sessions_.end() || now_ms - oldest->second->last_used_ms < kIdleMs) return nullptr;
    close(oldest->first);
  }
  auto session = std::make_shared<FetchSession>();
  session->id = new_id();
  session->by_id = by_id;
  session->entries = std::move(entries);
  session->last_used_ms = now_ms;
  partitions_ += session->entries.size();
  sessions_[session->id] = session;
  return session;
}

void FetchSessions::close(std::int32_t id) {
  const auto at = sessions_.find(id);
  if (at == sessions_.end()) return;
  partitions_ -= at->second->entries.size();
  sessions_.erase(at);
}

void FetchSessions::count_again(const FetchSession& session, std::size_t before) {
  if (sessions_.contains(session.id)) partitions_ = partitions_ - before + session.entries.size();
}

FetchPlan plan_fetch(FetchSessions& sessions, const FetchRequest& request, bool by_id, std::int64_t now_ms) {
  FetchPlan plan;
  if (request.session_epoch == -1 || request.session_epoch == 0) {
    if (request.session_id != 0) sessions.close(request.session_id);
    plan.entries = entries_of(request);
    if (request.session_epoch == -1) return plan;
    plan.session = sessions.make(plan.entries, by_id, now_ms);
    if (plan.session) plan.session_id = plan.session->id;
    if (plan.session) plan.next_epoch = plan.session->next_epoch;
    return plan;
  }
  const FetchSessionPtr session = sessions.find(request.session_id);
  if (!session) return refused(kFetchSessionIdNotFound);
  if (session->next_epoch != request.session_epoch) return refused(kInvalidFetchSessionEpoch);
  if (session->by_id != by_id) return refused(kFetchSessionTopicIdError);
  session->next_epoch = session->next_epoch == INT32_MAX ? 1 : session->next_epoch + 1;
  session->last_used_ms = now_ms;
  const std::size_t before = session->entries.size();
  apply(*session, request);
  sessions.count_again(*session, before);
  if (session->entries.size() > before && sessions.too_many()) {
    // No room for what it wants to add: its client begins anew, and is told then that there is none.
    sessions.close(session->id);
    return refused(kFetchSessionIdNotFound);
  }
  plan.session = session;
  plan.next_epoch = session->next_epoch;
  if (session->entries.empty()) {
    sessions.close(session->id);
    return plan;
  }
  plan.session_id = session->id;
  plan.incremental = true;
  return plan;
}

}  // namespace tk::kafka
