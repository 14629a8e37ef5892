// Immediate mode (groups.md §3).
#include <doctest/doctest.h>

#include <random>

#include "core/base/error.h"
#include "core/group/commits.h"
#include "core/group/membership.h"
#include "tests/unit/group/fake_topics.h"
#include "tests/unit/io/caught.h"

using namespace tk;
using tk::test::caught;
using tk::test::FakeGroup;
using tk::test::text_of;

namespace {

class Group : public FakeGroup {
 public:
  explicit Group(const std::map<std::string, std::int32_t>& counts) : FakeGroup(counts) {}

  void join(std::int64_t now, const std::string& id, std::vector<std::string> to = {}) {
    JoinRequest request;
    request.member = id;
    request.topics = std::move(to);
    request.assignor = assignor;
    at(now, [&](GroupTurn& turn) { return tk::join(turn, request); });
  }
  void leave(std::int64_t now, const std::string& id) {
    at(now, [&](GroupTurn& turn) { return tk::leave(turn, {.member = id, .instance = {}}); });
  }
  void heartbeat(std::int64_t now, const std::string& id, bool polls = false,
                 std::optional<std::int64_t> generation = {}) {
    at(now, [&](GroupTurn& turn) {
      return tk::heartbeat(
          turn, {.member = id, .instance = {}, .generation = generation, .owned = {}, .polls = polls});
    });
  }
  /// "2 A t:0-2" and so on: the generation, then each member's partitions, and what it gives up.
  std::string now() const {
    std::string text = std::to_string(state.generation);
    for (const auto& [id, member] : state.members) {
      text += "; " + id + " " + text_of(member.assignment);
      if (!member.revoking.empty()) text += " / " + text_of(member.revoking);
    }
    return text;
  }

  std::optional<Assignor> assignor;
};

}  // namespace

TEST_CASE("immediate: the example of the specification") {
  Group g({{"t", 6}});
  g.join(0, "A", {"t"});
  CHECK(g.now() == "1; A t:0,1,2,3,4,5");
  g.join(1, "B");
  CHECK(g.now() == "2; A t:0,1,2; B t:3,4,5");
  CHECK(g.state.cost->moved == 3);
  const CommitRequest late{.offsets = {{{"t", PartitionId(0)}, 0, {}, ""}},
                           .member = "A",
                           .instance = {},
                           .generation = 1,
                           .producer_id = {}};
  CHECK(caught([&] { g.at(2, [&](GroupTurn& turn) { return commit(turn, late); }); })->code() ==
        ErrorCode::illegal_generation);
  g.leave(3, "B");
  CHECK(g.now() == "3; A t:0,1,2,3,4,5");
  CHECK(g.state.cost->forced == 3);
  g.leave(4, "A");
  CHECK(g.now() == "4");
  CHECK(g.state.phase == GroupPhase::empty);
  CHECK_FALSE(g.broken);
}

TEST_CASE("immediate: a join that changes nothing changes nothing but deadlines") {
  Group g({{"t", 2}, {"u", 1}});
  g.join(0, "A", {"t"});
  g.join(10, "A", {"t"});
  g.join(11, "A");
  CHECK(g.state.generation == 1);
  CHECK(g.state.members.at("A").session_deadline_ms == 45011);
  g.join(12, "A", {"u", "t"});
  CHECK(g.now() == "2; A t:0,1 u:0");
  g.topics.set("t", 3);
  g.heartbeat(13, "A");
  CHECK(g.now() == "3; A t:0,1,2 u:0");
  CHECK_FALSE(g.broken);
}

TEST_CASE("immediate: deadlines are caught up with in order, each a generation at its own time") {
  Group g({{"t", 6}});
  g.join(0, "A", {"t"});
  g.join(1000, "B");
  g.join(2000, "C");
  g.heartbeat(44000, "C");
  g.pass(100000);
  CHECK(g.now() == "6");
  std::string expired;
  for (const GroupEvent& event : g.events) {
    if (event.what == "expire") expired += event.member + "@" + std::to_string(event.ts_ms) + " ";
  }
  CHECK(expired == "A@45000 B@46000 C@89000 ");
  CHECK(g.state.state_since_ms == 89000);
  CHECK_FALSE(g.broken);
}

TEST_CASE("immediate: a member that reads nothing is expelled by its poll deadline, though it lives") {
  Group g({{"t", 2}});
  g.join(0, "A", {"t"});
  for (std::int64_t t = 40000; t < 300000; t += 40000) g.heartbeat(t, "A");
  g.pass(299999);
  CHECK(g.state.generation == 1);
  Group reads = g;
  reads.heartbeat(299999, "A", true);
  reads.pass(300000);
  CHECK(reads.state.generation == 1);
  g.pass(300000);
  CHECK(g.now() == "2");
}

