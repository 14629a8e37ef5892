// Hostile indexes beside a good segment: .index, .timeindex, .txnindex (the first byte says which). Whatever
// they hold, a lookup leads to where the wanted record still lies ahead.
#include <algorithm>

#include "core/io/memory_file_system.h"
#include "core/log/index_check.h"
#include "core/log/segment_lookup.h"
#include "core/log/verify_files.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/log_maker.h"

namespace tk::fuzz {
namespace {

constexpr std::int64_t kBase = 100;

/// Sixteen batches of one to three records with gaps between some, times that do not always rise.
const test::LogMaker& log() {
  static const test::LogMaker made = [] {
    test::LogMaker maker(kBase);
    for (int i = 0; i < 16; ++i) {
      std::vector<std::int64_t> times;
      for (int r = 0; r <= i % 3; ++r) times.push_back(test::vectors::kT + (i ^ 5) * 10 + r);
      maker.batch(times);
      if (i % 7 == 6) maker.skip(4);
    }
    return maker;
  }();
  return made;
}

/// The segment's first unit that ends at or above `offset`; null if there is none.
const test::MadeUnit* unit_with(Offset offset) {
  for (const test::MadeUnit& unit : log().units()) {
    if (unit.last >= offset.value()) return &unit;
  }
  return nullptr;
}

void check_place(const TrustedPlace& place, const test::MadeUnit* wanted) {
  if (wanted != nullptr) require(place.position <= wanted->position, "nothing wanted lies before the place");
  if (place.position == 0) return;
  const auto& units = log().units();
  const auto at = std::find_if(units.begin(), units.end(),
                               [&](const test::MadeUnit& u) { return u.position == place.position; });
  require(at != units.end(), "a unit begins at the place");
  require(place.after.value() < at->first, "the unit there lies above what is said to lie before");
  require(at == units.begin() || place.after.value() >= (at - 1)->last, "and nothing below it is hidden");
}

void check_lookups(FileSystem& fs, const SegmentFile& segment) {
  std::int64_t largest = kNoTimestamp;
  for (const test::MadeUnit& unit : log().units()) {
    for (const std::int64_t offset : {unit.first - 1, unit.first, unit.last}) {
      check_place(find_offset(fs, segment, Offset(offset)), unit_with(Offset(offset)));
    }
    if (unit.max_timestamp > largest) {
      check_place(find_time(fs, segment, unit.max_timestamp), &unit);
      largest = unit.max_timestamp;
    }
  }
  check_place(find_last_indexed(fs, segment), nullptr);
  require(largest_timestamp(fs, segment) == largest, "the largest time is found in spite of an index");
}

template <class Entry, class Check>
void check_entries(FileSystem& fs, const SegmentFile& segment, std::string_view suffix, ByteView bytes) {
  const IndexFile<Entry> index(fs, segment.beside(suffix), segment.base);
  require(index.count() * Entry::kSize <= bytes.size(), "no more entries than the file holds");
  for (std::size_t i = 0; i < index.count(); ++i) {
    std::uint8_t again[Entry::kSize];
    index.at(i).encode(again, segment.base);
    require(std::equal(again, again + Entry::kSize,
                       bytes.begin() + static_cast<std::ptrdiff_t>(i * Entry::kSize)),
            "an entry is its bytes");
  }
  for (const bool is_last : {false, true}) {
    Check check(fs, segment, is_last);
    for (const test::MadeUnit& unit : log().units()) {
      check.add(IndexedUnit{.position = unit.position,
                            .size = unit.bytes.size(),
                            .first = Offset(unit.first),
                            .last = Offset(unit.last),
                            .max_timestamp = unit.max_timestamp});
    }
    check.finish();
    const IndexVerdict& verdict = check.verdict();
    require((verdict.state == IndexState::good) == (*verdict.reason == '\0'),
            "what is not good has a reason");
    require(verdict.position <= bytes.size(), "the trouble lies within the index");
    require(check.entries() * Entry::kSize <= bytes.size(), "no more entries than the file holds");
    if (verdict.state != IndexState::good) continue;
    if constexpr (Entry::kSize == OffsetIndexEntry::kSize) {
      for (std::size_t i = 0; i < check.entries(); ++i) {
        const Entry entry = index.at(i);
        const test::MadeUnit* unit = unit_with(entry.offset);
        require(unit != nullptr && static_cast<std::uint64_t>(entry.position) <= unit->position,
                "an entry of a good index leads to before its offset");
      }
    }
  }
}

void check(std::uint8_t kind, ByteView bytes) {
  MemoryFileSystem fs;
  SegmentFile segment = test::write_segment(fs, "t-0", log());
  const std::size_t half = bytes.size() / 2;
  if (kind % 4 == 0) test::write_file(fs, segment.beside(kIndexSuffix), bytes);
  if (kind % 4 == 1) test::write_file(fs, segment.beside(kTimeIndexSuffix), bytes);
  if (kind % 4 == 2) {
    test::write_file(fs, segment.beside(kIndexSuffix), bytes.first(half));
    test::write_file(fs, segment.beside(kTimeIndexSuffix), bytes.subspan(half));
  }
  if (kind % 4 == 3) test::write_file(fs, segment.beside(kTxnIndexSuffix), bytes);

  const PartitionFiles files = list_partition(fs, "t-0");
  require(files.segments.size() == 1, "one segment");
  segment = files.segments.front();
  if (segment.has_txn_index) {
    VerifyTotals totals;
    const ProblemSink sink = [](const Problem& problem) {
      require(!problem.message.empty(), "a reason is given");
    };
    ProblemCounter report(sink, totals);
    check_snapshots_and_txn_indexes(fs, files, report);
    require(bytes.size() % kTxnIndexEntry == 0 || totals.derived + totals.damage > 0,
            "a transaction index of an odd size is noticed");
  }
  check_lookups(fs, segment);
  if (kind % 4 == 0) check_entries<OffsetIndexEntry, OffsetIndexCheck>(fs, segment, kIndexSuffix, bytes);
  if (kind % 4 == 1) check_entries<TimeIndexEntry, TimeIndexCheck>(fs, segment, kTimeIndexSuffix, bytes);
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tk::fuzz::Input input(data, size);
  const std::uint8_t kind = input.byte();
  tk::fuzz::check(kind, input.rest());
  return 0;
}
