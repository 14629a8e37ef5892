// Sticky with identical subscriptions (groups.md §4.5.1): everyone keeps what it may, the rest is dealt out.
#include <algorithm>
#include <deque>
#include <tuple>

#include "core/group/placement.h"

namespace tk {
namespace {

class Constrained {
 public:
  Constrained(const AssignmentProblem& problem, const ResolvedClaims& claims)
      : problem_(problem),
        claims_(claims),
        owner_(claims.owner.size(), kNobody),
        transferring_(claims.owner.size(), kNobody),
        sizes_(problem.members.size()) {
    const auto members = static_cast<std::int32_t>(problem.members.size());
    low_ = problem.partition_count() / members;
    large_wanted_ = problem.partition_count() % members;
    high_ = low_ + (large_wanted_ > 0 ? 1 : 0);
  }

  StickyPlacement run() {
    for (MemberIndex m = 0; m < static_cast<MemberIndex>(sizes_.size()); ++m) keep(m);
    deal();
    return {std::move(owner_), std::move(transferring_)};
  }

 private:
  std::vector<PartitionIndex> undisputed(MemberIndex m) const;
  void keep(MemberIndex m);
  void deal();
  void give(PartitionIndex p, MemberIndex m);

  const AssignmentProblem& problem_;
  const ResolvedClaims& claims_;
  Owners owner_;
  Owners transferring_;
  std::vector<std::int32_t> sizes_;
  std::int32_t low_ = 0;
  std::int32_t high_ = 0;
  /// How many members hold `high_` in the end, and how many do already.
  std::int32_t large_wanted_ = 0;
  std::int32_t large_ = 0;
  /// Members below `low_`; members at `low_` that may take one more. Both in order of id until dealing.
  std::vector<MemberIndex> under_;
  std::deque<MemberIndex> exact_;
};

// What the member owns without doubt, by partition number and then topic: of many topics it keeps the low
// partitions of each.
std::vector<PartitionIndex> Constrained::undisputed(MemberIndex m) const {
  std::vector<PartitionIndex> own;
  for (const PartitionIndex p : problem_.members[m].claims) {
    if (claims_.owner[p] == m && !claims_.doubly[p]) own.push_back(p);
  }
  const auto key = [&](PartitionIndex p) {
    return std::make_tuple(p - problem_.topics[problem_.topic_of[p]].first, p);
  };
  std::sort(own.begin(), own.end(), [&](PartitionIndex a, PartitionIndex b) { return key(a) < key(b); });
  return own;
}

void Constrained::keep(MemberIndex m) {
  const auto own = undisputed(m);
  const auto held = static_cast<std::int32_t>(own.size());
  std::int32_t kept = held;
  if (held < low_) {
    under_.push_back(m);
  } else if (held >= high_ && large_ < large_wanted_) {
    kept = high_;
    // With the last of the large ones found, nobody at `low_` takes another.
    if (++large_ == large_wanted_) exact_.clear();
  } else {
    kept = low_;
    if (large_ < large_wanted_) exact_.push_back(m);
  }
  for (std::int32_t i = 0; i < kept; ++i) owner_[own[i]] = m;
  sizes_[m] = kept;
}

void Constrained::give(PartitionIndex p, MemberIndex m) {
  owner_[p] = m;
  ++sizes_[m];
  const MemberIndex before = claims_.owner[p];
  if (claims_.doubly[p] || (before != kNobody && before != m)) transferring_[p] = m;
}

// One partition each in turn to those below `low_` until they are there, then one each to those at `low_`.
void Constrained::deal() {
  std::size_t turn = 0;
  for (PartitionIndex p = 0; p < problem_.partition_count(); ++p) {
    if (owner_[p] != kNobody) continue;
    if (under_.empty()) {
      give(p, exact_.front());
      exact_.pop_front();
      continue;
    }
    if (turn >= under_.size()) turn = 0;
    const MemberIndex m = under_[turn];
    give(p, m);
    if (sizes_[m] == low_) {
      under_.erase(under_.begin() + static_cast<std::ptrdiff_t>(turn));
      exact_.push_back(m);
    } else {
      ++turn;
    }
  }
}

}  // namespace

StickyPlacement place_sticky_constrained(const AssignmentProblem& problem, const ResolvedClaims& claims) {
  return Constrained(problem, claims).run();
}

}  // namespace tk
