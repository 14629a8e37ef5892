// What a recovery keeps: never less than a reader could read.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/io/memory_file_system.h"
#include "core/log/partition_log.h"
#include "core/log/recovery.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

const Bytes kA = from_hex(vectors::kA), kB = from_hex(vectors::kB), kC = from_hex(vectors::kC);

RecoveryPlan plan(FileSystem& fs, RecoveryMode mode, bool full) {
  RecoveryOptions options;
  options.mode = mode;
  options.full = full;
  return plan_recovery(fs, "logs/t-0", options);
}

}  // namespace

TEST_CASE("records behind two damaged ranges in a row are not cut") {
  MemoryFileSystem fs;
  const Bytes log = kA + flip(kB, 68 * 8) + Bytes(20, 0xff) + kC;
  write_segment(fs, "logs/t-0", 0, log);
  const RecoveryPlan refused = plan(fs, RecoveryMode::refuse, true);
  REQUIRE(refused.segments.size() == 1);
  CHECK(refused.segments[0].action == RecoveryAction::refused);
  CHECK(refused.segments[0].cut_bytes == 0);
  CHECK(refused.segments[0].next_good_offset == Offset(2));
  CHECK(refused.segments[0].next_good_position == 69 + 69 + 20);
  CHECK_FALSE(refused.whole_afterwards());
  const RecoveryPlan salvaged = plan(fs, RecoveryMode::salvage, true);
  CHECK(salvaged.segments[0].cut_bytes == 69 + 20);
  CHECK(salvaged.segments[0].next_offset == Offset(3));

  // A writer does not cut them either.
  PartitionLog::Options options;
  PartitionLog writer(fs, "logs/t-0", std::move(options));
  CHECK_THROWS_AS(writer.begin(), Error);
  CHECK(fs.stat("logs/t-0/00000000000000000000.log")->size == log.size());
}

TEST_CASE("a batch that reaches into the next segment does not rule out what lies there") {
  // The only batch of the first segment claims offset 6, a flipped bit; the next segment begins at 5.
  MemoryFileSystem fs;
  write_segment(fs, "logs/t-0", 0, at_offset(kA, 6));
  write_segment(fs, "logs/t-0", 5, at_offset(kA, 5) + at_offset(kB, 6) + at_offset(kC, 7));
  for (const bool full : {false, true}) {
    CAPTURE(full);
    const RecoveryPlan salvaged = plan(fs, RecoveryMode::salvage, full);
    CHECK(salvaged.segments.back().cut_bytes == 0);
    CHECK(salvaged.log_end == Offset(8));
  }
}
