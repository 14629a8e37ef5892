// Scans of damaged segments: nothing altered passes for good, and one damage hides no other unit.
#include "core/log/segment_scanner.h"

#include <doctest/doctest.h>

#include <chrono>

#include "tests/support/log_maker.h"
#include "tests/support/scan.h"

using namespace tk;
using namespace tk::test;

namespace {

constexpr std::int64_t kT = vectors::kT;

struct Shape {
  std::string name;
  LogMaker log;
};

/// Logs of four units without gaps, so that every offset can be told from its neighbours'.
std::vector<Shape> shapes() {
  std::vector<Shape> all;
  all.push_back({"json", LogMaker(100).json("first").json("second value", 1).json("").json("the last one")});
  all.push_back({"batches", LogMaker(0).raw(vectors::kA).raw(vectors::kB).raw(vectors::kC).raw(vectors::kB)});
  all.push_back(
      {"codecs", LogMaker(1000)
                     .batch({kT, kT + 1, kT + 2}, Codec::gzip, "a value that compresses, compresses well")
                     .batch({kT, kT + 1}, Codec::lz4, "a value that compresses, compresses well")
                     .batch({kT}, Codec::snappy)
                     .batch({kT, kT, kT, kT}, Codec::zstd, "a value that compresses, compresses well")});
  all.push_back(
      {"legacy", LogMaker(7).raw(vectors::kG1).raw(vectors::kG1).raw(vectors::kG1).raw(vectors::kG1)});
  all.push_back({"mixed", LogMaker(0).raw(vectors::kG1).json("text").batch({kT, kT}).json("more text")});
  all.push_back({"large", LogMaker(3)
                              .batch({kT, kT, kT, kT, kT, kT, kT, kT}, Codec::none, std::string(40, 'x'))
                              .json(std::string(300, 'y'))
                              .batch({kT, kT, kT, kT, kT, kT, kT, kT}, Codec::none, std::string(40, 'z'))
                              .json("small")});
  return all;
}

const std::size_t kChunks[] = {64, kSmallChunk, SegmentScanner::kDefaultChunk};

/// What a scan of the undamaged log gives, less one unit.
std::vector<FoundUnit> all_but(const LogMaker& log, std::optional<std::size_t> left_out = {}) {
  std::vector<FoundUnit> units;
  for (std::size_t i = 0; i < log.units().size(); ++i) {
    if (i != left_out) units.push_back({log.units()[i].position, log.units()[i].bytes});
  }
  return units;
}

std::string range_of(const MadeUnit& unit) {
  return std::to_string(unit.position) + "+" + std::to_string(unit.bytes.size());
}

UnitKind kind_of(const MadeUnit& unit) {
  return frame_unit(unit.bytes, unit.bytes.size()).kind;
}

}  // namespace

TEST_CASE("a whole log, in chunks of every kind") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    for (std::size_t chunk = 1; chunk < 400; chunk += chunk < 100 ? 1 : 13) {
      const Scanned scanned = scan_bytes(shape.log.bytes(), shape.log.base(), chunk);
      CHECK(scanned.good == all_but(shape.log));
      CHECK(scanned.damage.empty());
      CHECK_FALSE(scanned.tail);
    }
  }
}

TEST_CASE("cut at every length: whole units, then a tail") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    const Bytes& log = shape.log.bytes();
    for (std::size_t size = 0; size < log.size(); ++size) {
      CAPTURE(size);
      for (const std::size_t chunk : kChunks) {
        const Scanned scanned = scan_bytes(cut(log, size), shape.log.base(), chunk);
        std::vector<FoundUnit> whole;
        std::size_t end = 0;
        for (const FoundUnit& unit : all_but(shape.log)) {
          if (unit.position + unit.bytes.size() > size) break;
          end = unit.position + unit.bytes.size();
          whole.push_back(unit);
        }
        CHECK(scanned.good == whole);
        CHECK(scanned.damage.empty());
        CHECK(scanned.tail.has_value() == (end < size));
        if (!scanned.tail) continue;
        CHECK(scanned.tail->position == end);
        CHECK(scanned.tail->size == size - end);
        // The first bytes of an offset may be zeros: then nothing tells a torn unit from unwritten blocks.
        if (size - end >= kUnitPrefix) CHECK(scanned.tail->fault.kind == FaultKind::torn_tail);
      }
    }
  }
}

