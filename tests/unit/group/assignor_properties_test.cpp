// What must hold of any assignment, on random groups (groups.md §14: G1 to G3, G11 to G14).
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>

#include "core/group/assignor.h"
#include "core/group/rebalance_cost.h"
#include "tests/unit/group/notation.h"

using namespace tk;
using namespace tk::test;

namespace {

constexpr std::array kAll = {Assignor::range,   Assignor::roundrobin,
                             Assignor::sticky,  Assignor::cooperative_sticky,
                             Assignor::uniform, Assignor::server_range};

class RandomGroups {
 public:
  explicit RandomGroups(std::uint32_t seed) : random_(seed) {}

  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  bool chance(int percent) { return below(100) < percent; }
  std::mt19937& engine() { return random_; }

  /// Claims of any generation, also on topics that the claimant gave up, and by two members.
  AssignmentQuestion next(bool identical) {
    AssignmentQuestion asked;
    const int topic_count = 1 + below(4);
    for (int t = 0; t < topic_count; ++t) asked.partitions["t" + std::to_string(t)] = 1 + below(9);
    const int members = 1 + below(7);
    for (int m = 0; m < members; ++m)
      asked.members.push_back(member("m" + std::to_string(m), asked, identical));
    if (chance(30)) return asked;
    for (const auto& [topic, count] : asked.partitions) {
      for (int p = 0; p < count; ++p) {
        for (int claims = chance(80) ? 1 : below(3); claims > 0; --claims) {
          asked.members[static_cast<std::size_t>(below(members))].owned.push_back({topic, PartitionId(p)});
        }
      }
    }
    return asked;
  }

 private:
  MemberSubscription member(std::string id, const AssignmentQuestion& asked, bool identical) {
    MemberSubscription made;
    made.id = std::move(id);
    if (chance(25)) made.instance = "i" + std::to_string(below(1000)) + made.id;
    if (chance(80)) made.generation = chance(70) ? 5 : 3 + below(3);
    for (const auto& [topic, count] : asked.partitions) {
      if (identical || chance(60)) made.topics.push_back(topic);
    }
    return made;
  }

  std::mt19937 random_;
};

bool subscribes(const AssignmentQuestion& asked, const std::string& member, const std::string& topic) {
  for (const auto& m : asked.members) {
    if (m.id == member) return std::find(m.topics.begin(), m.topics.end(), topic) != m.topics.end();
  }
  return false;
}

// What is wrong with an answer, "" if nothing is.
std::string fault_of(const AssignmentQuestion& asked, const AssignmentAnswer& answer) {
  if (answer.assignment.size() != asked.members.size()) return "not an entry a member";
  std::set<TopicPartition> given;
  for (const auto& [member, partitions] : answer.assignment) {
    if (!std::is_sorted(partitions.begin(), partitions.end())) return member + " is not sorted";
    for (const auto& partition : partitions) {
      if (!given.insert(partition).second) return "given twice: " + partition.topic;
      if (!subscribes(asked, member, partition.topic))
        return member + " does not subscribe to " + partition.topic;
    }
  }
  for (const auto& [topic, count] : asked.partitions) {
    const bool wanted =
        std::any_of(asked.members.begin(), asked.members.end(),
                    [&t = topic, &asked](const auto& member) { return subscribes(asked, member.id, t); });
    for (int p = 0; wanted && p < count; ++p) given.erase({topic, PartitionId(p)});
    for (int p = 0; wanted && p < count; ++p) {
      const TopicPartition partition{topic, PartitionId(p)};
      const bool placed =
          std::any_of(answer.assignment.begin(), answer.assignment.end(), [&](const auto& entry) {
            return std::binary_search(entry.second.begin(), entry.second.end(), partition);
          });
      const bool waits = answer.transferring.contains(partition);
      if (!placed && !waits) return "not given: " + topic + "-" + std::to_string(p);
    }
  }
  return given.empty() ? "" : "does not exist: " + given.begin()->topic;
}

std::int64_t spread(const Assignment& assigned) {
  std::size_t least = SIZE_MAX;
  std::size_t most = 0;
  for (const auto& [member, partitions] : assigned) {
    least = std::min(least, partitions.size());
    most = std::max(most, partitions.size());
  }
  return static_cast<std::int64_t>(most - least);
}

// The transferring partitions with their new owners.
Assignment completed(const AssignmentAnswer& answer) {
  Assignment whole = answer.assignment;
  for (const auto& [partition, member] : answer.transferring) whole[member].push_back(partition);
  return whole;
}

void set_owned(AssignmentQuestion& asked, const Assignment& owned, std::int32_t generation) {
  for (auto& member : asked.members) {
    const auto at = owned.find(member.id);
    member.owned = at == owned.end() ? std::vector<TopicPartition>{} : at->second;
    member.generation = generation;
  }
}

}  // namespace

