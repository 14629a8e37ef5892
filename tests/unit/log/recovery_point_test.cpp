// Where opening begins to scan, and what it takes for the work of a power cut.
#include "core/log/recovery_point.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/io/memory_file_system.h"
#include "core/log/partition_log.h"
#include "core/log/recovery.h"
#include "core/log/segment_names.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

const std::string kDirectory = "/logs/t-0";
const std::string kLog = kDirectory + "/00000000000000000000.log";

/// A log of 100 json records with about an index entry for each second one, closed or as if killed before.
struct Made {
  MemoryFileSystem fs;
  std::uint64_t size = 0;

  explicit Made(bool closed) {
    PartitionLog::Options options;
    options.config.index_interval_bytes = 100;
    PartitionLog log(fs, kDirectory, options);
    log.begin();
    LogMaker maker;
    for (int i = 0; i < 100; ++i) maker.json("value " + std::to_string(i), vectors::kT + i);
    for (const MadeUnit& unit : maker.units()) {
      append_made(log, unit, std::nullopt);
    }
    if (closed) log.close();
    size = fs.stat(kLog)->size;
  }

  void zero(const std::string& path, std::uint64_t from, std::uint64_t bytes) {
    const Bytes zeros(static_cast<std::size_t>(bytes));
    fs.open(path, OpenMode::write)->write_at(from, {zeros.data(), zeros.size()});
  }
  [[nodiscard]] SegmentFile segment() { return list_partition(fs, kDirectory).segments.front(); }
  /// The log's end after a writer opened it; nothing if it refused.
  std::optional<std::int64_t> opened() {
    PartitionLog log(fs, kDirectory, {});
    try {
      log.begin();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::corrupt_message);
      return std::nullopt;
    }
    return log.log_end().value();
  }
  RecoveryAction recovered(bool full) {
    RecoveryOptions options;
    options.trust_index = true;
    options.full = full;
    return plan_recovery(fs, kDirectory, options).segments.front().action;
  }
};

}  // namespace

TEST_CASE("the recovery point is the last entry, with both indexes in order up to it") {
  Made made(true);
  const std::string index = kDirectory + "/00000000000000000000.index";
  const std::string times = kDirectory + "/00000000000000000000.timeindex";
  const std::uint64_t index_bytes = made.fs.stat(index)->size;
  const RecoveryPoint point = find_recovery_point(made.fs, made.segment());
  CHECK(point.place.entry == index_bytes / 8 - 1);
  CHECK(point.index_bytes == index_bytes);
  CHECK(point.time_index_bytes > 0);
  CHECK(point.last_time.offset == point.place.after + 1);
  CHECK(indexes_end_at_recovery_point(made.fs, made.segment()));

  // Entries missing in the middle.
  made.zero(index, 16, 8);
  CHECK_FALSE(find_recovery_point(made.fs, made.segment()).place.entry);
  Made second(true);
  second.zero(times, 24, 12);
  CHECK_FALSE(find_recovery_point(second.fs, second.segment()).place.entry);
  // Half an entry at the end.
  Made third(true);
  third.fs.open(index, OpenMode::write)->truncate(index_bytes - 3);
  CHECK(find_recovery_point(third.fs, third.segment()).index_bytes == index_bytes - 8);
  CHECK_FALSE(indexes_end_at_recovery_point(third.fs, third.segment()));
}

TEST_CASE("blocks that were never written are cut with what follows, by a writer and by recover") {
  Made made(false);
  made.zero(kLog, 1024, 512);
  for (const bool full : {false, true}) CHECK(made.recovered(full) == RecoveryAction::truncated);
  const auto end = made.opened();
  REQUIRE(end);
  CHECK(*end > 5);
  CHECK(*end < 15);
  CHECK(made.fs.stat(kLog)->size <= 1024);
  // From the last whole record to the end of its block.
  Made rest(false);
  const TailScan whole =
      scan_to_end(rest.fs, rest.segment(),
                  {.position = 0, .end = 1000, .segment_base = {}, .after = Offset(-1), .below = {}});
  rest.zero(kLog, whole.good_bytes, 1024 - whole.good_bytes);
  CHECK(rest.opened() == whole.next_offset.value());
}

TEST_CASE("what an index speaks of was forced: zeros in it are damage, and refused before readable records") {
  Made closed(true);
  closed.zero(kLog, 1024, 512);
  for (const bool full : {false, true}) CHECK(closed.recovered(full) != RecoveryAction::truncated);
  // The writer does not look below the last entry, which the log bears out.
  CHECK(closed.opened() == 100);

  // No index leads there any more, but one still speaks of it.
  Made lost(true);
  lost.zero(kLog, 1024, 512);
  lost.fs.remove(kDirectory + "/00000000000000000000.index");
  CHECK_FALSE(lost.opened());
  CHECK(lost.fs.stat(kLog)->size == lost.size);
  // An index that is out of order tells nothing: nothing is taken for a power cut's.
  Made wrong(true);
  wrong.zero(kLog, 1024, 512);
  wrong.zero(kDirectory + "/00000000000000000000.index", 16, 8);
  CHECK_FALSE(wrong.opened());
  CHECK(wrong.fs.stat(kLog)->size == wrong.size);
}

TEST_CASE("a few zeros, or another damage, is not the work of a power cut") {
  Made few(false);
  few.zero(kLog, 1100, 100);
  CHECK_FALSE(few.opened());
  CHECK(few.recovered(false) == RecoveryAction::refused);
  Made flipped(false);
  flipped.fs.flip_bit(kLog, 1100, 3);
  CHECK_FALSE(flipped.opened());
}