// What guards which byte: json's checksum all of the unit; Kafka's the bytes from the attributes (v2) or the
// magic (legacy) on. An altered length leads to a sum over wrong bytes. An altered leader epoch cannot be
// found. An altered base offset is found by its neighbours, but for a higher one in the last unit.
TEST_CASE("one flipped bit: the unit is damage or what no checksum covers, and every other unit is there") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    const std::vector<MadeUnit>& units = shape.log.units();
    for (std::size_t k = 0; k < units.size(); ++k) {
      const MadeUnit& unit = units[k];
      const UnitKind kind = kind_of(unit);
      for (std::size_t bit = unit.position * 8; bit < (unit.position + unit.bytes.size()) * 8; ++bit) {
        const std::size_t at = bit / 8 - unit.position;
        CAPTURE(k);
        CAPTURE(at);
        CAPTURE(bit % 8);
        const Bytes damaged = flip(shape.log.bytes(), bit);
        bool passes =
            kind == UnitKind::batch && at >= batch_layout::kLeaderEpoch && at < batch_layout::kMagic;
        if (kind != UnitKind::json && at < 8) {
          passes =
              k + 1 == units.size() && load_be<std::int64_t>(damaged.data() + unit.position) > unit.first;
        }
        const std::size_t from_end = unit.bytes.size() - at;
        if (kind == UnitKind::json && from_end > 2 && from_end <= 10 && bit % 8 == 5) {
          passes = unit.bytes[at] >= 'a';  // a digit of the checksum in the other case
        }
        for (const std::size_t chunk : kChunks) {
          CAPTURE(chunk);
          const Scanned scanned = scan_bytes(damaged, shape.log.base(), chunk);
          if (passes) {
            std::vector<FoundUnit> expected = all_but(shape.log);
            expected[k].bytes = part(damaged, unit.position, unit.bytes.size());
            CHECK(scanned.good == expected);
            CHECK(scanned.damage.empty());
          } else {
            CHECK(scanned.good == all_but(shape.log, k));
            CHECK(scanned.holes(0, damaged.size()) == range_of(unit));
          }
        }
      }
    }
  }
}

TEST_CASE("zeros over any range: every untouched unit is there, and nothing else") {
  Random random(11);
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    const Bytes& log = shape.log.bytes();
    for (int round = 0; round < 300; ++round) {
      const std::size_t from = random.below(log.size());
      std::size_t to = from + 1 + random.below(log.size() - from);
      // A Kafka unit of which only the base offset is lost, behind one that is lost, is whole at another
      // offset.
      for (const MadeUnit& unit : shape.log.units()) {
        if (to > unit.position && to < unit.position + kUnitPrefix) to = unit.position + kUnitPrefix;
      }
      CAPTURE(from);
      CAPTURE(to);
      const Bytes damaged = zero(log, from, to);
      std::vector<FoundUnit> untouched;
      for (const FoundUnit& unit : all_but(shape.log)) {
        if (part(damaged, unit.position, unit.bytes.size()) == unit.bytes) untouched.push_back(unit);
      }
      for (const std::size_t chunk : kChunks) {
        const Scanned scanned = scan_bytes(damaged, shape.log.base(), chunk);
        CAPTURE(scanned.holes(0, damaged.size()));
        CHECK(scanned.good == untouched);
      }
    }
  }
}

