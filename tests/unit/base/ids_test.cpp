#include <doctest/doctest.h>

#include <limits>
#include <type_traits>
#include <unordered_set>

#include "core/base/ids.h"

using namespace tk;

namespace {
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};
}  // namespace

TEST_SUITE("base.ids") {
  TEST_CASE("offsets count and compare") {
    Offset offset(41);
    CHECK(++offset == Offset(42));
    offset += 8;
    CHECK(offset.value() == 50);
    CHECK(offset + 5 == Offset(55));
    CHECK(offset - 60 == Offset(-10));
    CHECK(offset - Offset(42) == 8);
    CHECK(Offset(9) < Offset(10));
    CHECK(Offset() == Offset(0));
  }

  TEST_CASE("offsets from a damaged disk wrap instead of being undefined") {
    constexpr auto max = std::numeric_limits<std::int64_t>::max();
    constexpr auto min = std::numeric_limits<std::int64_t>::min();
    CHECK(Offset(max) + 1 == Offset(min));
    CHECK(Offset(min) - 1 == Offset(max));
    CHECK(Offset(max) - Offset(-1) == min);
    CHECK(Offset(min) - Offset(1) == max);
  }

  TEST_CASE("the extremes count like any other offset") {
    constexpr auto max = std::numeric_limits<std::int64_t>::max();
    constexpr auto min = std::numeric_limits<std::int64_t>::min();
    Offset last(max);
    CHECK(++last == Offset(min));
    CHECK(Offset(0) - min == Offset(min));
    CHECK(Offset(0) - Offset(min) == min);
    CHECK(Offset(-1) - Offset(min) == max);
  }

  TEST_CASE("one kind of number is not taken for another") {
    CHECK_FALSE(std::is_convertible_v<std::int64_t, Offset>);
    CHECK_FALSE(std::is_convertible_v<std::int32_t, LeaderEpoch>);
    CHECK_FALSE(std::is_convertible_v<Offset, std::int64_t>);
    CHECK_FALSE(Comparable<LeaderEpoch, PartitionId>);
    CHECK(Comparable<LeaderEpoch, LeaderEpoch>);
    CHECK(kNoLeaderEpoch < LeaderEpoch(0));
    CHECK(std::unordered_set<PartitionId>{PartitionId(1), PartitionId(1), PartitionId(2)}.size() == 2);
  }
}
