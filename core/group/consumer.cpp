// The consumer protocol: members are brought to a target one step at a time, and a partition changes hands
// only when its owner has let it go (KIP-848, groups.md §5).
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/group/protocols.h"

namespace tk::consumer {
namespace {

// The one that most members ask for, of equals the first; without any the group's.
Assignor chosen_assignor(const GroupState& group) {
  std::map<Assignor, int> votes;
  for (const auto& [id, member] : group.members) {
    if (!member.assignors.empty()) ++votes[member.assignors.front()];
  }
  if (votes.empty()) return group.assignor.value_or(Assignor::uniform);
  return std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; })->first;
}

void raise_epoch(GroupTurn& turn) {
  ++turn.group.generation;
  turn.note("generation", "");
}

// Once the epoch has been raised, the target that is computed for it takes in what else has changed.
bool partitions_changed(const GroupTurn& turn) {
  return turn.group.generation == turn.group.target_epoch &&
         turn.group.partition_counts != count_partitions(turn);
}

void compute_target(GroupTurn& turn) {
  GroupState& group = turn.group;
  if (group.generation == group.target_epoch) return;
  group.target_epoch = group.generation;
  group.partition_counts = count_partitions(turn);
  group.assignor = chosen_assignor(group);
  AssignmentQuestion question = question_of(group, group.partition_counts);
  for (MemberSubscription& member : question.members) {
    const auto old = group.target.find(member.id);
    member.owned = old == group.target.end() ? PartitionList() : old->second;
    member.generation.reset();
  }
  const Assignment before(group.target.begin(), group.target.end());
  group.target = assign(*group.assignor, question).assignment;
  group.cost = rebalance_cost(before, group.target, question, Revocation::incremental);
}

/// What a step of a member's reconciliation leads to.
struct Step {
  MemberPhase phase = MemberPhase::stable;
  std::int32_t epoch = 0;
  PartitionList assigned;
  PartitionList revoking;
};

bool meets(const PartitionList& owned, const PartitionList& revoked) {
  return std::ranges::any_of(owned,
                             [&](const TopicPartition& partition) { return holds(revoked, partition); });
}

Step next_step(const GroupState& group, const GroupMember& member, const PartitionList& target,
               std::int32_t epoch, const std::optional<PartitionList>& owned) {
  const auto target_epoch = static_cast<std::int32_t>(group.target_epoch);
  PartitionList keep = common(member.assignment, target);
  PartitionList revoked = without(member.assignment, keep);
  if (!revoked.empty() && (!owned || meets(*owned, revoked))) {
    return {MemberPhase::unrevoked, epoch, std::move(keep), std::move(revoked)};
  }
  const PartitionList wanted = without(target, keep);
  // What this member is letting go just now counts as held, as in Kafka: it comes back with a later step.
  const auto held = holders(group);
  PartitionList free;
  for (const TopicPartition& partition : wanted) {
    if (!held.contains(partition)) free.push_back(partition);
  }
  const MemberPhase phase = wanted.size() == free.size() ? MemberPhase::stable : MemberPhase::unreleased;
  return {phase, target_epoch, united(keep, free), {}};
}

void reconcile(GroupTurn& turn, const std::string& id, const std::optional<PartitionList>& owned) {
  GroupState& group = turn.group;
  GroupMember& member = group.members.at(id);
  if (member.phase == MemberPhase::stable && member.epoch == group.target_epoch) return;
  std::int32_t epoch = member.epoch;
  if (member.phase == MemberPhase::unrevoked) {
    if (!owned || meets(*owned, member.revoking)) return;
    ++epoch;
  }
  Step step = next_step(group, member, group.target[id], epoch, owned);
  const bool same = step.phase == member.phase && step.epoch == member.epoch &&
                    step.assigned == member.assignment && step.revoking == member.revoking;
  if (same) return;
  member.previous_epoch = member.epoch;
  member.revoke_deadline_ms.reset();
  if (step.phase == MemberPhase::unrevoked && member.rebalance_timeout_ms > 0) {
    member.revoke_deadline_ms = later(turn.now_ms, member.rebalance_timeout_ms);
  }
  const bool moved = step.assigned != member.assignment;
  member.phase = step.phase;
  member.epoch = step.epoch;
  member.assignment = std::move(step.assigned);
  member.revoking = std::move(step.revoking);
  member.owned_generation = member.epoch;
  if (moved) turn.note("assign", id, partitions_json(member.assignment));
}

