// Commits: who may, what they do, and how long they last (groups.md §7).
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/group/commits.h"
#include "core/group/lag.h"
#include "core/group/membership.h"
#include "tests/unit/group/fake_topics.h"
#include "tests/unit/io/caught.h"

using namespace tk;
using tk::test::caught;
using tk::test::FakeGroup;

namespace {

struct Group : FakeGroup {
  Group() : FakeGroup({{"t", 2}}) {
    topics.log("t", 0).edges = {Offset(10), Offset(95), Offset(100)};
    topics.log("t", 1).edges = {Offset(0), Offset(50), Offset(50)};
  }
  /// "ok", or the refusal's name.
  std::string commit(std::int64_t now, const CommitRequest& request) {
    try {
      at(now, [&](GroupTurn& turn) { return rows = tk::commit(turn, request); });
    } catch (const Error& error) {
      return std::string(code_name(error.code()));
    }
    return "ok";
  }
  std::string commit(std::int64_t now, std::int64_t offset, const std::optional<std::string>& member = {},
                     std::int64_t generation = -1) {
    return commit(now, {.offsets = {{{"t", PartitionId(0)}, offset, {}, ""}},
                        .member = member,
                        .instance = {},
                        .generation = generation,
                        .producer_id = {}});
  }
  void join(std::int64_t now, const std::string& id, GroupProtocol protocol,
            const std::optional<std::string>& instance = {}) {
    JoinRequest request;
    request.member = id;
    request.instance = instance;
    request.topics = {"t"};
    request.protocol = protocol;
    at(now, [&](GroupTurn& turn) { return tk::join(turn, request); });
  }
  void sync(std::int64_t now, const std::string& id) {
    at(now, [&](GroupTurn& turn) {
      return tk::sync(turn, {.member = id, .instance = {}, .generation = {}, .owned = {}});
    });
  }
  [[nodiscard]] const CommittedOffset* committed() const {
    return committed_offset(state, topics, {"t", PartitionId(0)});
  }

  std::vector<CommittedRow> rows;
};

/// A classic group in each of its states: no group, Empty, Preparing, Completing, Stable. "A" is a member and
/// the instance i1, which "old" was before.
Group in_state(int column) {
  Group g;
  if (column == 0) {
    g.exists = false;
    return g;
  }
  g.join(0, "old", GroupProtocol::classic, "i1");
  g.pass(3000);
  g.sync(3001, "old");
  g.join(3002, "A", GroupProtocol::classic, "i1");
  if (column == 1) g.at(3003, [](GroupTurn& turn) { return leave(turn, {.member = "A", .instance = {}}); });
  if (column == 2 || column == 3) g.join(3003, "B", GroupProtocol::classic);
  if (column == 3) g.join(3004, "A", GroupProtocol::classic, "i1");
  return g;
}

}  // namespace

