// The consumer protocol: the timelines of groups.md §5, and random schedules against its invariants.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/group/membership.h"
#include "tests/unit/group/fake_topics.h"
#include "tests/unit/io/caught.h"

using namespace tk;
using tk::test::caught;
using tk::test::FakeGroup;
using tk::test::partitions;
using tk::test::text_of;

namespace {

class Group : public FakeGroup {
 public:
  explicit Group(const std::map<std::string, std::int32_t>& counts) : FakeGroup(counts) {}

  MemberReply join(std::int64_t now, const std::string& id, std::vector<std::string> to = {"t"},
                   const std::optional<std::string>& instance = {}) {
    JoinRequest request;
    request.member = id;
    request.instance = instance;
    request.topics = std::move(to);
    request.protocol = GroupProtocol::consumer;
    request.rebalance_timeout_ms = rebalance_timeout;
    return at(now, [&](GroupTurn& turn) { return tk::join(turn, request); });
  }
  std::string heartbeat(std::int64_t now, const std::string& id, std::int64_t epoch,
                        std::optional<PartitionList> owned = {},
                        const std::optional<std::string>& instance = {}) {
    HeartbeatRequest request{
        .member = id, .instance = instance, .generation = epoch, .owned = std::move(owned), .polls = true};
    try {
      at(now, [&](GroupTurn& turn) { return tk::heartbeat(turn, request); });
    } catch (const Error& error) {
      return std::string(code_name(error.code()));
    }
    return one(id);
  }
  /// "e2 STABLE t:0,1 / t:2": epoch, state, assigned, revoking.
  std::string one(const std::string& id) const {
    const auto at = state.members.find(id);
    if (at == state.members.end()) return "gone";
    const GroupMember& m = at->second;
    std::string text = "e" + std::to_string(m.epoch) + " " + std::string(member_phase_name(m.phase)) + " " +
                       text_of(m.assignment);
    return m.revoking.empty() ? text : text + " / " + text_of(m.revoking);
  }
  std::string epochs() const {
    return std::to_string(state.generation) + "/" + std::to_string(state.target_epoch) + " " +
           std::string(group_phase_name(state.phase));
  }

  std::int64_t rebalance_timeout = 300000;
};

Group c1_row_3() {
  Group g({{"t", 3}});
  g.join(0, "A");
  CHECK(g.epochs() == "1/1 Stable");
  CHECK(g.one("A") == "e1 STABLE t:0,1,2");
  g.join(1, "B");
  CHECK(g.epochs() == "2/2 Reconciling");
  CHECK(g.one("A") == "e1 STABLE t:0,1,2");
  CHECK(g.one("B") == "e2 UNRELEASED -");
  CHECK(g.heartbeat(2, "A", 1) == "e1 UNREVOKED t:0,1 / t:2");
  return g;
}

}  // namespace

TEST_CASE("consumer C1: a partition changes hands when its owner has let it go") {
  Group g = c1_row_3();
  CHECK(g.heartbeat(3, "B", 2) == "e2 UNRELEASED -");
  CHECK(g.heartbeat(4, "A", 1, partitions("t", {0, 1})) == "e2 STABLE t:0,1");
  CHECK(g.epochs() == "2/2 Reconciling");
  CHECK(g.heartbeat(5, "B", 2) == "e2 STABLE t:2");
  CHECK(g.epochs() == "2/2 Stable");
  g.at(6, [](GroupTurn& turn) { return leave(turn, {.member = "A", .instance = {}}); });
  CHECK(g.epochs() == "3/2 Assigning");
  CHECK(g.one("B") == "e2 STABLE t:2");
  CHECK(g.heartbeat(7, "B", 2) == "e3 STABLE t:0,1,2");
  CHECK(g.epochs() == "3/3 Stable");
  CHECK_FALSE(g.broken);
}

TEST_CASE("consumer C2: the owner dies before it has answered") {
  Group g = c1_row_3();
  CHECK(g.heartbeat(40000, "B", 2) == "e2 UNRELEASED -");
  g.pass(45001);
  CHECK(g.one("A") == "e1 UNREVOKED t:0,1 / t:2");
  g.pass(45002);
  CHECK(g.one("A") == "gone");
  CHECK(g.epochs() == "3/2 Assigning");
  CHECK(g.heartbeat(45003, "B", 2) == "e3 STABLE t:0,1,2");
  CHECK_FALSE(g.broken);
}

TEST_CASE("consumer C3: the owner lives, and keeps what it should give up") {
  Group g = c1_row_3();
  for (std::int64_t t = 40000; t < 300002; t += 40000) {
    CHECK(g.heartbeat(t, "A", 1, partitions("t", {0, 1, 2})) == "e1 UNREVOKED t:0,1 / t:2");
    g.heartbeat(t, "B", 2);
  }
  g.pass(300001);
  CHECK(g.one("A") != "gone");
  g.pass(300002);
  CHECK(g.one("A") == "gone");
  CHECK(g.heartbeat(300003, "A", 1) == "UNKNOWN_MEMBER_ID");
  CHECK(g.events.back().what == "generation");
  CHECK(std::ranges::count(g.events, "fenced", &GroupEvent::what) == 1);
  CHECK_FALSE(g.broken);
}

