// Where a segment ends and what is wrong with it: the positions that the field cases give.
#include "core/log/tail_scan.h"

#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

TailScan scan(const Bytes& log, std::int64_t base = 0, const UnitSink& sink = {}) {
  MemoryFileSystem fs;
  const SegmentFile segment = write_segment(fs, "logs/t-0", base, log);
  ScanRange range;
  range.segment_base = Offset(base);
  range.after = Offset(base - 1);
  return scan_to_end(fs, segment, range, sink);
}

const Bytes kA = from_hex(vectors::kA), kB = from_hex(vectors::kB), kC = from_hex(vectors::kC);

}  // namespace

TEST_CASE("an empty segment ends at its base; a whole one behind its last record") {
  CHECK(scan({}, 42).next_offset == Offset(42));
  CHECK(scan({}, 42).stop == TailScan::Stop::clean);
  std::vector<std::uint64_t> positions;
  const TailScan whole = scan(kA + kB + kC, 0, [&](ByteView unit, UnitKind kind, std::uint64_t position) {
    CHECK(unit.size() == 69);
    CHECK(kind == UnitKind::batch);
    positions.push_back(position);
  });
  CHECK(positions == std::vector<std::uint64_t>{0, 69, 138});
  CHECK(whole.stop == TailScan::Stop::clean);
  CHECK(whole.good_bytes == 207);
  CHECK(whole.next_offset == Offset(3));
  CHECK(whole.units == 3);
}

TEST_CASE("one flipped byte (R01)") {
  Bytes log = kA + kB + kC;
  log[136] = 'c';
  const TailScan found = scan(log);
  CHECK(found.stop == TailScan::Stop::damaged);
  REQUIRE(found.damage.size() == 1);
  CHECK(found.damage[0].position == 69);
  CHECK(found.damage[0].size == 69);
  CHECK(found.damage[0].fault.kind == FaultKind::bad_crc);
  CHECK(found.damage[0].fault.found == 3712301227);
  CHECK(found.damage[0].fault.expected == 3471286492);
  CHECK(found.damage[0].after == Offset(0));
  CHECK(found.damage[0].next_good == Offset(2));
  CHECK(found.units == 2);
  CHECK(found.good_bytes == 69);
  CHECK(found.next_offset == Offset(3));
  CHECK(found.next_offset_before_damage == Offset(1));
}

TEST_CASE("a torn tail (R02) and a zero tail (R03)") {
  const TailScan torn = scan(cut(kA + kB, 100));
  CHECK(torn.stop == TailScan::Stop::tail);
  CHECK(torn.damage.empty());
  CHECK(torn.tail.kind == FaultKind::torn_tail);
  CHECK(torn.tail_position == 69);
  CHECK(torn.tail_size == 31);
  CHECK(torn.next_offset == Offset(1));
  CHECK(torn.good_bytes == 69);

  const TailScan zeros = scan(cut(kA, 64U << 20));
  CHECK(zeros.stop == TailScan::Stop::tail);
  CHECK(zeros.tail.kind == FaultKind::zero_tail);
  CHECK(zeros.tail_position == 69);
  CHECK(zeros.good_bytes == 69);
  CHECK(zeros.next_offset == Offset(1));
}

TEST_CASE("offsets that do not rise (R11)") {
  const TailScan twice = scan(kA + kA);
  REQUIRE(twice.damage.size() == 1);
  CHECK(twice.damage[0].position == 69);
  CHECK(twice.damage[0].fault.kind == FaultKind::offset_regression);
  CHECK(twice.damage[0].fault.found == 0);
  CHECK(twice.damage[0].fault.expected == 1);
  CHECK(twice.next_offset == Offset(1));
  const TailScan leap = scan(kA + at_offset(kB, 9) + kC);
  REQUIRE(leap.damage.size() == 1);
  CHECK(leap.damage[0].next_good == Offset(2));
  CHECK(leap.next_offset == Offset(3));
}

TEST_CASE("how far to skip (R19)") {
  Bytes o = from_hex(vectors::kO);
  o.back() ^= 1;
  const TailScan found = scan(o + at_offset(kC, 3));
  REQUIRE(found.damage.size() == 1);
  CHECK(found.damage[0].position == 0);
  CHECK(found.damage[0].size == 87);
  CHECK(found.damage[0].after == Offset(-1));
  CHECK(found.damage[0].next_good == Offset(3));
  CHECK(found.next_offset == Offset(4));
}

TEST_CASE("newlines and forged lines (R35), gaps (R41), compacted tails (R59), teaching records (J)") {
  CHECK(scan(from_hex(vectors::kP)).stop == TailScan::Stop::clean);
  CHECK(scan(from_hex(vectors::kH)).stop == TailScan::Stop::clean);
  CHECK(scan(kA + kC).stop == TailScan::Stop::clean);
  CHECK(scan(kA + kC).next_offset == Offset(3));
  CHECK(scan(from_hex(vectors::kTH), 0).next_offset == Offset(15));
  const TailScan compacted = scan(from_hex(vectors::kE) + from_hex(vectors::kTH), 5);
  CHECK(compacted.stop == TailScan::Stop::clean);
  CHECK(compacted.units == 2);
  CHECK(compacted.next_offset == Offset(15));
  const TailScan teaching = scan(from_hex(vectors::kJ));
  CHECK(teaching.stop == TailScan::Stop::clean);
  CHECK(teaching.next_offset == Offset(2));
}

TEST_CASE("a scan begins where it is told and ends where it is told") {
  MemoryFileSystem fs;
  const SegmentFile segment = write_segment(fs, "logs/t-0", 0, kA + kB + kC);
  ScanRange range;
  range.position = 69;
  range.after = Offset(0);
  range.end = 138;
  const TailScan middle = scan_to_end(fs, segment, range);
  CHECK(middle.units == 1);
  CHECK(middle.good_bytes == 138);
  CHECK(middle.next_offset == Offset(2));
}

TEST_CASE("a unit behind several damaged ranges in a row is what follows each of them") {
  // A unit with a bad checksum, bytes that are no unit, and only then a good one. Who takes the first range
  // for the end of the log cuts readable records.
  const Bytes bad = flip(kB, 68 * 8);
  const TailScan found = scan(kA + bad + Bytes(20, 0xff) + kC);
  REQUIRE(found.damage.size() == 2);
  CHECK(found.damage[0].position == 69);
  CHECK(found.damage[1].position == 138);
  CHECK(found.damage[0].next_good == Offset(2));
  CHECK(found.damage[1].next_good == Offset(2));
}
