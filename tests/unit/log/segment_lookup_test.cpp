// Lookups against a plain map of the log, with good indexes and with every kind of wrong one.
#include "core/log/segment_lookup.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "core/io/memory_file_system.h"
#include "core/log/tail_scan.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

constexpr std::int64_t kBase = 5000;

/// A log with gaps and with timestamps partly out of order.
LogMaker make_log(bool json, std::uint64_t seed) {
  Random random(seed);
  LogMaker log(kBase);
  std::int64_t time = vectors::kT;
  for (int i = 0; i < 120; ++i) {
    if (random.below(4) == 0) log.skip(static_cast<std::int64_t>(random.below(20)));
    time += static_cast<std::int64_t>(random.below(40));
    const std::int64_t timestamp = random.below(3) == 0 ? time - 300 : time;
    if (json) {
      log.json(std::string(random.below(100), 'v'), timestamp);
    } else {
      std::vector<std::int64_t> timestamps(1 + random.below(4), timestamp);
      timestamps.back() += static_cast<std::int64_t>(random.below(50));
      log.batch(timestamps);
    }
  }
  return log;
}

struct Indexes {
  Bytes offsets, times;
};

Indexes index_of(const LogMaker& log, std::int64_t interval = 300) {
  IndexBuilder builder(Offset(log.base()), interval);
  for (const MadeUnit& unit : log.units()) {
    builder.add(Offset(unit.last), unit.position, unit.bytes.size(), unit.max_timestamp);
  }
  builder.add_final_time_entry();
  return {
      {builder.offset_entries().data(), builder.offset_entries().data() + builder.offset_entries().size()},
      {builder.time_entries().data(), builder.time_entries().data() + builder.time_entries().size()}};
}

SegmentFile write(FileSystem& fs, const LogMaker& log, const Indexes& indexes) {
  SegmentFile segment = write_segment(fs, "logs/t-0", log);
  write_file(fs, segment.beside(kIndexSuffix), indexes.offsets);
  write_file(fs, segment.beside(kTimeIndexSuffix), indexes.times);
  segment.has_index = segment.has_time_index = true;
  return segment;
}

/// Units that a scan from `place` gives, by position.
std::map<std::uint64_t, Bytes> units_from(FileSystem& fs, const SegmentFile& segment,
                                          const TrustedPlace& place) {
  ScanRange range;
  range.position = place.position;
  range.segment_base = segment.base;
  range.after = place.after;
  std::map<std::uint64_t, Bytes> units;
  const TailScan scan = scan_to_end(fs, segment, range, [&](ByteView unit, UnitKind, std::uint64_t position) {
    units[position] = Bytes(unit.begin(), unit.end());
  });
  CHECK(scan.stop == TailScan::Stop::clean);
  return units;
}

/// From `place` on every unit is found that ends at or above `target`.
void check_hides_nothing(FileSystem& fs, const SegmentFile& segment, const LogMaker& log,
                         const TrustedPlace& place, const std::function<bool(const MadeUnit&)>& wanted) {
  const auto found = units_from(fs, segment, place);
  for (const MadeUnit& unit : log.units()) {
    if (wanted(unit) && found.count(unit.position) == 0) FAIL_CHECK("offset " << unit.first << " is hidden");
  }
}

void check_all_lookups(FileSystem& fs, const SegmentFile& segment, const LogMaker& log,
                       std::int64_t step = 7) {
  for (std::int64_t target = kBase - 5; target < log.next_offset() + 5; target += step) {
    CAPTURE(target);
    const TrustedPlace place = find_offset(fs, segment, Offset(target));
    check_hides_nothing(fs, segment, log, place, [&](const MadeUnit& unit) { return unit.last >= target; });
  }
  const TrustedPlace last = find_last_indexed(fs, segment);
  check_hides_nothing(fs, segment, log, last,
                      [&](const MadeUnit& unit) { return unit.position >= last.position; });
}

std::int64_t largest(const LogMaker& log) {
  std::int64_t timestamp = kNoTimestamp;
  for (const MadeUnit& unit : log.units()) timestamp = std::max(timestamp, unit.max_timestamp);
  return timestamp;
}

