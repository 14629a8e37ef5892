// A running member: what it is told to read, to give up, and what it has lost.
#include "core/group/group_session.h"

#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "tests/unit/group/fake_topics.h"
#include "tests/unit/io/caught.h"

using namespace tk;
using tk::test::caught;
using tk::test::FakeTopics;
using tk::test::text_of;

namespace {

struct World {
  World() : topics({{"t", 4}}), clock(1000), store(fs, "/d", clock, {.lock_wait = 0}) {
    fs.make_directories("/d");
    for (int i = 0; i < 4; ++i) topics.log("t", i).edges = {Offset(0), Offset(100), Offset(100)};
  }
  GroupSession session(const std::string& member = "", GroupProtocol protocol = GroupProtocol::consumer,
                       const std::optional<std::string>& instance = {},
                       std::optional<Assignor> assignor = {}) {
    GroupSession::Options options;
    options.group = "g";
    options.member = member;
    options.instance = instance;
    options.topics = {"t"};
    options.protocol_if_new = protocol;
    options.assignor = assignor;
    return {store, topics, options};
  }
  MemoryFileSystem fs;
  FakeTopics topics;
  FixedClock clock;
  GroupStore store;
};

/// "t:0,1 +t:0 -t:2 !t:3": reading, added, revoking, lost.
std::string now(const Membership& m) {
  std::string text = text_of(m.reading);
  if (!m.added.empty()) text += " +" + text_of(m.added);
  if (!m.revoking.empty()) text += " -" + text_of(m.revoking);
  if (!m.lost.empty()) text += " !" + text_of(m.lost);
  return text;
}

OffsetCommit to(int partition, std::int64_t offset) {
  return {{"t", PartitionId(partition)}, offset, {}, ""};
}

}  // namespace

TEST_CASE("session: consumer group, a partition is committed and let go before another reads it") {
  World w;
  GroupSession a = w.session(), b = w.session();
  Membership at_a = a.join();
  CHECK(at_a.member == "consume-00000000");
  CHECK(now(at_a) == "t:0,1,2,3 +t:0,1,2,3");
  a.commit({to(0, 10), to(1, 10), to(2, 10), to(3, 10)});
  Membership at_b = b.join();
  CHECK(now(at_b) == "-");
  CHECK_FALSE(at_b.settled);
  at_a = a.poll();
  CHECK(now(at_a) == "t:0,1 -t:2,3");
  CHECK(now(a.heartbeat()) == "t:0,1 -t:2,3");
  CHECK(now(b.poll()) == "-");  // they are still being read
  a.commit({to(2, 20), to(3, 20)});
  at_a = a.release();
  CHECK(now(at_a) == "t:0,1");
  at_b = b.poll();
  CHECK(now(at_b) == "t:2,3 +t:2,3");
  CHECK(at_b.settled);
  CHECK(b.position(b.group(), {"t", PartitionId(2)}, {}, false).offset == Offset(20));
  CHECK(b.position(b.group(), {"t", PartitionId(0)}, {}, false).offset == Offset(10));
  a.close();
  CHECK(now(b.poll()) == "t:0,1,2,3 +t:0,1");
  b.close();
  CHECK(w.store.read("g")->members.empty());
}

TEST_CASE("session: who was expelled has lost everything, and may join again") {
  World w;
  GroupSession a = w.session(), b = w.session();
  a.join();
  w.clock.set(2000);
  b.join();
  w.clock.set(46500);
  CHECK(now(b.poll()) == "t:0,1,2,3 +t:0,1,2,3");
  CHECK(caught([&] { a.commit({to(0, 10)}); })->code() == ErrorCode::unknown_member_id);
  const Membership out = a.poll();
  CHECK(out.expelled);
  CHECK(text_of(out.lost) == "t:0,1,2,3");
  const Membership again = a.join();
  CHECK(again.member == "consume-00000000");
  CHECK_FALSE(again.expelled);
  CHECK(now(b.poll()) == "t:0,1 -t:2,3");
  b.release();
  CHECK(now(a.poll()) == "t:2,3 +t:2,3");
}

