// Immediate mode: each join, leave and expiry is a rebalance at once (groups.md §3).
#include <algorithm>

#include "core/group/protocols.h"

namespace tk {

void hand_out(GroupTurn& turn, const Assignment& wanted, bool incremental) {
  GroupState& group = turn.group;
  const auto held = incremental ? holders(group) : std::map<TopicPartition, std::string>();
  const auto exists = [&](const TopicPartition& partition) {
    const auto count = group.partition_counts.find(partition.topic);
    return count != group.partition_counts.end() && partition.partition.value() < count->second;
  };
  for (auto& [id, member] : group.members) {
    PartitionList next;
    if (const auto at = wanted.find(id); at != wanted.end()) next = at->second;
    if (incremental) {
      std::erase_if(next, [&, &self = id](const TopicPartition& partition) {
        const auto holder = held.find(partition);
        return holder != held.end() && holder->second != self;
      });
      member.revoking = without(united(member.assignment, member.revoking), next);
      std::erase_if(member.revoking, [&](const TopicPartition& partition) { return !exists(partition); });
    }
    member.assignment = std::move(next);
    member.owned_generation = group.generation;
  }
}

namespace immediate {

void rebalance(GroupTurn& turn, const Assignment& before) {
  GroupState& group = turn.group;
  const bool cooperative = group.assignor == Assignor::cooperative_sticky;
  group.partition_counts = count_partitions(turn);
  ++group.generation;
  turn.enter(group.members.empty() ? GroupPhase::empty : GroupPhase::stable);
  if (!group.members.empty()) {
    const AssignmentQuestion question = question_of(group, group.partition_counts);
    hand_out(turn, assign(*group.assignor, question).assignment, cooperative);
    group.cost = rebalance_cost(before, assignment_of(group), question,
                                cooperative ? Revocation::incremental : Revocation::eager);
  }
  turn.note("generation", "");
  for (const auto& [id, member] : group.members) turn.note("assign", id, partitions_json(member.assignment));
}

MemberReply join(GroupTurn& turn, const std::string& id, const JoinRequest& request) {
  GroupState& group = turn.group;
  const Assignment before = assignment_of(group);
  bool changed = false;
  const auto at = group.members.find(id);
  if (at == group.members.end()) {
    add_member(turn, id, make_member(turn, request));
    turn.note("join", id);
    changed = true;
  } else {
    changed = update_member(at->second, request);
  }
  GroupMember& member = group.members.at(id);
  renew_session(member, turn.now_ms);
  renew_poll(member, turn.now_ms);
  if (changed || group.partition_counts != count_partitions(turn)) rebalance(turn, before);
  return {.member = id, .status = member_status(group, id)};
}

void remove(GroupTurn& turn, const std::string& id) {
  const Assignment before = assignment_of(turn.group);
  erase_member(turn.group, id);
  rebalance(turn, before);
}

// The second phase of the cooperative assignor comes when the last one has let go.
void acknowledge(GroupTurn& turn, GroupMember& member) {
  if (member.revoking.empty()) return;
  member.revoking.clear();
  const auto& members = turn.group.members;
  const bool all = std::ranges::all_of(members, [](const auto& m) { return m.second.revoking.empty(); });
  if (all) rebalance(turn, assignment_of(turn.group));
}

}  // namespace immediate
}  // namespace tk
