// Topics and logs as a table, for tests of groups.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/group/deadlines.h"
#include "core/group/group_turn.h"
#include "core/group/invariants.h"

namespace tk::test {

struct FakeLog {
  LogEdges edges{Offset(0), Offset(0), Offset(0)};
  std::optional<Offset> last_stable;
  std::vector<LeaderEpochEntry> epochs;
  /// The record at offset i has the timestamp i * this.
  std::int64_t ms_per_offset = 1000;
};

class FakeTopics final : public GroupTopics {
 public:
  /// "t:3 u:1"
  explicit FakeTopics(const std::map<std::string, std::int32_t>& counts = {}) : counts_(counts) {}

  void set(const std::string& topic, std::int32_t count) { counts_[topic] = count; }
  void remove(const std::string& topic) { counts_.erase(topic); }
  void set_id(const std::string& topic, std::uint8_t seed) { ids_[topic].bytes.fill(seed); }
  FakeLog& log(const std::string& topic, std::int32_t partition) {
    return logs_[{topic, PartitionId(partition)}];
  }

  std::optional<std::int32_t> partition_count(const std::string& topic) const override {
    const auto at = counts_.find(topic);
    return at == counts_.end() ? std::nullopt : std::optional(at->second);
  }
  std::optional<Uuid> topic_id(const std::string& topic) const override {
    const auto at = ids_.find(topic);
    return at == ids_.end() ? std::nullopt : std::optional(at->second);
  }
  std::optional<LogEdges> edges(const TopicPartition& partition) const override {
    const auto count = partition_count(partition.topic);
    if (!count || partition.partition.value() >= *count) return std::nullopt;
    return of(partition).edges;
  }
  Offset last_stable(const TopicPartition& partition) const override {
    const FakeLog log = of(partition);
    return log.last_stable.value_or(log.edges.log_end);
  }
  LeaderEpochs leader_epochs(const TopicPartition& partition) const override {
    return LeaderEpochs(of(partition).epochs);
  }
  std::optional<Offset> offset_for_time(const TopicPartition& partition,
                                        std::int64_t timestamp_ms) const override {
    const FakeLog log = of(partition);
    for (Offset at = log.edges.log_start; at < log.edges.high_watermark; ++at) {
      if (at.value() * log.ms_per_offset >= timestamp_ms) return at;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] FakeLog of(const TopicPartition& partition) const {
    const auto at = logs_.find(partition);
    return at == logs_.end() ? FakeLog() : at->second;
  }

  std::map<std::string, std::int32_t> counts_;
  std::map<std::string, Uuid> ids_;
  std::map<TopicPartition, FakeLog> logs_;
};

/// A group in memory: each call of at() is a command at that time, as GroupStore::change() makes it.
struct FakeGroup {
  explicit FakeGroup(const std::map<std::string, std::int32_t>& counts) : topics(counts) {
    state.group = "g";
  }

  template <class Operation>
  auto at(std::int64_t now_ms, Operation operation) {
    const GroupState before = state;
    GroupTurn turn{.group = state, .now_ms = now_ms, .topics = topics, .config = config, .exists = exists};
    struct Saved {
      FakeGroup& self;
      GroupTurn& turn;
      const GroupState& before;
      ~Saved() {
        self.state.last_now_ms = turn.now_ms;
        ++self.state.seq;
        self.events.insert(self.events.end(), turn.events.begin(), turn.events.end());
        self.removed = turn.remove_group;
        if (auto complaint = broken_invariant(self.state)) self.broken = complaint;
        if (auto complaint = broken_change(before, self.state)) self.broken = complaint;
      }
    };
    catch_up(turn);
    const GroupState fallen_due = state;
    exists = true;
    Saved saved{*this, turn, before};
    try {
      return operation(turn);
    } catch (...) {
      state = fallen_due;
      throw;
    }
  }
  void pass(std::int64_t now_ms) {
    at(now_ms, [](GroupTurn&) {});
  }

  FakeTopics topics;
  GroupConfig config;
  GroupState state;
  std::vector<GroupEvent> events;
  std::optional<std::string> broken;
  bool exists = true;
  bool removed = false;
};

/// "t:0,1 u:2", "-" without any.
inline std::string text_of(const PartitionList& list) {
  std::string text, topic;
  for (const TopicPartition& partition : list) {
    text += partition.topic == topic ? "," : (text.empty() ? "" : " ") + partition.topic + ":";
    text += std::to_string(partition.partition.value());
    topic = partition.topic;
  }
  return text.empty() ? "-" : text;
}

inline PartitionList partitions(const std::string& topic, const std::vector<int>& numbers) {
  PartitionList list;
  for (const int number : numbers) list.push_back({topic, PartitionId(number)});
  return list;
}

}  // namespace tk::test