TEST_CASE("consumer: epochs that do not match") {
  Group g = c1_row_3();
  CHECK(g.heartbeat(3, "A", 2) == "FENCED_MEMBER_EPOCH");
  CHECK(g.heartbeat(4, "A", 1, partitions("t", {0, 1})) == "e2 STABLE t:0,1");
  // The answer was lost and the member repeats itself, in the previous epoch, with what it may hold.
  CHECK(g.heartbeat(5, "A", 1, partitions("t", {0, 1})) == "e2 STABLE t:0,1");
  CHECK(g.heartbeat(6, "A", 1, partitions("t", {0, 1, 2})) == "FENCED_MEMBER_EPOCH");
  CHECK(g.heartbeat(6, "A", 1) == "FENCED_MEMBER_EPOCH");
  CHECK(g.heartbeat(6, "A", 0, PartitionList()) == "FENCED_MEMBER_EPOCH");
}

TEST_CASE("consumer: assignors") {
  Group g({{"t", 3}, {"u", 3}});
  JoinRequest request;
  request.member = "A";
  request.topics = {"t", "u"};
  request.protocol = GroupProtocol::consumer;
  request.assignor = Assignor::sticky;
  CHECK(caught([&] { g.at(0, [&](GroupTurn& turn) { return join(turn, request); }); })->code() ==
        ErrorCode::unsupported_assignor);
  request.assignor = Assignor::range;
  g.at(0, [&](GroupTurn& turn) { return join(turn, request); });
  g.join(1, "B", {"t", "u"});
  CHECK(text_of(g.state.target.at("A")) == "t:0,1 u:0,1");
  CHECK(text_of(g.state.target.at("B")) == "t:2 u:2");
  CHECK(g.state.assignor == Assignor::range);
}

TEST_CASE("consumer: more partitions, and a topic that goes, are a new epoch") {
  Group g({{"t", 2}});
  g.join(0, "A");
  g.topics.set("t", 3);
  CHECK(g.heartbeat(1, "A", 1, partitions("t", {0, 1})) == "e2 STABLE t:0,1,2");
  CHECK(g.epochs() == "2/2 Stable");
  g.topics.remove("t");
  CHECK(g.heartbeat(2, "A", 2, partitions("t", {0, 1, 2})) == "e2 UNREVOKED - / t:0,1,2");
  CHECK(g.heartbeat(3, "A", 2, PartitionList()) == "e3 STABLE -");
  CHECK_FALSE(g.broken);
}

TEST_CASE("consumer: a static member leaves for a while") {
  Group g({{"t", 4}});
  g.join(0, "A", {"t"}, "i1");
  g.join(1, "B");
  g.heartbeat(2, "A", 1, partitions("t", {0, 1, 2, 3}), "i1");
  CHECK(caught([&] { g.join(3, "A2", {"t"}, "i1"); })->code() == ErrorCode::unreleased_instance_id);
  CHECK(g.heartbeat(3, "A", kEpochAway, {}, "i1") == "e-2 STABLE t:0,1");
  CHECK(g.state.generation == 2);
  g.join(4, "A2", {"t"}, "i1");
  CHECK(g.state.generation == 2);  // no new epoch
  CHECK(g.one("A2") == "e2 STABLE t:0,1");
  CHECK(g.heartbeat(5, "A", 2, {}, "i1") == "FENCED_INSTANCE_ID");
  CHECK(g.heartbeat(5, "B", 2) == "e2 STABLE t:2,3");
  CHECK(caught([&] { g.heartbeat(6, "B", kEpochAway); }) == std::nullopt);
  CHECK(g.heartbeat(6, "B", kEpochAway) == "INVALID_REQUEST");
  CHECK_FALSE(g.broken);
}

namespace {

/// A client as it may behave: it learns late, answers late, and repeats itself.
struct Client {
  std::int64_t epoch = 0;
  PartitionList owned;
  std::optional<PartitionList> pending;
};

struct Schedule {
  explicit Schedule(std::uint32_t seed) : random(seed), group({{"a", draw(1, 5)}, {"b", draw(1, 4)}}) {}

  int draw(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); }
  std::vector<std::string> some_topics() {
    const std::vector<std::vector<std::string>> all = {{"a"}, {"b"}, {"a", "b"}};
    return all[static_cast<std::size_t>(draw(0, 2))];
  }
  void learn(const std::string& id) {
    Client& client = clients[id];
    if (draw(0, 9) == 0) return;  // the answer is lost
    client.epoch = group.state.members.at(id).epoch;
    client.pending = group.state.members.at(id).assignment;
  }

