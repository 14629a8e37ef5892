// json records: exact bytes, every shape that a reader takes, and no altered byte taken for good.
#include "core/format/json_record.h"

#include <doctest/doctest.h>

#include "core/base/crc.h"
#include "tests/support/bytes.h"
#include "tests/support/vectors.h"

using namespace tk;
using namespace tk::test;
using namespace std::string_view_literals;

namespace {

struct Header {
  std::string name;
  std::optional<std::string> value;
  friend bool operator==(const Header&, const Header&) = default;
};

/// A record with its own memory, to compare by.
struct Record {
  std::int64_t offset = 0;
  std::int64_t timestamp = 0;
  std::optional<std::string> key, value;
  std::vector<Header> headers;
  bool value_is_json = false;
  friend bool operator==(const Record&, const Record&) = default;
};

Record copy(const RecordView& view) {
  Record record{view.offset.value(), view.timestamp, {}, {}, {}, view.value_is_json};
  if (view.key) record.key = *view.key;
  if (view.value) record.value = *view.value;
  for (const HeaderView& header : view.headers) {
    record.headers.push_back({std::string(header.name), {}});
    if (header.value) record.headers.back().value = *header.value;
  }
  return record;
}

Bytes encode(const Record& record, const JsonFields& fields = {}) {
  RecordView view;
  view.timestamp = record.timestamp;
  view.key = record.key;
  view.value = record.value;
  view.value_is_json = record.value_is_json;
  std::vector<HeaderView> headers;
  for (const Header& header : record.headers) headers.push_back({header.name, header.value});
  view.headers = headers;
  Buffer out;
  encode_json_record(out, Offset(record.offset), view, fields);
  CHECK(out.size() <= json_record_bound(view));
  return {out.data(), out.data() + out.size()};
}

/// A unit with this body, as an outsider would write it.
Bytes unit_of(std::string_view body, std::int64_t offset = 3) {
  Bytes unit(kUnitPrefix);
  store_be<std::int64_t>(unit.data(), offset);
  store_be<std::int32_t>(unit.data() + 8, static_cast<std::int32_t>(body.size()));
  return unit + to_bytes(body);
}

/// Frames, checks and decodes; nothing if any of them finds a fault.
std::optional<Record> read(const Bytes& unit, JsonRecordDecoder& decoder) {
  const Frame frame = frame_unit(unit, unit.size());
  if (frame.status != FrameStatus::whole || frame.size != unit.size() || frame.kind != UnitKind::json)
    return std::nullopt;
  if (check_unit(unit, UnitKind::json)) return std::nullopt;
  RecordView view;
  if (decoder.decode(unit, view)) return std::nullopt;
  return copy(view);
}

std::optional<Record> read(const Bytes& unit) {
  JsonRecordDecoder decoder;
  return read(unit, decoder);
}

}  // namespace

// The checksums are from a bitwise CRC-32C in Python over prefix and body up to the comma.
TEST_CASE("exact bytes of what tk writes") {
  CHECK(encode({42, 1700000000000, "k", "v\n\x01", {}}) ==
        from_hex("000000000000002a00000043") +
            to_bytes(R"({"key":"k","value":"v\n\u0001","ts":1700000000000,"crc":"6ef74151"})"));

  JsonFields fields;
  fields.leader_epoch = LeaderEpoch(3);
  fields.producer_id = ProducerId(4005);
  fields.producer_epoch = 18;
  fields.sequence = 0;
  fields.transactional = true;
  const Record record{7, -1, {}, "\xff", {{"h", "x"}, {"n", {}}, {"b", "\x80"}}};
  CHECK(
      encode(record, fields) ==
      from_hex("0000000000000007000000a2") +
          to_bytes(
              R"({"key":null,"value_b64":"/w==","ts":-1,"headers":[["h","x"],["n",null],["b",{"b64":"gA=="}]],)"
              R"("epoch":3,"pid":4005,"pepoch":18,"seq":0,"txn":true,"crc":"c2d363db"})"));

  JsonFields marker;
  marker.producer_id = ProducerId(4005);
  marker.producer_epoch = 18;
  marker.transactional = true;
  marker.control = JsonControl::abort;
  CHECK(encode({8, 5, {}, {}, {}}, marker) ==
        from_hex("00000000000000080000006e") +
            to_bytes(R"({"key":null,"value":null,"ts":5,"pid":4005,"pepoch":18,"seq":-1,"txn":true,)"
                     R"("control":"abort","crc":"00df66e5"})"));
}

