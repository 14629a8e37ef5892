// The classic protocol's timelines of groups.md §2.6 and §2.7.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/group/membership.h"
#include "tests/unit/group/fake_topics.h"
#include "tests/unit/io/caught.h"

using namespace tk;
using tk::test::caught;
using tk::test::FakeGroup;
using tk::test::text_of;

namespace {

/// One command a line: the time, what is done, by whom, and what comes of it.
class Timeline : public FakeGroup {
 public:
  explicit Timeline(int partitions = 4) : FakeGroup({{"t", partitions}, {"u", 2}}) {}

  std::int64_t timeout = 300000;
  std::map<std::string, std::string> instances;

  std::string join(std::int64_t now, const std::string& id, std::vector<std::string> to = {"t"}) {
    JoinRequest request;
    request.member = id;
    if (instances.contains(id)) request.instance = instances.at(id);
    request.topics = std::move(to);
    request.protocol = GroupProtocol::classic;
    request.rebalance_timeout_ms = timeout;
    return reply(now, [&](GroupTurn& turn) { return tk::join(turn, request); });
  }
  std::string heartbeat(std::int64_t now, const std::string& id, std::int64_t generation,
                        bool polls = false) {
    return reply(now,
                 [&](GroupTurn& turn) { return tk::heartbeat(turn, request_of(id, generation, polls)); });
  }
  std::string poll(std::int64_t now, const std::string& id, std::int64_t generation) {
    return heartbeat(now, id, generation, true);
  }
  std::string sync(std::int64_t now, const std::string& id, std::int64_t generation) {
    return reply(now, [&](GroupTurn& turn) { return tk::sync(turn, request_of(id, generation, false)); });
  }
  std::string leave(std::int64_t now, const std::string& id) {
    return reply(now, [&](GroupTurn& turn) { return tk::leave(turn, {.member = id, .instance = {}}); });
  }

  /// "Stable 2 {A,B} A": state, generation, members, leader.
  std::string now(std::int64_t time) {
    pass(time);
    return now();
  }
  std::string now() const {
    std::string text =
        std::string(group_phase_name(state.phase)) + " " + std::to_string(state.generation) + " {";
    for (const auto& [id, member] : state.members) text += (text.back() == '{' ? "" : ",") + id;
    return text + "} " + (state.leader.empty() ? "-" : state.leader);
  }

 private:
  HeartbeatRequest request_of(const std::string& id, std::int64_t generation, bool polls) const {
    HeartbeatRequest request;
    request.member = id;
    if (instances.contains(id)) request.instance = instances.at(id);
    request.generation = generation;
    request.polls = polls;
    return request;
  }
  template <class Operation>
  std::string reply(std::int64_t time, Operation operation) {
    try {
      return at(time, operation).status;
    } catch (const Error& error) {
      return std::string(code_name(error.code()));
    }
  }
};

}  // namespace

TEST_CASE("classic T1, T2: the initial delay is extended while members come") {
  Timeline g;
  CHECK(g.join(0, "A") == "awaiting_join");
  g.join(1000, "B");
  g.join(2500, "C");
  g.join(3500, "D");
  CHECK(g.now(8999) == "PreparingRebalance 0 {A,B,C,D} A");
  CHECK(g.now(9000) == "CompletingRebalance 1 {A,B,C,D} A");
  Timeline alone;
  alone.join(0, "A");
  CHECK(alone.now(2999) == "PreparingRebalance 0 {A} A");
  CHECK(alone.now(3000) == "CompletingRebalance 1 {A} A");
  CHECK_FALSE(g.broken);
}

TEST_CASE("classic T3, T4, T8: a late join, a silent member, a rejoin that changes nothing") {
  Timeline g;
  g.timeout = 60000;
  g.join(0, "A");
  g.pass(3000);
  CHECK(g.sync(3001, "A", 1) == "stable");
  CHECK(g.join(10000, "B") == "awaiting_join");
  CHECK(g.heartbeat(12000, "A", 1) == "rebalance_in_progress");
  CHECK(g.sync(12500, "A", 1) == "REBALANCE_IN_PROGRESS");
  CHECK(g.join(13000, "A") == "awaiting_sync");
  CHECK(g.now() == "CompletingRebalance 2 {A,B} A");
  CHECK(g.sync(13000, "B", 2) == "awaiting_leader");
  CHECK(g.sync(13001, "A", 2) == "stable");
  CHECK(g.sync(13002, "B", 2) == "stable");
  CHECK(g.now() == "Stable 2 {A,B} A");
  CHECK(text_of(g.state.members.at("A").assignment) == "t:0,1");
  CHECK(text_of(g.state.members.at("B").assignment) == "t:2,3");
  CHECK(g.heartbeat(13003, "B", 1) == "ILLEGAL_GENERATION");
  CHECK(g.heartbeat(13003, "Z", 2) == "UNKNOWN_MEMBER_ID");

  Timeline silent = g;
  silent.join(20000, "C");
  silent.join(21001, "A");
  CHECK(silent.now(57999) == "PreparingRebalance 2 {A,B,C} A");
  CHECK(silent.now(58000) == "CompletingRebalance 3 {A,C} A");
  CHECK(silent.heartbeat(60000, "B", 2) == "UNKNOWN_MEMBER_ID");

  CHECK(g.join(20000, "B") == "stable");  // T8
  CHECK(g.now() == "Stable 2 {A,B} A");
  CHECK(g.join(20001, "A") == "awaiting_join");  // the leader's rejoin is a rebalance
  CHECK_FALSE(g.broken);
  CHECK_FALSE(silent.broken);
}

