#include "core/group/deadlines.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/group/membership.h"
#include "core/group/protocols.h"

namespace tk {
namespace {

enum class Rank : std::uint8_t { session, poll, revoke, join, sync };

struct Due {
  std::int64_t at_ms = 0;
  Rank rank = Rank::session;
  std::string member;

  auto operator<=>(const Due&) const = default;
};

std::optional<Due> earliest(const GroupState& group) {
  std::optional<Due> first;
  const auto offer = [&](const std::optional<std::int64_t>& at, Rank rank, const std::string& member) {
    if (!at) return;
    Due due{*at, rank, member};
    if (!first || due < *first) first = std::move(due);
  };
  for (const auto& [id, member] : group.members) {
    offer(member.session_deadline_ms, Rank::session, id);
    offer(member.poll_deadline_ms, Rank::poll, id);
    offer(member.revoke_deadline_ms, Rank::revoke, id);
  }
  offer(group.rebalance.join_deadline_ms, Rank::join, "");
  offer(group.rebalance.sync_deadline_ms, Rank::sync, "");
  return first;
}

void end_member(GroupTurn& turn, const Due& due, std::string_view deadline) {
  turn.note(due.rank == Rank::revoke ? "fenced" : "expire", due.member,
            fmt::format(R"({{"deadline":"{}","at":{}}})", deadline, due.at_ms));
  expel(turn, due.member);
}

void end_session(GroupTurn& turn, const Due& due) {
  const GroupState& group = turn.group;
  if (group.protocol == GroupProtocol::classic && classic::waits_for_group(group, due.member)) {
    // It runs again when the waiting is over.
    turn.group.members.at(due.member).session_deadline_ms.reset();
    return;
  }
  end_member(turn, due, "session");
}

void end_poll(GroupTurn& turn, const Due& due) {
  GroupMember& member = turn.group.members.at(due.member);
  if (!member.instance) return end_member(turn, due, "poll");
  // A static member sends no leave: it stays until its session ends, which nothing renews any more.
  member.poll_deadline_ms.reset();
  member.poll_expired = true;
}

void fire(GroupTurn& turn, const Due& due) {
  switch (due.rank) {
    case Rank::session:
      return end_session(turn, due);
    case Rank::poll:
      return end_poll(turn, due);
    case Rank::revoke:
      return end_member(turn, due, "revoke");
    case Rank::join:
      return classic::join_deadline(turn);
    case Rank::sync:
      return classic::sync_deadline(turn);
  }
}

bool is_pending(const GroupState& group, const TopicPartition& partition) {
  return std::ranges::any_of(group.pending_txn,
                             [&](const auto& pending) { return pending.second.offsets.contains(partition); });
}

// From when an offset's retention counts; nothing: it does not run.
std::optional<std::int64_t> retention_base(const GroupState& group,
                                           const std::vector<std::string>& subscribed,
                                           const TopicPartition& partition, const CommittedOffset& offset) {
  if (rebalancing(group)) return std::nullopt;
  // An offset that was set since the group became empty is as young as that.
  if (group.phase == GroupPhase::empty && group.had_members) {
    return std::max(group.state_since_ms, offset.commit_ts_ms);
  }
  if (std::ranges::binary_search(subscribed, partition.topic)) return std::nullopt;
  return offset.commit_ts_ms;
}

bool drop_expired(GroupTurn& turn) {
  GroupState& group = turn.group;
  if (group.offsets.empty()) return false;
  const auto subscribed = subscribed_topics(group);
  const std::size_t dropped = std::erase_if(group.offsets, [&](const auto& entry) {
    const auto& [partition, offset] = entry;
    if (is_pending(group, partition)) return false;
    const auto base = retention_base(group, subscribed, partition, offset);
    if (!base) return false;
    const bool own = offset.expire_ts_ms && turn.now_ms >= *offset.expire_ts_ms;
    if (!own && turn.now_ms < later(*base, turn.config.offsets_retention_ms)) return false;
    turn.note("offset_expired", "",
              fmt::format(R"({{"topic":"{}","partition":{},"offset":{}}})", partition.topic,
                          partition.partition.value(), offset.offset));
    return true;
  });
  if (dropped == 0) return false;
  if (group.offsets.empty() && group.members.empty() && group.pending_txn.empty()) turn.remove_group = true;
  return true;
}

}  // namespace

std::optional<std::int64_t> next_deadline(const GroupState& group) {
  const auto due = earliest(group);
  return due ? std::optional(due->at_ms) : std::nullopt;
}

bool catch_up(GroupTurn& turn) {
  const std::int64_t now_ms = turn.now_ms;
  turn.until_ms = now_ms;
  bool changed = false;
  while (const auto due = earliest(turn.group)) {
    if (due->at_ms > now_ms) break;
    turn.now_ms = due->at_ms;
    fire(turn, *due);
    changed = true;
  }
  turn.now_ms = now_ms;
  return drop_expired(turn) || changed;
}

}  // namespace tk
