// The log cleaner against what its specification says must be left (kafka-on-disk.md §11), and with a disk
// that fails at every single call. Kafka's own cleaner is asked in tests/interop.
#include "core/log/compaction.h"

#include <doctest/doctest.h>

#include <map>

#include "core/log/key_map.h"
#include "core/log/unit_filter.h"
#include "tests/support/keyed_log.h"

using namespace tk;
using namespace tk::test;

namespace {

constexpr std::int64_t kDay = 86400000;
constexpr std::int64_t kNow = vectors::kT + 10 * kDay;

CompactionOptions forced(const KeyedLog& log, std::int64_t now_ms = kNow) {
  CompactionOptions options;
  options.rules.now_ms = now_ms;
  options.rules.force = true;
  options.config = log.config();
  options.map_bytes = KeyMap::kLeastBytes;
  options.lock_wait = 0;
  // As in a partition of tk: without producers the log is not read for their history, and what is dead is
  // skipped.
  options.trust_snapshots = true;
  return options;
}

CompactionResult compact(MemoryFileSystem& fs, const CompactionOptions& options) {
  return compact_partition(fs, kPartition, {}, options);
}

void fill(KeyedLog& log, int records, int keys) {
  for (int i = 0; i < records; ++i) {
    const std::string key = "k" + std::to_string(i * 7 % keys);
    log.append(key, i % 11 == 5 ? std::nullopt : std::optional("v" + std::to_string(i)), vectors::kT + i);
  }
}

std::int64_t records_in(const std::vector<KeyedRecord>& records, Offset below) {
  return std::ranges::count_if(records, [&](const KeyedRecord& r) { return r.offset < below.value(); });
}

}  // namespace