TEST_CASE("garbage anywhere: every unit that it does not split is there") {
  Random random(12);
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    const Bytes& log = shape.log.bytes();
    for (int round = 0; round < 300; ++round) {
      const bool between = round % 2 == 0;
      const MadeUnit& unit = shape.log.units()[random.below(4)];
      const std::size_t at = unit.position + (between ? 0 : 1 + random.below(unit.bytes.size() - 1));
      const Bytes garbage = random.bytes(1 + random.below(round % 5 == 0 ? 3000 : 40));
      CAPTURE(at);
      CAPTURE(garbage.size());
      const Bytes damaged = insert(log, at, garbage);
      std::vector<FoundUnit> expected;
      for (FoundUnit whole : all_but(shape.log)) {
        if (whole.position < at && whole.position + whole.bytes.size() > at) continue;
        if (whole.position >= at) whole.position += garbage.size();
        expected.push_back(whole);
      }
      for (const std::size_t chunk : kChunks) {
        CHECK(scan_bytes(damaged, shape.log.base(), chunk).good == expected);
      }
    }
  }
}

TEST_CASE("a unit twice: the copy is damage, wherever it lies") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    const auto& units = shape.log.units();
    for (std::size_t j = 0; j < units.size(); ++j) {
      for (std::size_t k = 0; k <= units.size(); ++k) {
        CAPTURE(j);
        CAPTURE(k);
        Bytes log;
        for (std::size_t i = 0; i <= units.size(); ++i) {
          if (i == k) log = log + units[j].bytes;
          if (i < units.size()) log = log + units[i].bytes;
        }
        for (const std::size_t chunk : kChunks) {
          const Scanned scanned = scan_bytes(log, shape.log.base(), chunk);
          REQUIRE(scanned.good.size() == units.size());
          for (std::size_t i = 0; i < units.size(); ++i) CHECK(scanned.good[i].bytes == units[i].bytes);
          REQUIRE(scanned.damage.size() == 1);
          CHECK(scanned.damage[0].fault.kind == FaultKind::offset_regression);
          CHECK(scanned.damage[0].size == units[j].bytes.size());
        }
      }
    }
  }
}

TEST_CASE("two units exchanged: one of them is damage") {
  for (const Shape& shape : shapes()) {
    CAPTURE(shape.name);
    const auto& units = shape.log.units();
    for (std::size_t k = 0; k + 1 < units.size(); ++k) {
      CAPTURE(k);
      Bytes log;
      for (std::size_t i = 0; i < units.size(); ++i)
        log = log + units[i == k ? k + 1 : i == k + 1 ? k : i].bytes;
      for (const std::size_t chunk : kChunks) {
        const Scanned scanned = scan_bytes(log, shape.log.base(), chunk);
        CHECK(scanned.good.size() == units.size() - 1);
        REQUIRE(scanned.damage.size() == 1);
        CHECK(scanned.damage[0].fault.kind == FaultKind::offset_regression);
      }
    }
  }
}

TEST_CASE("a length that swallows the units behind it gives them back") {
  // The first unit's length reaches exactly to the end of a later one, or into it.
  for (const std::size_t swallowed : {1U, 2U, 3U}) {
    for (const std::size_t less : {0U, 1U, 30U}) {
      LogMaker log;
      for (int i = 0; i < 8; ++i) log.raw(vectors::kA);
      Bytes damaged = log.bytes();
      const std::size_t length = 69 * (1 + swallowed) - kUnitPrefix - less;
      store_be<std::int32_t>(damaged.data() + 69 * 2 + 8, static_cast<std::int32_t>(length));
      for (const std::size_t chunk : {1UL, 64UL, 200UL, 300UL, SegmentScanner::kDefaultChunk}) {
        CAPTURE(swallowed);
        CAPTURE(less);
        CAPTURE(chunk);
        CHECK(scan_bytes(damaged, 0, chunk).good == all_but(log, 2));
      }
    }
  }
}

TEST_CASE("what a bad unit swallowed lies before the unit behind it") {
  // Found by fuzzing: an offset came twice, once from inside of a bad unit.
  const Bytes a = from_hex(vectors::kA);
  Bytes bad = at_offset(a, 1);
  store_be<std::int32_t>(bad.data() + 8, static_cast<std::int32_t>(2 * 69 - kUnitPrefix));
  for (const std::int64_t inside : {2L, 3L, 1000L}) {
    const Bytes bytes = a + bad + at_offset(a, inside) + at_offset(a, 3) + at_offset(a, 1000);
    std::vector<FoundUnit> expected{{0, a}, {207, at_offset(a, 3)}, {276, at_offset(a, 1000)}};
    if (inside == 2) expected.insert(expected.begin() + 1, {138, at_offset(a, 2)});
    for (const std::size_t chunk : {1UL, 64UL, 200UL, 300UL, SegmentScanner::kDefaultChunk}) {
      CAPTURE(inside);
      CAPTURE(chunk);
      CHECK(scan_bytes(bytes, 0, chunk).good == expected);
    }
  }
}