Bytes entry(std::int64_t relative, std::int64_t position) {
  Bytes bytes(8);
  OffsetIndexEntry{Offset(relative), position}.encode(bytes.data(), Offset(0));
  return bytes;
}

}  // namespace

TEST_CASE("a good index leads near, and never past what is sought") {
  for (const bool json : {false, true}) {
    const LogMaker log = make_log(json, 1);
    MemoryFileSystem fs;
    const SegmentFile segment = write(fs, log, index_of(log));
    check_all_lookups(fs, segment, log, 1);
    for (const MadeUnit& unit : log.units()) {
      const TrustedPlace place = find_offset(fs, segment, Offset(unit.last));
      CHECK(place.position <= unit.position);
      CHECK(unit.position - place.position < 1200);  // 300 bytes between entries, and a unit more
      CHECK(place.after < Offset(unit.first));
    }
    CHECK(find_offset(fs, segment, Offset(0)).position == 0);
    CHECK_FALSE(find_offset(fs, segment, Offset(kBase)).entry);
    const TrustedPlace last = find_last_indexed(fs, segment);
    CHECK(log.bytes().size() - last.position < 1200);
    CHECK(largest_timestamp(fs, segment) == largest(log));
  }
}

TEST_CASE("the first record at or after a time is never passed over") {
  for (const bool json : {false, true}) {
    const LogMaker log = make_log(json, 2);
    MemoryFileSystem fs;
    const SegmentFile segment = write(fs, log, index_of(log));
    std::uint64_t farthest = 0;
    for (std::int64_t time = vectors::kT - 400; time < vectors::kT + 6000; time += 13) {
      const TrustedPlace place = find_time(fs, segment, time);
      farthest = std::max(farthest, place.position);
      check_hides_nothing(fs, segment, log, place,
                          [&](const MadeUnit& unit) { return unit.max_timestamp >= time; });
    }
    CHECK(farthest > log.bytes().size() / 2);
  }
}

TEST_CASE("wrong indexes cost time and hide nothing") {
  for (const bool json : {false, true}) {
    const LogMaker log = make_log(json, 3);
    const Indexes good = index_of(log);
    Random random(9);
    std::vector<std::pair<std::string, Bytes>> offset_indexes = {
        {"empty", {}},
        {"zeros", Bytes(10485760)},
        {"preallocated", good.offsets + Bytes(1000)},
        {"odd length", good.offsets + Bytes(3)},
        {"truncated", cut(good.offsets, good.offsets.size() / 2 + 3)},
        {"garbage", random.bytes(800)},
        {"garbage behind", good.offsets + random.bytes(160)},
        {"past the end", good.offsets + entry(INT32_MAX - 1, INT32_MAX - 1)},
        {"negative", entry(-1, -1) + entry(INT32_MIN, INT32_MIN)},
        {"stale", good.offsets +
                      entry(log.next_offset() - kBase + 100, static_cast<std::int64_t>(log.bytes().size()))},
    };
    Bytes shuffled = good.offsets, mid_batch, wrong_batch, one_ahead;
    for (std::size_t i = shuffled.size() / 8; i-- > 1;) {
      std::swap_ranges(shuffled.begin() + static_cast<std::ptrdiff_t>(8 * i),
                       shuffled.begin() + static_cast<std::ptrdiff_t>(8 * i + 8),
                       shuffled.begin() + static_cast<std::ptrdiff_t>(8 * random.below(i)));
    }
    for (std::size_t i = 1; i + 6 < log.units().size(); i += 5) {
      const MadeUnit& unit = log.units()[i];
      const auto position = static_cast<std::int64_t>(unit.position);
      mid_batch = mid_batch + entry(unit.last - kBase, position + 5);
      wrong_batch =
          wrong_batch + entry(unit.last - kBase, static_cast<std::int64_t>(log.units()[i + 5].position));
      one_ahead = one_ahead + entry(unit.first - 1 - kBase, position);
    }
    offset_indexes.emplace_back("shuffled", shuffled);
    offset_indexes.emplace_back("mid-batch", mid_batch);
    offset_indexes.emplace_back("wrong batch", wrong_batch);
    offset_indexes.emplace_back("of first offsets", one_ahead);
    for (const auto& index : offset_indexes) {
      const Bytes& offsets = index.second;
      CAPTURE(index.first);
      MemoryFileSystem fs;
      const SegmentFile segment = write(fs, log, {offsets, good.times});
      check_all_lookups(fs, segment, log);
      CHECK(largest_timestamp(fs, segment) == largest(log));
      for (std::int64_t time = vectors::kT - 400; time < vectors::kT + 6000; time += 131) {
        check_hides_nothing(fs, segment, log, find_time(fs, segment, time),
                            [&](const MadeUnit& unit) { return unit.max_timestamp >= time; });
      }
    }
    const std::vector<std::pair<std::string, Bytes>> time_indexes = {
        {"empty", {}},
        {"zeros", Bytes(1200)},
        {"preallocated", good.times + Bytes(1000)},
        {"truncated", cut(good.times, good.times.size() / 2)},
        {"first entry alone", cut(good.times, 12)},
        {"garbage", random.bytes(1200)},
        {"garbage behind", good.times + random.bytes(120)},
        {"too late", from_hex("7fffffffffffffff 00000001")},
    };
    for (const auto& index : time_indexes) {
      const Bytes& times = index.second;
      CAPTURE(index.first);
      MemoryFileSystem fs;
      const SegmentFile segment = write(fs, log, {good.offsets, times});
      CHECK(largest_timestamp(fs, segment) == largest(log));
      for (std::int64_t time = vectors::kT - 400; time < vectors::kT + 6000; time += 131) {
        check_hides_nothing(fs, segment, log, find_time(fs, segment, time),
                            [&](const MadeUnit& unit) { return unit.max_timestamp >= time; });
      }
    }
  }
}