TEST_CASE(
    "every partition goes to one subscriber, and the order of members and topics says nothing (G1 to G3, "
    "G14)") {
  RandomGroups groups(20261129);
  for (int round = 0; round < 4000; ++round) {
    const bool identical = groups.chance(50);
    AssignmentQuestion asked = groups.next(identical);
    std::vector<AssignmentAnswer> answers;
    for (const Assignor assignor : kAll) {
      answers.push_back(assign(assignor, asked));
      const std::string fault = fault_of(asked, answers.back());
      REQUIRE_MESSAGE(fault.empty(), assignor_name(assignor), " round ", round, ": ", fault);
    }
    std::shuffle(asked.members.begin(), asked.members.end(), groups.engine());
    for (auto& member : asked.members) {
      std::shuffle(member.topics.begin(), member.topics.end(), groups.engine());
      std::shuffle(member.owned.begin(), member.owned.end(), groups.engine());
    }
    for (std::size_t i = 0; i < kAll.size(); ++i) {
      const AssignmentAnswer again = assign(kAll[i], asked);
      const bool same = again.assignment == answers[i].assignment &&
                        again.transferring == answers[i].transferring && again.moved == answers[i].moved;
      REQUIRE_MESSAGE(same, assignor_name(kAll[i]), " round ", round);
    }
  }
}

TEST_CASE("identical subscriptions: sizes differ by one at most, with range topic by topic (G11)") {
  RandomGroups groups(11);
  for (int round = 0; round < 4000; ++round) {
    const AssignmentQuestion asked = groups.next(true);
    for (const Assignor assignor : {Assignor::roundrobin, Assignor::sticky, Assignor::uniform}) {
      REQUIRE_MESSAGE(spread(assign(assignor, asked).assignment) <= 1, assignor_name(assignor), " round ",
                      round);
    }
    REQUIRE_MESSAGE(spread(completed(assign(Assignor::cooperative_sticky, asked))) <= 1, "round ", round);
    const Assignment ranges = assign(Assignor::range, asked).assignment;
    REQUIRE(assign(Assignor::server_range, asked).assignment == ranges);
    for (const auto& [topic, count] : asked.partitions) {
      Assignment one_topic;
      for (const auto& [member, partitions] : ranges) {
        auto& own = one_topic[member];
        std::copy_if(partitions.begin(), partitions.end(), std::back_inserter(own),
                     [&t = topic](const auto& partition) { return partition.topic == t; });
      }
      REQUIRE(spread(one_topic) <= 1);
    }
  }
}

