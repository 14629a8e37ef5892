#include "core/group/rebalance_cost.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>

namespace tk {
namespace {

using OwnerByPartition =
    std::map<std::reference_wrapper<const TopicPartition>, std::string_view, std::less<const TopicPartition>>;

OwnerByPartition owners_of(const Assignment& assignment) {
  OwnerByPartition owners;
  for (const auto& [member, partitions] : assignment) {
    for (const TopicPartition& partition : partitions) owners.emplace(partition, member);
  }
  return owners;
}

using Subscriptions = std::unordered_map<std::string_view, std::set<std::string_view>>;

Subscriptions subscriptions_of(const AssignmentQuestion& question) {
  Subscriptions subscriptions;
  for (const MemberSubscription& member : question.members) {
    auto& topics = subscriptions[member.id];
    for (const std::string& topic : member.topics) {
      if (question.partitions.contains(topic)) topics.insert(topic);
    }
  }
  return subscriptions;
}

// Of `sizes`, what each member of a balanced group holds already and may keep at most.
std::int64_t least_moved(std::vector<std::int64_t> sizes, std::int64_t members, std::int64_t partitions,
                         std::int64_t placed) {
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  std::int64_t large = partitions % members;
  std::int64_t may_stay = 0;
  for (const std::int64_t size : sizes) {
    may_stay += std::min(size, partitions / members + (large-- > 0 ? 1 : 0));
  }
  return placed - may_stay;
}

std::optional<std::int64_t> bound_of(const Subscriptions& subscriptions, const AssignmentQuestion& question,
                                     const std::unordered_map<std::string_view, std::int64_t>& sizes,
                                     std::int64_t placed) {
  if (subscriptions.empty()) return std::nullopt;
  const auto& topics = subscriptions.begin()->second;
  std::vector<std::int64_t> surviving;
  for (const auto& [member, its_topics] : subscriptions) {
    if (its_topics != topics) return std::nullopt;
    const auto size = sizes.find(member);
    if (size != sizes.end()) surviving.push_back(size->second);
  }
  std::int64_t partitions = 0;
  for (const std::string_view topic : topics) partitions += question.partitions.at(std::string(topic));
  return least_moved(std::move(surviving), static_cast<std::int64_t>(subscriptions.size()), partitions,
                     placed);
}

std::int64_t spread_of(const Assignment& assignment) {
  if (assignment.empty()) return 0;
  const auto [smallest, largest] =
      std::minmax_element(assignment.begin(), assignment.end(),
                          [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return static_cast<std::int64_t>(largest->second.size() - smallest->second.size());
}

}  // namespace

RebalanceCost rebalance_cost(const Assignment& before, const Assignment& after,
                             const AssignmentQuestion& question, Revocation revocation) {
  const OwnerByPartition old_owners = owners_of(before);
  const OwnerByPartition new_owners = owners_of(after);
  const Subscriptions subscriptions = subscriptions_of(question);
  RebalanceCost cost;
  std::int64_t revoked = 0;
  std::unordered_map<std::string_view, std::int64_t> sizes;  // before, of what is placed still
  for (const auto& [partition, old_owner] : old_owners) {
    const auto now = new_owners.find(partition);
    const auto member = subscriptions.find(old_owner);
    const bool stays = member != subscriptions.end();
    if (now != new_owners.end()) ++sizes[old_owner];
    if (now != new_owners.end() && now->second == old_owner) {
      ++cost.kept;
      continue;
    }
    if (stays) ++revoked;
    if (now == new_owners.end()) {
      ++cost.orphaned;
      continue;
    }
    ++cost.moved;
    if (!stays || !member->second.contains(partition.get().topic)) ++cost.forced;
  }
  cost.voluntary = cost.moved - cost.forced;
  cost.added = static_cast<std::int64_t>(new_owners.size()) - cost.kept - cost.moved;
  cost.spread = spread_of(after);
  cost.stopped = revocation == Revocation::eager ? static_cast<std::int64_t>(old_owners.size()) : revoked;
  cost.least_moved = bound_of(subscriptions, question, sizes, cost.kept + cost.moved);
  return cost;
}

}  // namespace tk