TEST_CASE("the largest timestamp may lie anywhere") {
  for (const std::size_t where : {0U, 1U, 30U, 58U, 59U}) {
    for (const std::int64_t interval : {100, 100000}) {
      LogMaker log(kBase);
      for (std::size_t i = 0; i < 60; ++i) log.json("v", i == where ? 1000000 : static_cast<std::int64_t>(i));
      MemoryFileSystem fs;
      const SegmentFile segment = write(fs, log, index_of(log, interval));
      CHECK(largest_timestamp(fs, segment) == 1000000);
      // Without the final time entry, as in an active segment.
      IndexBuilder active(Offset(kBase), interval);
      for (const MadeUnit& unit : log.units())
        active.add(Offset(unit.last), unit.position, unit.bytes.size(), unit.max_timestamp);
      write_file(fs, segment.beside(kTimeIndexSuffix), active.time_entries().view());
      CHECK(largest_timestamp(fs, segment) == 1000000);
      // The time index lost what the offset index kept.
      for (std::size_t size = 0; size < active.time_entries().size(); size += 12) {
        write_file(fs, segment.beside(kTimeIndexSuffix), active.time_entries().view().first(size));
        CHECK(largest_timestamp(fs, segment) == 1000000);
      }
    }
  }
  LogMaker none(0);
  none.json("v", -1).json("w", -1);
  MemoryFileSystem fs;
  CHECK(largest_timestamp(fs, write(fs, none, index_of(none))) == -1);
  CHECK(largest_timestamp(fs, write_segment(fs, "logs/u-0", 0, {})) == -1);
}

TEST_CASE("an entry whose offset lies below the unit at its place is not believed") {
  // Everything before the place of an entry has lower offsets than the entry: this one contradicts itself.
  MemoryFileSystem fs;
  LogMaker log(kBase);
  log.batch({1}).batch({2}).batch({3});
  Indexes indexes;
  indexes.offsets.resize(OffsetIndexEntry::kSize);
  const auto third = static_cast<std::int64_t>(log.units()[2].position);
  OffsetIndexEntry{Offset(kBase + 1), third}.encode(indexes.offsets.data(), Offset(kBase));
  CHECK(find_offset(fs, write(fs, log, indexes), Offset(kBase + 2)).position == 0);
  OffsetIndexEntry{Offset(kBase + 2), third}.encode(indexes.offsets.data(), Offset(kBase));
  CHECK(find_offset(fs, write(fs, log, indexes), Offset(kBase + 2)).position == log.units()[2].position);
}
