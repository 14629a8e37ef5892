// The sparse indexes: their entries, when one falls due, and how many a file holds.
#include "core/log/index_file.h"

#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

Bytes bytes_of(const Buffer& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

std::vector<OffsetIndexEntry> offset_entries(const Bytes& bytes, std::int64_t base = 0) {
  MemoryFileSystem fs;
  write_file(fs, "d/x.index", bytes);
  const OffsetIndexFile index(fs, "d/x.index", Offset(base));
  std::vector<OffsetIndexEntry> entries;
  for (std::size_t i = 0; i < index.count(); ++i) entries.push_back(index.at(i));
  return entries;
}

}  // namespace

TEST_CASE("the bytes of kafka-on-disk.md §17.5, read and written") {
  const Bytes index = from_hex("00000029 0000106d 00000061 00002112");
  CHECK(offset_entries(index) == std::vector<OffsetIndexEntry>{{Offset(41), 4205}, {Offset(97), 8466}});
  CHECK(offset_entries(index, 1000)[1] == OffsetIndexEntry{Offset(1097), 8466});

  // Units of 4205, 4261 and 100 bytes; 41 and 97 are the last offsets of the second and the third.
  IndexBuilder builder(Offset(0), 4096);
  builder.add(Offset(20), 0, 4205, 1700000000000);
  builder.add(Offset(41), 4205, 4261, 1700000001000);
  builder.add(Offset(97), 8466, 100, 1700000002500);
  CHECK(bytes_of(builder.offset_entries()) == index);
  const Bytes time_index = from_hex("0000018bcfe56be8 00000029 0000018bcfe571c4 00000061");
  CHECK(bytes_of(builder.time_entries()) == time_index);
  builder.add_final_time_entry();
  CHECK(bytes_of(builder.time_entries()) == time_index);

  MemoryFileSystem fs;
  write_file(fs, "d/x.timeindex", time_index);
  const TimeIndexFile times(fs, "d/x.timeindex", Offset(0));
  REQUIRE(times.count() == 2);
  CHECK(times.at(0) == TimeIndexEntry{1700000001000, Offset(41)});
  CHECK(times.at(1) == TimeIndexEntry{1700000002500, Offset(97)});
}

TEST_CASE("an entry falls due by the rule of §5.5") {
  // The pseudo-code of §5.5 for units of these sizes and times.
  Random random(5);
  for (const std::int64_t interval : {0, 1, 100, 4096}) {
    IndexBuilder builder(Offset(500), interval);
    Bytes offsets, times;
    std::int64_t valid = 0, last_entry = 0, max_timestamp = -1, max_offset = 500, last_time = -1,
                 offset = 500;
    const auto append = [](Bytes& to, std::int64_t number, std::size_t size) {
      for (std::size_t i = size; i-- > 0;) to.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
    };
    const auto maybe_append_time = [&] {
      if (max_timestamp <= last_time) return;
      append(times, max_timestamp, 8);
      append(times, max_offset - 500, 4);
      last_time = max_timestamp;
    };
    for (int i = 0; i < 300; ++i) {
      const auto size = static_cast<std::int64_t>(1 + random.below(200));
      const auto timestamp = static_cast<std::int64_t>(random.below(1000)) - 1;
      offset += static_cast<std::int64_t>(random.below(5));
      if (timestamp > max_timestamp) {
        max_timestamp = timestamp;
        max_offset = offset;
      }
      if (valid - last_entry > interval) {
        append(offsets, offset - 500, 4);
        append(offsets, valid, 4);
        maybe_append_time();
        last_entry = valid;
      }
      builder.add(Offset(offset), static_cast<std::uint64_t>(valid), static_cast<std::uint64_t>(size),
                  timestamp);
      valid += size;
      ++offset;
    }
    maybe_append_time();
    builder.add_final_time_entry();
    CHECK(bytes_of(builder.offset_entries()) == offsets);
    CHECK(bytes_of(builder.time_entries()) == times);
    CHECK(offsets.size() > 8);
    CHECK(times.size() > 12);
  }
}

TEST_CASE("records without timestamps make no time entries; what cannot be expressed makes none at all") {
  IndexBuilder builder(Offset(0), 0);
  for (int i = 0; i < 3; ++i) builder.add(Offset(i), static_cast<std::uint64_t>(i) * 10, 10, kNoTimestamp);
  builder.add_final_time_entry();
  CHECK(builder.offset_entries().size() == 16);
  CHECK(builder.time_entries().empty());

  IndexBuilder high(Offset(10), 0);
  high.add(Offset(10), 0, 10, 1);
  high.add(Offset(10) + INT32_MAX, 10, 10, 2);
  high.add(Offset(11) + INT32_MAX, 20, 10, 3);
  high.add_final_time_entry();
  CHECK(bytes_of(high.offset_entries()) == from_hex("7fffffff 0000000a"));
  CHECK(bytes_of(high.time_entries()) == from_hex("0000000000000002 7fffffff"));
}

TEST_CASE("preallocated, cut and missing files") {
  const Bytes two = from_hex("00000029 0000106d 00000061 00002112");
  for (const std::size_t zeros : {0U, 1U, 7U, 8U, 9U, 16U, 1000U, 10485744U}) {
    CHECK(offset_entries(two + Bytes(zeros)).size() == 2);
  }
  CHECK(offset_entries(Bytes(10485760)).empty());  // R05
  CHECK(offset_entries(cut(two, 9)).size() == 1);  // R06
  CHECK(offset_entries({}).empty());
  MemoryFileSystem fs;
  fs.make_directories("d");
  CHECK(OffsetIndexFile(fs, "d/none.index", Offset(0)).count() == 0);
  CHECK(TimeIndexFile(fs, "d", Offset(0)).count() == 0);
}

TEST_CASE("a builder goes on where an index ends") {
  const auto add = [](IndexBuilder& builder, int i) {
    builder.add(Offset(i), static_cast<std::uint64_t>(i) * 50, 50, 1000 + i % 7);
  };
  IndexBuilder whole(Offset(0), 120);
  IndexBuilder part(Offset(0), 120);
  for (int i = 0; i < 40; ++i) add(whole, i);
  for (int i = 0; i < 20; ++i) add(part, i);
  // Entries come every third unit: the last of the first twenty is unit 18, the last time entry 1006 at
  // unit 6.
  IndexBuilder rest(Offset(0), 120);
  rest.resume({1006, Offset(6)}, {1006, Offset(6)}, 100);
  for (int i = 20; i < 40; ++i) add(rest, i);
  CHECK(bytes_of(part.offset_entries()) + bytes_of(rest.offset_entries()) ==
        bytes_of(whole.offset_entries()));
  CHECK(bytes_of(part.time_entries()) + bytes_of(rest.time_entries()) == bytes_of(whole.time_entries()));
  whole.clear_entries();
  CHECK(whole.offset_entries().empty());
  CHECK(whole.time_entries().empty());
}