TEST_CASE("sticky and uniform move no more than they must when members come and go (G12)") {
  for (const Assignor assignor : {Assignor::sticky, Assignor::uniform}) {
    RandomGroups groups(12);
    std::int64_t moved = 0;
    for (int group = 0; group < 300; ++group) {
      AssignmentQuestion asked = groups.next(true);
      for (auto& member : asked.members) member.owned.clear();
      Assignment before = assign(assignor, asked).assignment;
      int joined = 100;
      for (std::int32_t step = 1; step <= 15; ++step) {
        if (asked.members.size() > 1 && groups.chance(50)) {
          asked.members.erase(asked.members.begin() + groups.below(static_cast<int>(asked.members.size())));
        } else {
          MemberSubscription member = asked.members.front();
          member.id = (groups.chance(50) ? "a" : "n") + std::to_string(joined++);
          asked.members.push_back(std::move(member));
        }
        set_owned(asked, before, step);
        const AssignmentAnswer answer = assign(assignor, asked);
        const RebalanceCost cost = rebalance_cost(before, answer.assignment, asked, Revocation::eager);
        REQUIRE_MESSAGE(cost.moved == *cost.least_moved, assignor_name(assignor), " group ", group, " step ",
                        step);
        REQUIRE(answer.moved == cost.voluntary);
        moved += cost.moved;
        before = answer.assignment;
      }
    }
    CHECK(moved > 1000);
  }
}

TEST_CASE("cooperative: no partition is given away before it was given up, and then all are (G13)") {
  RandomGroups groups(13);
  int transfers = 0;
  for (int round = 0; round < 3000; ++round) {
    AssignmentQuestion asked = groups.next(groups.chance(60));
    for (auto& member : asked.members) member.owned.clear();
    INFO("round ", round);
    Assignment held = assign(Assignor::cooperative_sticky, asked).assignment;
    // Somebody joins, leaves, or subscribes to something else.
    const auto at = static_cast<std::size_t>(groups.below(static_cast<int>(asked.members.size())));
    if (groups.chance(40)) {
      MemberSubscription member = asked.members[at];
      member.id = "joined";
      asked.members.push_back(std::move(member));
    } else if (asked.members.size() > 1 && groups.chance(60)) {
      held.erase(asked.members[at].id);
      asked.members.erase(asked.members.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (!asked.members[at].topics.empty()) {
      asked.members[at].topics.pop_back();
    }
    AssignmentAnswer answer;
    std::int32_t phase = 0;
    do {
      set_owned(asked, held, ++phase);
      answer = assign(Assignor::cooperative_sticky, asked);
      const RebalanceCost cost = rebalance_cost(held, answer.assignment, asked, Revocation::incremental);
      // Those of a member that has left are free at once.
      REQUIRE(cost.voluntary == 0);
      if (cost.moved > 0) REQUIRE(phase == 1);
      transfers += static_cast<int>(answer.transferring.size());
      held = answer.assignment;
    } while (!answer.transferring.empty() && phase < 4);
    // With different subscriptions what was given up may find an owner whose size lets another one give up
    // more.
    REQUIRE(phase <= (answer.algorithm == "constrained" ? 2 : 3));
    REQUIRE(fault_of(asked, answer).empty());
  }
  CHECK(transfers > 500);
}

TEST_CASE("ten thousand partitions and a hundred members take no time to speak of") {
  for (const bool identical : {true, false}) {
    AssignmentQuestion asked;
    for (int t = 0; t < 100; ++t) asked.partitions["topic-" + std::to_string(t)] = 100;
    for (int m = 0; m < 100; ++m) {
      MemberSubscription member;
      member.id = "m" + std::to_string(m);
      int number = 0;
      for (const auto& [topic, count] : asked.partitions) {
        if (identical || (number++ + m) % 3 != 0) member.topics.push_back(topic);
      }
      // A few own everything.
      for (int t = m * 10; t < m * 10 + 10 && t < 100; ++t) {
        for (int p = 0; p < 100; ++p) member.owned.push_back({"topic-" + std::to_string(t), PartitionId(p)});
      }
      member.generation = 1;
      asked.members.push_back(std::move(member));
    }
    for (const Assignor assignor : kAll) {
      const auto began = std::chrono::steady_clock::now();
      const AssignmentAnswer answer = assign(assignor, asked);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
      // About 0.02 s; something quadratic takes minutes.
      CHECK_MESSAGE(took.count() < 10.0, assignor_name(assignor));
      CHECK_MESSAGE(fault_of(asked, answer).empty(), assignor_name(assignor));
    }
  }
}
