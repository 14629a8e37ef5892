// K1 to K5 of replication.md §6.5, on a disk in memory.
#include "core/cluster/quorum.h"

#include <doctest/doctest.h>

#include "core/format/record_decoder.h"
#include "core/io/memory_file_system.h"

using namespace tk;

namespace {

ReplicaLog::Options unforced() {
  ReplicaLog::Options options;
  options.sync = SyncPolicy::never;
  return options;
}

struct Voters {
  explicit Voters(std::int32_t count, Rules with = {}) : rules(with) {
    std::vector<std::int32_t> ids;
    for (std::int32_t id = 1; id <= count; ++id) ids.push_back(id);
    for (const std::int32_t id : ids) {
      voters.push_back(std::make_unique<QuorumVoter>(disk, id, ids, "/q/controller-" + std::to_string(id),
                                                     rules, unforced()));
      voters.back()->start(now);
    }
  }
  QuorumVoter& operator[](std::int32_t id) { return *voters[static_cast<std::size_t>(id - 1)]; }

  /// Who of `asked` grants.
  std::vector<std::int32_t> stand(std::int32_t id, const std::vector<std::int32_t>& asked) {
    const VoteRequest request = (*this)[id].stand(now);
    std::vector<std::int32_t> granted;
    for (const std::int32_t other : asked) {
      const bool grant = (*this)[other].vote(request, now);
      if (grant) granted.push_back(other);
      (*this)[id].take_vote(other, request.epoch, grant, now);
    }
    if ((*this)[id].role() == QuorumRole::leader) {
      for (const std::int32_t other : asked) (*this)[other].hear_leader(request.epoch, id, now);
    }
    return granted;
  }
  std::string fetch(std::int32_t id, std::int64_t max = INT64_MAX) {
    const auto request = (*this)[id].next_fetch(max);
    if (!request) return "idle";
    return (*this)[id].take((*this)[*(*this)[id].leader()].handle(*request, now), now);
  }
  /// "LC1 a b"
  std::string log(std::int32_t id) {
    StoredUnits units;
    (*this)[id].log().read(Offset(0), INT64_MAX, 1U << 20, units);
    std::string text;
    RecordDecoder decoder;
    std::size_t at = 0;
    for (const UnitInfo& unit : units.units) {
      if (!text.empty()) text += " ";
      const ByteView bytes = units.bytes.view().subspan(at, unit.size);
      at += unit.size;
      if (unit.control) {
        text += "LC" + std::to_string(unit.leader_epoch.value());
        continue;
      }
      CHECK(!decoder.decode(bytes, unit, [&](const RecordView& record) { text += *record.value; }));
    }
    return text;
  }
  std::int64_t high_watermark(std::int32_t id) {
    return (*this)[id].high_watermark().value_or(Offset(-1)).value();
  }

  MemoryFileSystem disk;
  Rules rules;
  std::int64_t now = 0;
  std::vector<std::unique_ptr<QuorumVoter>> voters;
};

using Ids = std::vector<std::int32_t>;

/// 1 leads e1: 1 = LC1 a b c, 2 = LC1 a b, 3 = LC1 a.
void start_k1(Voters& q) {
  CHECK(q.stand(1, {2, 3}) == Ids{2, 3});
  q[1].append("a", 0);
  q.fetch(2);
  q.fetch(3);
  q.fetch(2);
  q.fetch(3);
  q[1].append("b", 0);
  q.fetch(2);
  q.fetch(2);
  q[1].append("c", 0);
  CHECK(q.log(1) == "LC1 a b c");
  CHECK(q.log(2) == "LC1 a b");
  CHECK(q.log(3) == "LC1 a");
  CHECK(q.high_watermark(1) == 3);
}

/// The deposed leader's record that reached a majority in a later epoch only (K3).
void run_k3(Voters& q) {
  CHECK(q.stand(1, {2, 3, 4, 5}) == Ids{2, 3, 4, 5});
  for (int i = 0; i < 2; ++i) {
    for (const std::int32_t id : {2, 3, 4, 5}) q.fetch(id);
  }
  q[1].kill();
  q[1].start(0);
  CHECK(q.stand(1, {2, 4}) == Ids{2, 4});
  q.fetch(2);
  CHECK(q.log(2) == "LC1 LC2");
  q[1].kill();
  for (const std::int32_t id : {3, 5}) q[id].hear_leader(LeaderEpoch(2), 1, 0);
  CHECK(q.stand(5, {3, 4}) == Ids{3, 4});
  CHECK(q.log(5) == "LC1 LC3");
  q[5].kill();
  q[1].start(0);
  q[1].hear_leader(LeaderEpoch(3), 5, 0);
  CHECK(q.stand(1, {2, 3}) == Ids{2, 3});
  CHECK(q.log(1) == "LC1 LC2 LC4");
  CHECK(q.fetch(2, 1) == "+1");
  CHECK(q.fetch(3, 1) == "+1");
  CHECK(q.log(3) == "LC1 LC2");
  q.fetch(3, 0);
  q.fetch(2, 0);
}

}  // namespace