TEST_CASE("commits: who may, in which state (the table of 7.3)") {
  struct Row {
    const char* who;
    std::optional<std::string> member;
    /// Relative to the group's generation; nothing: -1.
    std::optional<std::int64_t> behind;
    bool transaction;
    std::optional<std::string> instance;
    std::vector<std::string> expected;
  };
  const std::string unknown = "UNKNOWN_MEMBER_ID", illegal = "ILLEGAL_GENERATION",
                    none = "GROUP_ID_NOT_FOUND", fenced = "FENCED_INSTANCE_ID",
                    progress = "REBALANCE_IN_PROGRESS";
  const Row rows[] = {
      {"nobody", {}, {}, false, {}, {"ok", "ok", unknown, unknown, unknown}},
      {"nobody, transaction", {}, {}, true, {}, {"ok", "ok", "ok", "ok", "ok"}},
      {"member", "A", 0, false, {}, {none, unknown, "ok", progress, "ok"}},
      {"member, transaction", "A", 0, true, {}, {illegal, unknown, "ok", "ok", "ok"}},
      {"member, other generation", "A", 1, false, {}, {none, unknown, illegal, illegal, illegal}},
      {"no member", "Z", 0, false, {}, {none, unknown, unknown, unknown, unknown}},
      {"static, replaced", "old", 0, false, "i1", {"", unknown, fenced, fenced, fenced}},
  };
  const char* states[] = {"none", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"};
  for (const Row& row : rows) {
    for (int column = 0; column < 5; ++column) {
      if (row.expected[static_cast<std::size_t>(column)].empty()) continue;
      Group g = in_state(column);
      if (column > 0) REQUIRE(group_phase_name(g.state.phase) == states[column]);
      const GroupState before = g.state;
      CommitRequest request;
      request.offsets = {{{"t", PartitionId(0)}, 40, {}, "x"}};
      request.member = row.member;
      request.instance = row.instance;
      if (row.behind) request.generation = g.state.generation - *row.behind;
      if (row.transaction) request.producer_id = 4001;
      CAPTURE(row.who);
      CAPTURE(states[column]);
      const std::string got = g.commit(3010, request);
      CHECK(got == row.expected[static_cast<std::size_t>(column)]);
      if (got != "ok") CHECK(g.state.offsets == before.offsets);
      if (got == "ok" && !row.transaction) CHECK(g.committed()->offset == 40);
      if (got == "ok" && row.transaction) CHECK(g.committed() == nullptr);
      CHECK_FALSE(g.broken);
    }
  }
}

TEST_CASE("commits: a consumer group's member commits in its own epoch") {
  Group g;
  g.join(0, "A", GroupProtocol::consumer);
  g.join(1, "B", GroupProtocol::consumer);
  CHECK(g.commit(2, 40, "A", 2) == "STALE_MEMBER_EPOCH");
  CHECK(g.commit(2, 40, "A", 1) == "ok");
  CHECK(g.commit(2, 40) == "UNKNOWN_MEMBER_ID");
  CHECK_FALSE(g.rows.front().not_owner);
  CHECK(g.state.members.at("A").session_deadline_ms == 45002);
  CHECK(g.commit(3, 41, "B", 2) == "ok");
  CHECK(g.rows.front().not_owner);
}

TEST_CASE("commits: ranges, going back, metadata, and all or nothing") {
  Group g;
  CHECK(g.commit(0, 9) == "OFFSET_OUT_OF_RANGE");
  CHECK(g.commit(0, 101) == "OFFSET_OUT_OF_RANGE");
  CHECK(g.commit(0, 10) == "ok");
  CHECK_FALSE(g.rows.front().previous);
  CHECK(g.commit(1, 96) == "ok");
  CHECK(g.rows.front().above_high_watermark);
  CHECK(g.commit(2, 100) == "ok");
  CHECK(g.commit(3, 40) == "ok");
  CHECK(g.rows.front().went_back);
  CHECK(g.rows.front().previous == 100);
  CHECK(g.committed()->offset == 40);  // the last one counts, though it is smaller
  CHECK(g.committed()->commit_seq == 3);

  CommitRequest two;
  two.offsets = {{{"t", PartitionId(1)}, 5, {}, ""}, {{"t", PartitionId(2)}, 5, {}, ""}};
  CHECK(g.commit(4, two) == "UNKNOWN_TOPIC_OR_PARTITION");
  two.offsets[1] = {{"gone", PartitionId(0)}, 5, {}, ""};
  CHECK(g.commit(4, two) == "UNKNOWN_TOPIC_OR_PARTITION");
  CHECK(g.state.offsets.size() == 1);
  two.offsets[1] = {{"t", PartitionId(0)}, 50, {}, std::string(4097, 'm')};
  CHECK(g.commit(4, two) == "OFFSET_METADATA_TOO_LARGE");
  two.offsets[1].metadata = std::string(4096, 'm');
  CHECK(g.commit(4, two) == "ok");
  two.offsets[1].metadata = "\xff";
  CHECK(g.commit(4, two) == "INVALID_REQUEST");
}

TEST_CASE("commits: the epoch of the last consumed record is stored") {
  Group g;
  g.topics.log("t", 0).epochs = {{LeaderEpoch(1), Offset(0)}, {LeaderEpoch(3), Offset(40)}};
  g.commit(0, 40);
  CHECK(g.committed()->leader_epoch == 1);
  g.commit(0, 41);
  CHECK(g.committed()->leader_epoch == 3);
}

TEST_CASE("commits: those of a topic that was made anew under the same name do not apply") {
  Group g;
  g.topics.set_id("t", 1);
  g.commit(0, 40);
  REQUIRE(g.committed() != nullptr);
  g.topics.set_id("t", 2);
  CHECK(g.committed() == nullptr);
  g.commit(1, 20);
  CHECK_FALSE(g.rows.front().previous);
  CHECK(g.committed()->offset == 20);
}

TEST_CASE("commits: a transaction's offsets wait, and give way to what came later (7.5)") {
  Group g;
  CommitRequest pending{.offsets = {{{"t", PartitionId(0)}, 20, {}, ""}},
                        .member = {},
                        .instance = {},
                        .producer_id = 4001,
                        .producer_epoch = 3};
  g.commit(0, pending);
  CHECK(g.committed() == nullptr);
  CHECK(g.state.pending_txn.at(4001).epoch == 3);
  Group plain = g;
  g.at(1, [](GroupTurn& turn) { complete_transaction(turn, 4001, true); });
  CHECK(g.committed()->offset == 20);
  g.at(2, [](GroupTurn& turn) { complete_transaction(turn, 4001, true); });  // once more
  CHECK(g.state.pending_txn.empty());

  plain.commit(1, 17);
  plain.at(2, [](GroupTurn& turn) { complete_transaction(turn, 4001, true); });
  CHECK(plain.committed()->offset == 17);
  plain.commit(3, pending);
  plain.at(4, [](GroupTurn& turn) { complete_transaction(turn, 4001, false); });
  CHECK(plain.committed()->offset == 17);
}

TEST_CASE("commits: retention (7.6)") {
  constexpr std::int64_t week = 604800000;
  SUBCASE("a group that became empty: from then on, and it goes with its last offset") {
    Group g;
    g.join(0, "A", GroupProtocol::immediate);
    g.commit(500, 40, "A", 1);
    g.at(1000, [](GroupTurn& turn) { return leave(turn, {.member = "A", .instance = {}}); });
    g.pass(week + 999);
    CHECK(g.state.offsets.size() == 1);
    CHECK_FALSE(g.removed);
    Group reset = g;
    g.pass(week + 1000);
    CHECK(g.state.offsets.empty());
    CHECK(g.removed);
    CHECK(g.events.back().what == "offset_expired");
    // What was set since is as young as that.
    reset.at(week + 999, [](GroupTurn& turn) { set_offsets(turn, {{{"t", PartitionId(0)}, 12}}); });
    reset.pass(week + 1000);
    CHECK(reset.state.offsets.size() == 1);
    CHECK_FALSE(reset.removed);
  }
  SUBCASE("a group of commits alone: from the commit on") {
    Group g;
    g.commit(500, 40);
    g.pass(week + 499);
    CHECK(g.state.offsets.size() == 1);
    g.pass(week + 500);
    CHECK(g.removed);
  }
  SUBCASE("a group with members: only topics that nobody reads; not while it rebalances; not while pending") {
    Group g;
    g.topics.set("u", 1);
    g.topics.log("u", 0).edges = {Offset(0), Offset(9), Offset(9)};
    g.commit(0, {.offsets = {{{"t", PartitionId(0)}, 40, {}, ""}, {{"u", PartitionId(0)}, 4, {}, ""}},
                 .member = {},
                 .instance = {},
                 .producer_id = {}});
    JoinRequest request;
    request.member = "A";
    request.topics = {"t"};
    request.protocol = GroupProtocol::classic;
    request.session_timeout_ms = 0;
    request.rebalance_timeout_ms = 0;
    g.at(1, [&](GroupTurn& turn) { return join(turn, request); });
    g.pass(3001);
    Group rebalancing = g;
    rebalancing.pass(week * 2);
    CHECK(rebalancing.state.offsets.size() == 2);
    g.sync(3002, "A");
    Group pending = g;
    pending.commit(3003, {.offsets = {{{"u", PartitionId(0)}, 5, {}, ""}},
                          .member = {},
                          .instance = {},
                          .producer_id = 1,
                          .producer_epoch = 0});
    pending.pass(week * 2);
    CHECK(pending.state.offsets.size() == 2);
    g.pass(week);
    CHECK(g.state.offsets.size() == 1);
    CHECK(g.committed() != nullptr);
    CHECK_FALSE(g.removed);
  }
}

TEST_CASE("commits: forgetting offsets") {
  Group g;
  g.commit(0, {.offsets = {{{"t", PartitionId(0)}, 40, {}, ""}, {{"t", PartitionId(1)}, 4, {}, ""}},
               .member = {},
               .instance = {},
               .producer_id = {}});
  Group busy = g;
  busy.join(1, "A", GroupProtocol::immediate);
  CHECK(caught([&] { busy.at(2, [](GroupTurn& turn) { return delete_offsets(turn, "t", {}); }); })->code() ==
        ErrorCode::group_subscribed_to_topic);
  CHECK(caught([&] {
          busy.at(2, [](GroupTurn& turn) { set_offsets(turn, {{{"t", PartitionId(0)}, 1}}); });
        })->code() == ErrorCode::non_empty_group);
  CHECK(g.at(1, [](GroupTurn& turn) { return delete_offsets(turn, "t", PartitionId(1)); }).size() == 1);
  CHECK(g.at(2, [](GroupTurn& turn) { return delete_offsets(turn, "t", {}); }).size() == 1);
  CHECK(g.state.offsets.empty());
}

TEST_CASE("lag: what is left to read") {
  CHECK(lag_of(Offset(80), Offset(10), Offset(95)) == 15);
  CHECK(lag_of(Offset(80), Offset(10), Offset(90)) == 10);
  CHECK(lag_of(Offset(3), Offset(10), Offset(95)) == 85);
  CHECK(lag_of(Offset(101), Offset(10), Offset(95)) == 0);
}
