// The classic protocol: a join phase that collects the members, a sync phase in which the leader shares the
// partitions out (groups.md §2). Blocking requests of Kafka's are answered at once here; the member asks
// again.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/group/protocols.h"

namespace tk::classic {
namespace {

/// The longest that a member may take to rejoin, ms; nothing: for ever.
std::optional<std::int64_t> rebalance_timeout(const GroupState& group) {
  std::int64_t longest = 0;
  for (const auto& [id, member] : group.members) {
    if (member.rebalance_timeout_ms == 0) return std::nullopt;
    longest = std::max(longest, member.rebalance_timeout_ms);
  }
  return longest;
}

std::optional<std::int64_t> deadline_of_rebalance(const GroupTurn& turn) {
  const auto timeout = rebalance_timeout(turn.group);
  if (!timeout) return std::nullopt;
  return later(turn.now_ms, *timeout);
}

void elect(GroupState& group) {
  const auto leader = group.members.find(group.leader);
  if (leader != group.members.end() && leader->second.awaiting_join) return;
  group.leader.clear();
  for (const auto& [id, member] : group.members) {
    if (member.awaiting_join) {
      group.leader = id;
      return;
    }
  }
}

/// The names of what a member can do with, the preferred one first.
std::vector<std::string_view> offers(const GroupMember& member) {
  std::vector<std::string_view> names;
  for (const WireProtocol& protocol : member.wire_protocols) names.push_back(protocol.name);
  for (const Assignor assignor : member.assignors) names.push_back(assignor_name(assignor));
  return names;
}

using Offers = std::map<std::string_view, std::vector<std::string_view>>;

Offers all_offers(const GroupState& group) {
  Offers all;
  for (const auto& [id, member] : group.members) all.emplace(id, offers(member));
  return all;
}

bool supported_by_all(const Offers& all, std::string_view name) {
  return std::ranges::all_of(
      all, [&](const auto& entry) { return std::ranges::find(entry.second, name) != entry.second.end(); });
}

// Each member votes for the first that all can do with; of equals the leader's preference decides.
std::string elected_protocol(const GroupState& group) {
  const Offers all = all_offers(group);
  std::map<std::string_view, int> votes;
  for (const auto& [id, names] : all) {
    const auto first =
        std::ranges::find_if(names, [&](std::string_view name) { return supported_by_all(all, name); });
    if (first != names.end()) ++votes[*first];
  }
  std::string_view best = is_led_over_wire(group) ? std::string_view(group.wire_protocol)
                                                  : assignor_name(group.assignor.value_or(Assignor::range));
  int most = 0;
  for (const std::string_view name : all.at(group.leader)) {
    const auto at = votes.find(name);
    if (at == votes.end() || at->second <= most) continue;
    best = name;
    most = at->second;
  }
  return std::string(best);
}

std::string present_protocol(const GroupState& group) {
  if (is_led_over_wire(group)) return group.wire_protocol;
  return std::string(assignor_name(group.assignor.value_or(Assignor::range)));
}

void choose_protocol(GroupState& group) {
  const std::string name = elected_protocol(group);
  if (!is_led_over_wire(group)) {
    group.assignor = parse_assignor(name);
    return;
  }
  group.wire_protocol = name;
  group.assignor.reset();
  const std::vector<std::string> known = assignor_names();
  if (std::ranges::find(known, name) != known.end()) group.assignor = parse_assignor(name);
}

// A session that ran out while its member waited for the group begins anew when that is over.
void wake_sessions(GroupTurn& turn) {
  for (auto& [id, member] : turn.group.members) {
    if (!member.awaiting_join && !member.session_deadline_ms) renew_session(member, turn.now_ms);
  }
}

// Nobody has rejoined: the next look is a whole timeout later. What has passed meanwhile is left out, as
// nobody can rejoin without a command.
std::optional<std::int64_t> rearmed(const GroupTurn& turn) {
  const auto timeout = rebalance_timeout(turn.group);
  if (!timeout) return std::nullopt;
  const std::int64_t next = later(turn.now_ms, *timeout);
  if (next > turn.until_ms) return next;
  return later(next, ((turn.until_ms - next) / *timeout + 1) * *timeout);
}

bool maybe_complete(GroupTurn& turn) {
  const GroupState& group = turn.group;
  const bool all = std::ranges::all_of(group.members, [](const auto& m) { return m.second.awaiting_join; });
  if (!all || !group.pending_members.empty()) return false;
  complete_join(turn);
  return true;
}

void await_join(GroupTurn& turn, GroupMember& member) {
  member.awaiting_join = true;
  // It waits for the group: neither deadline runs, but that of a new member, whose process may be gone.
  member.poll_deadline_ms.reset();
  member.poll_expired = false;
  member.session_deadline_ms.reset();
  if (member.is_new) member.session_deadline_ms = later(turn.now_ms, turn.config.new_member_timeout_ms);
}

void check_protocols(const GroupState& group, const std::string& id, const GroupMember& member) {
  if (group.members.empty()) return;
  Offers others = all_offers(group);
  others.erase(id);
  for (const std::string_view name : offers(member)) {
    if (supported_by_all(others, name)) return;
  }
  throw Error(ErrorCode::inconsistent_group_protocol,
              fmt::format("'{}' can do with none of the assignors that all members of group '{}' can do with",
                          printable(id), printable(group.group)));
}

MemberReply answer(const GroupState& group, const std::string& id) {
  return {.member = id, .status = member_status(group, id)};
}

MemberReply join_new(GroupTurn& turn, const std::string& id, GroupMember member) {
  GroupState& group = turn.group;
  check_protocols(group, id, member);
  member.is_new = true;
  if (group.phase == GroupPhase::preparing_rebalance && group.rebalance.initial) {
    group.rebalance.new_member_added = true;
  }
  await_join(turn, add_member(turn, id, std::move(member)));
  if (group.leader.empty()) group.leader = id;
  turn.note("join", id);
  if (group.phase != GroupPhase::preparing_rebalance) {
    prepare(turn);
  } else if (!group.rebalance.initial) {
    maybe_complete(turn);
  }
  return answer(group, id);
}

MemberReply rejoin(GroupTurn& turn, const std::string& id, GroupMember& member, bool changed) {
  GroupState& group = turn.group;
  check_protocols(group, id, member);
  renew_session(member, turn.now_ms);
  renew_poll(member, turn.now_ms);
  // The second phase of the cooperative assignor: it comes back without what it had to give up.
  changed |= !member.revoking.empty();
  member.revoking.clear();
  if (group.phase == GroupPhase::preparing_rebalance) {
    await_join(turn, member);
    if (!group.rebalance.initial) maybe_complete(turn);
    return answer(group, id);
  }
  const bool leader_asks = group.phase == GroupPhase::stable && id == group.leader;
  if (!changed && !leader_asks) return answer(group, id);
  await_join(turn, member);
  prepare(turn);
  return answer(group, id);
}

// KIP-345: a known instance with a new id is the same member after a restart.
MemberReply join_again(GroupTurn& turn, const std::string& old_id, const std::string& id,
                       const JoinRequest& request) {
  GroupState& group = turn.group;
  GroupMember& member = replace_static_member(turn, old_id, id);
  const bool changed = update_member(member, request);
  turn.note("join", id);
  if (group.phase != GroupPhase::stable) return rejoin(turn, id, member, true);
  renew_session(member, turn.now_ms);
  renew_poll(member, turn.now_ms);
  if (elected_protocol(group) != present_protocol(group)) {
    await_join(turn, member);
    prepare(turn);
    return answer(group, id);
  }
  MemberReply reply = answer(group, id);
  reply.skip_assignment = group.leader == id;
  reply.subscription_changed_without_rebalance = changed;
  return reply;
}

// What a leader over the wire has decided. What could be read of it is kept for people, as far as it makes
// sense: nobody holds what another has, or what it does not subscribe to.
void take_assignment(GroupTurn& turn, const std::map<std::string, WireAssignment>& assignments) {
  GroupState& group = turn.group;
  std::set<TopicPartition> held;
  for (auto& [id, member] : group.members) {
    member.wire_assignment.clear();
    member.assignment.clear();
    member.revoking.clear();
    member.owned_generation = group.generation;
    const auto given = assignments.find(id);
    if (given == assignments.end()) continue;
    member.wire_assignment = given->second.bytes;
    for (const TopicPartition& partition : given->second.partitions) {
      if (std::ranges::binary_search(member.topics, partition.topic) && held.insert(partition).second)
        member.assignment.push_back(partition);
    }
  }
  group.partition_counts.clear();
  group.cost.reset();
  turn.enter(GroupPhase::stable);
  wake_sessions(turn);
  for (const auto& [id, member] : group.members) turn.note("assign", id, partitions_json(member.assignment));
}

void make_assignment(GroupTurn& turn) {
  GroupState& group = turn.group;
  const bool cooperative = group.assignor == Assignor::cooperative_sticky;
  const Assignment before = assignment_of(group);
  group.partition_counts = count_partitions(turn);
  const AssignmentQuestion question = question_of(group, group.partition_counts);
  hand_out(turn, assign(*group.assignor, question).assignment, cooperative);
  group.cost = rebalance_cost(before, assignment_of(group), question,
                              cooperative ? Revocation::incremental : Revocation::eager);
  turn.enter(GroupPhase::stable);
  wake_sessions(turn);
  for (const auto& [id, member] : group.members) turn.note("assign", id, partitions_json(member.assignment));
}

}  // namespace

bool waits_for_group(const GroupState& group, const std::string& id) {
  const GroupMember& member = group.members.at(id);
  if (member.is_new) return false;
  if (member.awaiting_join) return true;
  return group.phase == GroupPhase::completing_rebalance && !group.rebalance.pending_sync.contains(id);
}

void prepare(GroupTurn& turn) {
  GroupState& group = turn.group;
  RebalanceTimers& timers = group.rebalance;
  timers.sync_deadline_ms.reset();
  timers.pending_sync.clear();
  timers.initial = group.phase == GroupPhase::empty;
  turn.enter(GroupPhase::preparing_rebalance);
  wake_sessions(turn);
  if (timers.initial) {
    const std::int64_t delay = turn.config.initial_rebalance_delay_ms;
    const std::int64_t longest = rebalance_timeout(group).value_or(INT64_MAX);
    timers.delay_ms = delay;
    timers.remaining_ms = std::max<std::int64_t>(longest - delay, 0);
    timers.new_member_added = false;
    timers.join_deadline_ms = later(turn.now_ms, delay);
    if (delay == 0) complete_join(turn);
    return;
  }
  if (!maybe_complete(turn)) timers.join_deadline_ms = deadline_of_rebalance(turn);
}

void join_deadline(GroupTurn& turn) {
  RebalanceTimers& timers = turn.group.rebalance;
  if (timers.initial && timers.new_member_added && timers.remaining_ms != 0) {
    timers.new_member_added = false;
    const std::int64_t delay = std::min(turn.config.initial_rebalance_delay_ms, timers.remaining_ms);
    timers.remaining_ms = std::max<std::int64_t>(timers.remaining_ms - timers.delay_ms, 0);
    timers.delay_ms = delay;
    timers.join_deadline_ms = later(turn.now_ms, delay);
    return;
  }
  complete_join(turn);
}

void complete_join(GroupTurn& turn) {
  GroupState& group = turn.group;
  RebalanceTimers& timers = group.rebalance;
  std::vector<std::string> gone;
  for (const auto& [id, member] : group.members) {
    if (!member.awaiting_join && !member.instance) gone.push_back(id);
  }
  for (const std::string& id : gone) {
    erase_member(group, id);
    turn.note("expire", id, R"({"deadline":"rebalance"})");
  }
  timers.join_deadline_ms.reset();
  elect(group);
  if (!group.members.empty() && group.leader.empty()) {
    timers.join_deadline_ms = rearmed(turn);
    return;
  }
  timers = {};
  ++group.generation;
  if (group.members.empty()) {
    group.assignor.reset();
    turn.enter(GroupPhase::empty);
    turn.note("generation", "");
    return;
  }
  turn.enter(GroupPhase::completing_rebalance);
  choose_protocol(group);
  timers.sync_deadline_ms = deadline_of_rebalance(turn);
  for (auto& [id, member] : group.members) {
    member.awaiting_join = false;
    member.is_new = false;
    renew_session(member, turn.now_ms);
    renew_poll(member, turn.now_ms);
    timers.pending_sync.insert(id);
  }
  turn.note("generation", group.leader);
}

void sync_deadline(GroupTurn& turn) {
  GroupState& group = turn.group;
  const std::set<std::string> missing = std::move(group.rebalance.pending_sync);
  group.rebalance.sync_deadline_ms.reset();
  group.rebalance.pending_sync.clear();
  if (missing.empty()) return;
  for (const std::string& id : missing) {
    erase_member(group, id);
    turn.note("expire", id, R"({"deadline":"sync"})");
  }
  if (!group.members.contains(group.leader)) {
    group.leader = group.members.empty() ? "" : group.members.begin()->first;
  }
  prepare(turn);
}

MemberReply join(GroupTurn& turn, const std::string& id, const JoinRequest& request) {
  GroupState& group = turn.group;
  if (request.instance) {
    const auto known = group.static_members.find(*request.instance);
    if (known != group.static_members.end() && known->second != id) {
      return join_again(turn, std::string(known->second), id, request);
    }
  }
  const auto at = group.members.find(id);
  if (at == group.members.end()) return join_new(turn, id, make_member(turn, request));
  const bool changed = update_member(at->second, request);
  return rejoin(turn, id, at->second, changed);
}

void remove(GroupTurn& turn, const std::string& id) {
  GroupState& group = turn.group;
  erase_member(group, id);
  if (group.leader == id) group.leader = group.members.empty() ? "" : group.members.begin()->first;
  if (group.phase == GroupPhase::stable || group.phase == GroupPhase::completing_rebalance) {
    prepare(turn);
  } else if (group.phase == GroupPhase::preparing_rebalance && !group.rebalance.initial) {
    maybe_complete(turn);
  }
}

MemberReply sync(GroupTurn& turn, const std::string& id,
                 const std::map<std::string, WireAssignment>& assignments) {
  GroupState& group = turn.group;
  if (group.phase == GroupPhase::preparing_rebalance) {
    throw Error(ErrorCode::rebalance_in_progress,
                fmt::format("group '{}' is collecting its members: '{}' has to join again",
                            printable(group.group), printable(id)));
  }
  RebalanceTimers& timers = group.rebalance;
  timers.pending_sync.erase(id);
  if (group.phase == GroupPhase::completing_rebalance && id == group.leader) {
    is_led_over_wire(group) ? take_assignment(turn, assignments) : make_assignment(turn);
  }
  if (group.phase == GroupPhase::stable && timers.pending_sync.empty()) timers.sync_deadline_ms.reset();
  return answer(group, id);
}

}  // namespace tk::classic
