// The lines are those that the dump tool of Kafka 4.4.0 printed for the same bytes.
#include "commands/dump_text.h"

#include <doctest/doctest.h>

#include <string>

#include "commands/java_text.h"
#include "core/format/batch.h"

using namespace tk;

namespace {

std::string java_text(std::string_view bytes) {
  std::string to(java_text_bound(bytes.size()), '\0');
  to.resize(static_cast<std::size_t>(put_java_text(to.data(), bytes) - to.data()));
  return to;
}

std::string text_of(const Buffer& buffer) {
  return std::string(as_text(buffer.view()));
}

}  // namespace

TEST_CASE("bytes that are no UTF-8 become U+FFFD as Java has it") {
  const std::string r = "\xEF\xBF\xBD";
  CHECK(java_text("") == "");
  CHECK(java_text("plain \xC3\xA9 \xF0\x9F\x8E\x89") == "plain \xC3\xA9 \xF0\x9F\x8E\x89");
  CHECK(java_text("a\x80z") == "a" + r + "z");
  CHECK(java_text("\xC0\x80") == r + r);          // overlong
  CHECK(java_text("\xE0\x80\x80") == r + r + r);  // overlong
  CHECK(java_text("\xE6\x97z") == r + "z");       // a well-formed start
  CHECK(java_text("\xF0\x9F\x8E") == r);          // cut off
  CHECK(java_text("\xF0\x9F\x8Ez") == r + "z");
  CHECK(java_text("\xF4\x90\x80\x80") == r + r + r + r);  // above U+10FFFF
  CHECK(java_text("\xF5\x80") == r + r);
  // Encoded surrogates: one for the whole of it.
  CHECK(java_text("\xED\xA0\x80") == r);
  CHECK(java_text("\xED\xA0\x80\xED\xB0\x80") == r + r);
  CHECK(java_text("\xED\xA0") == r);
  CHECK(java_text("\xED\xA0z") == r + "z");
  CHECK(java_text("\xED") == r);
  CHECK(java_text("\xED\x9F\xBF") == "\xED\x9F\xBF");  // U+D7FF is none
}

TEST_CASE("the line of a batch") {
  UnitInfo info;
  info.size = 834;
  info.last_offset = Offset(9);
  info.leader_epoch = LeaderEpoch(0);
  info.crc = 3333016808;
  info.max_timestamp = 1795968271563;
  info.timestamp_type = TimestampType::log_append_time;
  info.count = 10;
  Buffer to;
  append_unit_line(to, info, 0, true);
  CHECK(text_of(to) ==
        "baseOffset: 0 lastOffset: 9 count: 10 baseSequence: -1 lastSequence: -1 producerId: -1 "
        "producerEpoch: -1 "
        "partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty "
        "position: 0 LogAppendTime: 1795968271563 size: 834 magic: 2 compresscodec: none crc: 3333016808 "
        "isvalid: "
        "true\n");
}

TEST_CASE("the line of a batch with a delete horizon") {
  UnitInfo info;
  info.attributes = kDeleteHorizonBit | 4;
  info.base_timestamp = 1700000000000;
  info.transactional = true;
  info.base_offset = Offset(5);
  info.last_offset = Offset(9);
  info.producer_id = ProducerId(12);
  info.producer_epoch = 3;
  info.base_sequence = 2147483645;
  Buffer to;
  append_unit_line(to, info, 1101, false);
  const std::string line = text_of(to);
  CHECK(line.find(" baseSequence: 2147483645 lastSequence: 1 producerId: 12 producerEpoch: 3 ") !=
        std::string::npos);
  CHECK(line.find(" isTransactional: true isControl: false deleteHorizonMs: OptionalLong[1700000000000] "
                  "position: 1101 ") != std::string::npos);
  CHECK(line.ends_with(" compresscodec: zstd crc: 0 isvalid: false\n"));
}

