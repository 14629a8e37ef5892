// Which segments may go (kafka-on-disk.md §10; field cases R68 to R75).
#include "core/log/retention.h"

#include <doctest/doctest.h>

#include "core/log/segment_replacement.h"
#include "tests/support/keyed_log.h"

using namespace tk;
using namespace tk::test;

namespace {

constexpr std::int64_t kDay = 86400000;

/// A segment for each timestamp, of 69 bytes as the field cases have them.
LogView log_of(MemoryFileSystem& fs, const std::vector<std::int64_t>& timestamps) {
  fs.make_directories(kPartition);
  for (std::size_t i = 0; i < timestamps.size(); ++i) {
    LogMaker maker(static_cast<std::int64_t>(i));
    maker.batch({timestamps[i]}, Codec::none, "a");
    write_segment(fs, kPartition, maker);
  }
  return open_log_view(fs, kPartition);
}

std::size_t going(MemoryFileSystem& fs, const LogView& view, RetentionRules rules) {
  rules.high_watermark = view.log_end;
  return plan_retention(fs, view, rules).going();
}

}  // namespace

TEST_SUITE("log.retention") {
  TEST_CASE("R71: by size the oldest go while what is left holds the limit") {
    MemoryFileSystem fs;
    const LogView view = log_of(fs, {vectors::kT, vectors::kT, vectors::kT});
    const auto size = static_cast<std::int64_t>(view.files.segments.front().size);
    REQUIRE(view.bytes() == static_cast<std::uint64_t>(3 * size));
    const auto by_size = [&](std::int64_t bytes) { return going(fs, view, {.retention_bytes = bytes}); };
    CHECK(by_size(size + 31) == 1);
    CHECK(by_size(2 * size) == 1);
    CHECK(by_size(2 * size + 1) == 0);
    CHECK(by_size(0) == 3);
    CHECK(by_size(-1) == 0);
  }

  TEST_CASE("by time, oldest first, up to the first that is young enough") {
    MemoryFileSystem fs;
    const LogView view = log_of(fs, {vectors::kT, vectors::kT + 5 * kDay, vectors::kT + 1});
    const auto at = [&](std::int64_t now) { return going(fs, view, {.now_ms = now, .retention_ms = kDay}); };
    CHECK(at(vectors::kT + kDay) == 0);
    CHECK(at(vectors::kT + kDay + 1) == 1);
    CHECK(at(vectors::kT + 6 * kDay) == 1);
    CHECK(at(vectors::kT + 6 * kDay + 1) == 3);
  }

  TEST_CASE("R68: a record of the future keeps its segment and those behind, and is named") {
    MemoryFileSystem fs;
    const LogView view = log_of(fs, {vectors::kT, 1700000000000000, vectors::kT});
    RetentionRules rules{
        .now_ms = vectors::kT + 10 * kDay, .retention_ms = kDay, .high_watermark = view.log_end};
    const RetentionPlan plan = plan_retention(fs, view, rules);
    CHECK(plan.going() == 1);
    CHECK(plan.log_start == Offset(1));
    CHECK(plan.segments[1].reason.find("offset 1") != std::string::npos);
    CHECK(plan.segments[1].reason.find("1700000000000000") != std::string::npos);
    CHECK(plan.segments[1].max_timestamp == 1700000000000000);
  }

  TEST_CASE("R70, R72: below the log start whatever the policy; nothing above the high watermark") {
    MemoryFileSystem fs;
    LogView view = log_of(fs, {vectors::kT, vectors::kT, vectors::kT});
    view.log_start = Offset(1);
    RetentionRules rules{.deletes = false, .retention_ms = 0, .high_watermark = view.log_end};
    CHECK(plan_retention(fs, view, rules).going() == 1);
    view.log_start = Offset(3);
    CHECK(plan_retention(fs, view, rules).going() == 2);  // the last holds the log end
    rules = {.now_ms = vectors::kT + 10 * kDay, .retention_ms = kDay, .high_watermark = Offset(1)};
    view.log_start = Offset(0);
    CHECK(plan_retention(fs, view, rules).going() == 1);
  }

  TEST_CASE("R75: without timestamps the file's age counts, and the reason says so") {
    MemoryFileSystem fs;
    const LogView view = log_of(fs, {kNoTimestamp, vectors::kT});
    fs.set_mtime(view.files.segments.front().log_path, vectors::kT - 2 * kDay);
    const LogView aged = open_log_view(fs, kPartition);
    RetentionRules rules{.now_ms = vectors::kT, .retention_ms = kDay, .high_watermark = aged.log_end};
    const RetentionPlan plan = plan_retention(fs, aged, rules);
    CHECK(plan.going() == 1);
    CHECK_FALSE(plan.segments[0].max_timestamp);
    CHECK(plan.segments[0].reason.find("no record has a timestamp") != std::string::npos);
  }

  TEST_CASE("removal interrupted at any call leaves a log without a hole") {
    for (std::uint64_t number = 0;; ++number) {
      MemoryFileSystem fs;
      const LogView view = log_of(fs, {vectors::kT, vectors::kT, vectors::kT});
      for (const SegmentFile& segment : view.files.segments)
        fs.open(segment.log_path, OpenMode::write)->sync();
      fs.sync_directory(kPartition);
      const std::uint64_t start = fs.calls();
      bool reached = false;
      fs.on_call = [&](const DiskCall& call) {
        reached |= call.number == start + number;
        return call.number == start + number ? DiskFate::power_off : DiskFate::done;
      };
      try {
        remove_segments(fs, kPartition, {view.files.segments[0], view.files.segments[1]});
      } catch (const Error&) {
      }
      fs.on_call = nullptr;
      fs.power_off(UnsyncedFate::random_blocks, number);
      fs.power_on();
      const LogView left = open_log_view(fs, kPartition);
      CAPTURE(number);
      CHECK(left.log_end == Offset(3));
      for (std::size_t i = 1; i < left.files.segments.size(); ++i)
        CHECK(left.files.segments[i].base == left.files.segments[i - 1].base + 1);
      if (!reached) {
        CHECK(left.files.segments.size() == 1);
        break;
      }
    }
  }
}
