// Uniform with any subscriptions (KIP-848; groups.md §4.9): free partitions go to the smallest subscribers,
// then topic after topic is levelled, for a limited number of rounds.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/group/placement.h"

namespace tk {
namespace {

constexpr int kMostRounds = 16;

/// The subscribers of one topic, by size as it was when the topic's turn began: from below those that get the
/// next partition, from above those that give one. Sizes change while it is used; the order does not.
class Levels {
 public:
  Levels(const std::vector<MemberIndex>& subscribers, const std::vector<std::int32_t>& sizes)
      : sizes_(sizes), order_(subscribers) {
    std::stable_sort(order_.begin(), order_.end(),
                     [&](MemberIndex a, MemberIndex b) { return sizes[a] < sizes[b]; });
    const auto count = static_cast<std::int32_t>(order_.size());
    down_ = size_at(0) - 1;
    up_ = size_at(count - 1) + 1;
    top_begin_ = top_end_ = count;
    from_top_ = count - 1;
  }

  [[nodiscard]] std::int32_t spread() const {
    return size_at(static_cast<std::int32_t>(order_.size()) - 1) - size_at(0);
  }
  /// The sizes reached from both sides have met.
  [[nodiscard]] bool met() const { return up_ - down_ <= 1; }

  MemberIndex least() {
    if (from_bottom_ >= bottom_end_) {
      ++down_;
      while (bottom_end_ < static_cast<std::int32_t>(order_.size()) && size_at(bottom_end_) == down_) {
        ++bottom_end_;
      }
      from_bottom_ = 0;
    }
    return order_[from_bottom_++];
  }

  /// kNobody when no one is left.
  MemberIndex most() {
    if (from_top_ < top_begin_) {
      const bool all_excluded = top_end_ <= top_begin_ && top_begin_ > 0;
      up_ = all_excluded ? size_at(top_begin_ - 1) : up_ - 1;
      while (top_begin_ > 0 && size_at(top_begin_ - 1) == up_) --top_begin_;
      from_top_ = top_end_ - 1;
    }
    return from_top_ < 0 ? kNobody : order_[from_top_--];
  }

  /// The member that most() gave last is not to come again.
  void exclude() {
    std::swap(order_[from_top_ + 1], order_[top_end_ - 1]);
    --top_end_;
  }

 private:
  [[nodiscard]] std::int32_t size_at(std::int32_t place) const { return sizes_[order_[place]]; }

  const std::vector<std::int32_t>& sizes_;
  std::vector<MemberIndex> order_;
  /// [0, bottom_end_) have been filled up to `down_`; from_bottom_ is the next of them.
  std::int32_t down_ = 0;
  std::int32_t bottom_end_ = 0;
  std::int32_t from_bottom_ = 0;
  /// [top_begin_, top_end_) have been brought down to `up_`; from_top_ is the next of them, downwards.
  std::int32_t up_ = 0;
  std::int32_t top_begin_ = 0;
  std::int32_t top_end_ = 0;
  std::int32_t from_top_ = 0;
};

class Heterogeneous {
 public:
  Heterogeneous(const AssignmentProblem& problem, Owners owner)
      : problem_(problem), owner_(std::move(owner)), held_(problem.members.size()) {}

  Owners run() {
    drop_unsubscribed();
    sizes_ = sizes_of(problem_, owner_);
    order_topics();
    for (const TopicIndex t : topic_order_) place_free(t);
    level_topics();
    return std::move(owner_);
  }

 private:
  void drop_unsubscribed();
  void order_topics();
  void place_free(TopicIndex t);
  void level_topics();
  bool level(TopicIndex t);
  void hold_owned(const AssignmentProblem::Topic& topic);
  MemberIndex giver(Levels& levels) const;

  const AssignmentProblem& problem_;
  Owners owner_;
  std::vector<std::int32_t> sizes_;
  /// Most partitions a subscriber first.
  std::vector<TopicIndex> topic_order_;
  /// What each member held of the topic when its turn began and has not given since; of its subscribers only.
  std::vector<std::vector<PartitionIndex>> held_;
};

void Heterogeneous::drop_unsubscribed() {
  for (PartitionIndex p = 0; p < problem_.partition_count(); ++p) {
    if (owner_[p] == kNobody) continue;
    const auto& topics = problem_.members[owner_[p]].topics;
    if (!std::binary_search(topics.begin(), topics.end(), problem_.topic_of[p])) owner_[p] = kNobody;
  }
}

void Heterogeneous::order_topics() {
  topic_order_.resize(problem_.topics.size());
  std::iota(topic_order_.begin(), topic_order_.end(), 0);
  const auto key = [&](TopicIndex t) {
    const auto& topic = problem_.topics[t];
    const std::size_t subscribers = topic.subscribers.size();
    // As Kafka has it, in floating point.
    return std::make_tuple(-static_cast<double>(topic.count) / static_cast<double>(subscribers), subscribers,
                           t);
  };
  std::sort(topic_order_.begin(), topic_order_.end(),
            [&](TopicIndex a, TopicIndex b) { return key(a) < key(b); });
}

void Heterogeneous::place_free(TopicIndex t) {
  const auto& topic = problem_.topics[t];
  Levels levels(topic.subscribers, sizes_);
  for (PartitionIndex p = topic.first; p < topic.first + topic.count; ++p) {
    if (owner_[p] != kNobody) continue;
    owner_[p] = levels.least();
    ++sizes_[owner_[p]];
  }
}

// Ends where a whole round has passed since the last topic that moved anything.
void Heterogeneous::level_topics() {
  TopicIndex last_moved = -1;
  for (int round = 0; round < kMostRounds; ++round) {
    for (const TopicIndex t : topic_order_) {
      if (problem_.topics[t].subscribers.size() < 2) continue;
      if (t == last_moved) return;
      if (level(t) || last_moved == -1) last_moved = t;
    }
  }
}

void Heterogeneous::hold_owned(const AssignmentProblem::Topic& topic) {
  for (const MemberIndex m : topic.subscribers) held_[m].clear();
  for (PartitionIndex p = topic.first; p < topic.first + topic.count; ++p) held_[owner_[p]].push_back(p);
}

MemberIndex Heterogeneous::giver(Levels& levels) const {
  for (;;) {
    const MemberIndex m = levels.most();
    if (m == kNobody || !held_[m].empty()) return m;
    levels.exclude();
  }
}

// True if anything was moved.
bool Heterogeneous::level(TopicIndex t) {
  const auto& topic = problem_.topics[t];
  Levels levels(topic.subscribers, sizes_);
  if (levels.spread() <= 1) return false;
  hold_owned(topic);
  bool moved = false;
  while (!levels.met()) {
    const MemberIndex from = giver(levels);
    if (from == kNobody) break;
    const PartitionIndex p = held_[from].back();
    held_[from].pop_back();
    const MemberIndex to = levels.least();
    if (levels.met()) break;
    owner_[p] = to;
    --sizes_[from];
    ++sizes_[to];
    moved = true;
  }
  return moved;
}

}  // namespace

Owners place_uniform_heterogeneous(const AssignmentProblem& problem, Owners owner) {
  return Heterogeneous(problem, std::move(owner)).run();
}

}  // namespace tk
