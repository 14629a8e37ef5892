// Members of classic groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup (serve.md §2.7). The rules are those
// of core/group; here answers wait for other members.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "core/base/utf8.h"

#include "core/net/groups.h"
#include "core/net/kafka/consumer_protocol.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"

namespace tk::kafka {
namespace {

constexpr std::int64_t kLongestSession = 1800000;

net::Groups& groups_of(const CallPtr& call) {
  return call->service().part<net::Groups>();
}

std::string with_uuid(const std::string& name) {
  const std::string hex = Uuid::random().hex();
  // A client's name may be long, and ids are remembered.
  const std::string shown = name.substr(0, utf8_prefix(name.substr(0, 200)));
  return fmt::format("{}-{}-{}-{}-{}-{}", shown, hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                     hex.substr(16, 4), hex.substr(20));
}

/// An answer that may be given once, from the group's queue or from the loop.
struct Waiting {
  explicit Waiting(CallPtr c) : call(std::move(c)) {}
  CallPtr call;
  std::atomic<bool> answered{false};

  template <class Response>
  bool answer(Response response) {
    if (answered.exchange(true)) return true;
    call->service().loop().post([call = call, response = std::move(response)]() mutable {
      call->note_error(response.error_code);
      call->answer(response);
    });
    return true;
  }
};

using WaitingPtr = std::shared_ptr<Waiting>;

/// (The name of the protocol is null from the version on that may say so.)
JoinGroupResponse refused_join(std::int16_t error, const std::string& member, bool null_name) {
  JoinGroupResponse answer;
  answer.error_code = error;
  answer.generation_id = -1;
  answer.member_id = member;
  if (!null_name) answer.protocol_name = "";
  return answer;
}

/// The answer to a member whose join is over; nothing while it waits.
///
/// `replaced`: the member whose place it took as a static one, in a group that goes on as it is. Before
/// version 9 it is told that the leader is still that one, so that it does not assign.
std::optional<JoinGroupResponse> join_answer(const GroupState& state, const std::string& id, bool skip,
                                             const std::string& replaced, bool null_name) {
  const auto at = state.members.find(id);
  if (at == state.members.end()) return refused_join(kUnknownMemberId, id, null_name);
  if (at->second.awaiting_join) return std::nullopt;
  JoinGroupResponse answer;
  answer.generation_id = static_cast<std::int32_t>(state.generation);
  answer.protocol_type = state.wire_type;
  answer.protocol_name = state.wire_protocol;
  answer.leader = state.leader;
  answer.skip_assignment = skip;
  answer.member_id = id;
  if (skip && !replaced.empty() && state.leader == id) {
    answer.leader = replaced;
    return answer;
  }
  if (state.leader != id) return answer;
  for (const auto& [member_id, member] : state.members) {
    auto& row = answer.members.emplace_back();
    row.member_id = member_id;
    row.group_instance_id = member.instance;
    for (const WireProtocol& protocol : member.wire_protocols) {
      if (protocol.name == state.wire_protocol) row.metadata.data = protocol.metadata;
    }
  }
  return answer;
}

std::optional<SyncGroupResponse> sync_answer(const GroupState& state, const std::string& id,
                                             std::int64_t generation) {
  SyncGroupResponse answer;
  const auto refuse = [&](std::int16_t error) {
    answer.error_code = error;
    return answer;
  };
  const auto at = state.members.find(id);
  if (at == state.members.end()) return refuse(kUnknownMemberId);
  if (state.phase == GroupPhase::preparing_rebalance || state.generation != generation)
    return refuse(kRebalanceInProgress);
  if (state.phase != GroupPhase::stable) return std::nullopt;
  answer.protocol_type = state.wire_type;
  answer.protocol_name = state.wire_protocol;
  answer.assignment.data = at->second.wire_assignment;
  return answer;
}

void require_classic(const GroupTurn& turn) {
  if (turn.group.members.empty() || turn.group.protocol == GroupProtocol::classic) return;
  throw Error(ErrorCode::unknown_member_id, "the group has another protocol");
}

JoinRequest join_request(const CallPtr& call, const JoinGroupRequest& request, const std::string& id) {
  JoinRequest join;
  join.member = id;
  join.instance = request.group_instance_id;
  join.protocol = GroupProtocol::classic;
  join.session_timeout_ms = request.session_timeout_ms;
  join.rebalance_timeout_ms =
      call->version() == 0 ? request.session_timeout_ms : request.rebalance_timeout_ms;
  join.client = call->client_id();
  join.host = "/" + call->peer().address.host;
  join.over_wire = true;
  join.wire_type = request.protocol_type;
  for (const auto& protocol : request.protocols) {
    join.wire_protocols.push_back({protocol.name, protocol.metadata.data});
    if (request.protocol_type != "consumer") continue;
    const auto topics = read_subscription(protocol.metadata.data);
    if (topics) join.topics.insert(join.topics.end(), topics->begin(), topics->end());
  }
  sort_and_unite(join.topics);
  std::erase(join.topics, "");
  return join;
}

std::int16_t judge_join(const CallPtr& call, const JoinGroupRequest& request) {
  if (request.group_id.empty()) return kInvalidGroupId;
  const std::int64_t session = request.session_timeout_ms;
  if (session < call->service().options().min_session_ms || session > kLongestSession)
    return kInvalidSessionTimeout;
  if (request.protocol_type.empty() || request.protocols.empty()) return kInconsistentGroupProtocol;
  return kNone;
}

/// Whoever cannot be a member is told so before it is given an id.
void require_common_protocol(const GroupState& state, const JoinGroupRequest& request) {
  if (state.members.empty() || state.protocol != GroupProtocol::classic) return;
  const auto all_have = [&](const auto& wanted) {
    return std::ranges::all_of(state.members, [&](const auto& entry) {
      return std::ranges::any_of(entry.second.wire_protocols,
                                 [&](const WireProtocol& one) { return one.name == wanted.name; });
    });
  };
  if (state.wire_type == request.protocol_type && std::ranges::any_of(request.protocols, all_have)) return;
  throw Error(ErrorCode::inconsistent_group_protocol, "the group has other protocols");
}

}  // namespace

void handle_join_group(const CallPtr& call, JoinGroupRequest request) {
  const auto waiting = std::make_shared<Waiting>(call);
  if (const std::int16_t error = judge_join(call, request); error != kNone) {
    waiting->answer(refused_join(error, request.member_id, call->version() >= 7));
    return;
  }
  net::Groups& groups = groups_of(call);
  const std::string group = request.group_id;
  const bool null_name = call->version() >= 7;
  const std::string given = request.member_id;
  const bool makes_id = given.empty();
  const bool promises = makes_id && !request.group_instance_id && call->version() >= 4;
  const std::string id =
      makes_id ? with_uuid(request.group_instance_id.value_or(call->client_id())) : request.member_id;
  const auto shared = std::make_shared<JoinGroupRequest>(std::move(request));
  groups.change(
      group,
      [&groups, call, waiting, group, id, makes_id, promises, null_name, shared](GroupTurn& turn) {
        GroupState& state = turn.group;
        if (call->gone()) throw Error(ErrorCode::unknown_member_id, "the client has gone");
        if (promises) {
          require_common_protocol(state, *shared);
          groups.promise(group, id, shared->session_timeout_ms);
          return;
        }
        if (!makes_id && !state.members.contains(id) && !groups.take_promise(group, id)) {
          const auto& instance = shared->group_instance_id;
          if (instance && state.static_members.contains(*instance))
            throw Error(ErrorCode::fenced_instance_id, "the instance is another member's");
          throw Error(ErrorCode::unknown_member_id, "there is no such member");
        }
        std::string replaced;
        if (call->version() < 9 && shared->group_instance_id) {
          const auto before = state.static_members.find(*shared->group_instance_id);
          if (before != state.static_members.end() && before->second != id) replaced = before->second;
        }
        const MemberReply reply = join(turn, join_request(call, *shared, id));
        groups.park(group, id + "/join",
                    [waiting, id, null_name, replaced, skip = reply.skip_assignment](const GroupState* now) {
                      if (waiting->answered) return true;
                      if (now == nullptr)
                        return waiting->answer(refused_join(kCoordinatorNotAvailable, id, null_name));
                      const auto answer = join_answer(*now, id, skip, replaced, null_name);
                      return answer ? waiting->answer(*answer) : false;
                    });
      },
      [waiting, id, given, promises, null_name](const Error* error) {
        if (error != nullptr) {
          waiting->answer(refused_join(group_error_of(*error), given, null_name));
        } else if (promises) {
          waiting->answer(refused_join(kMemberIdRequired, id, null_name));
        }
      });
}

void handle_sync_group(const CallPtr& call, SyncGroupRequest request) {
  const auto waiting = std::make_shared<Waiting>(call);
  const auto refuse = [waiting](std::int16_t error) {
    SyncGroupResponse answer;
    answer.error_code = error;
    waiting->answer(answer);
  };
  if (request.group_id.empty()) return refuse(kInvalidGroupId);
  if (call->version() >= 5 && (!request.protocol_type || !request.protocol_name))
    return refuse(kInconsistentGroupProtocol);
  net::Groups& groups = groups_of(call);
  const std::string group = request.group_id;
  const auto shared = std::make_shared<SyncGroupRequest>(std::move(request));
  groups.change(
      group,
      [&groups, waiting, group, shared](GroupTurn& turn) {
        require_classic(turn);
        std::map<std::string, WireAssignment> given;
        for (const auto& row : shared->assignments) {
          WireAssignment& assignment = given[row.member_id];
          assignment.bytes = row.assignment.data;
          assignment.partitions = read_assignment(row.assignment.data).value_or(PartitionList());
        }
        const GroupState& state = turn.group;
        tk::HeartbeatRequest sync;
        sync.member = shared->member_id;
        sync.instance = shared->group_instance_id;
        sync.generation = shared->generation_id;
        require_member(turn.group, sync.member, sync.instance);
        const bool right = (!shared->protocol_type || *shared->protocol_type == state.wire_type) &&
                           (!shared->protocol_name || *shared->protocol_name == state.wire_protocol);
        if (sync.generation == state.generation && !right)
          throw Error(ErrorCode::inconsistent_group_protocol, "the group has another protocol");
        sync_over_wire(turn, sync, given);
        groups.park(group, shared->member_id + "/sync",
                    [waiting, id = shared->member_id, generation = state.generation](const GroupState* now) {
                      if (waiting->answered) return true;
                      SyncGroupResponse late;
                      late.error_code = kCoordinatorNotAvailable;
                      if (now == nullptr) return waiting->answer(late);
                      const auto answer = sync_answer(*now, id, generation);
                      return answer ? waiting->answer(*answer) : false;
                    });
      },
      [refuse](const Error* error) {
        if (error != nullptr) refuse(group_error_of(*error));
      });
}

void handle_heartbeat(const CallPtr& call, HeartbeatRequest request) {
  HeartbeatResponse refused;
  refused.error_code = kInvalidGroupId;
  if (request.group_id.empty()) return call->answer(refused);
  const auto shared = std::make_shared<HeartbeatRequest>(std::move(request));
  const auto answer = std::make_shared<HeartbeatResponse>();
  groups_of(call).change(
      shared->group_id,
      [shared, answer](GroupTurn& turn) {
        require_classic(turn);
        tk::HeartbeatRequest beat;
        beat.member = shared->member_id;
        beat.instance = shared->group_instance_id;
        beat.generation = shared->generation_id;
        heartbeat(turn, beat);
        if (turn.group.phase == GroupPhase::preparing_rebalance) answer->error_code = kRebalanceInProgress;
      },
      [call, answer](const Error* error) {
        if (error != nullptr) answer->error_code = group_error_of(*error);
        call->note_error(answer->error_code);
        call->answer(*answer);
      },
      true);
}

void handle_leave_group(const CallPtr& call, LeaveGroupRequest request) {
  const auto answer = std::make_shared<LeaveGroupResponse>();
  if (request.group_id.empty()) {
    answer->error_code = kInvalidGroupId;
    return call->answer(*answer);
  }
  const auto shared = std::make_shared<LeaveGroupRequest>(std::move(request));
  if (call->version() < 3) shared->members.push_back({shared->member_id, std::nullopt, std::nullopt});
  groups_of(call).change(
      shared->group_id,
      [shared, answer](GroupTurn& turn) {
        answer->members.clear();
        for (const auto& member : shared->members) {
          auto& row = answer->members.emplace_back();
          row.member_id = member.member_id;
          row.group_instance_id = member.group_instance_id;
          try {
            leave(turn, {member.member_id, member.group_instance_id});
          } catch (const Error& error) {
            row.error_code = group_error_of(error);
          }
        }
      },
      [call, answer](const Error* error) {
        if (error != nullptr) answer->error_code = group_error_of(*error);
        if (call->version() < 3 && answer->error_code == kNone && !answer->members.empty())
          answer->error_code = answer->members.front().error_code;
        call->note_error(answer->error_code);
        call->answer(*answer);
      });
}

void handle_find_coordinator(const CallPtr& call, FindCoordinatorRequest request) {
  FindCoordinatorResponse answer;
  const net::Address address = advertised(*call);
  const bool known = request.key_type == 0 || request.key_type == 1;
  if (call->version() < 4) {
    answer.error_code = known ? kNone : kInvalidRequest;
    answer.error_message = known ? "NONE" : "a kind of key that is not known";
    if (known) {
      answer.node_id = call->service().options().node_id;
      answer.host = address.host;
      answer.port = address.port;
    }
  } else {
    for (const std::string& key : request.coordinator_keys) {
      auto& row = answer.coordinators.emplace_back();
      row.key = key;
      row.error_message = "";
      if (!known) {
        row.error_code = kInvalidRequest;
        continue;
      }
      row.node_id = call->service().options().node_id;
      row.host = address.host;
      row.port = address.port;
    }
  }
  if (!known) call->note_error(kInvalidRequest);
  call->answer(answer);
}

}  // namespace tk::kafka