TEST_SUITE("cluster.quorum") {
  TEST_CASE("K1 and K2: the longer log wins, and its high watermark waits for a record of its epoch") {
    Voters q(3);
    start_k1(q);
    q[1].kill();
    CHECK(q.stand(3, {2}).empty());
    CHECK(q[3].role() == QuorumRole::candidate);
    CHECK(q.stand(2, {3}) == Ids{3});
    CHECK(q[2].epoch() == LeaderEpoch(3));
    CHECK(q.fetch(3) == "+2");
    CHECK(q.high_watermark(2) == -1);  // K2: 2 is not above the epoch's start, 3
    q.fetch(3);
    CHECK(q.high_watermark(2) == 4);
    q[1].start(0);
    q[1].hear_leader(LeaderEpoch(3), 2, 0);
    CHECK(q.fetch(1) == "diverging (1,3) truncated 1");
    q.fetch(1);
    for (const std::int32_t id : {1, 2, 3}) CHECK(q.log(id) == "LC1 a b LC3");
  }

  TEST_CASE("K3: a record of an older epoch on a majority is not committed by that alone") {
    Voters q(5);
    run_k3(q);
    CHECK(q.high_watermark(1) == -1);
    q[1].kill();
    q[5].start(0);
    q[5].hear_leader(LeaderEpoch(4), 1, 0);
    CHECK(q.stand(5, {2, 3, 4}) == Ids{3, 4});
    for (int i = 0; i < 4; ++i) {
      for (const std::int32_t id : {2, 3, 4}) q.fetch(id);
    }
    for (const std::int32_t id : {2, 3, 4, 5}) CHECK(q.log(id) == "LC1 LC3 LC5");
    CHECK(q.high_watermark(5) == 3);
  }

  TEST_CASE("K3 without the rule: the majority alone counts, and what was committed changes") {
    Rules naive;
    naive.quorum_epoch_start = false;
    Voters q(5, naive);
    run_k3(q);
    CHECK(q.high_watermark(1) == 2);
  }

  TEST_CASE(
      "K4: a leader that no majority fetches from resigns, and what it took meanwhile is not committed") {
    Voters q(3);
    q.stand(1, {2, 3});
    for (int i = 0; i < 2; ++i) {
      q.fetch(2);
      q.fetch(3);
    }
    CHECK(q.high_watermark(1) == 1);
    q[1].append("x", 0);
    q.now = 3000;
    q[1].check_quorum(q.now);
    CHECK(q[1].role() == QuorumRole::leader);
    q.now = 3001;
    q[1].check_quorum(q.now);
    CHECK(q[1].role() == QuorumRole::resigned);
    CHECK(q[2].wants_to_stand(q.now));
    CHECK(q.stand(2, {3}) == Ids{3});
    q.fetch(3);
    q.fetch(3);
    CHECK(q.log(2) == "LC1 LC2");
    CHECK(q.high_watermark(2) == 2);
  }

  TEST_CASE("K5: two candidates of one epoch have a vote each; in the next the longer log wins") {
    Voters q(3);
    start_k1(q);
    q[1].kill();
    const VoteRequest two = q[2].stand(0), three = q[3].stand(0);
    CHECK(two.epoch == three.epoch);
    CHECK(!q[2].vote(three, 0));
    CHECK(!q[3].vote(two, 0));
    CHECK(q.stand(2, {3}) == Ids{3});
    CHECK(q[2].role() == QuorumRole::leader);
  }

  TEST_CASE("a vote outlives a crash, and without the rule does not") {
    for (const bool durable : {true, false}) {
      Rules rules;
      rules.quorum_vote_fsync = durable;
      Voters q(3, rules);
      const VoteRequest one = q[1].stand(0), two = q[2].stand(0);
      CHECK(q[3].vote(one, 0));
      q[3].kill();
      q[3].start(0);
      CHECK(q[3].vote(two, 0) == !durable);
    }
  }
}
