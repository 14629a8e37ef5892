// The worked cases of groups.md §4.10 (A10 is about racks, which tk's topics do not have).
#include <doctest/doctest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/group/assignor.h"
#include "tests/unit/group/notation.h"

using namespace tk;
using namespace tk::test;

namespace {

struct Case {
  std::string id;
  const char* topics;
  const char* members;
  const char* owned;
  const char* expected;
  const char* transferring = "";
  std::int64_t moved = 0;
  const char* algorithm = nullptr;
};

void check(Assignor assignor, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    AssignmentQuestion asked = question(c.topics, c.members, c.owned);
    for (int order = 0; order < 2; ++order) {
      const AssignmentAnswer answer = assign(assignor, asked);
      CHECK_MESSAGE(text_of(answer.assignment) == c.expected, c.id);
      CHECK_MESSAGE(text_of(answer.transferring) == c.transferring, c.id);
      CHECK_MESSAGE(answer.moved == c.moved, c.id);
      if (c.algorithm != nullptr) CHECK_MESSAGE(answer.algorithm == c.algorithm, c.id);
      std::reverse(asked.members.begin(), asked.members.end());
    }
  }
}

constexpr const char* kTwoEach = "t0:2 t1:2 t2:2 t3:2";
constexpr const char* kUneven = "t0:1 t1:2 t2:3";

}  // namespace

TEST_CASE("range: A01 to A09") {
  check(Assignor::range,
        {
            {"A01", "t:7", "A; B; C", "", "A t:0,1,2; B t:3,4; C t:5,6"},
            {"A02", "t0:3 t1:3", "C0; C1", "", "C0 t0:0,1 t1:0,1; C1 t0:2 t1:2"},
            {"A03", "t:2", "A; B; C; D", "", "A t:0; B t:1; C -; D -"},
            {"A04", "a:5 b:5 c:5", "A; B; C", "", "A a:0,1 b:0,1 c:0,1; B a:2,3 b:2,3 c:2,3; C a:4 b:4 c:4"},
            {"A05", "a:4 b:3", "A; B(a); C(b)", "", "A a:0,1 b:0,1; B a:2,3; C b:2"},
            {"A06", "t:4", "m9/i1; m1/i2; m5", "", "m1 t:2; m5 t:3; m9 t:0,1"},
            {"A07", "t:10", "c1; c2; c3; c4; c5; c6; c7; c8; c9; c10", "",
             "c1 t:0; c10 t:1; c2 t:2; c3 t:3; c4 t:4; c5 t:5; c6 t:6; c7 t:7; c8 t:8; c9 t:9"},
            {"A08 before", "t:6", "A; B; C", "", "A t:0,1; B t:2,3; C t:4,5"},
            {"A08", "t:6", "A; C", "A t:0,1; C t:4,5", "A t:0,1,2; C t:3,4,5"},
            {"A09", "t:12", "A; B; C; D", "A t:0,1,2,3; B t:4,5,6,7; C t:8,9,10,11",
             "A t:0,1,2; B t:3,4,5; C t:6,7,8; D t:9,10,11", "t-3>B t-6>C t-7>C t-9>D t-10>D t-11>D", 6,
             "range"},
        });
}

TEST_CASE("round robin: A11 to A15") {
  check(Assignor::roundrobin,
        {
            {"A11", "t0:3 t1:3", "C0; C1", "", "C0 t0:0,2 t1:1; C1 t0:1 t1:0,2"},
            {"A12", kUneven, "C0(t0); C1(t0 t1); C2", "", "C0 t0:0; C1 t1:0; C2 t1:1 t2:0,1,2"},
            {"A13", "t:7", "A; B; C", "", "A t:0,3,6; B t:1,4; C t:2,5"},
            {"A14 before", kTwoEach, "C0; C1; C2", "", "C0 t0:0 t1:1 t3:0; C1 t0:1 t2:0 t3:1; C2 t1:0 t2:1"},
            {"A14", kTwoEach, "C0; C2", "C0 t0:0 t1:1 t3:0; C2 t1:0 t2:1",
             "C0 t0:0 t1:0 t2:0 t3:0; C2 t0:1 t1:1 t2:1 t3:1", "t1-0>C0 t1-1>C2", 2, "roundrobin"},
            {"A15", "a:3 b:2", "A(b); B(a); C", "", "A b:1; B a:0,2; C a:1 b:0"},
        });
}

