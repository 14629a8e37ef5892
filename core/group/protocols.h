// The three protocols behind membership.h, one a file. Internal to core/group.
#pragma once

#include "core/group/membership.h"

namespace tk {

/// A new member with the request's names and times, not in the group yet.
GroupMember make_member(const GroupTurn& turn, const JoinRequest& request);
/// Puts it in the maps and gives it its number.
GroupMember& add_member(GroupTurn& turn, const std::string& id, GroupMember member);
/// Gives a known instance's member another id, with all it has (KIP-345).
GroupMember& replace_static_member(GroupTurn& turn, const std::string& old_id, const std::string& new_id);
/// Takes over what the request says of a known member; true if its subscription changed.
bool update_member(GroupMember& member, const JoinRequest& request);

/// Stores what an assignor answered. `incremental`: what goes from one member to another stays with the old
/// one, as `revoking`, until that lets it go (KIP-429).
void hand_out(GroupTurn& turn, const Assignment& wanted, bool incremental);

namespace immediate {
MemberReply join(GroupTurn& turn, const std::string& id, const JoinRequest& request);
void remove(GroupTurn& turn, const std::string& id);
void acknowledge(GroupTurn& turn, GroupMember& member);
/// `before`: what members had, those that are gone included.
void rebalance(GroupTurn& turn, const Assignment& before);
}  // namespace immediate

namespace classic {
MemberReply join(GroupTurn& turn, const std::string& id, const JoinRequest& request);
void remove(GroupTurn& turn, const std::string& id);
MemberReply sync(GroupTurn& turn, const std::string& id,
                 const std::map<std::string, WireAssignment>& assignments);
/// Begins a rebalance (groups.md §2.4).
void prepare(GroupTurn& turn);
void complete_join(GroupTurn& turn);
/// rebalance.join_deadline has come.
void join_deadline(GroupTurn& turn);
/// rebalance.sync_deadline has come.
void sync_deadline(GroupTurn& turn);
/// True if a session that ran out counts as alive: the member waits for the group.
bool waits_for_group(const GroupState& group, const std::string& id);
}  // namespace classic

namespace consumer {
MemberReply join(GroupTurn& turn, const std::string& id, const JoinRequest& request);
void remove(GroupTurn& turn, const std::string& id);
MemberReply heartbeat(GroupTurn& turn, const HeartbeatRequest& request);
/// The state as the members make it.
GroupPhase phase_of(const GroupState& group);
}  // namespace consumer

}  // namespace tk
