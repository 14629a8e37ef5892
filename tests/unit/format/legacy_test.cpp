// What Kafka's own writers, brokers of 0.8 to 2.8 and its tools say of messages of magic 0 and 1.
#include "core/format/legacy.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/crc.h"
#include "core/base/text.h"

using namespace tk;
using nlohmann::json;

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr std::int64_t kT = 1700000000000;

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16)));
  }
  return bytes;
}

Bytes from_file(const std::string& name) {
  std::ifstream file(std::string(TK_FIXTURES) + "/" + name, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

json base64_or_null(const std::optional<std::string_view>& bytes) {
  if (!bytes) return nullptr;
  TextBuffer text;
  append_base64(text, *bytes);
  return std::string(text.begin(), text.end());
}

/// A decoded entry, with copies of everything that its decoder would take back.
struct Decoded {
  UnitInfo info;
  Fault info_fault;
  Fault check;
  Fault fault;
  std::string oddity;
  json records = json::array();    // in the words of batches.ndjson
  std::vector<std::string> lines;  // in those of the dump tool
};

Decoded decode(ByteView unit) {
  Decoded result;
  Decompressor decompressor;
  LegacyDecoder decoder;
  result.info_fault = read_legacy_info(unit, result.info);
  result.check = check_legacy(unit);
  result.fault = decoder.decode(unit, result.info, decompressor);
  if (decoder.oddity() != nullptr) result.oddity = decoder.oddity();
  for (const LegacyRecord& legacy : decoder.records()) {
    const RecordView& record = legacy.record;
    result.records.push_back({{"offset", record.offset.value()},
                              {"ts", record.timestamp},
                              {"seq", record.sequence},
                              {"key_b64", base64_or_null(record.key)},
                              {"value_b64", base64_or_null(record.value)},
                              {"headers", json::array()}});
    const auto size = [](const auto& bytes) { return bytes ? static_cast<long long>(bytes->size()) : -1LL; };
    std::ostringstream line;
    line << "| offset: " << record.offset.value() << ' ' << timestamp_type_name(record.timestamp_type) << ": "
         << record.timestamp << " keySize: " << size(record.key) << " valueSize: " << size(record.value)
         << " isValid: " << (legacy.valid ? "true" : "false") << " crc: " << legacy.crc;
    result.lines.push_back(line.str());
  }
  return result;
}
Decoded decode_hex(std::string_view hex) {
  return decode(from_hex(hex));
}

/// Cuts a log into its entries by their sizes, up to one that is torn.
std::vector<ByteView> entries_of(const Bytes& log) {
  std::vector<ByteView> entries;
  for (ByteView rest = log; rest.size() > kUnitPrefix;) {
    const std::size_t size = kUnitPrefix + load_be<std::uint32_t>(rest.data() + 8);
    if (size > rest.size()) break;
    entries.push_back(rest.first(size));
    rest = rest.subspan(size);
  }
  return entries;
}

void check_batch(const Decoded& decoded, const json& batch) {
  const UnitInfo& info = decoded.info;
  CHECK(info.kind == UnitKind::legacy);
  CHECK(info.last_offset.value() == batch["last_offset"]);
  CHECK(info.base_offset == info.last_offset);
  CHECK(info.crc == batch["crc"]);
  CHECK(static_cast<bool>(decoded.check) != batch["valid"].get<bool>());
  CHECK(info.size == batch["size"]);
  CHECK(info.max_timestamp == batch["max_ts"]);
  CHECK(std::string(timestamp_type_name(info.timestamp_type)) == batch["ts_type"]);
  CHECK(info.leader_epoch == kNoLeaderEpoch);
  CHECK(info.producer_id == kNoProducerId);
  CHECK(info.producer_epoch == -1);
  CHECK(info.base_sequence == -1);
  CHECK_FALSE(info.transactional);
  CHECK_FALSE(info.control);
  const json& codec = batch["codec"];
  if (info.codec_bits() <= 4)
    CHECK(codec_name(static_cast<Codec>(info.codec_bits())) == codec.get<std::string>());
}

/// An entry that Kafka refuses is one that check_legacy or decode refuses.
void check_entry(ByteView unit, const json& expected) {
  const Decoded decoded = decode(unit);
  if (expected["batch"].is_object()) check_batch(decoded, expected["batch"]);
  if (expected["error"].is_null()) {
    CHECK_FALSE(decoded.info_fault);
    CHECK_FALSE(decoded.check);
    CHECK_FALSE(decoded.fault);
    CHECK(decoded.records == expected["records"]);
    return;
  }
  if (expected["error_stage"] == "ensureValid") {
    CHECK(decoded.check.kind == FaultKind::bad_crc);
    CHECK(decoded.fault.kind == FaultKind::bad_crc);
    CHECK(decoded.records == expected["records"]);
  } else {
    CHECK(decoded.fault.kind == FaultKind::record);
    CHECK(decoded.records.empty());
  }
}

}  // namespace

TEST_SUITE("format.legacy") {
  TEST_CASE("every entry of the vectors is read as Kafka reads it") {
    std::ifstream file(std::string(TK_FIXTURES) + "/vectors/batches.ndjson");
    REQUIRE(file);
    int singles = 0;
    int in_sets = 0;
    for (std::string line; std::getline(file, line);) {
      const json vector = json::parse(line);
      const std::string name = vector["name"];
      CAPTURE(name);
      const Bytes bytes = from_hex(vector["hex"].get<std::string>());
      if (bytes.size() <= kMagicPosition || vector.value("error_stage", "") == "batches") continue;
      if (!vector.contains("batches")) {
        if (vector["magic"] == 2 || !vector["batch"].is_object()) continue;
        ++singles;
        check_entry(bytes, vector);
        continue;
      }
      const std::vector<ByteView> units = entries_of(bytes);
      for (std::size_t i = 0; i < vector["batches"].size(); ++i) {
        if (units[i][kMagicPosition] > 1) continue;
        ++in_sets;
        check_entry(units[i], vector["batches"][i]);
      }
    }
    CHECK(singles == 59);
    CHECK(in_sets == 8);
  }

  TEST_CASE("logs that brokers left, as Kafka's dump tool shows them") {
    for (const std::string name :
         {"magic0-codecs", "magic1-lz4-snappy", "magic1-append-time", "magic1-compacted", "mixed-magics"}) {
      CAPTURE(name);
      const Bytes log = from_file("legacy/" + name + ".log");
      std::ifstream expected(std::string(TK_FIXTURES) + "/legacy/" + name + ".records.txt");
      REQUIRE(expected);
      std::string line;
      for (const ByteView unit : entries_of(log)) {
        const Decoded decoded = decode(unit);
        CHECK_FALSE(decoded.check);
        CHECK_FALSE(decoded.fault);
        CHECK(decoded.oddity == "");
        for (const std::string& found : decoded.lines) {
          REQUIRE(std::getline(expected, line));
          CHECK(found == line);
        }
      }
      CHECK_FALSE(std::getline(expected, line));
    }
  }

  TEST_CASE("relative and absolute offsets inside wrappers keep their holes") {
    const Decoded magic1 = decode_hex(
        "000000000000006800000067835bb27801010000018bcfe56804ffffffff000000511f8b08000000000002ff63608003a992"
        "5581"
        "0e8c400663f7f9a7192011a66c031059660055c10452959b3e850fae8a09acca08acca08aa8a05a4caddf0f61db82a16b02a"
        "13b0"
        "2a1300afc3904d72000000");
    CHECK_FALSE(magic1.fault);
    CHECK(magic1.info.next_offset() == Offset(105));
    CHECK(magic1.info.crc == 2203824760U);
    REQUIRE(magic1.records.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto step = static_cast<std::int64_t>(2 * i);
      CHECK(magic1.records[i]["offset"] == 100 + step);
      CHECK(magic1.records[i]["ts"] == kT + step);
    }
    CHECK(magic1.records[2]["key_b64"] == "azQ=");  // k4

    const Decoded magic0 = decode_hex(
        "0000000000000068000000516057139d0001ffffffff000000431f8b08000000000002ff63600083142016322a9ea0cfc0f0"
        "1f08"
        "803c96324303038824431a48f64eed4766145923a86c0648d6542ec40c45d604004b6453aa5a000000");
    CHECK_FALSE(magic0.fault);
    CHECK(magic0.info.next_offset() == Offset(105));
    REQUIRE(magic0.records.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(magic0.records[i]["offset"] == 100 + 2 * static_cast<std::int64_t>(i));
      CHECK(magic0.records[i]["ts"] == -1);
    }
  }

  TEST_CASE("the oldest message, byte for byte") {
    const Decoded decoded =
        decode_hex("000000000000000000000016e97538bc0000ffffffff000000086d65737361676531");
    CHECK_FALSE(decoded.fault);
    CHECK(decoded.info.crc == 3916773564U);
    REQUIRE(decoded.lines.size() == 1);
    CHECK(decoded.lines[0] ==
          "| offset: 0 NoTimestampType: -1 keySize: -1 valueSize: 8 isValid: true crc: 3916773564");
  }

  TEST_CASE("lz4 wrappers of magic 0 with either header checksum") {
    for (
        const std::string_view hex :
        {"00000000000000000000003cb9cedf460003ffffffff0000002e04224d1860401a1f0000800000000000000000000000138"
         "7a77ab20000ffffffff0000000568656c6c6f00000000",
         "00000000000000000000003cfda65bb30003ffffffff0000002e04224d186040821f0000800000000000000000000000138"
         "7a77ab20000ffffffff0000000568656c6c6f00000000"}) {
      const Decoded decoded = decode_hex(hex);
      CHECK_FALSE(decoded.fault);
      REQUIRE(decoded.records.size() == 1);
      CHECK(decoded.records[0]["value_b64"] == "aGVsbG8=");
    }
  }

  // The lines below are the dump tool's; the wrappers were put together by hand.
  TEST_CASE("a message altered inside a wrapper is a fault, and shown") {
    const Decoded decoded = decode_hex(
        "000000000000000b00000052a17892c101010000018bcfe56807ffffffff0000003c1f8b08000000000002ff636080038902"
        "d6ea"
        "34462083b1fbfcd30c90086322883084ca83a424dc16fb7e80ab61073192408411008f0be9cb48000000");
    CHECK_FALSE(decoded.check);
    CHECK(decoded.fault.kind == FaultKind::record);
    CHECK(decoded.fault.found == 1185107440);
    CHECK(
        decoded.lines ==
        std::vector<std::string>{
            "| offset: 10 CreateTime: 1700000000000 keySize: 1 valueSize: 1 isValid: true crc: 1879407462",
            "| offset: 11 CreateTime: 1700000000007 keySize: 1 valueSize: 1 isValid: false crc: 1185107440"});
  }

  TEST_CASE("the inner magic decides the layout, the wrapper's the offsets and times") {
    const Decoded old_outside = decode_hex(
        "000000000000000b0000004cd07ae22b0001ffffffff0000003e1f8b08000000000002ff636000032e20962860ad4e630432"
        "18bb"
        "cf3fcd008932268208438812066e2016f00c62f606f3189340841100b61a8ade40000000");
    CHECK_FALSE(old_outside.fault);
    CHECK_FALSE(old_outside.oddity.empty());
    CHECK(old_outside.lines ==
          std::vector<std::string>{
              "| offset: 10 NoTimestampType: 1700000000000 keySize: 1 valueSize: 1 isValid: true crc: "
              "1879407462",
              "| offset: 11 NoTimestampType: -1 keySize: 1 valueSize: 1 isValid: true crc: 1230111563"});
    const Decoded append_time = decode_hex(
        "000000000000000b0000004f36d1ca1101090000018bcfe56807ffffffff000000391f8b08000000000002ff6360800381b0"
        "f30a"
        "f1601663228830848a3302b144fe8c88221083b1fbfcd30cb0681288300200318dd0da40000000");
    CHECK_FALSE(append_time.fault);
    CHECK_FALSE(append_time.oddity.empty());
    CHECK(append_time.lines ==
          std::vector<std::string>{
              "| offset: 10 LogAppendTime: -1 keySize: 1 valueSize: 1 isValid: true crc: 1456414815",
              "| offset: 11 LogAppendTime: 1700000000007 keySize: 1 valueSize: 1 isValid: true crc: "
              "1872255090"});
  }

  TEST_CASE("offsets that Kafka reads though they are odd") {
    const Decoded regress = decode_hex(
        "000000000000000b000000424c2776540001ffffffff000000341f8b08000000000002ff636000036e2016083baf100fe631"
        "2682"
        "08438814031748ce3388d91b229704228c000646cb4c38000000");
    CHECK_FALSE(regress.fault);
    REQUIRE(regress.records.size() == 2);
    CHECK(regress.records[0]["offset"] == 11);
    CHECK(regress.records[1]["offset"] == 10);
    CHECK_FALSE(regress.oddity.empty());
    const Decoded negative = decode_hex(
        "000000000000000b00000054c64e788c01010000018bcfe56800ffffffff0000003e1f8b08000000000002fffbff1f0cfe32"
        "3030"
        "4814b056a73102198cdde79f663080188920c2900102405212f933228a50d524810823000d1e5ecb48000000");
    CHECK_FALSE(negative.fault);
    REQUIRE(negative.records.size() == 2);
    CHECK(negative.records[0]["offset"] == 7);
    CHECK(negative.records[1]["offset"] == 11);
    CHECK_FALSE(negative.oddity.empty());
    const Decoded outside = decode_hex(
        "000000000000003200000033a023063a0001ffffffff000000251f8b08000000000002ff636000032e2016083baf100fe631"
        "2682"
        "084300e873afd31c000000");
    CHECK_FALSE(outside.fault);
    CHECK(outside.info.last_offset == Offset(50));
    REQUIRE(outside.records.size() == 1);
    CHECK(outside.records[0]["offset"] == 10);
    CHECK_FALSE(outside.oddity.empty());
  }

  TEST_CASE("inner messages that are too small for their fields") {
    const Decoded size13 = decode_hex(
        "000000000000000b000000485e68839001010000018bcfe56800ffffffff000000321f8b08000000000002ff636080038902"
        "d6ea"
        "34462083b1fbfcd30c90086322883084ca83a4782b90010067a107b43d000000");
    CHECK(size13.fault.kind == FaultKind::record);
    CHECK(size13.fault.found == 13);
    CHECK(size13.lines.empty());
    const Decoded size21 = decode_hex(
        "000000000000000b0000004ed16a0e3801010000018bcfe56800ffffffff000000381f8b08000000000002ff636080038902"
        "d6ea"
        "34462083b1fbfcd30c90086322883084ca83a4449fb4095b22d4fc870000cff2fbea45000000");
    CHECK(size21.fault.kind == FaultKind::record);
    CHECK(
        size21.lines ==
        std::vector<std::string>{
            "| offset: 10 CreateTime: 1700000000000 keySize: 1 valueSize: 1 isValid: true crc: 1879407462"});
    const Decoded inner_magic2 = decode_hex(
        "000000000000000b0000004179f5ee2501010000018bcfe56807ffffffff0000002b1f8b08000000000002ff6360800389fb"
        "6bcc"
        "d63001198cdde79f668044181341842100ff3bb5f124000000");
    CHECK(inner_magic2.fault.kind == FaultKind::record);
    CHECK(inner_magic2.lines.empty());
  }

  TEST_CASE("sizes that hold no header of their magic") {
    UnitInfo info;
    const Bytes magic0 = from_hex("00000000000000050000000e000000000000ffffffffffffffff");
    CHECK_FALSE(read_legacy_info(magic0, info));
    Bytes magic1 = magic0;
    magic1[kMagicPosition] = 1;
    const Fault small = read_legacy_info(magic1, info);
    CHECK(small.kind == FaultKind::record);
    CHECK(small.found == 14);
    CHECK(small.expected == 22);
    CHECK(info.last_offset == Offset(5));
    Bytes magic2 = magic0;
    magic2[kMagicPosition] = 2;
    CHECK(read_legacy_info(magic2, info).kind == FaultKind::bad_magic);
    for (std::size_t size = 0; size < magic0.size(); ++size) {
      CAPTURE(size);
      const ByteView cut = ByteView(magic0).first(size);
      CHECK(read_legacy_info(cut, info).kind == FaultKind::record);
      CHECK(check_legacy(cut).kind == FaultKind::bad_length);
      Decompressor decompressor;
      LegacyDecoder decoder;
      CHECK(decoder.decode(cut, info, decompressor));
      CHECK(decoder.records().empty());
    }
  }

  TEST_CASE("no altered byte does harm, and none but offset and size pass unseen") {
    const Bytes log = from_file("legacy/mixed-magics.log");
    Decompressor decompressor;
    LegacyDecoder decoder;
    for (const ByteView unit : entries_of(log)) {
      for (std::size_t at = 0; at < unit.size(); ++at) {
        for (const int flip : {0x01, 0x80, 0xff}) {
          Bytes altered(unit.begin(), unit.end());
          altered[at] = static_cast<std::uint8_t>(altered[at] ^ flip);
          UnitInfo info;
          (void)read_legacy_info(altered, info);
          if (at >= 12) CHECK(check_legacy(altered));
          (void)decoder.decode(altered, info, decompressor);
          // With the checksum put right, whatever the header now says must be survived.
          store_be(altered.data() + 12, crc32(ByteView(altered).subspan(kMagicPosition)));
          (void)read_legacy_info(altered, info);
          std::size_t seen = 0;
          (void)decoder.decode(altered, info, decompressor);
          for (const LegacyRecord& record : decoder.records()) seen += record.valid ? 1 : 0;
          CHECK(seen <= decoder.records().size());
        }
      }
    }
  }
}