TEST_CASE("sticky: A16 to A27") {
  check(
      Assignor::sticky,
      {
          {"A16", kTwoEach, "C0; C1; C2", "", "C0 t0:0 t1:1 t3:0; C1 t0:1 t2:0 t3:1; C2 t1:0 t2:1", "", 0,
           "constrained"},
          {"A17", kTwoEach, "C0; C2", "C0 t0:0 t1:1 t3:0; C2 t1:0 t2:1",
           "C0 t0:0,1 t1:1 t3:0; C2 t1:0 t2:0,1 t3:1"},
          {"A18", kUneven, "C0(t0); C1(t0 t1); C2", "", "C0 t0:0; C1 t1:0,1; C2 t2:0,1,2", "", 0, "general"},
          {"A19", kUneven, "C1(t0 t1); C2", "C1 t1:0,1; C2 t2:0,1,2", "C1 t0:0 t1:0,1; C2 t2:0,1,2"},
          {"A20", "t:6", "A; B; C", "A t:0,2,4; B t:1,3,5", "A t:0,2; B t:1,3; C t:4,5", "t-4>C t-5>C", 2},
          {"A21", "t:7", "A; B; C; D", "A t:0,3,6; B t:1,4; C t:2,5", "A t:0,3; B t:1,4; C t:2,5; D t:6",
           "t-6>D", 1},
          {"A22", "t:6", "A; B", "A t:0,2; B t:1,3", "A t:0,2,4; B t:1,3,5"},
          {"A23", "t:4", "A@5; B@4", "A t:0,1; B t:1,2,3", "A t:0,1; B t:2,3"},
          {"A24", "t:4", "A@5; B@5", "A t:0,1; B t:1,2,3", "A t:0,1; B t:2,3", "t-1>A"},
          {"A25", "t1:2 t2:2", "c1; c2; c3", "c1 t1:0 t2:0; c2 t1:1 t2:1", "c1 t1:0 t2:0; c2 t1:1; c3 t2:1",
           "t2-1>c3", 1},
          {"A26", "t1:3 t2:2", "c1(t1); c2; c3(t1)", "", "c1 t1:0,2; c2 t2:0,1; c3 t1:1"},
          {"A27", "t:3", "A; B", "A t:0,1,2", "A t:0,1; B t:2", "t-2>B", 1},
      });
}

TEST_CASE("cooperative sticky: A28 to A31, a phase a row") {
  check(
      Assignor::cooperative_sticky,
      {
          {"A28, phase 1", "t:6", "A; B; C", "A t:0,2,4; B t:1,3,5", "A t:0,2; B t:1,3; C -", "t-4>C t-5>C"},
          {"A28, phase 2", "t:6", "A@2; B@2; C@2", "A t:0,2; B t:1,3", "A t:0,2; B t:1,3; C t:4,5"},
          {"A29, phase 1", "t:4", "A; B; C", "A t:0,1,2,3", "A t:0,1; B -; C -", "t-2>B t-3>C"},
          {"A29, phase 2", "t:4", "A@2; B@2; C@2", "A t:0,1", "A t:0,1; B t:2; C t:3"},
          {"A30", "t:3", "A", "A t:0,1", "A t:0,1,2"},
          {"A31, phase 1", "a:2 b:2", "A(a); B", "A a:0,1 b:0,1", "A a:0,1; B -", "b-0>B b-1>B", 0,
           "general"},
          {"A31, phase 2", "a:2 b:2", "A(a)@2; B@2", "A a:0,1", "A a:0,1; B b:0,1"},
      });
}

TEST_CASE("uniform: A32 to A40") {
  check(
      Assignor::uniform,
      {
          {"A32", "t1:3 t2:3", "A; B", "", "A t1:0,1,2; B t2:0,1,2", "", 0, "homogeneous"},
          {"A33", "t1:3 t2:3", "A; B; C", "A t1:0,1,2; B t2:0,1,2", "A t1:0,1; B t2:0,1; C t1:2 t2:2",
           "t1-2>C t2-2>C", 2},
          {"A34", "t1:3 t2:3", "A; C", "A t1:0,1; C t1:2 t2:2", "A t1:0,1 t2:0; C t1:2 t2:1,2"},
          {"A35", "t:7", "A; B; C", "", "A t:0,1,2; B t:3,4; C t:5,6"},
          {"A36", "t:7", "A; B; C; D", "A t:0,1,2; B t:3,4; C t:5,6", "A t:0,1; B t:3,4; C t:5,6; D t:2",
           "t-2>D", 1},
          // groups.md has A t:0,2; B t:1, as Kafka before 4.1 (KAFKA-18688).
          {"A37", "t:3", "A; B", "A t:0; B t:1,2", "A t:0; B t:1,2"},
          {"A38", "t1:4 t2:2", "A(t1); B; C(t2)", "", "A t1:0,2; B t1:1,3; C t2:0,1", "", 0, "heterogeneous"},
          {"A39", "t1:6 t2:3", "A(t1); B", "A t1:0,1,2,3,4,5", "A t1:0,1,2,3,4; B t1:5 t2:0,1,2", "t1-5>B",
           1},
          {"A40", "t:2", "A; B; C", "", "A t:0; B t:1; C -"},
      });
}

