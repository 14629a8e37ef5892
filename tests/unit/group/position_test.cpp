// Where reading begins, and where a reset leads (groups.md §8, §9).
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/group/offset_reset.h"
#include "core/group/position.h"
#include "tests/unit/group/fake_topics.h"
#include "tests/unit/io/caught.h"

using namespace tk;
using tk::test::caught;
using tk::test::FakeTopics;

namespace {

using Policy = ResetPolicy::Kind;
using Reason = Position::Reason;
const TopicPartition kT0{"t", PartitionId(0)};

FakeTopics log_of(std::int64_t start, std::int64_t hw, std::int64_t end) {
  FakeTopics topics({{"t", 1}});
  topics.log("t", 0).edges = {Offset(start), Offset(hw), Offset(end)};
  return topics;
}

CommittedOffset commit_at(std::int64_t offset, std::int32_t epoch = -1) {
  CommittedOffset committed;
  committed.offset = offset;
  committed.leader_epoch = epoch;
  return committed;
}

/// The position, or the refusal's name.
std::string at(const FakeTopics& topics, std::optional<CommittedOffset> committed, Policy policy,
               std::int64_t duration = 0, bool read_committed = false) {
  const PositionQuestion question{
      .partition = kT0, .policy = {policy, duration}, .read_committed = read_committed, .now_ms = 96000};
  try {
    return std::to_string(position_of(question, committed ? &*committed : nullptr, topics).offset.value());
  } catch (const Error& error) {
    return std::string(code_name(error.code()));
  }
}

}  // namespace

TEST_CASE("position: P1 to P5") {
  const FakeTopics topics = log_of(10, 95, 100);
  struct Row {
    const char* id;
    std::optional<std::int64_t> committed;
    std::string earliest, latest, none;
  };
  const Row rows[] = {
      {"P1", 40, "40", "40", "40"},
      {"P2", {}, "10", "95", "NO_OFFSET_FOR_PARTITION"},
      {"P3", 3, "10", "95", "OFFSET_OUT_OF_RANGE"},
      {"P4", 98, "98", "98", "98"},
      {"P5", 101, "10", "95", "OFFSET_OUT_OF_RANGE"},
      {"the edges", 10, "10", "10", "10"},
      {"the edges", 100, "100", "100", "100"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.id);
    std::optional<CommittedOffset> committed;
    if (row.committed) committed = commit_at(*row.committed);
    CHECK(at(topics, committed, Policy::earliest) == row.earliest);
    CHECK(at(topics, committed, Policy::latest) == row.latest);
    CHECK(at(topics, committed, Policy::none) == row.none);
  }
}

TEST_CASE("position: P6, the log has lost what was read") {
  FakeTopics topics = log_of(0, 5, 5);
  topics.log("t", 0).epochs = {{LeaderEpoch(0), Offset(0)}, {LeaderEpoch(3), Offset(3)}};
  const CommittedOffset committed = commit_at(7, 0);
  for (const Policy policy : {Policy::earliest, Policy::latest}) {
    const Position position = position_of({.partition = kT0, .policy = {policy, 0}}, &committed, topics);
    CHECK(position.offset == Offset(3));
    CHECK(position.reason == Reason::truncated);
    CHECK(position.epoch == LeaderEpoch(0));
    CHECK(position.rewound == 4);
  }
  CHECK(at(topics, committed, Policy::none) == "LOG_TRUNCATION");
  // R94: committed in an epoch that ends below it.
  topics.log("t", 0).edges = {Offset(0), Offset(20), Offset(20)};
  topics.log("t", 0).epochs = {{LeaderEpoch(1), Offset(0)}, {LeaderEpoch(2), Offset(8)}};
  CHECK(at(topics, commit_at(10, 1), Policy::earliest) == "8");
  CHECK(at(topics, commit_at(8, 1), Policy::none) == "8");
  CHECK(at(topics, commit_at(10, 2), Policy::none) == "10");
  // An epoch that the log has not come to yet: it is not the log that was read.
  CHECK(at(topics, commit_at(10, 5), Policy::earliest) == "0");
  CHECK(at(topics, commit_at(10, 5), Policy::none) == "LOG_TRUNCATION");
  // Without an epoch, or without a history, nothing of this can be told.
  CHECK(at(topics, commit_at(10), Policy::none) == "10");
  topics.log("t", 0).epochs.clear();
  CHECK(at(topics, commit_at(10, 1), Policy::none) == "10");
}

