#include "core/group/membership.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/group/protocols.h"

namespace tk {
namespace {

constexpr std::int64_t kLongestSession = 1800000;
constexpr std::string_view kUnnamed = "consume";

void check_name(std::string_view what, std::string_view name) {
  if (name.empty()) throw Error(ErrorCode::invalid_request, fmt::format("the {} is empty", what));
  if (is_utf8(name)) return;
  throw Error(ErrorCode::invalid_request, fmt::format("{} '{}' is not UTF-8", what, printable(name)));
}

void check_times(const JoinRequest& request) {
  const std::int64_t session = request.session_timeout_ms.value_or(0);
  if (session < 0 || session > kLongestSession) {
    throw Error(
        ErrorCode::invalid_session_timeout,
        fmt::format("a session of {} ms is not from 0 (without end) to {}", session, kLongestSession));
  }
}

// Members over the wire and tk's own do not share a classic group: their leaders speak another language.
void settle_wire(GroupState& group, const JoinRequest& request) {
  if (group.protocol != GroupProtocol::classic) return;
  if (group.members.empty()) {
    group.wire_type = request.wire_type;
    group.wire_protocol.clear();
    return;
  }
  if (is_led_over_wire(group) != !request.wire_protocols.empty()) {
    throw Error(
        ErrorCode::inconsistent_group_protocol,
        fmt::format("the members of group '{}' joined {}", printable(group.group),
                    is_led_over_wire(group) ? "over the wire, and their leader is no tk" : "by tk itself"))
        .hint("the two share a group by the consumer protocol (KIP-848)");
  }
  if (group.wire_type != request.wire_type) {
    throw Error(
        ErrorCode::inconsistent_group_protocol,
        fmt::format("group '{}' is one of type '{}'", printable(group.group), printable(group.wire_type)));
  }
}

// A group without members takes what the first one brings; one that has members keeps what it has.
void settle_protocol(GroupState& group, const JoinRequest& request) {
  const auto refuse = [&](std::string_view what, std::string_view has, std::string_view wanted) {
    throw Error(ErrorCode::inconsistent_group_protocol,
                fmt::format("group '{}' has the {} {}, not {}", printable(group.group), what, has, wanted))
        .hint("both hold from a group's first member on: when all have left, another can be taken");
  };
  if (!group.members.empty()) {
    if (request.protocol && *request.protocol != group.protocol) {
      refuse("protocol", group_protocol_name(group.protocol), group_protocol_name(*request.protocol));
    }
    const bool fixed = group.protocol == GroupProtocol::immediate;
    if (fixed && request.assignor && *request.assignor != group.assignor) {
      refuse("assignor", assignor_name(*group.assignor), assignor_name(*request.assignor));
    }
    return;
  }
  const GroupProtocol before = group.protocol;
  if (request.protocol) group.protocol = *request.protocol;
  if (group.protocol == GroupProtocol::consumer) {
    if (before != GroupProtocol::consumer) group.target_epoch = 0;
    if (before != GroupProtocol::consumer || request.assignor) group.assignor.reset();
  } else if (before != group.protocol || !group.assignor || request.assignor) {
    group.target_epoch = 0;
    group.assignor = request.assignor.value_or(Assignor::range);
  }
  if (before != group.protocol) group.cost.reset();
}

// The topics that a member without a list of its own reads: what the group reads, else what it has read.
std::vector<std::string> topics_of_group(const GroupState& group) {
  std::vector<std::string> topics = subscribed_topics(group);
  if (!topics.empty()) return topics;
  for (const auto& [partition, offset] : group.offsets) {
    if (topics.empty() || topics.back() != partition.topic) topics.push_back(partition.topic);
  }
  return topics;
}

std::vector<Assignor> assignors_of(const GroupTurn& turn, const JoinRequest& request) {
  const GroupState& group = turn.group;
  if (group.protocol == GroupProtocol::consumer) {
    if (!request.assignor) return {};
    return {*request.assignor};
  }
  if (request.assignor) return {*request.assignor};
  if (group.protocol == GroupProtocol::immediate) return {*group.assignor};
  std::vector<Assignor> all = {Assignor::range, Assignor::cooperative_sticky};
  const auto leader = group.members.find(group.leader);
  if (leader != group.members.end()) all = leader->second.assignors;
  for (const auto& entry : group.members) {
    const std::vector<Assignor>& its = entry.second.assignors;
    std::erase_if(all, [&](Assignor assignor) { return std::ranges::find(its, assignor) == its.end(); });
  }
  return all;
}

void check_assignor(const GroupState& group, const JoinRequest& request) {
  if (group.protocol != GroupProtocol::consumer || !request.assignor) return;
  if (*request.assignor == Assignor::uniform || *request.assignor == Assignor::range) return;
  throw Error(ErrorCode::unsupported_assignor,
              fmt::format("the consumer protocol has no assignor '{}', but uniform and range",
                          assignor_name(*request.assignor)));
}

// A member that keeps its id keeps being static, or not.
void check_instance(const GroupState& group, const std::string& id, const JoinRequest& request) {
  const auto at = group.members.find(id);
  if (at == group.members.end() || at->second.instance == request.instance || !request.instance) return;
  throw Error(
      ErrorCode::fenced_instance_id,
      fmt::format("'{}' is a member already, {}", printable(id),
                  at->second.instance ? fmt::format("as instance '{}'", printable(*at->second.instance))
                                      : std::string("without an instance")));
}

std::string id_of(const GroupState& group, const JoinRequest& request) {
  if (!request.member.empty()) return request.member;
  return fmt::format("{}-{:08}", request.instance ? *request.instance : std::string(kUnnamed),
                     group.next_member_seq);
}

void notice_partitions_classic(GroupTurn& turn) {
  // A leader over the wire looks at its topics by itself.
  if (is_led_over_wire(turn.group)) return;
  if (turn.group.phase == GroupPhase::stable) classic::prepare(turn);
}

}  // namespace

GroupMember make_member(const GroupTurn& turn, const JoinRequest& request) {
  GroupMember member;
  member.instance = request.instance;
  member.client = request.client;
  member.host = request.host;
  member.topics = request.topics.empty() ? topics_of_group(turn.group) : request.topics;
  member.over_wire = request.over_wire;
  member.wire_protocols = request.wire_protocols;
  if (request.over_wire) member.topics = request.topics;
  if (member.topics.empty() && !request.over_wire) {
    throw Error(ErrorCode::invalid_request,
                fmt::format("no topics: group '{}' reads none yet", printable(turn.group.group)))
        .hint("name them: --join MEMBER=TOPIC, or --topic TOPIC");
  }
  if (request.wire_protocols.empty()) member.assignors = assignors_of(turn, request);
  if (request.session_timeout_ms) member.session_timeout_ms = *request.session_timeout_ms;
  if (request.rebalance_timeout_ms) member.rebalance_timeout_ms = *request.rebalance_timeout_ms;
  return member;
}

GroupMember& add_member(GroupTurn& turn, const std::string& id, GroupMember member) {
  GroupState& group = turn.group;
  member.number = group.next_member_seq++;
  if (member.instance) group.static_members[*member.instance] = id;
  group.had_members = true;
  return group.members[id] = std::move(member);
}

GroupMember& replace_static_member(GroupTurn& turn, const std::string& old_id, const std::string& new_id) {
  GroupState& group = turn.group;
  if (group.members.contains(new_id)) {
    throw Error(ErrorCode::fenced_instance_id, fmt::format("'{}' is another member of group '{}' already",
                                                           printable(new_id), printable(group.group)));
  }
  GroupMember member = group.members.at(old_id);
  const bool pending_sync = group.rebalance.pending_sync.contains(old_id);
  const bool leads = group.leader == old_id;
  PartitionList target;
  if (const auto at = group.target.find(old_id); at != group.target.end()) target = at->second;
  erase_member(group, old_id);
  if (leads) group.leader = new_id;
  if (pending_sync) group.rebalance.pending_sync.insert(new_id);
  if (group.protocol == GroupProtocol::consumer) group.target[new_id] = std::move(target);
  turn.note("leave", old_id, R"({"replaced":true})");
  return add_member(turn, new_id, std::move(member));
}

bool update_member(GroupMember& member, const JoinRequest& request) {
  bool changed = false;
  if (!request.topics.empty() && request.topics != member.topics) {
    member.topics = request.topics;
    changed = true;
  }
  if (!request.wire_protocols.empty() && request.wire_protocols != member.wire_protocols) {
    member.wire_protocols = request.wire_protocols;
    member.topics = request.topics;
    changed = true;
  }
  if (request.assignor && member.assignors != std::vector<Assignor>{*request.assignor}) {
    const bool offered = std::ranges::find(member.assignors, *request.assignor) != member.assignors.end();
    member.assignors = {*request.assignor};
    changed |= !offered;
  }
  if (request.session_timeout_ms) member.session_timeout_ms = *request.session_timeout_ms;
  if (request.rebalance_timeout_ms) member.rebalance_timeout_ms = *request.rebalance_timeout_ms;
  if (!request.client.empty()) member.client = request.client;
  if (!request.host.empty()) member.host = request.host;
  return changed;
}

MemberReply join(GroupTurn& turn, const JoinRequest& given) {
  GroupState& group = turn.group;
  JoinRequest request = given;
  sort_and_unite(request.topics);
  for (const std::string& topic : request.topics) check_name("topic", topic);
  check_times(request);
  if (request.instance) check_name("instance", *request.instance);
  settle_protocol(group, request);
  settle_wire(group, request);
  check_assignor(group, request);
  const std::string id = id_of(group, request);
  check_name("member", id);
  check_instance(group, id, request);
  switch (group.protocol) {
    case GroupProtocol::consumer:
      return consumer::join(turn, id, request);
    case GroupProtocol::classic:
      return classic::join(turn, id, request);
    case GroupProtocol::immediate:
      break;
  }
  const auto known =
      request.instance ? group.static_members.find(*request.instance) : group.static_members.end();
  if (known == group.static_members.end() || known->second == id) return immediate::join(turn, id, request);
  // KIP-345: the instance has restarted; it goes on with what it had.
  GroupMember& member = replace_static_member(turn, std::string(known->second), id);
  const bool changed = update_member(member, request);
  turn.note("join", id);
  renew_session(member, turn.now_ms);
  renew_poll(member, turn.now_ms);
  return {
      .member = id, .status = member_status(group, id), .subscription_changed_without_rebalance = changed};
}

MemberReply leave(GroupTurn& turn, const LeaveRequest& request) {
  GroupState& group = turn.group;
  std::string id = request.member;
  if (id.empty() && request.instance) {
    const auto known = group.static_members.find(*request.instance);
    if (known != group.static_members.end()) id = known->second;
  }
  require_member(group, id, request.instance);
  turn.note("leave", id);
  expel(turn, id);
  return {.member = id, .status = "left"};
}

void expel(GroupTurn& turn, const std::string& member) {
  switch (turn.group.protocol) {
    case GroupProtocol::consumer:
      return consumer::remove(turn, member);
    case GroupProtocol::classic:
      return classic::remove(turn, member);
    case GroupProtocol::immediate:
      return immediate::remove(turn, member);
  }
}

void notice_partitions(GroupTurn& turn) {
  GroupState& group = turn.group;
  if (group.members.empty() || group.partition_counts == count_partitions(turn)) return;
  switch (group.protocol) {
    case GroupProtocol::immediate:
      return immediate::rebalance(turn, assignment_of(group));
    case GroupProtocol::classic:
      return notice_partitions_classic(turn);
    case GroupProtocol::consumer:
      return;  // with the next heartbeat
  }
}

MemberReply heartbeat(GroupTurn& turn, const HeartbeatRequest& request) {
  GroupState& group = turn.group;
  if (group.protocol == GroupProtocol::consumer) return consumer::heartbeat(turn, request);
  GroupMember& member = require_member(group, request.member, request.instance);
  const bool current = !request.generation || *request.generation == group.generation;
  if (!current && group.protocol == GroupProtocol::classic) {
    throw Error(ErrorCode::illegal_generation,
                fmt::format("'{}' is in generation {}, the group in {}", printable(request.member),
                            *request.generation, group.generation));
  }
  if (!member.awaiting_join) {
    if (request.polls) renew_poll(member, turn.now_ms);
    if (!member.poll_expired) renew_session(member, turn.now_ms);
  }
  if (group.protocol == GroupProtocol::immediate && current) immediate::acknowledge(turn, member);
  notice_partitions(turn);
  return {.member = request.member, .status = member_status(group, request.member)};
}

MemberReply sync(GroupTurn& turn, const HeartbeatRequest& request) {
  if (is_led_over_wire(turn.group)) {
    throw Error(ErrorCode::inconsistent_group_protocol,
                fmt::format("the leader of group '{}' is no tk", printable(turn.group.group)));
  }
  return sync_over_wire(turn, request, {});
}

MemberReply sync_over_wire(GroupTurn& turn, const HeartbeatRequest& request,
                           const std::map<std::string, WireAssignment>& assignments) {
  GroupState& group = turn.group;
  if (group.protocol != GroupProtocol::classic) {
    throw Error(ErrorCode::inconsistent_group_protocol,
                fmt::format("group '{}' has the {} protocol, which has no sync phase", printable(group.group),
                            group_protocol_name(group.protocol)));
  }
  require_member(group, request.member, request.instance);
  if (request.generation && *request.generation != group.generation) {
    throw Error(ErrorCode::illegal_generation,
                fmt::format("'{}' is in generation {}, the group in {}", printable(request.member),
                            *request.generation, group.generation));
  }
  return classic::sync(turn, request.member, assignments);
}

std::string member_status(const GroupState& group, const std::string& id) {
  const auto at = group.members.find(id);
  if (at == group.members.end()) return "left";
  const GroupMember& member = at->second;
  switch (group.protocol) {
    case GroupProtocol::immediate:
      return member.revoking.empty() ? "stable" : "revoking";
    case GroupProtocol::consumer:
      if (member.epoch == kEpochAway) return "away";
      if (member.phase == MemberPhase::unrevoked) return "unrevoked";
      return member.phase == MemberPhase::unreleased ? "unreleased" : "stable";
    case GroupProtocol::classic:
      break;
  }
  if (member.awaiting_join) return "awaiting_join";
  if (group.phase == GroupPhase::preparing_rebalance) return "rebalance_in_progress";
  if (group.rebalance.pending_sync.contains(id)) return "awaiting_sync";
  if (group.phase == GroupPhase::completing_rebalance) return "awaiting_leader";
  return member.revoking.empty() ? "stable" : "revoking";
}

}  // namespace tk
