// Which indexes are accepted beside a segment: the forms of every release, and none that would mislead a
// lookup (kafka-on-disk.md §5.1 to §5.3; field cases R05, R06, R08).
#include "core/log/index_check.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/io/memory_file_system.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

const std::string kDirectory = "/t-0";
constexpr std::int64_t kT = vectors::kT;

// Four batches of three records: offsets 100-102 at byte 0, 103-105 at 100, 106-108 at 200, 109-111 at 300.
std::vector<IndexedUnit> four_units() {
  std::vector<IndexedUnit> units;
  for (int i = 0; i < 4; ++i) {
    units.push_back({.position = static_cast<std::uint64_t>(i) * 100,
                     .size = 100,
                     .first = Offset(100 + 3 * i),
                     .last = Offset(102 + 3 * i),
                     .max_timestamp = kT + i});
  }
  return units;
}

Bytes offset_entries(const std::vector<std::pair<std::int64_t, std::int64_t>>& entries) {
  Bytes bytes(entries.size() * OffsetIndexEntry::kSize);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    store_be<std::int32_t>(bytes.data() + i * 8, static_cast<std::int32_t>(entries[i].first - 100));
    store_be<std::int32_t>(bytes.data() + i * 8 + 4, static_cast<std::int32_t>(entries[i].second));
  }
  return bytes;
}

Bytes time_entries(const std::vector<std::pair<std::int64_t, std::int64_t>>& entries) {
  Bytes bytes(entries.size() * TimeIndexEntry::kSize);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    store_be<std::int64_t>(bytes.data() + i * 12, entries[i].first);
    store_be<std::int32_t>(bytes.data() + i * 12 + 8, static_cast<std::int32_t>(entries[i].second - 100));
  }
  return bytes;
}

Bytes zeros(std::size_t size) {
  return Bytes(size, 0);
}

template <class Check>
IndexVerdict judge(const Bytes& index, std::string_view suffix, std::vector<IndexedUnit> units,
                   bool is_last) {
  MemoryFileSystem fs;
  const SegmentFile segment = write_segment(fs, kDirectory, 100, zeros(400));
  write_file(fs, segment.beside(suffix), index);
  Check check(fs, segment, is_last);
  for (const IndexedUnit& unit : units) check.add(unit);
  check.finish();
  return check.verdict();
}

IndexVerdict judge_offsets(const Bytes& index, bool is_last = false,
                           std::vector<IndexedUnit> units = four_units()) {
  return judge<OffsetIndexCheck>(index, kIndexSuffix, std::move(units), is_last);
}
IndexVerdict judge_times(const Bytes& index, bool is_last = false,
                         std::vector<IndexedUnit> units = four_units()) {
  return judge<TimeIndexCheck>(index, kTimeIndexSuffix, std::move(units), is_last);
}

}  // namespace

TEST_CASE("offset index: per batch, per append, and none at all are good") {
  CHECK(judge_offsets(offset_entries({{105, 100}, {111, 300}})).state == IndexState::good);
  // One append of two batches, as releases up to 4.0 index it: the last offset of both, the position of the
  // first.
  CHECK(judge_offsets(offset_entries({{108, 100}, {111, 300}})).state == IndexState::good);
  CHECK(judge_offsets({}).state == IndexState::good);
}

TEST_CASE("offset index: the first offset of an append, as 0.8 and 0.10 have it") {
  auto units = four_units();
  for (auto& unit : units) unit.kind = UnitKind::legacy;
  CHECK(judge_offsets(offset_entries({{103, 100}, {106, 200}}), false, units).state == IndexState::good);
  // In a batch of magic 2 no release does it; it is safe all the same.
  const IndexVerdict verdict = judge_offsets(offset_entries({{103, 100}}));
  CHECK(verdict.state == IndexState::usable);
  CHECK(verdict.offset == Offset(103));
}

TEST_CASE("offset index: what would mislead a lookup is wrong, and the place is named") {
  struct Case {
    std::vector<std::pair<std::int64_t, std::int64_t>> entries;
    std::uint64_t position;
  };
  const Case cases[] = {
      {{{105, 100}, {108, 220}}, 8},               // inside a batch
      {{{105, 100}, {102, 200}}, 8},               // offsets do not rise
      {{{105, 200}, {108, 100}}, 0},               // the batch there begins at 106
      {{{105, 100}, {108, 100}}, 8},               // positions do not rise
      {{{105, 100}, {115, 300}}, 8},               // no such offset behind position 300
      {{{109, 100}, {111, 300}}, 0},               // the next entry's batch holds 109
      {{{105, 100}, {111, 300}, {120, 400}}, 16},  // behind the end
      {{{90, 100}}, 0},                            // before the segment
      {{{105, -100}}, 0},
  };
  for (const Case& it : cases) {
    const IndexVerdict verdict = judge_offsets(offset_entries(it.entries), true);
    CAPTURE(it.entries.back().first);
    CHECK(verdict.state == IndexState::wrong);
    CHECK(verdict.position == it.position);
    CHECK(std::string(verdict.reason) != "");
  }
}