TEST_CASE("gaps are no damage (R41), nor are left-out offsets inside a batch (R59)") {
  const Scanned gap = scan_bytes(from_hex(vectors::kA) + from_hex(vectors::kC));
  CHECK(gap.good.size() == 2);
  CHECK(gap.damage.empty());
  const Scanned compacted = scan_bytes(from_hex(vectors::kE) + from_hex(vectors::kTH), 5);
  CHECK(compacted.good.size() == 2);
  CHECK(compacted.damage.empty());
  CHECK_FALSE(compacted.tail);
}

TEST_CASE("teaching records (J)") {
  for (const std::size_t chunk : {1UL, 14UL, 20UL, SegmentScanner::kDefaultChunk}) {
    const Scanned scanned = scan_bytes(from_hex(vectors::kJ), 0, chunk);
    REQUIRE(scanned.good.size() == 2);
    CHECK(scanned.good[1].position == 14);
    CHECK(scanned.damage.empty());
  }
}

TEST_CASE("checksums are good, offsets are not (R11)") {
  const Bytes a = from_hex(vectors::kA), b = from_hex(vectors::kB), c = from_hex(vectors::kC);
  const Scanned twice = scan_bytes(a + a);
  CHECK(twice.good.size() == 1);
  REQUIRE(twice.damage.size() == 1);
  CHECK(twice.damage[0].position == 69);
  CHECK(twice.damage[0].size == 69);
  CHECK(twice.damage[0].fault.kind == FaultKind::offset_regression);
  // Offsets 0, 9, 2: the step back is at 138, and it is the 9 before it that fits nowhere.
  const Scanned leap = scan_bytes(a + at_offset(b, 9) + c);
  CHECK(leap.good == std::vector<FoundUnit>{{0, a}, {138, c}});
  REQUIRE(leap.damage.size() == 1);
  CHECK(leap.damage[0].position + leap.damage[0].size == 138);
  CHECK(leap.damage[0].fault.kind == FaultKind::offset_regression);
  // A damaged unit between the two does not hide that: nor do several, as long as they have a length.
  Bytes spoilt = c;
  spoilt.back() ^= 1;
  for (std::int64_t between = 1; between <= 3; ++between) {
    CAPTURE(between);
    Bytes bytes = a + at_offset(b, 9);
    for (std::int64_t i = 0; i < between; ++i) bytes = bytes + at_offset(spoilt, 2 + i);
    const std::size_t rest = bytes.size();
    bytes = bytes + at_offset(a, 6) + at_offset(a, 7);
    for (const std::size_t chunk : kChunks) {
      const Scanned hidden = scan_bytes(bytes, 0, chunk);
      CHECK(hidden.good ==
            std::vector<FoundUnit>{{0, a}, {rest, at_offset(a, 6)}, {rest + a.size(), at_offset(a, 7)}});
    }
  }
}

TEST_CASE("offsets must lie within the segment") {
  const Bytes a = from_hex(vectors::kA);
  // Below the base.
  const Scanned low = scan_bytes(at_offset(a, 9) + at_offset(a, 10), 10);
  CHECK(low.good.size() == 1);
  CHECK(low.holes(0, 138) == "0+69");
  // In the next segment.
  ScanRange range;
  range.segment_base = Offset(10);
  range.after = Offset(9);
  range.below = Offset(12);
  for (const std::size_t chunk : kChunks) {
    const Scanned high = scan_bytes(at_offset(a, 10) + at_offset(a, 11) + at_offset(a, 12), range, chunk);
    CHECK(high.good.size() == 2);
    CHECK(high.holes(0, 207) == "138+69");
  }
}

