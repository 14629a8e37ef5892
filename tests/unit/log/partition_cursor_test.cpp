// Reading a partition from any offset: each record once, whatever its segments are called.
#include "core/log/partition_cursor.h"

#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "core/log/index_file.h"
#include "core/log/tail_scan.h"
#include "core/log/unit_walk.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

struct ReadBack {
  std::vector<std::int64_t> offsets;  // first offsets of the good units that end at or above the start
  std::vector<std::string> damage;    // segment base:position+size
  bool tail = false;
};

ReadBack read_from(FileSystem& fs, std::int64_t start,
                   std::size_t chunk_bytes = SegmentScanner::kDefaultChunk) {
  const LogView view = open_log_view(fs, "d");
  PartitionCursor cursor(fs, view, Offset(start), chunk_bytes);
  ReadBack read;
  CursorChunk chunk;
  const auto damaged = [&](std::uint64_t position, std::uint64_t size) {
    read.damage.push_back(std::to_string(chunk.segment->base.value()) + ":" + std::to_string(position) + "+" +
                          std::to_string(size));
  };
  while (cursor.next(chunk)) {
    for (const Stretch& stretch : chunk.scan.stretches) {
      if (stretch.kind == StretchKind::damage) damaged(stretch.position, stretch.size);
      if (stretch.kind == StretchKind::tail) read.tail = true;
      if (stretch.kind != StretchKind::units) continue;
      walk_units(
          chunk.scan, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t) {
            if (last_offset_of(unit, kind) >= Offset(start))
              read.offsets.push_back(load_be<std::int64_t>(unit.data()));
          },
          [&](std::uint64_t position, std::uint64_t size, const Fault&, ByteView) {
            damaged(position, size);
          });
    }
  }
  return read;
}

std::vector<std::int64_t> range(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> numbers;
  for (; from < to; ++from) numbers.push_back(from);
  return numbers;
}

LogMaker records(std::int64_t from, std::int64_t to) {
  LogMaker log(from);
  while (log.next_offset() < to) log.json("record " + std::to_string(log.next_offset()));
  return log;
}

/// A segment file called by `name` that holds records [from, to).
void put(FileSystem& fs, std::int64_t name, std::int64_t from, std::int64_t to) {
  write_segment(fs, "d", name, records(from, to).bytes());
}

void put_index(FileSystem& fs, const LogMaker& log, std::int64_t name) {
  IndexBuilder builder(Offset(name), 100);
  for (const MadeUnit& unit : log.units()) {
    builder.add(Offset(unit.last), unit.position, unit.bytes.size(), unit.max_timestamp);
  }
  SegmentFile segment;
  segment.base = Offset(name);
  segment.log_path = "d/x.log";
  write_file(fs, segment.beside(kIndexSuffix), builder.offset_entries().view());
}

/// From every offset exactly the records from there on come, without damage.
void check_every_start(FileSystem& fs, const std::vector<std::int64_t>& stored, std::int64_t from) {
  for (std::int64_t start = from; start <= stored.back() + 3; ++start) {
    CAPTURE(start);
    std::vector<std::int64_t> expected;
    for (const std::int64_t offset : stored) {
      if (offset >= start) expected.push_back(offset);
    }
    for (const std::size_t chunk : {50U, 200U, 1U << 20}) {
      const ReadBack read = read_from(fs, start, chunk);
      CHECK(read.offsets == expected);
      CHECK(read.damage.empty());
      CHECK_FALSE(read.tail);
    }
  }
}

}  // namespace

TEST_CASE("several segments, with and without indexes, empty ones between and behind") {
  MemoryFileSystem fs;
  put(fs, 0, 0, 10);
  put(fs, 10, 10, 10);
  put(fs, 11, 11, 20);  // offset 10 is not there
  put(fs, 20, 20, 35);
  put(fs, 35, 35, 35);
  auto stored = range(0, 10);
  for (const std::int64_t offset : range(11, 35)) stored.push_back(offset);
  check_every_start(fs, stored, -1);
  put_index(fs, records(0, 10), 0);
  put_index(fs, records(20, 35), 20);
  check_every_start(fs, stored, -1);
  const LogView view = open_log_view(fs, "d");
  CHECK(view.log_start == Offset(0));
  CHECK(view.log_end == Offset(35));
}

TEST_CASE("a missing middle is a gap") {
  MemoryFileSystem fs;
  put(fs, 0, 0, 10);
  put(fs, 20, 20, 30);
  auto stored = range(0, 10);
  for (const std::int64_t offset : range(20, 30)) stored.push_back(offset);
  check_every_start(fs, stored, 0);
}

TEST_CASE("a segment called lower than its first record, inside the range of the one before") {
  MemoryFileSystem fs;
  put(fs, 0, 0, 20);
  put(fs, 12, 20, 30);
  put(fs, 30, 30, 40);
  put_index(fs, records(0, 20), 0);
  check_every_start(fs, range(0, 40), 0);
}