TEST_CASE("classic T5, T6: who does not rejoin in time") {
  for (const bool is_static : {false, true}) {
    CAPTURE(is_static);
    Timeline g;
    g.config.initial_rebalance_delay_ms = 0;
    g.timeout = 10000;
    if (is_static) g.instances["A"] = "i1";
    g.join(0, "A");
    CHECK(g.now() == "CompletingRebalance 1 {A} A");
    g.sync(1, "A", 1);
    g.join(5, "B");
    CHECK(g.poll(3000, "A", 1) == "rebalance_in_progress");
    CHECK(g.now(10004) == "PreparingRebalance 1 {A,B} A");
    if (!is_static) {
      CHECK(g.now(10005) == "CompletingRebalance 2 {B} B");
      continue;
    }
    CHECK(g.now(10005) == "CompletingRebalance 2 {A,B} B");
    g.sync(10006, "B", 2);
    CHECK(g.poll(15000, "B", 2) == "stable");
    CHECK(g.now(20004) == "Stable 2 {A,B} B");
    CHECK(g.now(20005) == "PreparingRebalance 2 {B} B");
    g.join(20006, "B");
    CHECK(g.now() == "CompletingRebalance 3 {B} B");
    CHECK_FALSE(g.broken);
  }
}

TEST_CASE("classic T7: the last one leaves") {
  Timeline g;
  g.join(0, "A");
  g.pass(3000);
  g.sync(3001, "A", 1);
  CHECK(g.leave(4000, "A") == "left");
  CHECK(g.now() == "Empty 2 {} -");
  CHECK_FALSE(g.state.assignor);
  CHECK(g.leave(4001, "A") == "UNKNOWN_MEMBER_ID");
  CHECK_FALSE(g.broken);
}

namespace {
Timeline two_static() {
  Timeline g;
  g.instances = {{"A", "i1"}, {"B", "i2"}, {"B2", "i2"}, {"X", "i9"}};
  g.join(0, "A");
  g.join(1, "B");
  g.pass(6000);
  g.sync(6001, "A", 1);
  g.sync(6001, "B", 1);
  return g;
}
}  // namespace

TEST_CASE("classic ST1, ST2, ST4: a static member restarts") {
  Timeline g = two_static();
  REQUIRE(g.now() == "Stable 1 {A,B} A");
  CHECK(g.join(7000, "B2") == "stable");
  CHECK(g.now() == "Stable 1 {A,B2} A");
  CHECK(text_of(g.state.members.at("B2").assignment) == "t:2,3");
  CHECK(g.heartbeat(7001, "B", 1) == "FENCED_INSTANCE_ID");
  CHECK(g.heartbeat(7002, "X", 1) == "UNKNOWN_MEMBER_ID");
  // With other topics there is no rebalance either, and it is said.
  JoinRequest other{.member = "B3",
                    .instance = "i2",
                    .topics = {"t", "u"},
                    .protocol = {},
                    .assignor = {},
                    .session_timeout_ms = {},
                    .rebalance_timeout_ms = {},
                    .client = {},
                    .host = {}};
  const MemberReply reply = g.at(7003, [&](GroupTurn& turn) { return join(turn, other); });
  CHECK(reply.subscription_changed_without_rebalance);
  CHECK_FALSE(reply.skip_assignment);
  CHECK(g.now() == "Stable 1 {A,B3} A");
  // The leader is told that it need not share out.
  other.member = "A2";
  other.instance = "i1";
  other.topics = {"t"};
  CHECK(g.at(7004, [&](GroupTurn& turn) { return join(turn, other); }).skip_assignment);
  CHECK(g.now() == "Stable 1 {A2,B3} A2");
  CHECK_FALSE(g.broken);
}

TEST_CASE("classic ST3: a static member stays away") {
  Timeline g = two_static();
  CHECK(g.heartbeat(40000, "A", 1) == "stable");
  CHECK(g.now(50999) == "Stable 1 {A,B} A");
  CHECK(g.now(51000) == "PreparingRebalance 1 {A} A");
  g.join(51001, "A");
  CHECK(g.now() == "CompletingRebalance 2 {A} A");
  g.sync(51002, "A", 2);
  CHECK(text_of(g.state.members.at("A").assignment) == "t:0,1,2,3");
  CHECK_FALSE(g.broken);
}