TEST_CASE("session: a second process under the same id is refused; the next one goes on where it was") {
  World w;
  {
    GroupSession first = w.session("m");
    CHECK(now(first.join()) == "t:0,1,2,3 +t:0,1,2,3");
    first.commit({to(0, 10)});
    GroupSession second = w.session("m");
    const auto error = caught([&] { second.join(); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::log_dir_locked);
    first.close();  // named: it stays a member
  }
  CHECK(w.store.read("g")->members.size() == 1);
  GroupSession next = w.session("m");
  CHECK(now(next.join()) == "t:0,1,2,3 +t:0,1,2,3");
  CHECK(w.store.read("g")->generation == 1);
  next.leave();
  CHECK(w.store.read("g")->members.empty());
  CHECK_NOTHROW(next.leave());
}

TEST_CASE("session: a process that was killed while it gave something up") {
  World w;
  {
    GroupSession a = w.session("a");
    a.join();
    GroupSession b = w.session("b");
    b.join();
    CHECK(now(a.poll()) == "t:0,1 -t:2,3");
  }
  GroupSession again = w.session("a"), b = w.session("b");
  CHECK(now(again.join()) == "t:0,1 +t:0,1");
  again.poll();  // it has nothing of what was to be given up
  b.join();
  CHECK(text_of(b.poll().reading) == "t:2,3");
}

TEST_CASE("session: static members") {
  World w;
  {
    GroupSession a = w.session("", GroupProtocol::consumer, "i1");
    CHECK(a.join().member == "i1-00000000");
    GroupSession rival = w.session("", GroupProtocol::consumer, "i1");
    CHECK(caught([&] { rival.join(); })->code() == ErrorCode::unreleased_instance_id);
    a.close();
    CHECK(w.store.read("g")->members.at("i1-00000000").epoch == kEpochAway);
  }
  GroupSession next = w.session("", GroupProtocol::consumer, "i1");
  CHECK(now(next.join()) == "t:0,1,2,3 +t:0,1,2,3");
  CHECK(w.store.read("g")->generation == 1);
  next.commit({to(0, 7)});
}

TEST_CASE("session: immediate group, what another has now is lost at once") {
  World w;
  GroupSession a = w.session("a", GroupProtocol::immediate), b = w.session("b", GroupProtocol::immediate);
  a.join();
  CHECK(now(b.join()) == "t:2,3 +t:2,3");
  CHECK(caught([&] { a.commit({to(0, 10)}); })->code() == ErrorCode::illegal_generation);
  CHECK(now(a.poll()) == "t:0,1 !t:2,3");
  CHECK(a.commit({to(0, 10)}).front().previous == std::nullopt);
}

TEST_CASE("session: immediate group with the cooperative assignor") {
  World w;
  GroupSession a = w.session("a", GroupProtocol::immediate, {}, Assignor::cooperative_sticky);
  GroupSession b = w.session("b");
  a.join();
  CHECK(now(b.join()) == "-");
  CHECK(now(a.poll()) == "t:0,1 -t:2,3");
  a.commit({to(2, 20), to(3, 20)});
  a.commit({to(0, 5)});
  CHECK(now(a.release()) == "t:0,1");
  CHECK(now(b.poll()) == "t:2,3 +t:2,3");
}

TEST_CASE("session: classic group") {
  World w;
  GroupSession a = w.session("a", GroupProtocol::classic), b = w.session("b");
  Membership at_a = a.join();
  CHECK_FALSE(at_a.settled);
  CHECK(now(at_a) == "-");
  CHECK(now(a.poll()) == "-");
  w.clock.set(4000);
  at_a = a.poll();
  CHECK(now(at_a) == "t:0,1,2,3 +t:0,1,2,3");
  CHECK(at_a.settled);
  CHECK(at_a.generation == 1);
  a.commit({to(0, 10)});
  CHECK_FALSE(b.join().settled);
  at_a = a.poll();
  CHECK(now(at_a) == "- -t:0,1,2,3");  // a rebalance: all is to be committed and let go
  a.commit({to(0, 20)});
  at_a = a.release();
  CHECK_FALSE(at_a.settled);
  CHECK(now(at_a) == "-");
  b.poll();
  for (int i = 0; i < 3; ++i) {
    at_a = a.poll();
    if (at_a.settled) break;
  }
  CHECK(now(at_a) == "t:0,1 +t:0,1");
  const Membership at_b = b.poll();
  CHECK(now(at_b) == "t:2,3 +t:2,3");
  CHECK(at_b.settled);
  CHECK(a.position(a.group(), {"t", PartitionId(0)}, {}, false).offset == Offset(20));
  a.close();
  CHECK(w.store.read("g")->members.size() == 2);
}
