// Sticky with any subscriptions (groups.md §4.6): keep what is owned, deal out the rest, then move partitions
// from larger members to smaller ones until no move helps.
#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "core/group/placement.h"

namespace tk {
namespace {

// Mostly two or three passes, rarely eight, are needed until nothing moves. Rules R3 and R4 together can go
// round for ever, though: one gives a partition back, the other takes that back first.
constexpr int kMostPasses = 100;

/// The moves of one run, by where a partition began and where it is now; one that is home again is no move.
class Moves {
 public:
  explicit Moves(std::size_t partitions) : origin_(partitions, kNobody) {}

  /// Where the partition, now at `at`, began.
  [[nodiscard]] MemberIndex origin(PartitionIndex p, MemberIndex at) const {
    return origin_[p] == kNobody ? at : origin_[p];
  }
  /// The first partition of the topic that was moved so; `otherwise` if none was.
  [[nodiscard]] PartitionIndex find(TopicIndex topic, MemberIndex from, MemberIndex to,
                                    PartitionIndex otherwise) const {
    const auto found = moved_.find({topic, from, to});
    return found == moved_.end() ? otherwise : *found->second.begin();
  }
  void note(TopicIndex topic, PartitionIndex p, MemberIndex from, MemberIndex to) {
    const MemberIndex began = origin(p, from);
    if (began != from) {
      const auto earlier = moved_.find({topic, began, from});
      earlier->second.erase(p);
      if (earlier->second.empty()) moved_.erase(earlier);
    }
    origin_[p] = began == to ? kNobody : began;
    if (began != to) moved_[{topic, began, to}].insert(p);
  }

 private:
  std::vector<MemberIndex> origin_;
  std::map<std::tuple<TopicIndex, MemberIndex, MemberIndex>, std::set<PartitionIndex>> moved_;
};

class General {
 public:
  General(const AssignmentProblem& problem, const ResolvedClaims& claims)
      : problem_(problem), claims_(claims), owner_(claims.owner), moves_(claims.owner.size()) {}

  Owners run();

 private:
  using Candidate = std::pair<std::int32_t, MemberIndex>;  // size, member: the least is the next to get one

  void order_topics();
  bool drop_unsubscribed();
  void deal();
  bool improve(bool only_unassigned);
  bool improve_topic(TopicIndex t, bool only_unassigned);
  MemberIndex better_owner(PartitionIndex p, const std::set<Candidate>& candidates) const;
  void move(TopicIndex t, PartitionIndex wanted, MemberIndex to, std::set<Candidate>& candidates);
  std::vector<bool> members_in_play() const;
  std::int64_t imbalance(const std::vector<bool>& counted) const;
  [[nodiscard]] bool movable(TopicIndex t) const { return problem_.topics[t].subscribers.size() >= 2; }