TEST_CASE("position: P7, by duration; and the last stable offset") {
  FakeTopics topics = log_of(0, 95, 95);
  CHECK(at(topics, {}, Policy::by_duration, 10000) == "86");
  CHECK(at(topics, {}, Policy::by_duration, 96000) == "0");
  CHECK(at(topics, {}, Policy::by_duration, 500) == "95");  // none that young: the latest
  topics.log("t", 0).last_stable = Offset(90);
  CHECK(at(topics, {}, Policy::latest, 0, true) == "90");
  CHECK(at(topics, {}, Policy::latest, 0, false) == "95");
  CHECK(caught([&] {
          position_of({.partition = {"u", PartitionId(0)}}, nullptr, topics);
        })->code() == ErrorCode::unknown_topic_or_partition);
}

TEST_CASE("reset: the table of 9") {
  FakeTopics topics({{"p", 3}});
  topics.log("p", 0).edges = {Offset(10), Offset(95), Offset(95)};
  topics.log("p", 1).edges = {Offset(0), Offset(0), Offset(0)};
  topics.log("p", 2).edges = {Offset(5), Offset(50), Offset(50)};
  GroupState group;
  group.offsets[{"p", PartitionId(0)}] = commit_at(40);
  group.offsets[{"p", PartitionId(2)}] = commit_at(3);
  const PartitionList all = {{"p", PartitionId(0)}, {"p", PartitionId(1)}, {"p", PartitionId(2)}};
  const PartitionList committed = {all[0], all[2]};

  // What comes of it: "10 0* 5!": * clamped, ! with a note of another kind.
  const auto plan = [&](ResetScenario scenario, const PartitionList& partitions) {
    std::string text;
    for (const ResetRow& row : plan_reset(group, topics, scenario, partitions, 96000)) {
      text += (text.empty() ? "" : " ") + std::to_string(row.to);
      if (row.clamped) text += "*";
      if (!row.clamped && !row.note.empty()) text += "!";
    }
    return text;
  };
  using Kind = ResetScenario::Kind;
  CHECK(plan({Kind::to_earliest}, all) == "10 0 5");
  CHECK(plan({Kind::to_latest}, all) == "95 0 50");
  CHECK(plan({Kind::to_offset, 30}, all) == "30 0* 30");
  CHECK(plan({Kind::to_offset, 3}, all) == "10* 0* 5*");
  CHECK(plan({Kind::shift_by, -50}, committed) == "10* 5*");
  CHECK(plan({Kind::shift_by, 100}, committed) == "95* 50*");
  CHECK(plan({Kind::shift_by, INT64_MAX}, committed) == "95* 50*");
  CHECK(caught([&] { plan({Kind::shift_by, 100}, all); })->code() == ErrorCode::no_offset_for_partition);
  CHECK(plan({Kind::to_current}, all) == "40 0 3");
  CHECK(plan({Kind::to_datetime, 20500}, all) == "21 0! 21");
  CHECK(plan({Kind::by_duration, 10000}, all) == "86 0! 50!");
  CHECK(plan({Kind::from_file, 0, {{all[0], 12}, {all[2], 70}}}, committed) == "12 50*");
  CHECK(caught([&] {
          plan({Kind::to_earliest}, {{"p", PartitionId(3)}});
        })->code() == ErrorCode::unknown_topic_or_partition);
}
