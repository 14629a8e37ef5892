// A question to the assignors in numbers, whose order is the order of groups.md §4.1; and what several
// assignors make of it first. Internal to core/group.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/group/assignor.h"

namespace tk {

/// A member's place in the order of ids, a topic's in the order of names, a partition's in the order of topic
/// and number.
using MemberIndex = std::int32_t;
using TopicIndex = std::int32_t;
using PartitionIndex = std::int32_t;
inline constexpr MemberIndex kNobody = -1;

/// For each partition the member that has it, or kNobody.
using Owners = std::vector<MemberIndex>;

/// The question without what counts for nothing: topics that do not exist or that nobody subscribes to.
struct AssignmentProblem {
  struct Topic {
    std::string_view name;
    /// Its partitions are [first, first + count).
    PartitionIndex first = 0;
    std::int32_t count = 0;
    std::vector<MemberIndex> subscribers;
  };
  struct Member {
    const MemberSubscription* subscription = nullptr;
    std::vector<TopicIndex> topics;
    /// What it says that it owns.
    std::vector<PartitionIndex> claims;
    /// -1 if it names none.
    std::int32_t generation = -1;
  };

  /// `question` must outlive this.
  explicit AssignmentProblem(const AssignmentQuestion& question);

  [[nodiscard]] std::int32_t partition_count() const { return static_cast<std::int32_t>(topic_of.size()); }
  [[nodiscard]] TopicPartition name_of(PartitionIndex partition) const;
  /// Each member's place when static members come first, by instance id, then the others by id.
  [[nodiscard]] std::vector<std::int32_t> static_first_places() const;

  std::vector<Topic> topics;
  std::vector<Member> members;
  std::vector<TopicIndex> topic_of;
  /// All members name the same topics, whether these exist or not.
  bool same_names = true;
  /// All members subscribe to the same topics of those that exist.
  bool same_topics = true;

 private:
  void read_members(const AssignmentQuestion& question);
  void read_topics(const AssignmentQuestion& question);
  void read_claims();
};

/// What the members' claims come to when generations decide (groups.md §4.5).
struct ResolvedClaims {
  Owners owner;
  /// Claimed by two members of the same generation: nobody keeps it.
  std::vector<bool> doubly;
  /// The owner in the newest of the older generations, subscribed to the topic still: what rule R3 goes by.
  Owners previous;
};
ResolvedClaims resolve_claims(const AssignmentProblem& problem);

/// What a server assignor takes as the old target: the first member in order that names a partition has it.
Owners old_target(const AssignmentProblem& problem);

/// Partitions that come to a member that did not claim them while one that claimed them loses them: the new
/// owner, else kNobody.
Owners changing_hands(const AssignmentProblem& problem, const Owners& after);

/// How many partitions each member has.
std::vector<std::int32_t> sizes_of(const AssignmentProblem& problem, const Owners& owner);

}  // namespace tk