TEST_CASE("what is written is read back") {
  std::string every_byte, every_ascii;
  for (int i = 0; i < 256; ++i) every_byte.push_back(static_cast<char>(i));
  for (int i = 0; i < 128; ++i) every_ascii.push_back(static_cast<char>(i));
  std::vector<std::optional<std::string>> texts = {std::nullopt,
                                                   "",
                                                   "plain",
                                                   "\"quoted\" \\ back",
                                                   std::string("\0nul", 4),
                                                   "K\xc3\xb6ln \xe6\x9d\xb1\xe4\xba\xac \xf0\x9f\x98\x80",
                                                   "\xff\xfe",
                                                   "\xed\xa0\x80",  // a surrogate is not UTF-8
                                                   every_ascii,
                                                   every_byte,
                                                   R"(","crc":"00000000"})"};
  for (std::size_t size = 1; size < 40; ++size) {  // escapes at every place of a wide step
    std::string text(size, 'a');
    text[size - 1] = '\n';
    texts.emplace_back(text);
    text[size - 1] = '\xc3';
    texts.emplace_back(text);
  }
  JsonRecordDecoder decoder;
  std::int64_t offset = 0;
  for (const auto& key : texts) {
    for (const auto& value : texts) {
      const Record record{offset++, 1700000000000, key, value, {}};
      CHECK(read(encode(record), decoder) == record);
      CHECK(decoder.has_crc());
    }
    Record with_headers{offset++, -1, "k", key, {}};
    for (const auto& text : texts) with_headers.headers.push_back({"n", text});
    if (key) with_headers.headers.push_back({*key, ""});  // a name, too, may be any bytes
    CHECK(read(encode(with_headers), decoder) == with_headers);
  }
}

TEST_CASE("numbers and members beside the record") {
  JsonRecordDecoder decoder;
  for (const std::int64_t timestamp : {INT64_MIN, std::int64_t{-2}, std::int64_t{0}, INT64_MAX}) {
    const Record record{INT64_MAX - 1, timestamp, {}, {}, {}};
    CHECK(read(encode(record), decoder) == record);
  }
  JsonFields fields;
  fields.leader_epoch = LeaderEpoch(INT32_MAX);
  fields.producer_id = ProducerId(INT64_MAX);
  fields.producer_epoch = INT16_MAX;
  fields.sequence = INT32_MAX;
  fields.control = JsonControl::commit;
  fields.transactional = true;
  CHECK(read(encode({1, 2, {}, {}, {}}, fields), decoder));
  CHECK(decoder.fields().leader_epoch == fields.leader_epoch);
  CHECK(decoder.fields().producer_id == fields.producer_id);
  CHECK(decoder.fields().producer_epoch == fields.producer_epoch);
  CHECK(decoder.fields().sequence == fields.sequence);
  CHECK(decoder.fields().control == JsonControl::commit);
  CHECK(decoder.fields().transactional);
  // The next record starts anew.
  CHECK(read(encode({1, 2, {}, {}, {}}), decoder));
  CHECK(decoder.fields().producer_id == kNoProducerId);
  CHECK(decoder.fields().control == JsonControl::none);
}

TEST_CASE("a record without timestamp has no timestamp type, in whatever shape it is stored") {
  JsonRecordDecoder decoder;
  RecordView view;
  REQUIRE_FALSE(decoder.decode(encode({1, -1, "k", "v", {}}), view));
  CHECK(view.timestamp_type == TimestampType::none);
  REQUIRE_FALSE(decoder.decode(encode({1, -1, "k", "v", {{"h", "x"}}}), view));
  CHECK(view.timestamp_type == TimestampType::none);
  REQUIRE_FALSE(decoder.decode(encode({1, 0, "k", "v", {}}), view));
  CHECK(view.timestamp_type == TimestampType::create_time);
}

TEST_CASE("JSON values are kept as they stand") {
  for (const std::string text :
       {"{\"a\":[1,2.50,{\"b\":null}]}", "[]", "17", "true", "{\"crc\":\"00000000\"}"}) {
    Record record{1, 5, "k", text, {}};
    record.value_is_json = true;
    CHECK(read(encode(record)) == record);
  }
}