TEST_CASE("zeros behind the entries: usable in the last segment, wrong in a closed one") {
  const Bytes index = offset_entries({{105, 100}}) + zeros(800);
  CHECK(judge_offsets(index, true).state == IndexState::usable);
  CHECK(judge_offsets(index, false).state == IndexState::wrong);
  CHECK(judge_offsets(index, false).position == 8);
  CHECK(judge_offsets(zeros(1 << 20), true).state == IndexState::usable);
  // What an emptied segment has left behind in its preallocated file.
  CHECK(judge_offsets(offset_entries({{105, 100}, {111, 300}, {115, 500}}) + zeros(800), true).state ==
        IndexState::usable);
  CHECK(judge_offsets(offset_entries({{108, 200}, {105, 100}}) + zeros(800), true).state ==
        IndexState::usable);
  CHECK(judge_times(time_entries({{kT + 1, 105}}) + zeros(1200), true).state == IndexState::usable);
}

TEST_CASE("a size that is no multiple of an entry's is wrong") {
  CHECK(judge_offsets(offset_entries({{105, 100}}) + zeros(1), true).state == IndexState::wrong);
  CHECK(judge_times(time_entries({{kT + 3, 111}}) + zeros(1), true).state == IndexState::wrong);
}

TEST_CASE("entries that point into damage are neither borne out nor refuted") {
  MemoryFileSystem fs;
  const SegmentFile segment = write_segment(fs, kDirectory, 100, zeros(400));
  write_file(fs, segment.beside(kIndexSuffix), offset_entries({{105, 100}, {107, 210}, {111, 300}}));
  OffsetIndexCheck check(fs, segment, false);
  const auto units = four_units();
  check.add(units[0]);
  check.skip(100, 200);
  check.add(units[3]);
  check.finish();
  CHECK(check.verdict().state == IndexState::good);
}

TEST_CASE("a writer that appends behind the listed end adds entries there") {
  MemoryFileSystem fs;
  const SegmentFile segment = write_segment(fs, kDirectory, 100, zeros(400));
  write_file(fs, segment.beside(kIndexSuffix), offset_entries({{105, 100}, {114, 400}}));
  write_file(fs, segment.log_path, zeros(500));
  OffsetIndexCheck check(fs, segment, true);
  for (const IndexedUnit& unit : four_units()) check.add(unit);
  check.finish();
  CHECK(check.verdict().state == IndexState::good);
}

TEST_CASE("time index: batch and record level are good, up to the largest time") {
  CHECK(judge_times(time_entries({{kT + 1, 105}, {kT + 3, 111}})).state == IndexState::good);
  CHECK(judge_times(time_entries({{kT + 1, 104}, {kT + 3, 110}})).state == IndexState::good);
  CHECK(judge_times({}, true).state == IndexState::good);
}

TEST_CASE("time index: entries that break their promise are wrong") {
  CHECK(judge_times(time_entries({{kT + 2, 105}, {kT + 3, 111}})).state ==
        IndexState::wrong);  // not its batch's
  CHECK(judge_times(time_entries({{kT + 1, 111}, {kT + 3, 111}})).state ==
        IndexState::wrong);  // 106 is later
  CHECK(judge_times(time_entries({{kT + 3, 111}, {kT + 1, 105}}), true).state ==
        IndexState::wrong);  // backwards
  CHECK(judge_times(time_entries({{kT + 3, 111}, {kT + 9, 120}}), true).state ==
        IndexState::wrong);  // behind the end
  // A closed segment's index ends with its largest time; an active one's may lag.
  CHECK(judge_times(time_entries({{kT + 1, 105}})).state == IndexState::wrong);
  CHECK(judge_times(time_entries({{kT + 1, 105}}), true).state == IndexState::good);
  CHECK(judge_times({}).state == IndexState::wrong);
}

TEST_CASE("time index: times that were not stored are taken for magic 0") {
  auto units = four_units();
  for (auto& unit : units) {
    unit.kind = UnitKind::legacy;
    unit.has_timestamp = false;
    unit.max_timestamp = kNoTimestamp;
  }
  CHECK(judge_times(time_entries({{kT + 77, 105}, {kT + 99, 111}}), false, units).state == IndexState::good);
  CHECK(judge_times({}, false, units).state == IndexState::good);
}