TEST_CASE("a batch whose last offset claims too much does not hide the next") {
  LogMaker log;
  BatchFields fields;
  fields.last_offset_delta = 5;  // two records
  log.batch({kT, kT}, Codec::none, "v", fields);
  Bytes bytes = log.bytes() + at_offset(from_hex(vectors::kA), 2) + at_offset(from_hex(vectors::kB), 3);
  for (const std::size_t chunk : kChunks) {
    const Scanned scanned = scan_bytes(bytes, 0, chunk);
    CHECK(scanned.good.size() == 3);
    CHECK(scanned.damage.empty());
  }
}

TEST_CASE("a zero tail of 64 MiB is one finding, soon (R03)") {
  const Bytes log = from_hex(vectors::kA);
  const Bytes padded = cut(log, 64U << 20);
  const auto start = std::chrono::steady_clock::now();
  const Scanned scanned = scan_bytes(padded);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));  // of a debug build
  CHECK(scanned.bytes_read < 4 * padded.size());
  CHECK(scanned.good.size() == 1);
  REQUIRE(scanned.tail);
  CHECK(scanned.tail->position == 69);
  CHECK(scanned.tail->size == (64U << 20) - 69);
  CHECK(scanned.tail->fault.kind == FaultKind::zero_tail);
}

TEST_CASE("files made to mislead take time in proportion to their size") {
  constexpr std::size_t kSize = 1U << 20;
  const auto filled = [&](auto&& next) {
    Bytes bytes;
    while (bytes.size() < kSize) {
      const Bytes more = next(bytes.size());
      bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
  };
  std::int64_t offset = 0;
  const auto liar = [&](std::size_t claims) {
    Bytes head = from_hex(vectors::kA);
    store_be<std::int32_t>(head.data() + 8, static_cast<std::int32_t>(std::max<std::size_t>(claims, 100)));
    return head;
  };
  const auto honest = [&] { return at_offset(from_hex(vectors::kA), offset++); };
  const std::vector<std::pair<std::string, Bytes>> files = {
      // Heads that claim all of the rest, or a part of it.
      {"heads to the end",
       filled([&](std::size_t at) { return cut(at_offset(liar(kSize - at - 12), offset++), 17); })},
      {"heads", filled([&](std::size_t) { return cut(at_offset(liar(1U << 19), offset++), 17); })},
      // Each followed by a good unit that ends the search.
      {"liars to the end",
       filled([&](std::size_t at) { return at_offset(liar(kSize - at - 12), offset) + honest(); })},
      {"liars", filled([&](std::size_t) { return at_offset(liar(1U << 18), offset) + honest(); })},
      {"json liars", filled([&](std::size_t at) {
         Bytes head(kUnitPrefix);
         store_be<std::int32_t>(head.data() + 8, static_cast<std::int32_t>(kSize - at - 12));
         return at_offset(head + to_bytes("{\"key\":null}"), offset) + honest();
       })},
      {"offsets up and down", filled([&](std::size_t) {
         return at_offset(from_hex(vectors::kA), 1000000000 - 2 * (++offset % 2));
       })},
  };
  for (const auto& file : files) {
    const Bytes& bytes = file.second;
    CAPTURE(file.first);
    for (const std::size_t chunk : {kSmallChunk, SegmentScanner::kDefaultChunk}) {
      CAPTURE(chunk);
      const auto start = std::chrono::steady_clock::now();
      const Scanned scanned = scan_bytes(bytes, 0, chunk);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      CHECK(seconds < 20);
      CHECK(scanned.bytes_read < 100 * bytes.size());
    }
  }
}

TEST_CASE("a record count of INT32_MIN under a good checksum is read like any other") {
  Bytes batch = from_hex(vectors::kA);
  store_be<std::int32_t>(batch.data() + batch_layout::kCount, INT32_MIN);
  store_be<std::uint32_t>(batch.data() + batch_layout::kCrc, batch_crc(batch));
  CHECK(scan_bytes(batch + from_hex(vectors::kB)).good.size() == 2);
}