void step(GroupTurn& turn, const std::string& id, const std::optional<PartitionList>& owned) {
  compute_target(turn);
  reconcile(turn, id, owned);
  turn.enter(phase_of(turn.group));
}

void check_epoch(const std::string& id, const GroupMember& member, std::int64_t epoch,
                 const std::optional<PartitionList>& owned) {
  if (epoch == member.epoch) return;
  const bool repeated = epoch < member.epoch && epoch == member.previous_epoch && owned &&
                        without(*owned, member.assignment).empty();
  if (repeated) return;
  throw Error(ErrorCode::fenced_member_epoch,
              fmt::format("'{}' says it is at epoch {}, and is at {}", printable(id), epoch, member.epoch))
      .hint("drop its partitions and join again");
}

// A static member leaves for a while: what it has stays its own (KIP-848).
MemberReply go_away(GroupTurn& turn, const std::string& id, GroupMember& member) {
  if (!member.instance) {
    throw Error(ErrorCode::invalid_request,
                fmt::format("epoch -2 is for members with an instance, and '{}' has none", printable(id)));
  }
  member.epoch = kEpochAway;
  member.revoking.clear();
  member.revoke_deadline_ms.reset();
  member.phase = MemberPhase::stable;
  turn.enter(phase_of(turn.group));
  return {.member = id, .status = "away"};
}

}  // namespace

GroupPhase phase_of(const GroupState& group) {
  if (group.members.empty()) return GroupPhase::empty;
  if (group.generation > group.target_epoch) return GroupPhase::assigning;
  const bool settled = std::ranges::all_of(group.members, [&](const auto& entry) {
    return entry.second.phase == MemberPhase::stable && entry.second.epoch == group.target_epoch;
  });
  return settled ? GroupPhase::stable : GroupPhase::reconciling;
}

MemberReply join(GroupTurn& turn, const std::string& id, const JoinRequest& request) {
  GroupState& group = turn.group;
  const auto instance =
      request.instance ? group.static_members.find(*request.instance) : group.static_members.end();
  bool changed = false;
  if (instance != group.static_members.end() && instance->second != id) {
    const std::string old = instance->second;
    if (group.members.at(old).epoch != kEpochAway) {
      throw Error(
          ErrorCode::unreleased_instance_id,
          fmt::format("instance '{}' is in use by '{}'", printable(*request.instance), printable(old)))
          .hint("it gives the instance up with --heartbeat ID --epoch -2, or when its session ends");
    }
    GroupMember& member = replace_static_member(turn, old, id);
    member.epoch = member.previous_epoch = 0;
    changed = update_member(member, request);
    turn.note("join", id);
  } else if (const auto at = group.members.find(id); at != group.members.end()) {
    changed = update_member(at->second, request);
    if (at->second.epoch == kEpochAway) at->second.epoch = at->second.previous_epoch = 0;
  } else {
    add_member(turn, id, make_member(turn, request));
    changed = true;
    turn.note("join", id);
  }
  GroupMember& member = group.members.at(id);
  renew_session(member, turn.now_ms);
  renew_poll(member, turn.now_ms);
  if (changed || partitions_changed(turn)) raise_epoch(turn);
  step(turn, id, std::nullopt);
  return {.member = id, .status = member_status(group, id)};
}

void remove(GroupTurn& turn, const std::string& id) {
  erase_member(turn.group, id);
  raise_epoch(turn);
  turn.enter(phase_of(turn.group));
}

MemberReply heartbeat(GroupTurn& turn, const HeartbeatRequest& request) {
  GroupState& group = turn.group;
  GroupMember& member = require_member(group, request.member, request.instance);
  if (request.generation == kEpochAway) return go_away(turn, request.member, member);
  check_epoch(request.member, member, request.generation.value_or(member.epoch), request.owned);
  if (request.polls) renew_poll(member, turn.now_ms);
  if (!member.poll_expired) renew_session(member, turn.now_ms);
  if (partitions_changed(turn)) raise_epoch(turn);
  step(turn, request.member, request.owned);
  return {.member = request.member, .status = member_status(group, request.member)};
}

}  // namespace tk::consumer
