// Members of a group: who joins, stays and leaves, by each of the three protocols (groups.md §2, §3, §5).
//
// Pure functions over a turn (group_turn.h). A refusal is thrown as an Error with Kafka's name; the state is
// then as it was, or to be dropped. The caller has caught up with the deadlines (deadlines.h) first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/group/group_turn.h"

namespace tk {

struct JoinRequest {
  /// Empty: the group gives one, `<instance, or "consume">-<8 digits>`, so that the order of ids is that of
  /// joining.
  std::string member;
  std::optional<std::string> instance;
  /// Empty: those it has; of a new member those the group reads already.
  std::vector<std::string> topics;
  /// The one that the group gets from its first member on. A group that has members keeps its own, and
  /// refuses another.
  std::optional<GroupProtocol> protocol;
  std::optional<Assignor> assignor;
  /// ms, 0: never; nothing: 45000 and 300000, of a known member what it has.
  std::optional<std::int64_t> session_timeout_ms;
  std::optional<std::int64_t> rebalance_timeout_ms;
  std::string client;
  std::string host;
  /// Of a client over the wire (serve.md §2.7): it may subscribe to nothing.
  bool over_wire = false;
  /// Classic: the kind of clients, and what this one offers, the preferred one first.
  std::string wire_type = {};
  std::vector<WireProtocol> wire_protocols = {};
};

/// What a member is told.
struct MemberReply {
  std::string member;
  /// "stable", "revoking", "awaiting_join", "awaiting_sync", "awaiting_leader", "rebalance_in_progress",
  /// "unrevoked", "unreleased", "away", "left".
  std::string status;
  /// A static member took over: it has its assignment, and as leader need not compute one.
  bool skip_assignment = false;
  /// Its topics have changed and nothing came of it yet (KIP-345).
  bool subscription_changed_without_rebalance = false;
};

/// Adds a member, or changes one. What it repeats changes nothing but its deadlines.
MemberReply join(GroupTurn& turn, const JoinRequest& request);

struct LeaveRequest {
  std::string member;
  /// An administrator removes a static member by its instance; then `member` may be empty.
  std::optional<std::string> instance;
};
MemberReply leave(GroupTurn& turn, const LeaveRequest& request);

struct HeartbeatRequest {
  std::string member;
  std::optional<std::string> instance;
  /// The generation, or member epoch, that the member knows. Nothing: the current one, unchecked.
  std::optional<std::int64_t> generation;
  /// Consumer protocol: what the member holds. Nothing: it does not say (Kafka's null).
  std::optional<PartitionList> owned;
  /// It also asks for records, which renews its poll deadline.
  bool polls = false;
};
/// Renews the member's deadlines. It also notices topics that have got more partitions, or have gone.
MemberReply heartbeat(GroupTurn& turn, const HeartbeatRequest& request);

/// Classic: a member asks for its assignment; the leader's makes it. Else as heartbeat().
MemberReply sync(GroupTurn& turn, const HeartbeatRequest& request);

/// What the leader over the wire gives one member: its client's own bytes, and what of them could be read.
struct WireAssignment {
  std::string bytes;
  PartitionList partitions;
};
/// Classic, over the wire: as sync(), with the assignments that a leader brings, by member; those that it
/// forgot get an empty one.
MemberReply sync_over_wire(GroupTurn& turn, const HeartbeatRequest& request,
                           const std::map<std::string, WireAssignment>& assignments);

/// Rebalances a group whose topics have got more partitions, or have gone, since its last one.
void notice_partitions(GroupTurn& turn);

/// A member is gone for a reason of the group's: expelled, or fenced.
void expel(GroupTurn& turn, const std::string& member);

/// How a member stands, as MemberReply::status has it.
std::string member_status(const GroupState& group, const std::string& member);

/// True if a running member of the group may commit: G8's checks for it are in commits.h.
inline bool rebalancing(const GroupState& group) {
  return group.phase == GroupPhase::preparing_rebalance || group.phase == GroupPhase::completing_rebalance;
}

}  // namespace tk