  const AssignmentProblem& problem_;
  const ResolvedClaims& claims_;
  Owners owner_;
  Moves moves_;
  std::vector<std::int32_t> sizes_;
  /// Those with the fewest potential consumers first.
  std::vector<TopicIndex> topic_order_;
  std::vector<bool> was_unassigned_;
};

void General::order_topics() {
  topic_order_.resize(problem_.topics.size());
  std::iota(topic_order_.begin(), topic_order_.end(), 0);
  std::stable_sort(topic_order_.begin(), topic_order_.end(), [&](TopicIndex a, TopicIndex b) {
    return problem_.topics[a].subscribers.size() < problem_.topics[b].subscribers.size();
  });
}

// True if a member gave up a topic of which it owned something.
bool General::drop_unsubscribed() {
  bool dropped = false;
  std::vector<TopicIndex> seen(problem_.members.size(), -1);  // the last topic that the member subscribes to
  for (TopicIndex t = 0; t < static_cast<TopicIndex>(problem_.topics.size()); ++t) {
    const auto& topic = problem_.topics[t];
    for (const MemberIndex m : topic.subscribers) seen[m] = t;
    for (PartitionIndex p = topic.first; p < topic.first + topic.count; ++p) {
      if (owner_[p] == kNobody || seen[owner_[p]] == t) continue;
      owner_[p] = kNobody;
      dropped = true;
    }
  }
  return dropped;
}

// Each free partition to its potential consumer with the fewest.
void General::deal() {
  was_unassigned_.assign(owner_.size(), false);
  for (const TopicIndex t : topic_order_) {
    const auto& topic = problem_.topics[t];
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> smallest;
    for (const MemberIndex m : topic.subscribers) smallest.emplace(sizes_[m], m);
    for (PartitionIndex p = topic.first; p < topic.first + topic.count; ++p) {
      if (owner_[p] != kNobody) continue;
      const MemberIndex m = smallest.top().second;
      smallest.pop();
      smallest.emplace(++sizes_[m], m);
      owner_[p] = m;
      was_unassigned_[p] = true;
    }
  }
}

// Who should have the partition instead of its owner; kNobody: it stays. An owner of an older generation
// comes first (R3). Kafka does not ask whether that one may have the topic still; here resolve_claims has.
MemberIndex General::better_owner(PartitionIndex p, const std::set<Candidate>& candidates) const {
  const std::int32_t size = sizes_[owner_[p]];
  const MemberIndex before = claims_.previous[p];
  if (before != kNobody && size > sizes_[before] + 1) return before;
  return size > candidates.begin()->first + 1 ? candidates.begin()->second : kNobody;
}

// Moves `wanted`, or undoes an opposite move of the same topic instead, which balances as well and leaves one
// partition more where it was (R4).
void General::move(TopicIndex t, PartitionIndex wanted, MemberIndex to, std::set<Candidate>& candidates) {
  const PartitionIndex p = moves_.find(t, to, moves_.origin(wanted, owner_[wanted]), wanted);
  const MemberIndex from = owner_[p];
  moves_.note(t, p, from, to);
  owner_[p] = to;
  candidates.erase({sizes_[from], from});
  candidates.erase({sizes_[to], to});
  candidates.emplace(--sizes_[from], from);
  candidates.emplace(++sizes_[to], to);
}

// Kafka asks before each partition whether all is balanced; when it is, no partition finds a better owner.
bool General::improve_topic(TopicIndex t, bool only_unassigned) {
  const auto& topic = problem_.topics[t];
  std::set<Candidate> candidates;
  for (const MemberIndex m : topic.subscribers) candidates.emplace(sizes_[m], m);
  if (candidates.rbegin()->first <= candidates.begin()->first + 1) return false;
  bool moved = false;
  for (PartitionIndex p = topic.first; p < topic.first + topic.count; ++p) {
    if (only_unassigned && !was_unassigned_[p]) continue;
    const MemberIndex to = better_owner(p, candidates);
    if (to == kNobody) continue;
    move(t, p, to, candidates);
    moved = true;
  }
  return moved;
}

bool General::improve(bool only_unassigned) {
  bool improved = false;
  bool moved = true;
  for (int pass = 0; moved && pass < kMostPasses; ++pass) {
    moved = false;
    for (const TopicIndex t : topic_order_) {
      if (movable(t) && improve_topic(t, only_unassigned)) moved = true;
    }
    improved = improved || moved;
  }
  return improved;
}

// Not those who hold all they can get, and nothing that another could have: they say nothing of the balance.
std::vector<bool> General::members_in_play() const {
  std::vector<bool> in_play(problem_.members.size());
  for (std::size_t m = 0; m < in_play.size(); ++m) {
    std::int32_t most = 0;
    for (const TopicIndex t : problem_.members[m].topics) most += problem_.topics[t].count;
    in_play[m] = sizes_[m] < most;
  }
  for (PartitionIndex p = 0; p < problem_.partition_count(); ++p) {
    if (movable(problem_.topic_of[p])) in_play[owner_[p]] = true;
  }
  return in_play;
}

// The sum of the differences in size over all pairs of members.
std::int64_t General::imbalance(const std::vector<bool>& counted) const {
  std::vector<std::int64_t> sizes;
  for (std::size_t m = 0; m < counted.size(); ++m) {
    if (counted[m]) sizes.push_back(sizes_[m]);
  }
  std::sort(sizes.begin(), sizes.end());
  std::int64_t sum = 0;
  std::int64_t smaller = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sum += sizes[i] * static_cast<std::int64_t>(i) - smaller;
    smaller += sizes[i];
  }
  return sum;
}

Owners General::run() {
  order_topics();
  const bool revoked = drop_unsubscribed();
  const bool fresh = std::all_of(owner_.begin(), owner_.end(), [](MemberIndex m) { return m == kNobody; });
  sizes_ = sizes_of(problem_, owner_);
  deal();
  const auto in_play = members_in_play();
  const Owners dealt = owner_;
  const std::int64_t imbalance_before = imbalance(in_play);
  if (!revoked) improve(true);
  const bool improved = improve(false);
  if (!fresh && improved && imbalance(in_play) >= imbalance_before) return dealt;
  return owner_;
}

}  // namespace

Owners place_sticky_general(const AssignmentProblem& problem, const ResolvedClaims& claims) {
  return General(problem, claims).run();
}

}  // namespace tk
