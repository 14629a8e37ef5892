// Groups on a disk: one change is one replacement, whatever happens in the middle of it.
#include "core/group/group_store.h"

#include <doctest/doctest.h>

#include "core/group/commits.h"
#include "core/group/group_file.h"
#include "core/group/membership.h"
#include "core/io/memory_file_system.h"
#include "tests/unit/group/fake_topics.h"
#include "tests/unit/io/caught.h"
#include "tests/unit/io/memory_disk_steps.h"

using namespace tk;
using tk::test::caught;
using tk::test::FakeTopics;

namespace {

struct World {
  World() : topics({{"t", 4}}), clock(1000) {
    fs.make_directories("/d");
    for (int i = 0; i < 4; ++i) topics.log("t", i).edges = {Offset(0), Offset(100), Offset(100)};
  }
  GroupStore store(GroupStore::Options options = {.lock_wait = 0}) { return {fs, "/d", clock, options}; }
  GroupStore::Outcome join(const std::string& id, const std::string& group = "g") {
    JoinRequest request;
    request.member = id;
    request.topics = {"t"};
    return store().change(group, topics, [&](GroupTurn& turn) { tk::join(turn, request); });
  }
  GroupStore::Outcome commit(std::int64_t offset) {
    return store().change("g", topics, [&](GroupTurn& turn) {
      tk::commit(turn, {.offsets = {{{"t", PartitionId(0)}, offset, {}, ""}},
                        .member = {},
                        .instance = {},
                        .producer_id = {}});
    });
  }
  std::string text() { return read_whole(fs, "/d/group-g.json"); }
  std::vector<std::string> events(const std::string& group = "g") { return store().history(group).lines; }

  MemoryFileSystem fs;
  FakeTopics topics;
  FixedClock clock;
};

}  // namespace

TEST_CASE("group store: changes, one file a group") {
  World w;
  CHECK_FALSE(w.store().read("g"));
  w.join("A");
  w.join("B");
  w.join("A", "other");
  const auto group = w.store().read("g");
  REQUIRE(group);
  CHECK(group->generation == 2);
  CHECK(group->seq == 2);
  CHECK(group->last_now_ms == 1000);
  CHECK(w.store().names() == std::vector<std::string>{"g", "other"});
  CHECK(w.events().size() == 7);
  CHECK(w.events().front() ==
        R"({"ts":1000,"group":"g","ev":"join","member":"A","generation":0,"detail":{}})");
  CHECK(w.store().unknown_group("othr").hint() == "did you mean 'other'?");
}

TEST_CASE("group store: a refusal changes nothing but what had fallen due") {
  World w;
  w.join("A");
  w.clock.set(2000);
  w.join("B");
  const std::string before = w.text();
  CHECK(caught([&] { w.commit(5); })->code() == ErrorCode::unknown_member_id);
  CHECK(w.text() == before);
  w.clock.set(46000);  // A's session is over, B's not yet
  CHECK(caught([&] { w.commit(5); })->code() == ErrorCode::unknown_member_id);
  const auto group = w.store().read("g");
  CHECK(group->members.size() == 1);
  CHECK(group->generation == 3);
  CHECK(group->last_now_ms == 46000);
  CHECK(group->offsets.empty());
}

TEST_CASE("group store: looking at this moment writes nothing") {
  World w;
  w.join("A");
  const std::string before = w.text();
  w.clock.set(60000);
  const auto now = w.store().at_this_moment(w.store().read("g"), w.topics);
  CHECK(now->members.empty());
  CHECK(now->generation == 2);
  CHECK(w.text() == before);
  CHECK(w.fs.list("/d").size() == 3);
}

TEST_CASE("group store: a clock that goes back does not take the group back") {
  World w;
  w.join("A");
  w.clock.set(30000);
  w.join("B");
  w.clock.set(5);
  const auto outcome = w.join("C");
  CHECK(outcome.clock_regressed);
  const auto group = w.store().read("g");
  CHECK(group->last_now_ms == 30000);
  CHECK(group->members.at("C").session_deadline_ms == 75000);
  w.clock.set(40000);
  CHECK_FALSE(w.join("C").clock_regressed);
}

TEST_CASE("group store: a damaged file stops only its own group, and is set aside when asked") {
  World w;
  w.join("A");
  w.join("A", "other");
  std::string text = w.text();
  text[text.size() / 2] ^= 1;
  test::put_durably(w.fs, "/d/group-g.json", text);
  CHECK(caught([&] { w.join("B"); })->code() == ErrorCode::corrupt_state);
  CHECK(w.text() == text);
  CHECK_NOTHROW(w.join("B", "other"));
  CHECK(w.store().set_aside("other").empty());
  CHECK(w.store().set_aside("g") == "/d/group-g.json.damaged-1000");
  CHECK(read_whole(w.fs, "/d/group-g.json.damaged-1000") == text);
  CHECK_NOTHROW(w.join("B"));
  // A file under a name that is not its own.
  test::put_durably(w.fs, "/d/group-x.json", w.text());
  CHECK(caught([&] { static_cast<void>(w.store().read("x")); })->code() == ErrorCode::corrupt_state);
  CHECK(caught([&] { w.store().set_aside("none"); })->code() == ErrorCode::group_id_not_found);
}

