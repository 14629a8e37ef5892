// One command's turn at a group: the state, the time, and what is to be written down of it. Everything in
// core/group that changes a group does so through one of these; nothing here touches a file (group_store.h
// does).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/group/group_state.h"
#include "core/group/group_topics.h"

namespace tk {

/// A line of the group's history (groups.md §15).
struct GroupEvent {
  /// Logical: a member is expelled at its deadline, whenever that is noticed.
  std::int64_t ts_ms = 0;
  /// "join", "leave", "expire", "generation", "assign", "commit", "reset", "offset_expired", "fenced".
  std::string what;
  std::string member;
  std::int64_t generation = 0;
  /// A JSON object.
  std::string detail = "{}";

  friend bool operator==(const GroupEvent&, const GroupEvent&) = default;
};

/// Kafka's broker settings, ms.
struct GroupConfig {
  /// group.initial.rebalance.delay.ms
  std::int64_t initial_rebalance_delay_ms = 3000;
  /// How long a new member of the classic protocol may wait for the join phase to end.
  std::int64_t new_member_timeout_ms = 300000;
  /// offsets.retention.minutes
  std::int64_t offsets_retention_ms = 604800000;
};

struct GroupTurn {
  GroupState& group;
  /// Logical: while deadlines are caught up with, that of the deadline.
  std::int64_t now_ms = 0;
  const GroupTopics& topics;
  GroupConfig config = {};
  /// As the file has it, before any deadline; null if there is none.
  const GroupState* before = nullptr;
  /// False if there is no file: the group begins with what this turn does.
  bool exists = true;
  /// Set when nothing of the group is left: its file goes.
  bool remove_group = false;
  /// While deadlines are caught up with: up to when.
  std::int64_t until_ms = 0;
  std::vector<GroupEvent> events = {};

  void note(std::string_view what, std::string_view member, std::string detail = "{}") {
    events.push_back({now_ms, std::string(what), std::string(member), group.generation, std::move(detail)});
  }
  void enter(GroupPhase phase) {
    if (group.phase == phase) return;
    group.phase = phase;
    group.state_since_ms = now_ms;
  }
};

/// The member of that id; Error(unknown_member_id) if there is none. With an instance id, that is checked
/// first: fenced_instance_id if another member has taken it over.
GroupMember& require_member(GroupState& group, const std::string& id,
                            const std::optional<std::string>& instance);

/// `ms` after a time; the end of time if that is further than it can be.
std::int64_t later(std::int64_t time_ms, std::int64_t ms);
/// Deadlines from now on. A session of 0, or a poll interval of 0, never ends.
void renew_session(GroupMember& member, std::int64_t now_ms);
void renew_poll(GroupMember& member, std::int64_t now_ms);

/// How many partitions each topic has that some member subscribes to; topics that do not exist are left out.
std::map<std::string, std::int32_t> count_partitions(const GroupTurn& turn);

/// The members as an assignor sees them: what each subscribes to of `counts`, and holds.
AssignmentQuestion question_of(const GroupState& group, const std::map<std::string, std::int32_t>& counts);
/// What the members hold now.
Assignment assignment_of(const GroupState& group);

/// Takes a member out of the maps; what follows from it is the protocol's.
void erase_member(GroupState& group, const std::string& id);

/// {"t":[0,1]}
std::string partitions_json(const PartitionList& partitions);

}  // namespace tk
