#include "core/group/group_state.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace tk {
namespace {

constexpr std::array<std::string_view, 3> kProtocols = {"immediate", "consumer", "classic"};
constexpr std::array<std::string_view, 6> kPhases = {"Empty",  "PreparingRebalance", "CompletingRebalance",
                                                     "Stable", "Assigning",          "Reconciling"};
constexpr std::array<std::string_view, 3> kMemberPhases = {"STABLE", "UNREVOKED", "UNRELEASED"};

template <class Enum, std::size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

}  // namespace

std::string_view group_protocol_name(GroupProtocol protocol) {
  return kProtocols[static_cast<std::size_t>(protocol)];
}
std::optional<GroupProtocol> parse_group_protocol(std::string_view name) {
  return find_name<GroupProtocol>(kProtocols, name);
}
std::string_view group_phase_name(GroupPhase phase) {
  return kPhases[static_cast<std::size_t>(phase)];
}
std::optional<GroupPhase> parse_group_phase(std::string_view name) {
  return find_name<GroupPhase>(kPhases, name);
}
std::string_view member_phase_name(MemberPhase phase) {
  return kMemberPhases[static_cast<std::size_t>(phase)];
}
std::optional<MemberPhase> parse_member_phase(std::string_view name) {
  return find_name<MemberPhase>(kMemberPhases, name);
}

bool is_led_over_wire(const GroupState& group) {
  return group.protocol == GroupProtocol::classic &&
         std::ranges::any_of(group.members, [](const auto& m) { return !m.second.wire_protocols.empty(); });
}

std::vector<std::string> subscribed_topics(const GroupState& group) {
  std::set<std::string> topics;
  for (const auto& [id, member] : group.members) topics.insert(member.topics.begin(), member.topics.end());
  return {topics.begin(), topics.end()};
}

std::map<TopicPartition, std::string> holders(const GroupState& group) {
  std::map<TopicPartition, std::string> held;
  for (const auto& [id, member] : group.members) {
    for (const TopicPartition& partition : member.assignment) held.emplace(partition, id);
    for (const TopicPartition& partition : member.revoking) held.emplace(partition, id);
  }
  return held;
}

PartitionList without(const PartitionList& a, const PartitionList& b) {
  PartitionList rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

PartitionList united(const PartitionList& a, const PartitionList& b) {
  PartitionList all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

PartitionList common(const PartitionList& a, const PartitionList& b) {
  PartitionList both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

bool holds(const PartitionList& list, const TopicPartition& partition) {
  return std::binary_search(list.begin(), list.end(), partition);
}

}  // namespace tk
