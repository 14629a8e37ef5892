#include "core/group/invariants.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"

namespace tk {
namespace {

using Complaint = std::optional<std::string>;

std::string name_of(const TopicPartition& partition) {
  return fmt::format("{}-{}", printable(partition.topic), partition.partition.value());
}

// G2 and G5: nobody shares a partition, whether it is being read or given up.
Complaint shared_partition(const GroupState& group) {
  std::map<TopicPartition, const std::string*> held;
  for (const auto& [id, member] : group.members) {
    for (const PartitionList* list : {&member.assignment, &member.revoking}) {
      for (const TopicPartition& partition : *list) {
        const auto [at, is_new] = held.emplace(partition, &id);
        if (is_new) continue;
        return fmt::format("G2: {} belongs to '{}' and to '{}'", name_of(partition), printable(*at->second),
                           printable(id));
      }
    }
  }
  std::set<TopicPartition> targets;
  for (const auto& [id, target] : group.target) {
    for (const TopicPartition& partition : target) {
      if (!targets.insert(partition).second) {
        return fmt::format("G2: {} is the target of two members", name_of(partition));
      }
    }
  }
  return std::nullopt;
}

// G3. In the consumer protocol a member keeps for a while what it no longer subscribes to; there it holds of
// the target.
Complaint foreign_partition(const GroupState& group) {
  if (is_led_over_wire(group)) return std::nullopt;
  for (const auto& [id, member] : group.members) {
    const PartitionList* list = &member.assignment;
    if (group.protocol == GroupProtocol::consumer) {
      if (group.target_epoch < group.generation) continue;
      const auto target = group.target.find(id);
      if (target == group.target.end()) continue;
      list = &target->second;
    } else if (group.phase != GroupPhase::stable) {
      continue;
    }
    for (const TopicPartition& partition : *list) {
      if (std::binary_search(member.topics.begin(), member.topics.end(), partition.topic)) continue;
      // A classic follower that rejoined with other topics, or a static one that came back, has the old ones
      // until the next generation.
      if (group.protocol == GroupProtocol::classic && member.instance) continue;
      return fmt::format("G3: '{}' has {} and does not subscribe to it", printable(id), name_of(partition));
    }
  }
  return std::nullopt;
}

// G1: what is subscribed is read by somebody, unless it is on its way.
Complaint forgotten_partition(const GroupState& group) {
  // What a leader over the wire shares out is its own affair.
  if (is_led_over_wire(group)) return std::nullopt;
  if (group.protocol == GroupProtocol::consumer || group.phase != GroupPhase::stable) return std::nullopt;
  std::set<std::string_view> topics;
  std::set<TopicPartition> held;
  for (const auto& [id, member] : group.members) {
    if (!member.revoking.empty()) return std::nullopt;
    if (group.protocol == GroupProtocol::classic && member.instance) return std::nullopt;
    topics.insert(member.topics.begin(), member.topics.end());
    held.insert(member.assignment.begin(), member.assignment.end());
  }
  std::int64_t wanted = 0;
  for (const auto& [topic, count] : group.partition_counts) {
    if (topics.contains(topic)) wanted += count;
  }
  if (wanted <= static_cast<std::int64_t>(held.size())) return std::nullopt;
  return fmt::format("G1: {} partitions are subscribed, and {} assigned", wanted, held.size());
}

Complaint wrong_epoch(const GroupState& group) {
  if (group.protocol != GroupProtocol::consumer) return std::nullopt;
  if (group.target_epoch > group.generation) return "G5: the target is of a later epoch than the group";
  for (const auto& [id, member] : group.members) {
    if (member.epoch > group.generation) {
      return fmt::format("G5: '{}' is at epoch {}, the group at {}", printable(id), member.epoch,
                         group.generation);
    }
  }
  for (const auto& [id, target] : group.target) {
    if (!group.members.contains(id)) return fmt::format("G5: a target for '{}', no member", printable(id));
  }
  return std::nullopt;
}

Complaint wrong_names(const GroupState& group) {
  if (!group.leader.empty() && !group.members.contains(group.leader)) {
    return fmt::format("G6: the leader '{}' is no member", printable(group.leader));
  }
  const bool shared_out = group.protocol == GroupProtocol::immediate || group.phase == GroupPhase::stable ||
                          group.phase == GroupPhase::completing_rebalance;
  const bool chosen = group.assignor || (is_led_over_wire(group) && !group.wire_protocol.empty());
  if (!group.members.empty() && shared_out && !chosen) return "G6: members, and no assignor";
  const bool led = group.protocol == GroupProtocol::classic && group.phase != GroupPhase::preparing_rebalance;
  if (led && !group.members.empty() && group.leader.empty()) return "G6: members, and no leader";
  for (const auto& [instance, id] : group.static_members) {
    const auto member = group.members.find(id);
    if (member == group.members.end() || member->second.instance != instance) {
      return fmt::format("G6: instance '{}' is not that of '{}'", printable(instance), printable(id));
    }
  }
  for (const auto& [id, member] : group.members) {
    if (id.empty()) return "G6: a member without an id";
    if (group.pending_members.contains(id)) return fmt::format("G6: '{}' is still to join", printable(id));
    if (!member.instance) continue;
    const auto known = group.static_members.find(*member.instance);
    if (known == group.static_members.end() || known->second != id) {
      return fmt::format("G6: '{}' is not the member of its instance", printable(id));
    }
  }
  for (const std::string& id : group.rebalance.pending_sync) {
    if (!group.members.contains(id)) return fmt::format("G6: '{}' is to sync, and no member", printable(id));
  }
  return std::nullopt;
}

Complaint wrong_phase(const GroupState& group) {
  using enum GroupPhase;
  // A classic group whose members have all gone completes its join phase, empty, at the deadline.
  const bool waiting = group.phase == preparing_rebalance && group.rebalance.join_deadline_ms.has_value();
  if ((group.phase == empty) != group.members.empty() && !(waiting && group.members.empty())) {
    return fmt::format("G7: the state is {} with {} members", group_phase_name(group.phase),
                       group.members.size());
  }
  const bool phases = group.phase == preparing_rebalance || group.phase == completing_rebalance;
  const bool epochs = group.phase == assigning || group.phase == reconciling;
  if ((phases && group.protocol != GroupProtocol::classic) ||
      (epochs && group.protocol != GroupProtocol::consumer)) {
    return fmt::format("G7: {} is no state of the {} protocol", group_phase_name(group.phase),
                       group_protocol_name(group.protocol));
  }
  return std::nullopt;
}

Complaint passed_deadline(const GroupState& group) {
  const auto passed = [&](const std::optional<std::int64_t>& deadline) {
    return deadline && *deadline <= group.last_now_ms;
  };
  bool any = passed(group.rebalance.join_deadline_ms) || passed(group.rebalance.sync_deadline_ms);
  for (const auto& [id, member] : group.members) {
    any |= passed(member.session_deadline_ms) || passed(member.poll_deadline_ms) ||
           passed(member.revoke_deadline_ms);
  }
  if (any) return "G15: a deadline has passed and nothing came of it";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> broken_invariant(const GroupState& group) {
  for (const auto check : {shared_partition, foreign_partition, forgotten_partition, wrong_epoch, wrong_names,
                           wrong_phase, passed_deadline}) {
    if (auto complaint = check(group)) return complaint;
  }
  return std::nullopt;
}

std::optional<std::string> broken_change(const GroupState& before, const GroupState& after) {
  if (after.generation < before.generation) return "G4: the generation went back";
  if (after.next_commit_seq < before.next_commit_seq) return "G9: the number of commits went back";
  if (after.last_now_ms < before.last_now_ms) return "G16: the group's clock went back";
  if (after.seq < before.seq) return "G16: the number of writes went back";
  const bool static_replacement = after.static_members != before.static_members;
  if (after.protocol == GroupProtocol::consumer || static_replacement) return std::nullopt;
  if (after.generation != before.generation) return std::nullopt;
  for (const auto& [id, member] : after.members) {
    const auto old = before.members.find(id);
    // Within a generation an assignment is stored once, by the classic leader's sync.
    const bool synced = before.phase == GroupPhase::completing_rebalance;
    if (old != before.members.end() && old->second.assignment != member.assignment && !synced) {
      return fmt::format("G4: '{}' has another assignment in generation {}", printable(id), after.generation);
    }
  }
  return std::nullopt;
}

}  // namespace tk