TEST_CASE("the teaching format: bodies without anything, and without checksum (J)") {
  const Bytes j = from_hex(vectors::kJ);
  JsonRecordDecoder decoder;
  for (const std::size_t at : {0U, 14U}) {
    const auto record = read(part(j, at, 14), decoder);
    REQUIRE(record);
    CHECK(*record == Record{at == 0 ? 0 : 1, kNoTimestamp, {}, {}, {}});
    CHECK_FALSE(decoder.has_crc());
    UnitInfo info;
    CHECK_FALSE(read_json_info(part(j, at, 14), info));
    CHECK(info.unprotected);
  }
}

TEST_CASE("members in any order, unknown ones, blanks") {
  JsonRecordDecoder decoder;
  const auto record =
      read(unit_of(R"({"zone": {"a": [1, null, "\u00e9"]}, "ts" : 12, "value":"v" , "key":"\u006b",)"
                   R"("headers": [["h", null, 1], ["g"], ["b", {"x":1,"b64":"AP8="}]]})"),
           decoder);
  REQUIRE(record);
  CHECK(*record == Record{3, 12, "k", "v", {{"h", {}}, {"g", {}}, {"b", std::string("\0\xff", 2)}}});
  CHECK_FALSE(decoder.has_crc());
  // A checksum before other members covers what lies before it (computed as above).
  const std::string middle = R"({"ts":5, "value" : "v","crc":"54f461dd" , "extra":[1,{"a":null}]})";
  CHECK(read(unit_of(middle), decoder));
  CHECK(decoder.has_crc());
  CHECK(decoder.crc() == 0x54f461dd);
  std::string altered = middle;
  altered[6] = '6';
  CHECK_FALSE(read(unit_of(altered)));
  CHECK_FALSE(read(unit_of(middle, 4)));
}

TEST_CASE("bodies that are no records") {
  for (const std::string_view body :
       {"{\"value\":\"a\"}}"sv, "{\"value\":}"sv, "{\"value\":\"a}"sv, "{\"key\":5}"sv, "{\"ts\":\"5\"}"sv,
        "{\"ts\":1.5}"sv, "{\"ts\":99999999999999999999}"sv, "{\"headers\":{}}"sv, "{\"headers\":[[]]}"sv,
        "{\"headers\":[[1]]}"sv, "{\"value_b64\":\"a\"}"sv, "{\"value_b64\":\"=\"}"sv, "{\"txn\":1}"sv,
        "{\"control\":\"maybe\"}"sv, "{\"crc\":\"1234567\"}"sv, "{\"crc\":\"1234567g\"}"sv, "{\"crc\":12}"sv,
        "{\"value\":\"\xff\"}"sv, "{\"value\":\"\n\"}"sv, "{\"value\":\"\\ud800\"}"sv,
        // Numbers that do not fit their field.
        "{\"epoch\":4294967296}"sv, "{\"pepoch\":65536}"sv, "{\"seq\":4294967295}"sv}) {
    CAPTURE(body);
    CHECK_FALSE(read(unit_of(body)));
  }
}

TEST_CASE("no flipped bit of a protected record goes unseen") {
  JsonFields fields;
  fields.producer_id = ProducerId(1);
  for (const Bytes& unit : {encode({42, 1700000000000, "k", "v\n", {}}), encode({1, 2, {}, {}, {}}),
                            encode({1, 2, "\xff", "}", {{"h", "x"}}}, fields)}) {
    const auto original = read(unit);
    REQUIRE(original);
    for (std::size_t bit = 0; bit < unit.size() * 8; ++bit) {
      CAPTURE(bit);
      const Bytes flipped = flip(unit, bit);
      const auto altered = read(flipped);
      // A digit of the checksum in the other case says the same number of the same record.
      const std::size_t from_end = unit.size() - bit / 8;
      const bool digit = from_end > 2 && from_end <= 10 && unit[bit / 8] >= 'a';
      if (digit && bit % 8 == 5) {
        CHECK(altered == original);
      } else {
        CHECK_FALSE(altered);
      }
    }
  }
}

TEST_CASE("no damage does harm, with or without a checksum that covers it") {
  Random random(3);
  const Bytes unit = encode({42, 1700000000000, "k\"", "v\n", {{"h", "x"}, {"b", "\xff"}}});
  JsonRecordDecoder decoder;
  for (int round = 0; round < 20000; ++round) {
    Bytes damaged = unit;
    for (std::size_t i = 0; i <= random.below(3); ++i) {
      damaged[kUnitPrefix + random.below(unit.size() - kUnitPrefix)] =
          static_cast<std::uint8_t>(random.next());
    }
    RecordView view;
    if (!decoder.decode(damaged, view)) copy(view);  // the sanitizers judge
    check_json_unit(damaged);
  }
}
