#include "core/group/group_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"

namespace tk {
namespace {

std::uint64_t byte_of(const GroupMember& member) {
  return 1 + static_cast<std::uint64_t>(member.number);
}

bool means_expelled(const Error& error) {
  switch (error.code()) {
    case ErrorCode::unknown_member_id:
    case ErrorCode::illegal_generation:
    case ErrorCode::fenced_member_epoch:
    case ErrorCode::stale_member_epoch:
    case ErrorCode::group_id_not_found:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool GroupSession::runs(const GroupMember& member) const {
  return store_.open_lock(options_.group)->held_by_other(byte_of(member), 1);
}

// An instance's member whose process has gone is taken up under its own id; one that still runs is left to
// the rules of the protocol.
std::string GroupSession::id_to_join(const GroupState& group) const {
  if (!options_.member.empty() || !options_.instance) return options_.member;
  const auto known = group.static_members.find(*options_.instance);
  if (known == group.static_members.end() || runs(group.members.at(known->second))) return {};
  return known->second;
}

void GroupSession::claim(const GroupState& group, const std::string& id) {
  const std::uint64_t byte = byte_of(group.members.at(id));
  if (locked_byte_ == byte) return;
  if (!lock_) lock_ = store_.open_lock(options_.group);
  if (!lock_->try_lock(LockKind::exclusive, byte, 1)) {
    throw Error(ErrorCode::log_dir_locked, fmt::format("another process runs as member '{}' of group '{}'",
                                                       printable(id), printable(options_.group)))
        .at(lock_->path())
        .hint("take another --member, or none");
  }
  if (locked_byte_) lock_->unlock(*locked_byte_, 1);
  locked_byte_ = byte;
}

Membership GroupSession::membership(const GroupState& group, const MemberReply& reply) {
  const GroupMember& member = group.members.at(reply.member);
  Membership now;
  now.member = member_ = reply.member;
  now.status = reply.status;
  now.group_generation = group.generation;
  now.generation = generation_ = group.protocol == GroupProtocol::consumer ? member.epoch : group.generation;
  now.subscription_changed_without_rebalance = reply.subscription_changed_without_rebalance;
  const bool classic = group.protocol == GroupProtocol::classic;
  awaiting_ = classic && member.awaiting_join;
  now.settled = classic ? reply.status == "stable" : reply.status != "unreleased";
  // Before a classic group has shared out anew, nobody reads anything.
  const bool shared_out = !classic || group.phase == GroupPhase::stable;
  const PartitionList assigned = shared_out ? member.assignment : PartitionList();
  if (group.protocol == GroupProtocol::immediate) {
    now.revoking = common(member.revoking, owned_);
  } else {
    now.revoking = without(owned_, assigned);
  }
  now.added = without(assigned, owned_);
  now.reading = assigned;
  now.lost = without(without(owned_, assigned), now.revoking);
  owned_ = united(assigned, now.revoking);
  return now;
}

Membership GroupSession::expelled() {
  Membership now;
  now.member = member_;
  now.status = "left";
  now.expelled = true;
  now.settled = false;
  now.lost = std::move(owned_);
  owned_.clear();
  awaiting_ = false;
  generation_ = -1;
  if (locked_byte_) lock_->unlock(*locked_byte_, 1);
  locked_byte_.reset();
  return now;
}

Membership GroupSession::join() {
  topics_.refresh();
  JoinRequest request;
  request.instance = options_.instance;
  request.topics = options_.topics;
  request.session_timeout_ms = options_.session_timeout_ms;
  request.rebalance_timeout_ms = options_.max_poll_interval_ms;
  request.client = options_.client;
  request.host = options_.host;
  Membership now;
  const auto outcome = store_.change(options_.group, topics_, [&](GroupTurn& turn) {
    request.member = member_.empty() ? id_to_join(turn.group) : member_;
    const bool fresh = turn.group.members.empty() && !turn.group.had_members;
    if (fresh) request.protocol = options_.protocol_if_new;
    if (turn.group.members.empty()) request.assignor = options_.assignor;
    const MemberReply reply = tk::join(turn, request);
    claim(turn.group, reply.member);
    owned_.clear();
    now = membership(turn.group, reply);
  });
  now.clock_regressed = outcome.clock_regressed;
  now.history_error = outcome.history_error;
  return now;
}

// A classic member asks in turn: for the end of the join phase, for its assignment, for news.
MemberReply GroupSession::beat_classic(GroupTurn& turn, bool polls) {
  GroupState& group = turn.group;
  const GroupMember& member = require_member(group, member_, options_.instance);
  if (awaiting_ && !member.awaiting_join) generation_ = group.generation;
  if (member.awaiting_join) return {.member = member_, .status = member_status(group, member_)};
  HeartbeatRequest request{.member = member_,
                           .instance = options_.instance,
                           .generation = generation_,
                           .owned = {},
                           .polls = polls};
  MemberReply reply = tk::heartbeat(turn, request);
  if (group.phase == GroupPhase::completing_rebalance) return sync(turn, request);
  if (group.phase == GroupPhase::stable && group.rebalance.pending_sync.contains(member_)) {
    return sync(turn, request);
  }
  if (group.phase != GroupPhase::preparing_rebalance || !owned_.empty()) return reply;
  // Nothing to give up: it joins at once.
  JoinRequest again;
  again.member = member_;
  again.instance = options_.instance;
  return tk::join(turn, again);
}

MemberReply GroupSession::beat_once(GroupTurn& turn, bool polls) {
  if (!turn.exists) throw store_.unknown_group(options_.group);
  if (turn.group.protocol == GroupProtocol::classic) return beat_classic(turn, polls);
  return tk::heartbeat(turn, {.member = member_,
                              .instance = options_.instance,
                              .generation = generation_,
                              .owned = owned_,
                              .polls = polls});
}

Membership GroupSession::beat(bool polls) {
  topics_.refresh();
  Membership now;
  try {
    const auto outcome = store_.change(options_.group, topics_, [&](GroupTurn& turn) {
      const MemberReply reply = beat_once(turn, polls);
      claim(turn.group, reply.member);
      now = membership(turn.group, reply);
    });
    now.clock_regressed = outcome.clock_regressed;
    now.history_error = outcome.history_error;
  } catch (const Error& error) {
    if (!means_expelled(error)) throw;
    return expelled();
  }
  return now;
}

Membership GroupSession::release() {
  Membership now;
  try {
    const auto outcome = store_.change(options_.group, topics_, [&](GroupTurn& turn) {
      GroupState& group = turn.group;
      const GroupMember& member = require_member(group, member_, options_.instance);
      // What it keeps is what it was told to read; the rest goes with this call.
      const bool classic = group.protocol == GroupProtocol::classic;
      const PartitionList kept =
          classic && group.phase != GroupPhase::stable ? PartitionList() : common(owned_, member.assignment);
      const PartitionList before = std::exchange(owned_, kept);
      try {
        MemberReply reply = beat_once(turn, true);
        if (classic && group.phase == GroupPhase::stable && !group.members.at(member_).revoking.empty()) {
          JoinRequest again;
          again.member = member_;
          again.instance = options_.instance;
          reply = tk::join(turn, again);
        }
        now = membership(group, reply);
      } catch (...) {
        owned_ = before;
        throw;
      }
    });
    now.clock_regressed = outcome.clock_regressed;
    now.history_error = outcome.history_error;
  } catch (const Error& error) {
    if (!means_expelled(error)) throw;
    return expelled();
  }
  return now;
}

std::vector<CommittedRow> GroupSession::commit(const std::vector<OffsetCommit>& offsets) {
  std::vector<CommittedRow> rows;
  store_.change(options_.group, topics_, [&](GroupTurn& turn) {
    rows = tk::commit(turn, {.offsets = offsets,
                             .member = member_,
                             .instance = options_.instance,
                             .generation = generation_,
                             .producer_id = {}});
    // Letting go by this commit may have begun the second phase of the cooperative assignor, which takes
    // nothing away.
    const bool cooperative = turn.group.assignor == Assignor::cooperative_sticky;
    if (turn.group.protocol == GroupProtocol::immediate && cooperative) generation_ = turn.group.generation;
  });
  return rows;
}

Position GroupSession::position(const std::optional<GroupState>& group, const TopicPartition& partition,
                                const ResetPolicy& policy, bool read_committed) const {
  const CommittedOffset* committed = group ? committed_offset(*group, topics_, partition) : nullptr;
  return position_of(
      {.partition = partition, .policy = policy, .read_committed = read_committed, .now_ms = store_.now_ms()},
      committed, topics_);
}

void GroupSession::leave() {
  if (member_.empty() || generation_ == -1) return;
  try {
    store_.change(options_.group, topics_, [&](GroupTurn& turn) {
      if (!turn.exists) throw store_.unknown_group(options_.group);
      tk::leave(turn, {.member = member_, .instance = options_.instance});
    });
  } catch (const Error& error) {
    if (!means_expelled(error) && error.code() != ErrorCode::fenced_instance_id) throw;
  }
  static_cast<void>(expelled());
}

void GroupSession::close() {
  if (options_.instance) {
    if (generation_ == -1) return;
    try {
      store_.change(options_.group, topics_, [&](GroupTurn& turn) {
        if (turn.group.protocol != GroupProtocol::consumer) return;
        tk::heartbeat(turn, {.member = member_,
                             .instance = options_.instance,
                             .generation = kEpochAway,
                             .owned = {},
                             .polls = false});
      });
    } catch (const Error& error) {
      if (!means_expelled(error) && error.code() != ErrorCode::fenced_instance_id) throw;
    }
    static_cast<void>(expelled());
  } else if (options_.member.empty()) {
    leave();
  } else {
    static_cast<void>(expelled());
  }
}

}  // namespace tk