TEST_CASE("a segment called higher than its first batch but not than that batch's end") {
  // Batches of six, the last segment called three higher, as Kafka's consumer reads it whole.
  MemoryFileSystem fs;
  const std::vector<std::int64_t> six(6, vectors::kT);
  LogMaker first(0), second(12);
  first.batch(six).batch(six);
  second.batch(six).batch(six);
  write_segment(fs, "d", 0, first.bytes());
  write_segment(fs, "d", 15, second.bytes());
  for (std::int64_t start = 0; start < 24; ++start) {
    CAPTURE(start);
    const ReadBack read = read_from(fs, start);
    std::vector<std::int64_t> expected;
    for (const std::int64_t base : {0, 6, 12, 18}) {
      if (base + 5 >= start) expected.push_back(base);
    }
    CHECK(read.offsets == expected);
    CHECK(read.damage.empty());
  }
  // The same, when the step back is an altered base offset: then it repeats offsets of the segment before.
  write_segment(fs, "d", 0, LogMaker(0).batch(six).batch(six).batch(six).bytes());
  CHECK_FALSE(read_from(fs, 0).damage.empty());
}

TEST_CASE("an extra segment that repeats records of its neighbour: each comes once") {
  MemoryFileSystem fs;
  put(fs, 0, 0, 20);
  put(fs, 10, 10, 20);
  put(fs, 20, 20, 30);
  for (const std::int64_t start : {0, 5, 10, 15, 20, 25}) {
    CAPTURE(start);
    CHECK(read_from(fs, start).offsets == range(start, 30));
  }
  // What the first one has too much is named.
  CHECK_FALSE(read_from(fs, 0).damage.empty());
}

TEST_CASE("a torn or zero end is a tail in the last segment and damage in any other") {
  MemoryFileSystem fs;
  const Bytes log = records(0, 10).bytes();
  write_segment(fs, "d", 0, cut(log, log.size() - 5));
  const ReadBack last = read_from(fs, 0);
  CHECK(last.offsets == range(0, 9));
  CHECK(last.tail);
  CHECK(last.damage.empty());
  put(fs, 10, 10, 20);
  const ReadBack middle = read_from(fs, 0);
  std::vector<std::int64_t> expected = range(0, 9);
  for (const std::int64_t offset : range(10, 20)) expected.push_back(offset);
  CHECK(middle.offsets == expected);
  CHECK_FALSE(middle.tail);
  CHECK(middle.damage.size() == 1);
}

TEST_CASE("damage at the end of one segment hides nothing of the next") {
  const LogMaker first = records(0, 10);
  for (std::size_t bit = first.units().back().position * 8; bit < first.bytes().size() * 8; ++bit) {
    CAPTURE(bit);
    MemoryFileSystem fs;
    write_segment(fs, "d", 0, flip(first.bytes(), bit));
    put(fs, 10, 10, 13);
    const std::vector<std::int64_t> offsets = read_from(fs, 0, 200).offsets;
    REQUIRE(offsets.size() >= 12);
    CHECK(std::vector<std::int64_t>(offsets.end() - 3, offsets.end()) == range(10, 13));
    CHECK(std::vector<std::int64_t>(offsets.begin(), offsets.begin() + 9) == range(0, 9));
  }
}

TEST_CASE("where a follower goes on") {
  MemoryFileSystem fs;
  const LogMaker log = records(5, 9);
  write_segment(fs, "d", 0, LogMaker(0).json("a").bytes());
  write_segment(fs, "d", 5, log.bytes());
  const LogView view = open_log_view(fs, "d");
  CHECK(view.last_segment_end == log.bytes().size());
  PartitionCursor cursor(fs, view, Offset(0));
  CursorChunk chunk;
  while (cursor.next(chunk)) {
  }
  CHECK(cursor.position() == log.bytes().size());
  CHECK(cursor.last_offset() == Offset(8));
}

TEST_CASE("a view of an empty directory, and a checkpointed start") {
  MemoryFileSystem fs;
  fs.make_directories("d");
  CHECK(open_log_view(fs, "d").empty());
  CHECK(open_log_view(fs, "d", Offset(7)).log_end == Offset(7));
  put(fs, 10, 10, 20);
  CHECK(open_log_view(fs, "d").log_start == Offset(10));
  CHECK(open_log_view(fs, "d", Offset(13)).log_start == Offset(13));
  CHECK(open_log_view(fs, "d", Offset(20)).log_start == Offset(20));
  CHECK(open_log_view(fs, "d", Offset(21)).log_start == Offset(10));
  CHECK(open_log_view(fs, "d", Offset(3)).log_start == Offset(10));
  // An empty segment by its name (R07).
  MemoryFileSystem empty;
  put(empty, 42, 42, 42);
  CHECK(open_log_view(empty, "d").log_end == Offset(42));
  CHECK(open_log_view(empty, "d").end_state == TailScan::Stop::clean);
}