  void step() {
    now += draw(0, 3000);
    group.pass(now);
    const std::string id(1, static_cast<char>('A' + draw(0, 4)));
    if (!group.state.members.contains(id)) {
      clients.erase(id);
      if (draw(0, 2) != 0) return;
      group.join(now, id, some_topics());
      clients[id] = {group.state.members.at(id).epoch, {}, group.state.members.at(id).assignment};
      return;
    }
    const int what = draw(0, 99);
    if (what < 5) {
      group.at(now, [&](GroupTurn& turn) { return leave(turn, {.member = id, .instance = {}}); });
    } else if (what < 12) {
      group.join(now, id, some_topics());
    } else if (what < 14) {
      group.topics.set("a", draw(1, 6));
    } else if (what < 90) {
      Client& client = clients[id];
      if (client.pending && draw(0, 9) < 7) client.owned = *std::exchange(client.pending, std::nullopt);
      std::optional<PartitionList> owned;
      if (draw(0, 9) < 8) owned = client.owned;
      const std::string reply = group.heartbeat(now, id, client.epoch, owned);
      if (reply == "FENCED_MEMBER_EPOCH") {
        group.at(now, [&](GroupTurn& turn) { return leave(turn, {.member = id, .instance = {}}); });
      } else {
        learn(id);
      }
    }
  }

  /// Everybody does as told: a few rounds bring all to the target.
  void settle() {
    for (int round = 0; round < 12; ++round) {
      std::vector<std::string> ids;
      for (const auto& [id, member] : group.state.members) ids.push_back(id);
      for (const std::string& id : ids) {
        const GroupMember member = group.state.members.at(id);
        group.heartbeat(now, id, member.epoch, member.assignment);
      }
    }
  }

  std::mt19937 random;
  Group group;
  std::map<std::string, Client> clients;
  std::int64_t now = 0;
};

}  // namespace

TEST_CASE("consumer: random schedules never give a partition to two, and come to rest at the target") {
  std::int64_t steps = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Schedule schedule(seed);
    CAPTURE(seed);
    for (int i = 0; i < 60; ++i, ++steps) {
      schedule.step();
      REQUIRE(schedule.group.broken.value_or("") == "");
    }
    schedule.settle();
    const GroupState& state = schedule.group.state;
    REQUIRE(schedule.group.broken.value_or("") == "");
    REQUIRE(state.phase == (state.members.empty() ? GroupPhase::empty : GroupPhase::stable));
    for (const auto& [id, member] : state.members) REQUIRE(member.assignment == state.target.at(id));
  }
  CHECK(steps == 18000);
}

namespace {

PartitionList parse_partitions(const std::string& text) {
  PartitionList list;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == "-" || word == "null") continue;
    std::istringstream numbers(word.substr(word.find(':') + 1));
    for (std::string number; std::getline(numbers, number, ',');) {
      list.push_back({word.substr(0, word.find(':')), PartitionId(std::stoi(number))});
    }
  }
  return list;
}

// "1/1 Stable | C e1 STABLE b:0 / -"
std::string state_line(const Group& group) {
  std::string text = group.epochs();
  for (const auto& [id, member] : group.state.members) {
    text += " | " + id + " e" + std::to_string(member.epoch) + " " +
            std::string(member_phase_name(member.phase)) + " " + text_of(member.assignment) + " / " +
            text_of(member.revoking);
  }
  return text;
}

/// Takes one line of the recording, without its expectation.
std::string take(Group& group, const std::string& command) {
  std::istringstream in(command);
  std::string what, id;
  in >> what >> id;
  if (what == "leave") {
    group.at(0, [&](GroupTurn& turn) { return leave(turn, {.member = id, .instance = {}}); });
  } else if (what == "join") {
    JoinRequest request;
    request.member = id;
    request.protocol = GroupProtocol::consumer;
    request.assignor = Assignor::range;
    std::string topics;
    in >> topics;
    std::istringstream names(topics);
    for (std::string topic; std::getline(names, topic, ',');) request.topics.push_back(topic);
    group.at(0, [&](GroupTurn& turn) { return join(turn, request); });
  } else {
    std::int64_t epoch = 0;
    std::string owned;
    in >> epoch >> std::ws;
    std::getline(in, owned);
    std::optional<PartitionList> held;
    if (owned != "null") held = parse_partitions(owned);
    const std::string reply = group.heartbeat(0, id, epoch, held);
    if (reply.ends_with("_EPOCH")) return reply;
  }
  return state_line(group);
}

}  // namespace

TEST_CASE("consumer: step by step as an independent model of the protocol has it") {
  std::ifstream file(std::string(TK_FIXTURES) + "/consumer-protocol-steps.txt");
  std::optional<Group> group;
  int steps = 0;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    CAPTURE(number);
    CAPTURE(line);
    if (line.starts_with("group ")) {
      const auto colon = [&](char topic) {
        return std::stoi(line.substr(line.find(std::string(1, topic) + ":") + 2));
      };
      group.emplace(std::map<std::string, std::int32_t>{{"a", colon('a')}, {"b", colon('b')}});
      continue;
    }
    const std::size_t arrow = line.find(" => ");
    REQUIRE(group);
    REQUIRE(take(*group, line.substr(0, arrow)) == line.substr(arrow + 4));
    REQUIRE(group->broken.value_or("") == "");
    ++steps;
  }
  CHECK(steps == 717);
}