TEST_CASE("the server's range: A41, A42") {
  check(Assignor::server_range,
        {
            {"A41", "t1:3 t2:3", "M0; M1", "", "M0 t1:0,1 t2:0,1; M1 t1:2 t2:2", "", 0, "server-range"},
            {"A42", "t1:4 t2:3", "A; B(t1); C(t2)", "", "A t1:0,1 t2:0,1; B t1:2,3; C t2:2"},
        });
}

TEST_CASE(
    "what counts for nothing: unknown topics, topics without subscribers, claims on what does not exist") {
  for (const auto& name : assignor_names()) {
    const Assignor assignor = parse_assignor(name);
    CHECK_MESSAGE(assign(assignor, {}).assignment.empty(), name);
    CHECK_MESSAGE(text_of(assign(assignor, question("t:3 u:2", "A(t)", "A u:0,1")).assignment) == "A t:0,1,2",
                  name);
    CHECK_MESSAGE(text_of(assign(assignor, question("t:2", "A; B", "A t:0,7; B gone:1 t:1")).assignment) ==
                      "A t:0; B t:1",
                  name);
    CHECK_MESSAGE(text_of(assign(assignor, question("t:0", "A; B")).assignment) == "A -; B -", name);
    if (assignor == Assignor::server_range) continue;
    CHECK_MESSAGE(text_of(assign(assignor, question("t:1", "A(t gone); B(gone)")).assignment) == "A t:0; B -",
                  name);
  }
  // Nobody but who subscribes gets a topic, even where the first member subscribes to nothing.
  CHECK(text_of(assign(Assignor::sticky, question("t:2", "A( ); B")).assignment) == "A -; B t:0,1");
}

TEST_CASE("the server's range refuses a topic that does not exist") {
  CHECK_THROWS_AS(assign(Assignor::server_range, question("t:1", "A(t gone)")), Error);
}

TEST_CASE("names of assignors") {
  for (const auto& name : assignor_names()) CHECK(assignor_name(parse_assignor(name)) == name);
  try {
    parse_assignor("stiky");
    FAIL("an assignor of that name");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_request);
    CHECK(error.message().find("did you mean 'sticky'?") != std::string::npos);
  }
  CHECK_THROWS_AS(parse_assignor(""), Error);
}

TEST_CASE("general sticky comes to an end where giving back and taking back would go round (R3, R4)") {
  // Found at random: members of four generations, each with claims on much of the same.
  const AssignmentAnswer answer = assign(
      Assignor::sticky,
      question("t0:24 t1:23 t2:21 t3:4 t4:1 t5:20",
               "m0(t1 t2 t3 t4 t5)@4; m1(t2 t3 t4)@2; m2(t4 t5)@2; m3@1; m4(t0 t2 t5)@3; m5(t2 t4)@3",
               "m0 t0:0,2,4,5,6,7,8,9,10,11,12,13,14,15,16,18,21,22,23 "
               "t1:0,1,2,4,5,6,7,8,9,10,12,14,15,16,17,19,20,22 t2:1,2,4,5,6,7,8,11,12,13,16,17,18,19,20 "
               "t3:0,1,2,3 t4:0 t5:0,2,3,4,5,7,8,9,10,11,12,13,14,17,18,19; "
               "m1 t0:1,2,5,15,21 t1:0,2,5,8,9,10,11,12,13,17,18,21 t2:0,3,5,9,12,14 t5:1,3,8,15,16,18; "
               "m2 t0:1,3,7,17,19,20 t1:3,7 t2:0,15,16,19 t3:2,3 t5:10,14,15,19; "
               "m3 t0:9,17 t1:15,16,19 t2:1,10 t5:5,6,11; m4 t0:4,18,20 t1:3 t2:4"));
  std::size_t placed = 0;
  for (const auto& [member, partitions] : answer.assignment) placed += partitions.size();
  CHECK(placed == 93);
}
