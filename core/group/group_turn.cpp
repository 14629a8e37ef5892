#include "core/group/group_turn.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/json_writer.h"
#include "core/base/text.h"

namespace tk {

GroupMember& require_member(GroupState& group, const std::string& id,
                            const std::optional<std::string>& instance) {
  if (instance) {
    const auto known = group.static_members.find(*instance);
    if (known == group.static_members.end()) {
      throw Error(ErrorCode::unknown_member_id, fmt::format("group '{}' has no member with instance '{}'",
                                                            printable(group.group), printable(*instance)));
    }
    if (known->second != id) {
      throw Error(
          ErrorCode::fenced_instance_id,
          fmt::format("instance '{}' of group '{}' is member '{}' now, no longer '{}'", printable(*instance),
                      printable(group.group), printable(known->second), printable(id)));
    }
  }
  const auto at = group.members.find(id);
  if (at != group.members.end()) return at->second;
  Error error(ErrorCode::unknown_member_id,
              fmt::format("'{}' is no member of group '{}'", printable(id), printable(group.group)));
  std::vector<std::string> ids;
  for (const auto& [known, member] : group.members) ids.push_back(known);
  const auto nearest = nearest_name(id, ids);
  throw nearest ? std::move(error).hint(fmt::format("did you mean '{}'?", printable(*nearest)))
                : std::move(error).hint("it never joined, or was expelled: 'tk groups events' tells");
}

std::int64_t later(std::int64_t time_ms, std::int64_t ms) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(time_ms, ms, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

void renew_session(GroupMember& member, std::int64_t now_ms) {
  member.session_deadline_ms.reset();
  if (member.session_timeout_ms > 0) member.session_deadline_ms = later(now_ms, member.session_timeout_ms);
}

void renew_poll(GroupMember& member, std::int64_t now_ms) {
  member.poll_expired = false;
  member.poll_deadline_ms.reset();
  if (member.rebalance_timeout_ms > 0 && !member.over_wire)
    member.poll_deadline_ms = later(now_ms, member.rebalance_timeout_ms);
}

std::map<std::string, std::int32_t> count_partitions(const GroupTurn& turn) {
  std::map<std::string, std::int32_t> counts;
  for (std::string& topic : subscribed_topics(turn.group)) {
    if (const auto count = turn.topics.partition_count(topic)) counts.emplace(std::move(topic), *count);
  }
  return counts;
}

AssignmentQuestion question_of(const GroupState& group, const std::map<std::string, std::int32_t>& counts) {
  AssignmentQuestion question;
  question.partitions = counts;
  for (const auto& [id, member] : group.members) {
    MemberSubscription subscription;
    subscription.id = id;
    subscription.instance = member.instance;
    subscription.topics = member.topics;
    subscription.owned = member.assignment;
    if (member.owned_generation >= 0) {
      subscription.generation = static_cast<std::int32_t>(member.owned_generation);
    }
    question.members.push_back(std::move(subscription));
  }
  return question;
}

Assignment assignment_of(const GroupState& group) {
  Assignment assignment;
  for (const auto& [id, member] : group.members) assignment[id] = member.assignment;
  return assignment;
}

void erase_member(GroupState& group, const std::string& id) {
  const auto at = group.members.find(id);
  if (at == group.members.end()) return;
  if (at->second.instance) group.static_members.erase(*at->second.instance);
  group.rebalance.pending_sync.erase(id);
  group.target.erase(id);
  group.members.erase(at);
}

std::string partitions_json(const PartitionList& partitions) {
  TextBuffer out;
  out.push_back('{');
  const std::string* topic = nullptr;
  for (const TopicPartition& partition : partitions) {
    if (topic == nullptr || *topic != partition.topic) {
      append(out, topic == nullptr ? "" : "],");
      topic = &partition.topic;
      append_json_string(out, *topic);
      append(out, ":[");
    } else {
      out.push_back(',');
    }
    append_number(out, partition.partition.value());
  }
  append(out, topic == nullptr ? "}" : "]}");
  return {out.begin(), out.end()};
}

}  // namespace tk