TEST_CASE("the lines of records") {
  const HeaderView headers[] = {{"seq", "x"}, {"b", std::nullopt}};
  RecordView record;
  record.offset = Offset(150);
  record.timestamp = 1700000300000;
  record.key = "acct-5";
  record.value = R"({"round":0,"seq":150,"balance":4650})";
  record.headers = std::span(headers).first(1);
  DumpStyle style;
  style.data = true;
  RecordLines lines(style);
  Buffer to;

  SUBCASE("with data") {
    lines.append_record(to, record);
    CHECK(text_of(to) ==
          "| offset: 150 CreateTime: 1700000300000 keySize: 6 valueSize: 36 sequence: -1 headerKeys: [seq] "
          "key: acct-5 "
          "payload: {\"round\":0,\"seq\":150,\"balance\":4650}\n");
  }
  SUBCASE("a tombstone keeps its key, an empty value shows as such") {
    record.value.reset();
    record.headers = headers;
    lines.append_record(to, record);
    record.key.reset();
    record.value = "";
    lines.append_record(to, record);
    CHECK(text_of(to) ==
          "| offset: 150 CreateTime: 1700000300000 keySize: 6 valueSize: -1 sequence: -1 headerKeys: [seq,b] "
          "key: "
          "acct-5\n"
          "| offset: 150 CreateTime: 1700000300000 keySize: -1 valueSize: 0 sequence: -1 headerKeys: [seq,b] "
          "payload: "
          "\n");
  }
  SUBCASE("without metadata") {
    style.skip_record_metadata = true;
    lines.append_record(to, record);
    record.key.reset();
    lines.append_record(to, record);
    record.value.reset();
    lines.append_record(to, record);
    CHECK(text_of(to) ==
          "| key: acct-5 payload: {\"round\":0,\"seq\":150,\"balance\":4650}\n"
          "| payload: {\"round\":0,\"seq\":150,\"balance\":4650}\n\n");
  }
}

TEST_CASE("a json record is one line whatever it holds") {
  RecordView record;
  record.timestamp = 1700000000000;
  record.key = "k";
  record.value = "a\nb\\\xff\x07";
  JsonUnitText unit{Offset(7), 812, 64, &record, JsonControl::none, 0x1a2b3c4d, true};
  Buffer to;
  append_json_unit_line(to, unit, false);
  append_json_unit_line(to, unit, true);
  CHECK(text_of(to) ==
        "offset: 7 position: 812 size: 64 CreateTime: 1700000000000 keySize: 1 valueSize: 6 crc: 0x1a2b3c4d "
        "isvalid: "
        "true\n"
        "offset: 7 position: 812 size: 64 CreateTime: 1700000000000 keySize: 1 valueSize: 6 crc: 0x1a2b3c4d "
        "isvalid: "
        "true key: k payload: a\\nb\\\\\\xff\\x07\n");
}

TEST_CASE("numbers of every length") {
  RecordView record;
  DumpStyle style;
  std::int64_t power = 1;
  for (int digits = 1; digits <= 19; ++digits, power *= digits <= 18 ? 10 : 1) {
    for (const std::int64_t number : {power - 1, power, power + 1, -power}) {
      RecordLines lines(style);
      record.offset = Offset(number);
      record.timestamp = number;
      Buffer to;
      lines.append_record(to, record);
      CHECK(text_of(to) == "| offset: " + std::to_string(number) + " CreateTime: " + std::to_string(number) +
                               " keySize: -1 valueSize: -1 sequence: -1 headerKeys: []\n");
    }
  }
  for (const std::int64_t number : {INT64_MAX, INT64_MIN}) {
    RecordLines lines(style);
    record.offset = Offset(number);
    record.timestamp = number;
    record.timestamp_type = TimestampType::none;
    Buffer to;
    lines.append_record(to, record);
    CHECK(text_of(to) == "| offset: " + std::to_string(number) +
                             " NoTimestampType: " + std::to_string(number) +
                             " keySize: -1 valueSize: -1 sequence: -1 headerKeys: []\n");
  }
}
