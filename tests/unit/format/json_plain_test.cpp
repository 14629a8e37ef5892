// The reader of plain json records against the general one: it takes what that takes, and nothing altered.
#include "core/format/json_plain.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/buffer.h"
#include "core/format/json_record.h"

using namespace tk;

namespace {

struct Given {
  std::optional<std::string> key, value;
  std::int64_t timestamp;
  bool plain;  // what tk writes of it has neither escapes nor null in place of the value
};

const std::vector<Given> kRecords = {
    {std::nullopt, "hello", 1700000000000, true},
    {"k", "v", 1700000000000, true},
    {"a key of more than one chunk of bytes", "and a value that is longer than two chunks of bytes",
     1700000000001, true},
    {std::nullopt, "", 1700000000001, true},
    {"", "empty key", 1700000000001, true},
    {std::nullopt, "\xC3\xA4", 123456789, true},
    {std::nullopt, "say \"no\"", 1700000000001, false},
    {"back\\slash", "v", 1700000000001, false},
    {"k", std::nullopt, 1700000000001, false},
    {std::nullopt, "before the first hours were over", 5, false},
    {std::nullopt, "without a time", kNoTimestamp, false},
};

Buffer encoded(const Given& given, std::int64_t offset) {
  RecordView record;
  if (given.key) record.key = *given.key;
  if (given.value) record.value = *given.value;
  record.timestamp = given.timestamp;
  Buffer out;
  encode_json_record(out, Offset(offset), record, {});
  return out;
}

std::size_t read(PlainJsonReader& reader, const std::uint8_t* begin, std::size_t size,
                 PlainJsonRecord& record) {
  const std::uint8_t* at = begin;
  const std::size_t count = reader.read(at, begin + size, std::span(&record, 1));
  CHECK((count == 1) == (at != begin));
  return count;
}

}  // namespace

TEST_SUITE("format.json_plain") {
  TEST_CASE("plain records are read as the general reader reads them, others are left") {
    PlainJsonReader reader;
    JsonRecordDecoder general;
    for (std::size_t i = 0; i < kRecords.size(); ++i) {
      CAPTURE(i);
      const Given& given = kRecords[i];
      const Buffer unit = encoded(given, 70 + static_cast<std::int64_t>(i));
      PlainJsonRecord record;
      REQUIRE(read(reader, unit.data(), unit.size(), record) == (given.plain ? 1 : 0));
      RecordView view;
      REQUIRE_FALSE(check_json_unit(unit.view()));
      REQUIRE_FALSE(general.decode(unit.view(), view));
      if (!given.plain) continue;
      CHECK(record.offset == view.offset.value());
      CHECK(record.timestamp == view.timestamp);
      CHECK(view.key.has_value() == (record.key != nullptr));
      if (view.key) CHECK(*view.key == std::string_view(record.key, record.key_size));
      CHECK(view.value == std::string_view(record.value, record.value_size));
    }
  }

  TEST_CASE("no altered byte and no cut is taken for good") {
    PlainJsonReader reader;
    for (std::size_t i = 0; i < kRecords.size(); ++i) {
      CAPTURE(i);
      const Buffer unit = encoded(kRecords[i], 7);
      PlainJsonRecord record;
      // The tail is known, so that a reader with a memory is put to the test.
      static_cast<void>(read(reader, unit.data(), unit.size(), record));
      for (std::size_t at = 0; at < unit.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
          std::vector<std::uint8_t> bytes(unit.data(), unit.data() + unit.size());
          bytes[at] ^= static_cast<std::uint8_t>(1 << bit);
          if (read(reader, bytes.data(), bytes.size(), record) != 0) FAIL(at << " " << bit);
        }
        const std::vector<std::uint8_t> cut(unit.data(), unit.data() + at);
        if (read(reader, cut.data(), cut.size(), record) != 0) FAIL("cut at " << at);
      }
    }
  }
}