TEST_CASE("immediate: the cooperative assignor's two phases (A28)") {
  Group g({{"t", 6}});
  g.assignor = Assignor::cooperative_sticky;
  g.join(0, "A", {"t"});
  g.assignor.reset();
  g.join(1, "B");
  CHECK(g.now() == "2; A t:0,1,2 / t:3,4,5; B -");
  g.heartbeat(2, "B");
  CHECK(g.now() == "2; A t:0,1,2 / t:3,4,5; B -");
  g.heartbeat(2, "A", false, 1);  // it has not heard of generation 2 yet
  CHECK(g.now() == "2; A t:0,1,2 / t:3,4,5; B -");
  g.heartbeat(3, "A", false, 2);
  CHECK(g.now() == "3; A t:0,1,2; B t:3,4,5");
  // A third one joins; the commit of who has to give up acknowledges.
  g.topics.log("t", 0).edges = {Offset(0), Offset(9), Offset(9)};
  g.join(4, "C");
  CHECK(g.now() == "4; A t:0,1 / t:2; B t:3,4 / t:5; C -");
  g.at(5, [](GroupTurn& turn) {
    return commit(turn, {.offsets = {{{"t", PartitionId(0)}, 5, {}, ""}},
                         .member = "A",
                         .instance = {},
                         .generation = 4,
                         .producer_id = {}});
  });
  CHECK(g.now() == "4; A t:0,1; B t:3,4 / t:5; C -");
  // Who has to give up dies instead: the rest is given out at once.
  g.leave(6, "B");
  CHECK(g.state.members.at("A").assignment.size() == 3);
  CHECK(g.state.members.at("C").assignment.size() == 3);
  CHECK_FALSE(g.broken);
}

TEST_CASE("immediate: protocol and assignor hold from the first member on, and topics from the group") {
  Group g({{"t", 2}});
  CHECK(caught([&] { g.join(0, "A"); })->code() == ErrorCode::invalid_request);
  g.join(0, "A", {"t"});
  g.assignor = Assignor::sticky;
  CHECK(caught([&] { g.join(1, "B"); })->code() == ErrorCode::inconsistent_group_protocol);
  g.assignor = Assignor::range;
  g.join(1, "B");
  g.leave(2, "A");
  g.leave(2, "B");
  g.assignor = Assignor::sticky;
  g.join(3, "C", {"t"});
  CHECK(g.state.assignor == Assignor::sticky);
  CHECK(g.state.generation == 5);
  JoinRequest consumer;
  consumer.topics = {"t"};
  consumer.protocol = GroupProtocol::consumer;
  CHECK(caught([&] { g.at(4, [&](GroupTurn& turn) { return join(turn, consumer); }); })->code() ==
        ErrorCode::inconsistent_group_protocol);
  g.leave(5, "C");
  const MemberReply reply = g.at(6, [&](GroupTurn& turn) { return join(turn, consumer); });
  CHECK(reply.member == "consume-00000003");
  CHECK(g.state.generation == 7);  // the group's epochs go on where its generations ended
  CHECK(g.state.assignor == Assignor::uniform);
  CHECK_FALSE(g.broken);
}

TEST_CASE("immediate: what cannot join") {
  Group g({{"t", 2}});
  JoinRequest request;
  request.member = "A";
  request.topics = {"t"};
  request.session_timeout_ms = 1800001;
  CHECK(caught([&] { g.at(0, [&](GroupTurn& turn) { return join(turn, request); }); })->code() ==
        ErrorCode::invalid_session_timeout);
  request.session_timeout_ms = 0;
  request.rebalance_timeout_ms = 0;
  g.at(0, [&](GroupTurn& turn) { return join(turn, request); });
  g.pass(INT64_MAX);
  CHECK(g.state.members.size() == 1);
  const auto stranger = caught([&] { g.leave(1, "B"); });
  REQUIRE(stranger);
  CHECK(stranger->code() == ErrorCode::unknown_member_id);
}

TEST_CASE("immediate: random joins and leaves: generations grow, every partition has one owner") {
  for (const Assignor assignor : {Assignor::range, Assignor::roundrobin, Assignor::sticky, Assignor::uniform,
                                  Assignor::cooperative_sticky}) {
    std::mt19937 random(static_cast<std::uint32_t>(assignor) + 7);
    const auto draw = [&](int least, int most) {
      return std::uniform_int_distribution<int>(least, most)(random);
    };
    for (int round = 0; round < 20; ++round) {
      Group g({{"a", draw(1, 7)}, {"b", draw(1, 7)}});
      std::int64_t now = 0;
      for (int step = 0; step < 60; ++step) {
        now += draw(0, 4000);
        g.pass(now);
        g.assignor = g.state.members.empty() ? std::optional(assignor) : std::nullopt;
        const std::string id(1, static_cast<char>('A' + draw(0, 5)));
        const bool member = g.state.members.contains(id);
        const std::int64_t before = g.state.generation;
        const int what = draw(0, 9);
        if (!member || what < 2) {
          g.join(now, id, what % 2 == 0 ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"a"});
        } else if (what < 4) {
          g.leave(now, id);
          REQUIRE(g.state.generation == before + 1);
        } else {
          g.heartbeat(now, id, true);
        }
        REQUIRE(g.broken.value_or("") == "");
        REQUIRE(g.state.generation >= before);
      }
    }
  }
}
