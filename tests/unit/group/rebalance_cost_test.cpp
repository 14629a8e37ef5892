#include "core/group/rebalance_cost.h"

#include <doctest/doctest.h>

#include "tests/unit/group/notation.h"

using namespace tk;
using namespace tk::test;

namespace {

// "moved forced voluntary kept added orphaned spread stopped least", the last "-" if there is no bound.
std::string cost(const char* topics, const char* members, const char* before, const char* after,
                 Revocation revocation = Revocation::eager) {
  const RebalanceCost c =
      rebalance_cost(assignment(before), assignment(after), question(topics, members), revocation);
  std::string text;
  for (const auto number :
       {c.moved, c.forced, c.voluntary, c.kept, c.added, c.orphaned, c.spread, c.stopped}) {
    text += std::to_string(number) + " ";
  }
  return text + (c.least_moved ? std::to_string(*c.least_moved) : "-");
}

}  // namespace

TEST_CASE("what a rebalance cost: the cases of groups.md §4.10") {
  // A08: B leaves.
  CHECK(cost("t:6", "A; C", "A t:0,1; B t:2,3; C t:4,5", "A t:0,1,2; C t:3,4,5") == "2 2 0 4 0 0 0 6 2");
  // A09: D joins; range moves twice what it would have to.
  CHECK(cost("t:12", "A; B; C; D", "A t:0,1,2,3; B t:4,5,6,7; C t:8,9,10,11",
             "A t:0,1,2; B t:3,4,5; C t:6,7,8; D t:9,10,11") == "6 0 6 6 0 0 0 12 3");
  // A14, A17: C1 leaves; round robin against sticky.
  CHECK(cost("t0:2 t1:2 t2:2 t3:2", "C0; C2", "C0 t0:0 t1:1 t3:0; C1 t0:1 t2:0 t3:1; C2 t1:0 t2:1",
             "C0 t0:0 t1:0 t2:0 t3:0; C2 t0:1 t1:1 t2:1 t3:1") == "5 3 2 3 0 0 0 8 3");
  CHECK(cost("t0:2 t1:2 t2:2 t3:2", "C0; C2", "C0 t0:0 t1:1 t3:0; C1 t0:1 t2:0 t3:1; C2 t1:0 t2:1",
             "C0 t0:0,1 t1:1 t3:0; C2 t1:0 t2:0,1 t3:1") == "3 3 0 5 0 0 0 8 3");
  // A21, A22.
  CHECK(cost("t:7", "A; B; C; D", "A t:0,3,6; B t:1,4; C t:2,5", "A t:0,3; B t:1,4; C t:2,5; D t:6") ==
        "1 0 1 6 0 0 1 7 1");
  CHECK(cost("t:6", "A; B", "A t:0,2; B t:1,3", "A t:0,2,4; B t:1,3,5") == "0 0 0 4 2 0 0 4 0");
  // A37: the uniform assignor's needless move.
  CHECK(cost("t:3", "A; B", "A t:0; B t:1,2", "A t:0,2; B t:1", Revocation::incremental) ==
        "1 0 1 2 0 0 1 1 0");
  // A39: different subscriptions have no bound.
  CHECK(cost("t1:6 t2:3", "A(t1); B", "A t1:0,1,2,3,4,5; B -", "A t1:0,1,2,3,4; B t1:5 t2:0,1,2",
             Revocation::incremental) == "1 0 1 5 3 0 1 1 -");
}

TEST_CASE("what stopped: eager all, incremental what a present member had to give up") {
  // A28, phase 1 and 2.
  CHECK(cost("t:6", "A; B; C", "A t:0,2,4; B t:1,3,5", "A t:0,2; B t:1,3; C -", Revocation::incremental) ==
        "0 0 0 4 0 2 2 2 0");
  CHECK(cost("t:6", "A; B; C", "A t:0,2; B t:1,3; C -", "A t:0,2; B t:1,3; C t:4,5",
             Revocation::incremental) == "0 0 0 4 2 0 0 0 0");
  // A30: what a member that left had is nobody's to give up.
  CHECK(cost("t:3", "A", "A t:0,1; B t:2", "A t:0,1,2", Revocation::incremental) == "1 1 0 2 0 0 0 0 1");
  // A31: given up with the subscription.
  CHECK(cost("a:2 b:2", "A(a); B", "A a:0,1 b:0,1", "A a:0,1; B -", Revocation::incremental) ==
        "0 0 0 2 0 2 2 2 -");
}

TEST_CASE("nothing before, nothing after, nobody") {
  CHECK(cost("t:2", "A; B", "", "A t:0; B t:1") == "0 0 0 0 2 0 0 0 0");
  CHECK(cost("t:2", "", "A t:0,1", "") == "0 0 0 0 0 2 0 2 -");
  CHECK(cost("", "", "", "") == "0 0 0 0 0 0 0 0 -");
  // A member that unsubscribed loses by force.
  CHECK(cost("a:1 b:1", "A(a); B", "A a:0 b:0", "A a:0; B b:0") == "1 1 0 1 0 0 0 2 -");
}