TEST_CASE("group store: one at a time") {
  World w;
  w.join("A");
  const auto held = lock_exclusive(w.fs, "/d/group-g.lock", 0);
  const auto error = caught([&] { w.join("B"); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::log_dir_locked);
  CHECK(error->path() == "/d/group-g.lock");
  CHECK_NOTHROW(w.join("B", "other"));
  CHECK(w.store().read("g")->members.size() == 1);  // readers wait for nobody
}

TEST_CASE("group store: removal") {
  World w;
  w.join("A");
  const auto allowed = [](const GroupState& group) { require_no_members(group, "deleting it"); };
  CHECK(caught([&] { w.store().remove("g", w.topics, allowed); })->code() == ErrorCode::non_empty_group);
  w.clock.set(60000);  // by now it has none
  w.store().remove("g", w.topics, allowed);
  CHECK(w.fs.list("/d").size() == 1);  // the lock file
  CHECK(caught([&] { w.store().remove("g", w.topics, allowed); })->code() == ErrorCode::group_id_not_found);
}

TEST_CASE("group store: a group goes with its last offset, and what must not go back does not") {
  World w;
  w.commit(5);
  w.clock.set(1000 + 604800000);
  const auto gone = w.store().at_this_moment(w.store().read("g"), w.topics);
  CHECK_FALSE(gone);
  const auto error = caught([&] {
    w.store().change("g", w.topics, [](GroupTurn& turn) {
      CHECK_FALSE(turn.exists);
      require_member(turn.group, "A", {});
    });
  });
  CHECK(error->code() == ErrorCode::unknown_member_id);
  CHECK_FALSE(w.fs.stat("/d/group-g.json"));
  CHECK(w.events().back().find("offset_expired") != std::string::npos);

  World again;
  again.commit(5);
  again.clock.set(1000 + 604800000);
  again.commit(7);
  CHECK(again.store().read("g")->next_commit_seq == 2);
  CHECK(again.store().read("g")->offsets.begin()->second.offset == 7);
}

TEST_CASE("group store: an invariant that would break is an error, and nothing is saved") {
  World w;
  w.join("A");
  const std::string before = w.text();
  const auto error = caught([&] {
    w.store().change("g", w.topics,
                     [](GroupTurn& turn) { turn.group.members["B"] = turn.group.members.at("A"); });
  });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::unknown_server_error);
  CHECK(error->message().find("G2") != std::string::npos);
  CHECK(w.text() == before);
}

TEST_CASE("group store: the history keeps its newer half, and survives a cut line") {
  World w;
  w.join("A");
  for (int i = 0; i < 12000; ++i) {
    append_events(w.fs, "/d/group-g.events.ndjson", "g",
                  {{i, "commit", "A", 1, R"({"commit_seq":1,"offsets":{}})"}});
  }
  const std::uint64_t size = w.fs.stat("/d/group-g.events.ndjson")->size;
  CHECK(size <= kLargestHistory);
  CHECK(size > kLargestHistory / 2);
  CHECK(w.events().back().starts_with(R"({"ts":11999,)"));
  CHECK(w.events().front().starts_with(R"({"ts":)"));
  CHECK_FALSE(w.fs.stat("/d/group-g.events.ndjson.tmp"));

  w.fs.open("/d/group-g.events.ndjson", OpenMode::write)->truncate(size - 5);
  append_events(w.fs, "/d/group-g.events.ndjson", "g", {{7, "join", "B", 1, "{}"}});
  const History history = w.store().history("g");
  CHECK(history.unreadable == 1);
  CHECK(history.lines.back().starts_with(R"({"ts":7,)"));
}

TEST_CASE("group store: a history that cannot be written does not undo the change") {
  World w;
  w.join("A");
  w.fs.on_call = [](const DiskCall& call) {
    const bool history = call.path.ends_with(".events.ndjson") && call.kind == DiskCall::Kind::write;
    return history ? DiskFate::fails : DiskFate::done;
  };
  const auto outcome = w.join("B");
  CHECK(outcome.history_error);
  CHECK(w.store().read("g")->members.size() == 2);
}

// The crash points of groups.md §13: before, in the middle of and after each step of the replacement.
TEST_CASE("group store: a failure or a power cut at any call leaves the old state or the new one, whole") {
  int moments = 0;
  for (const DiskFate fate : {DiskFate::fails, DiskFate::torn, DiskFate::power_off}) {
    for (const UnsyncedFate left :
         {UnsyncedFate::all_lost, UnsyncedFate::all_kept, UnsyncedFate::random_blocks}) {
      bool completed = false;
      std::uint64_t at = 0;
      for (; !completed && at < 60; ++at, ++moments) {
        World w;
        w.commit(5);
        w.fs.sync_directory("/d");
        const std::string old_text = w.text();
        const std::uint64_t begin = w.fs.calls();
        w.fs.on_call = [&](const DiskCall& call) {
          return call.number == begin + at ? fate : DiskFate::done;
        };
        const auto error = caught([&] { w.commit(7); });
        completed = !error && w.fs.calls() <= begin + at;
        w.fs.on_call = nullptr;
        if (fate == DiskFate::power_off || completed) test::cut(w.fs, left, at);
        CAPTURE(at);
        const auto group = w.store().read("g");
        REQUIRE(group);
        const std::int64_t offset = group->offsets.at({"t", PartitionId(0)}).offset;
        CHECK((offset == 5 || offset == 7));
        if (!error && fate != DiskFate::power_off) CHECK(offset == 7);
        if (offset == 5) CHECK(w.text() == old_text);
        // The next command works, and leaves no temporary file.
        w.commit(9);
        CHECK(w.store().read("g")->offsets.at({"t", PartitionId(0)}).offset == 9);
        CHECK_FALSE(w.fs.stat("/d/group-g.json.tmp"));
      }
      CHECK(completed);
    }
  }
  CHECK(moments > 60);
}