TEST_SUITE("log.compaction") {
  TEST_CASE("a map of keys grows up to its limit, and says so") {
    KeyMap map(64 * 1024, 7);
    const std::size_t room = map.capacity();
    CHECK(room == 64 * 1024 / 24 * 2 / 3 * 9 / 10);
    for (std::size_t i = 0; i < room; ++i) {
      REQUIRE(map.put(map.hash("key " + std::to_string(i)), Offset(static_cast<std::int64_t>(i))));
    }
    CHECK_FALSE(map.put(map.hash("one more"), Offset(5)));
    CHECK(map.put(map.hash("key 3"), Offset(1000000)));
    CHECK(map.find(map.hash("key 3")) == Offset(1000000));
    for (std::size_t i = 4; i < room; ++i)
      REQUIRE(map.find(map.hash("key " + std::to_string(i))) == Offset(static_cast<std::int64_t>(i)));
    CHECK_FALSE(map.find(map.hash("one more")));
    CHECK(map.size() == room);
    KeyMap large(64U << 20, 7);
    for (std::int64_t i = 0; i < 100000; ++i) REQUIRE(large.put(large.hash(std::to_string(i)), Offset(i)));
    for (std::int64_t i = 0; i < 100000; ++i) REQUIRE(large.find(large.hash(std::to_string(i))) == Offset(i));
  }

  TEST_CASE("maps of several writers count as one: the last offset of each key, once") {
    KeyMaps maps(1U << 20, 7);
    maps.divide(3);
    REQUIRE(maps.count() == 3);
    std::map<std::int64_t, std::int64_t> last;  // offset by key
    for (std::int64_t offset = 0; offset < 9000; ++offset) {
      const std::int64_t key = offset * 7919 % 1301;
      const auto writer = static_cast<unsigned>(offset / 100 % 3);
      REQUIRE(maps.of_writer(writer).put(maps.hash(std::to_string(key)), Offset(offset), key % 5 == 0));
      last[key] = offset;
    }
    std::map<std::int64_t, bool> seen;
    for (std::size_t i = 0; i < maps.count(); ++i) {
      maps.each_of(
          i, [&](Offset offset, bool tombstone) { CHECK(seen.emplace(offset.value(), tombstone).second); });
    }
    CHECK(seen.size() == last.size());
    for (const auto& [key, offset] : last) {
      CHECK(maps.find(maps.hash(std::to_string(key))) == Offset(offset));
      REQUIRE(seen.contains(offset));
      CHECK(seen.at(offset) == (key % 5 == 0));
    }
    CHECK_FALSE(maps.find(maps.hash("none")));
    maps.divide(1);
    CHECK_FALSE(maps.find(maps.hash("0")));
  }

  TEST_CASE("of each key the last record stays, offsets do not change, the active segment is left alone") {
    for (const TopicFormat format : {TopicFormat::kafka, TopicFormat::json}) {
      CAPTURE(static_cast<int>(format));
      MemoryFileSystem fs;
      KeyedLog log(fs, format);
      fill(log, 120, 9);
      const Offset active = log.active_base();
      REQUIRE(active > Offset(50));
      const auto expected = log.compacted(active);
      const CompactionResult result = compact(fs, forced(log));
      CHECK(result.action == CompactionResult::Action::compacted);
      CHECK(result.cleaned_to == active);
      CHECK(result.records_before == active.value());
      CHECK(result.records_after == records_in(expected, active));
      CHECK(result.bytes_after < result.bytes_before);
      CHECK(log.read() == expected);
      CHECK(verify_says(fs) == "");
      CHECK(open_log_view(fs, kPartition).log_end == Offset(120));
      log.append("k1", "later", vectors::kT + 500);
      CHECK(log.written().back().offset == 120);
    }
  }

  TEST_CASE("a segment of which everything stays is not written anew, and is counted all the same") {
    struct Case {
      const char* what;
      // What becomes of key 2, which lies in the first segment.
      std::optional<std::string> value;
      bool again;  // written once more at the end
      bool first_segment_stays;
    };
    const Case cases[] = {{"all keys distinct", "v", false, true},
                          {"a tombstone, which gets its horizon", std::nullopt, false, false},
                          {"a key that is superseded later", "v", true, false}};
    for (const TopicFormat format : {TopicFormat::kafka, TopicFormat::json}) {
      for (const Case& it : cases) {
        CAPTURE(static_cast<int>(format));
        CAPTURE(it.what);
        MemoryFileSystem fs;
        KeyedLog log(fs, format);
        for (int i = 0; i < 40; ++i) {
          log.append("k" + std::to_string(i), i == 2 ? it.value : std::optional<std::string>("v"),
                     vectors::kT + i);
        }
        if (it.again) log.append("k2", "newer", vectors::kT + 50);
        log.roll();
        const auto before = list_partition(fs, kPartition).segments;
        REQUIRE(before.size() >= 4);
        REQUIRE(before[1].base > Offset(2));
        const auto expected = log.compacted(log.active_base());
        const CompactionResult result = compact(fs, forced(log));
        CHECK(log.read() == expected);
        CHECK(verify_says(fs) == "");
        CHECK(result.records_before == static_cast<std::int64_t>(log.written().size()));
        CHECK(result.records_after == static_cast<std::int64_t>(expected.size()));
        const auto after = list_partition(fs, kPartition).segments;
        REQUIRE(after.size() == before.size());
        CHECK((after[0].inode == before[0].inode) == it.first_segment_stays);
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i + 1 < after.size(); ++i) {
          bytes += after[i].size;
          if (i > 0) CHECK(after[i].inode == before[i].inode);
        }
        CHECK(result.bytes_after == bytes);
      }
    }
  }

  TEST_CASE("an empty unit that is the end of the log no more goes, though all records beside it stay") {
    for (const TopicFormat format : {TopicFormat::kafka, TopicFormat::json}) {
      CAPTURE(static_cast<int>(format));
      MemoryFileSystem fs;
      KeyedLog log(fs, format);
      log.append("b", "1", vectors::kT);
      log.append("c", "2", vectors::kT + 1);
      log.append("a", std::nullopt, vectors::kT + 2);
      log.roll();
      compact(fs, forced(log, kNow));
      compact(fs, forced(log, kNow + 2 * kDay));  // the tombstone goes, its offset stays
      CHECK(log.read() ==
            std::vector<KeyedRecord>{{0, "b", "1", vectors::kT}, {1, "c", "2", vectors::kT + 1}});
      CHECK(open_log_view(fs, kPartition).log_end == Offset(3));
      const std::uint64_t with_empty = list_partition(fs, kPartition).segments.front().size;
      for (int i = 0; i < 3; ++i)  // a segment that is joined with no other
        log.append("k" + std::to_string(i), std::string(60, 'v'), vectors::kT + 10 + i);
      log.roll();
      const std::vector<KeyedRecord> all = log.read();
      compact(fs, forced(log, kNow + 3 * kDay));
      REQUIRE(list_partition(fs, kPartition).segments.size() >= 3);
      CHECK(list_partition(fs, kPartition).segments.front().size < with_empty);
      CHECK(log.read() == all);
    }
  }

  TEST_CASE("R62: a tombstone gets its horizon at the first cleaning and goes when that is reached") {
    for (const TopicFormat format : {TopicFormat::kafka, TopicFormat::json}) {
      CAPTURE(static_cast<int>(format));
      MemoryFileSystem fs;
      KeyedLog log(fs, format);
      log.append("a", "1", vectors::kT);
      log.append("a", std::nullopt, vectors::kT + 1);
      log.append("b", "2", vectors::kT + 2);
      log.roll();
      const KeyedRecord tombstone{1, "a", std::nullopt, vectors::kT + 1}, other{2, "b", "2", vectors::kT + 2};
      const std::vector<KeyedRecord> kept{tombstone, other};
      compact(fs, forced(log, kNow));
      CHECK(log.read() == kept);
      compact(fs, forced(log, kNow + kDay - 1));
      CHECK(log.read() == kept);
      compact(fs, forced(log, kNow + kDay));
      CHECK(log.read() == std::vector<KeyedRecord>{other});
      CHECK(verify_says(fs) == "");
    }
  }

  TEST_CASE("R60: what ends the cleaned part stays, empty, with its producer's sequence") {
    for (const TopicFormat format : {TopicFormat::kafka, TopicFormat::json}) {
      CAPTURE(static_cast<int>(format));
      MemoryFileSystem fs;
      KeyedLog log(fs, format);
      BatchFields fields;
      fields.producer_id = ProducerId(7);
      fields.producer_epoch = 2;
      for (const char* value : {"1", "2"}) {
        log.append("k", value, kNow + kDay / 2, fields);
        ++fields.base_sequence;
      }
      log.append("k", std::nullopt, kNow - 5);
      log.roll();
      compact(fs, forced(log, kNow));
      compact(fs, forced(log, kNow + kDay));
      CHECK(log.read().empty());
      CHECK(open_log_view(fs, kPartition).log_end == Offset(3));
      LogHistory history = read_log_history(fs, open_log_view(fs, kPartition));
      history.finish(kNow, kProducerExpirationMs, {});
      UnitInfo last;
      last.producer_id = ProducerId(7);
      last.last_offset = Offset(1);
      CHECK(history.is_last_of_producer(last));
      // An expired producer leaves nothing, but for one whose name is known.
      CompactionOptions later = forced(log, kNow + 3 * kDay);
      later.known_producers = [] { return std::vector{ProducerId(7)}; };
      compact(fs, later);
      history = read_log_history(fs, open_log_view(fs, kPartition));
      history.finish(kNow, kProducerExpirationMs, {});
      CHECK(history.is_last_of_producer(last));
      compact(fs, forced(log, kNow + 3 * kDay));
      history = read_log_history(fs, open_log_view(fs, kPartition));
      history.finish(kNow, kProducerExpirationMs, {});
      CHECK_FALSE(history.is_last_of_producer(last));
      CHECK(verify_says(fs) == "");
    }
  }

  TEST_CASE("more keys than the map has room for: passes follow each other") {
    for (const TopicFormat format : {TopicFormat::kafka, TopicFormat::json}) {
      MemoryFileSystem fs;
      KeyedLog log(fs, format, 3000);
      fill(log, 700, 331);
      const Offset active = log.active_base();
      const auto expected = log.compacted(active);
      const CompactionResult result = compact(fs, forced(log));
      CHECK(KeyMap(KeyMap::kLeastBytes, 0).capacity() < 331);
      CHECK(result.passes > 1);
      CHECK(result.records_after == records_in(expected, active));
      CHECK(log.read() == expected);
      CHECK(verify_says(fs) == "");
    }
  }

  TEST_CASE("a dry run counts and changes nothing") {
    MemoryFileSystem fs;
    KeyedLog log(fs, TopicFormat::kafka);
    fill(log, 120, 9);
    const auto before = log.read();
    const std::uint64_t calls = fs.calls();
    CompactionOptions options = forced(log);
    options.dry_run = true;
    const CompactionResult planned = compact(fs, options);
    CHECK(planned.action == CompactionResult::Action::would_compact);
    CHECK(log.read() == before);
    std::uint64_t writes = 0;
    fs.on_call = [&](const DiskCall& call) {
      writes += call.kind == DiskCall::Kind::write || call.kind == DiskCall::Kind::rename;
      return DiskFate::done;
    };
    compact(fs, options);
    CHECK(writes == 0);
    CHECK(calls > 0);
    fs.on_call = nullptr;
    const CompactionResult done = compact(fs, forced(log));
    CHECK(planned.records_after == done.records_after);
    CHECK(planned.bytes_after == done.bytes_after);
  }

  TEST_CASE("when it is worth it: dirty ratio, lag times, checkpoint") {
    MemoryFileSystem fs;
    KeyedLog log(fs, TopicFormat::kafka, 100000);
    for (int segment = 0; segment < 4; ++segment) {
      for (int i = 0; i < 10; ++i) log.append("k", "v", vectors::kT + segment * kDay);
      log.roll();
    }
    const LogView view = open_log_view(fs, kPartition);
    CompactionRules rules;
    rules.now_ms = vectors::kT + 4 * kDay;
    rules.checkpoint = Offset(20);
    CompactionRange range = choose_compaction_range(fs, view, view.log_end, rules);
    CHECK(range.first_dirty == Offset(20));
    CHECK(range.upper == Offset(40));
    CHECK(range.dirty_ratio() == doctest::Approx(0.5));
    CHECK_FALSE(range.not_now.empty());  // not above 0.5
    rules.min_dirty_ratio = 0.49;
    CHECK(choose_compaction_range(fs, view, view.log_end, rules).not_now.empty());
    rules.min_lag_ms = 2 * kDay;  // the segment of day 3 is younger, that of day 2 just is not
    range = choose_compaction_range(fs, view, view.log_end, rules);
    CHECK(range.upper == Offset(30));
    rules.min_lag_ms = 2 * kDay + 1;
    range = choose_compaction_range(fs, view, view.log_end, rules);
    CHECK(range.upper == Offset(20));
    CHECK_FALSE(range.not_now.empty());
    rules.min_lag_ms = 0;
    rules.min_dirty_ratio = 1;
    rules.max_lag_ms = 2 * kDay;  // the first dirty segment is of day 2: not older than now - 2 days
    CHECK_FALSE(choose_compaction_range(fs, view, view.log_end, rules).not_now.empty());
    rules.max_lag_ms = 2 * kDay - 1;
    CHECK(choose_compaction_range(fs, view, view.log_end, rules).not_now.empty());
    // An open transaction holds everything from its segment on.
    CHECK(choose_compaction_range(fs, view, Offset(35), rules).upper == Offset(30));
    rules.checkpoint = Offset(99);
    CHECK(choose_compaction_range(fs, view, view.log_end, rules).first_dirty == Offset(0));
  }

  TEST_CASE("a damaged log is named and left as it is") {
    MemoryFileSystem fs;
    KeyedLog log(fs, TopicFormat::kafka);
    fill(log, 60, 5);
    const SegmentFile second = list_partition(fs, kPartition).segments.at(1);
    fs.flip_bit(second.log_path, second.size - 3, 2);
    const auto before = log.read();
    try {
      compact(fs, forced(log));
      FAIL("compacted");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::corrupt_message);
      CHECK(error.path() == second.log_path);
    }
    CHECK(log.read() == before);
  }

  TEST_CASE("a failure or a power cut at any call leaves every last record, and the next run finishes") {
    struct Fate {
      DiskFate fate;
      UnsyncedFate unsynced;
    };
    constexpr Fate fates[] = {{DiskFate::fails, UnsyncedFate::all_kept},
                              {DiskFate::torn, UnsyncedFate::all_kept},
                              {DiskFate::power_off, UnsyncedFate::all_lost},
                              {DiskFate::power_off, UnsyncedFate::all_kept},
                              {DiskFate::power_off, UnsyncedFate::random_blocks}};
    for (const TopicFormat format : {TopicFormat::kafka, TopicFormat::json}) {
      std::uint64_t calls = UINT64_MAX;
      for (std::uint64_t number = 0; number < calls; ++number) {
        for (std::size_t i = 0; i < std::size(fates); ++i) {
          if ((number + i) % 2 == 1) continue;  // every call meets every second fate
          const Fate& fate = fates[i];
          MemoryFileSystem fs;
          KeyedLog log(fs, format, 200);
          fill(log, 16, 3);
          const Offset active = log.active_base();
          const auto expected = log.compacted(active);
          const std::uint64_t start = fs.calls();
          CompactionOptions options = forced(log);
          options.config.segment_bytes = 600;  // groups of more than one segment
          fs.on_call = [&](const DiskCall& call) {
            return call.number == start + number ? fate.fate : DiskFate::done;
          };
          bool failed = false;
          try {
            compact(fs, options);
          } catch (const Error&) {
            failed = true;
          }
          fs.on_call = nullptr;
          calls = std::min(calls, failed ? UINT64_MAX : fs.calls() - start);
          if (fate.fate == DiskFate::power_off) {
            fs.power_off(fate.unsynced, number);
            fs.power_on();
          }
          CAPTURE(static_cast<int>(format));
          CAPTURE(number);
          CAPTURE(static_cast<int>(fate.fate));
          CAPTURE(static_cast<int>(fate.unsynced));
          // All that was last is there, and nothing that nobody wrote.
          const auto found = log.read();
          CHECK(std::ranges::includes(found, expected));
          CHECK(std::ranges::includes(log.written(), found));
          CHECK(open_log_view(fs, kPartition).log_end == Offset(16));
          log.append("k1", "after", vectors::kT + 99);
          REQUIRE(log.written().back().offset == 16);
          const Offset now_active = log.active_base();
          compact(fs, options);
          CHECK(log.read() == log.compacted(now_active));
          CHECK(verify_says(fs) == "");
          const PartitionFiles files = list_partition(fs, kPartition);
          CHECK(files.pending.empty());
          CHECK(files.others.empty());
        }
      }
      CHECK(calls > 40);
    }
  }
}