TEST_CASE("classic: a new member that is silent is dropped after five minutes, one that rejoined is not") {
  Timeline g;
  g.timeout = 0;  // others wait for ever
  g.join(0, "A");
  g.pass(3000);
  g.sync(3001, "A", 1);
  g.join(4000, "B");
  g.heartbeat(40000, "A", 1);
  CHECK(g.now(80000) == "PreparingRebalance 1 {A,B} A");
  g.heartbeat(84000, "A", 1);
  for (std::int64_t t = 120000; t < 304000; t += 40000) g.heartbeat(t, "A", 1);
  CHECK(g.now(303999) == "PreparingRebalance 1 {A,B} A");
  CHECK(g.now(304000) == "PreparingRebalance 1 {A} A");
  CHECK_FALSE(g.broken);
}

TEST_CASE("classic: a poll deadline makes a dynamic member leave, and lets a static one's session run out") {
  Timeline g = two_static();
  g.join(7000, "C");  // a rebalance, in which B does not take part
  g.join(7001, "A");
  g.join(7002, "B");
  CHECK(g.now() == "CompletingRebalance 2 {A,B,C} A");
  g.sync(7003, "A", 2);
  g.sync(7003, "B", 2);
  g.sync(7003, "C", 2);
  for (std::int64_t t = 40000; t <= 300000; t += 40000) {
    for (const char* id : {"A", "B", "C"}) g.heartbeat(t, id, 2);
  }
  CHECK(g.now(307001) == "Stable 2 {A,B,C} A");
  g.pass(307002);
  CHECK(g.state.members.at("A").poll_expired);
  CHECK_FALSE(g.state.members.contains("C"));
  g.heartbeat(310000, "A", 2);
  CHECK(g.now(324999) == "PreparingRebalance 2 {A,B} A");
  CHECK(g.now(325000).starts_with("Empty 3"));
  CHECK_FALSE(g.broken);
}

TEST_CASE("classic: protocols that nobody shares, and votes") {
  Timeline g;
  JoinRequest request;
  request.protocol = GroupProtocol::classic;
  request.topics = {"t"};
  request.member = "A";
  request.assignor = Assignor::sticky;
  g.at(0, [&](GroupTurn& turn) { return join(turn, request); });
  request.member = "B";
  request.assignor = Assignor::range;
  const auto error = caught([&] { g.at(1, [&](GroupTurn& turn) { return join(turn, request); }); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::inconsistent_group_protocol);
  request.assignor.reset();
  g.at(2, [&](GroupTurn& turn) { return join(turn, request); });
  g.pass(6000);
  CHECK(g.state.assignor == Assignor::sticky);
  request.protocol = GroupProtocol::immediate;
  CHECK(caught([&] { g.at(7000, [&](GroupTurn& turn) { return join(turn, request); }); })->code() ==
        ErrorCode::inconsistent_group_protocol);
}

TEST_CASE("classic: the cooperative assignor's two generations") {
  Timeline g(6);
  JoinRequest request;
  request.protocol = GroupProtocol::classic;
  request.topics = {"t"};
  request.assignor = Assignor::cooperative_sticky;
  const auto join_as = [&](std::int64_t now, const char* id) {
    request.member = id;
    g.at(now, [&](GroupTurn& turn) { return join(turn, request); });
  };
  join_as(0, "A");
  g.pass(3000);
  g.sync(3001, "A", 1);
  join_as(4000, "B");
  join_as(4001, "A");
  g.sync(4002, "A", 2);
  g.sync(4002, "B", 2);
  CHECK(text_of(g.state.members.at("A").assignment) == "t:0,1,2");
  CHECK(text_of(g.state.members.at("A").revoking) == "t:3,4,5");
  CHECK(text_of(g.state.members.at("B").assignment) == "-");
  join_as(4003, "A");
  CHECK(g.now() == "PreparingRebalance 2 {A,B} A");
  join_as(4004, "B");
  g.sync(4005, "A", 3);
  g.sync(4005, "B", 3);
  CHECK(text_of(g.state.members.at("A").assignment) == "t:0,1,2");
  CHECK(text_of(g.state.members.at("B").assignment) == "t:3,4,5");
  CHECK_FALSE(g.broken);
}

TEST_CASE("classic: a rebalance nobody answers does not keep a command busy for ever") {
  Timeline g;
  g.timeout = 1;
  g.instances["A"] = "i1";
  JoinRequest request;
  request.member = "A";
  request.instance = "i1";
  request.topics = {"t"};
  request.protocol = GroupProtocol::classic;
  request.session_timeout_ms = 0;
  request.rebalance_timeout_ms = 1;
  g.config.initial_rebalance_delay_ms = 0;
  g.at(0, [&](GroupTurn& turn) { return join(turn, request); });
  g.topics.set("t", 9);
  g.pass(1LL << 50);
  CHECK_FALSE(g.broken);
}
