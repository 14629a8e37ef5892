#include "core/group/assignment_problem.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

namespace tk {
namespace {

std::vector<std::string_view> sorted_names(const std::vector<std::string>& topics) {
  std::vector<std::string_view> names(topics.begin(), topics.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

template <class T>
std::int32_t index_of(const std::vector<T>& values) {
  return static_cast<std::int32_t>(values.size());
}

}  // namespace

AssignmentProblem::AssignmentProblem(const AssignmentQuestion& question) {
  read_members(question);
  read_topics(question);
  read_claims();
}

void AssignmentProblem::read_members(const AssignmentQuestion& question) {
  members.reserve(question.members.size());
  for (const MemberSubscription& subscription : question.members) {
    members.push_back({&subscription, {}, {}, subscription.generation.value_or(-1)});
  }
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.subscription->id < b.subscription->id; });
}

void AssignmentProblem::read_topics(const AssignmentQuestion& question) {
  std::vector<Topic> known;
  for (const auto& [name, count] : question.partitions) known.push_back({name, 0, std::max(count, 0), {}});
  std::vector<std::string_view> first_names;
  for (MemberIndex m = 0; m < index_of(members); ++m) {
    const auto names = sorted_names(members[m].subscription->topics);
    if (m == 0) first_names = names;
    same_names = same_names && names == first_names;
    for (const std::string_view name : names) {
      const auto at = std::lower_bound(known.begin(), known.end(), name,
                                       [](const Topic& topic, std::string_view n) { return topic.name < n; });
      if (at != known.end() && at->name == name) at->subscribers.push_back(m);
    }
  }
  for (Topic& topic : known) {
    if (topic.subscribers.empty()) continue;
    topic.first = partition_count();
    topic_of.insert(topic_of.end(), static_cast<std::size_t>(topic.count), index_of(topics));
    for (const MemberIndex m : topic.subscribers) members[m].topics.push_back(index_of(topics));
    topics.push_back(std::move(topic));
  }
  same_topics = std::all_of(members.begin(), members.end(),
                            [&](const Member& member) { return member.topics == members.front().topics; });
}

void AssignmentProblem::read_claims() {
  for (Member& member : members) {
    for (const TopicPartition& owned : member.subscription->owned) {
      const auto at =
          std::lower_bound(topics.begin(), topics.end(), owned.topic,
                           [](const Topic& topic, const std::string& name) { return topic.name < name; });
      if (at == topics.end() || at->name != owned.topic) continue;
      const std::int32_t number = owned.partition.value();
      if (number >= 0 && number < at->count) member.claims.push_back(at->first + number);
    }
    std::sort(member.claims.begin(), member.claims.end());
    member.claims.erase(std::unique(member.claims.begin(), member.claims.end()), member.claims.end());
  }
}

TopicPartition AssignmentProblem::name_of(PartitionIndex partition) const {
  const Topic& topic = topics[topic_of[partition]];
  return {std::string(topic.name), PartitionId(partition - topic.first)};
}

std::vector<std::int32_t> AssignmentProblem::static_first_places() const {
  std::vector<MemberIndex> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](MemberIndex m) {
    const auto& instance = members[m].subscription->instance;
    return std::make_tuple(!instance.has_value(), std::string_view(instance ? *instance : std::string_view()),
                           m);
  };
  std::sort(order.begin(), order.end(), [&](MemberIndex a, MemberIndex b) { return key(a) < key(b); });
  std::vector<std::int32_t> places(members.size());
  for (std::int32_t place = 0; place < index_of(order); ++place) places[order[place]] = place;
  return places;
}

ResolvedClaims resolve_claims(const AssignmentProblem& problem) {
  const auto count = static_cast<std::size_t>(problem.partition_count());
  ResolvedClaims resolved{Owners(count, kNobody), std::vector<bool>(count), Owners(count, kNobody)};
  Owners claimant(count, kNobody);
  std::int32_t newest = -1;
  for (const auto& member : problem.members) newest = std::max(newest, member.generation);
  for (MemberIndex m = 0; m < index_of(problem.members); ++m) {
    const auto& member = problem.members[m];
    for (const PartitionIndex p : member.claims) {
      if (member.generation < newest) {
        const MemberIndex before = resolved.previous[p];
        if (before == kNobody || member.generation > problem.members[before].generation)
          resolved.previous[p] = m;
      }
      const MemberIndex rival = claimant[p];
      if (rival != kNobody && member.generation < problem.members[rival].generation) continue;
      // As in Kafka, a claim of a third, newer generation does not lift the doubt that two equal ones raised.
      const bool tie = rival != kNobody && member.generation == problem.members[rival].generation;
      if (tie) resolved.doubly[p] = true;
      resolved.owner[p] = tie ? kNobody : m;
      claimant[p] = m;
    }
  }
  for (PartitionIndex p = 0; p < problem.partition_count(); ++p) {
    if (resolved.previous[p] == kNobody) continue;
    const auto& subscribed = problem.members[resolved.previous[p]].topics;
    if (!std::binary_search(subscribed.begin(), subscribed.end(), problem.topic_of[p])) {
      resolved.previous[p] = kNobody;
    }
  }
  return resolved;
}

Owners old_target(const AssignmentProblem& problem) {
  Owners owner(static_cast<std::size_t>(problem.partition_count()), kNobody);
  for (MemberIndex m = 0; m < index_of(problem.members); ++m) {
    for (const PartitionIndex p : problem.members[m].claims) {
      if (owner[p] == kNobody) owner[p] = m;
    }
  }
  return owner;
}

Owners changing_hands(const AssignmentProblem& problem, const Owners& after) {
  const std::size_t count = after.size();
  std::vector<bool> lost(count);
  std::vector<bool> claimed_by_new(count);
  for (MemberIndex m = 0; m < index_of(problem.members); ++m) {
    for (const PartitionIndex p : problem.members[m].claims) {
      if (after[p] == m) {
        claimed_by_new[p] = true;
      } else {
        lost[p] = true;
      }
    }
  }
  Owners to(count, kNobody);
  for (std::size_t p = 0; p < count; ++p) {
    if (lost[p] && !claimed_by_new[p]) to[p] = after[p];
  }
  return to;
}

std::vector<std::int32_t> sizes_of(const AssignmentProblem& problem, const Owners& owner) {
  std::vector<std::int32_t> sizes(problem.members.size());
  for (const MemberIndex m : owner) {
    if (m != kNobody) ++sizes[m];
  }
  return sizes;
}

}  // namespace tk
