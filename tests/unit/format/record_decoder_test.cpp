// Batches that Kafka's own writers made, or that were damaged on purpose, and what Kafka's reader says of
// them.
#include "core/format/record_decoder.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/base/crc.h"
#include "core/base/text.h"
#include "tests/support/bytes.h"
#include "tests/support/vectors.h"

using namespace tk;
using namespace tk::test;
using nlohmann::json;

namespace {

json base64_or_null(const std::optional<std::string_view>& bytes) {
  if (!bytes) return nullptr;
  TextBuffer text;
  append_base64(text, *bytes);
  return std::string(text.begin(), text.end());
}

/// A record in the words of batches.ndjson.
json to_json(const RecordView& record) {
  json headers = json::array();
  for (const HeaderView& header : record.headers) {
    headers.push_back({std::string(header.name), base64_or_null(header.value)});
  }
  return {{"offset", record.offset.value()},
          {"ts", record.timestamp},
          {"seq", record.sequence},
          {"key_b64", base64_or_null(record.key)},
          {"value_b64", base64_or_null(record.value)},
          {"headers", headers}};
}

struct Decoded {
  Fault fault;  // of framing, checksum or records, whichever came first
  UnitInfo info;
  json records = json::array();
  std::string oddity;
};

Decoded decode(const Bytes& bytes) {
  Decoded result;
  const Frame frame = frame_unit(bytes, bytes.size());
  if (frame.status != FrameStatus::whole) {
    result.fault = frame.fault ? frame.fault : Fault{FaultKind::torn_tail, "cut", 0, 0};
    return result;
  }
  const ByteView unit = ByteView(bytes).first(frame.size);
  result.fault = read_unit_info(unit, frame.kind, result.info);
  if (!result.fault) result.fault = check_unit(unit, frame.kind);
  if (result.fault) return result;
  RecordDecoder decoder;
  result.fault = decoder.decode(unit, result.info,
                                [&](const RecordView& record) { result.records.push_back(to_json(record)); });
  if (decoder.oddity() != nullptr) result.oddity = decoder.oddity();
  return result;
}

/// Gives the batch the checksum that its bytes ask for.
Bytes with_right_crc(Bytes batch) {
  store_be<std::uint32_t>(batch.data() + batch_layout::kCrc, batch_crc(batch));
  return batch;
}

void check_header(const UnitInfo& info, const json& batch) {
  CHECK(info.kind == UnitKind::batch);
  CHECK(info.magic == 2);
  CHECK(info.base_offset.value() == batch["base_offset"]);
  CHECK(info.last_offset.value() == batch["last_offset"]);
  CHECK(info.count == batch["count"]);
  CHECK(codec_name(static_cast<Codec>(info.codec_bits())) == batch["codec"].get<std::string>());
  CHECK(std::string(timestamp_type_name(info.timestamp_type)) == batch["ts_type"]);
  CHECK(info.crc == batch["crc"]);
  CHECK(info.leader_epoch.value() == batch["leader_epoch"]);
  CHECK(info.producer_id.value() == batch["pid"]);
  CHECK(info.producer_epoch == batch["pepoch"]);
  CHECK(info.base_sequence == batch["base_seq"]);
  CHECK(info.last_sequence() == batch["last_seq"]);
  CHECK(info.transactional == batch["txn"]);
  CHECK(info.control == batch["control"]);
  CHECK(info.has_delete_horizon() != batch["delete_horizon_ms"].is_null());
  if (info.has_delete_horizon()) CHECK(info.base_timestamp == batch["delete_horizon_ms"]);
  CHECK(info.max_timestamp == batch["max_ts"]);
  CHECK(info.base_timestamp == batch["base_ts"]);
  CHECK(info.size == batch["size"]);
}

/// Lines of batches.ndjson of magic 2 whose name `wanted` takes.
template <class Wanted>
std::vector<json> vectors_where(Wanted&& wanted) {
  std::ifstream file(std::string(TK_FIXTURES) + "/vectors/batches.ndjson");
  REQUIRE(file);
  std::vector<json> found;
  for (std::string line; std::getline(file, line);) {
    json vector = json::parse(line);
    if (wanted(vector["name"].get<std::string>())) found.push_back(std::move(vector));
  }
  return found;
}

bool starts_with(const std::string& name, std::string_view prefix) {
  return name.rfind(prefix, 0) == 0;
}

bool is_legacy(const std::string& name) {
  return name.find("-m0") != std::string::npos || name.find("-m1") != std::string::npos;
}

}  // namespace

TEST_CASE("batches of Kafka's writers: header and records, and nothing odd about them") {
  const auto vectors = vectors_where([](const std::string& name) {
    return starts_with(name, "m2-") || (starts_with(name, "rand-") && !is_legacy(name)) ||
           starts_with(name, "client-");
  });
  CHECK(vectors.size() == 117 + 13 + 1);
  for (const json& vector : vectors) {
    CAPTURE(vector["name"].get<std::string>());
    const Decoded decoded = decode(from_hex(vector["hex"].get<std::string>()));
    CHECK_FALSE(decoded.fault);
    check_header(decoded.info, vector["batch"]);
    CHECK(decoded.records == vector["records"]);
    CHECK(decoded.oddity == "");
  }
}

TEST_CASE("what Kafka refuses is refused") {
  const auto vectors =
      vectors_where([](const std::string& name) { return starts_with(name, "bad-") && !is_legacy(name); });
  CHECK(vectors.size() == 50);
  for (const json& vector : vectors) {
    const auto name = vector["name"].get<std::string>();
    CAPTURE(name);
    const Bytes bytes = from_hex(vector["hex"].get<std::string>());
    const Decoded decoded = decode(bytes);
    CHECK(decoded.fault);
    const auto stage = vector["error_stage"].get<std::string>();
    if (stage == "ensureValid") CHECK(decoded.fault.kind == FaultKind::bad_crc);
    if (stage == "iterate") CHECK(decoded.fault.kind == FaultKind::record);
    if (stage == "batches" && name != "bad-size-48") {
      CHECK((decoded.fault.kind == FaultKind::bad_length || decoded.fault.kind == FaultKind::bad_magic));
    }
  }
}

TEST_CASE("what Kafka tolerates is read, and called odd where the record data are") {
  // The others are odd only in how their codec was used.
  const std::set<std::string> remarked = {
      "odd-count-0-crcfixed",
      "odd-key-length-minus-2-crcfixed",
      "odd-last-offset-delta-negative-crcfixed",
      "odd-last-offset-delta-0-with-2-records-crcfixed",
      "odd-base-offset-negative",
      "odd-attributes-high-bits-crcfixed",
      "odd-record-attributes-set-crcfixed",
      "odd-overlong-varint-offset-delta-crcfixed",
      "odd-offset-delta-negative-crcfixed",
      "odd-offset-deltas-equal-crcfixed",
  };
  const auto vectors =
      vectors_where([](const std::string& name) { return starts_with(name, "odd-") && !is_legacy(name); });
  CHECK(vectors.size() == 27);
  for (const json& vector : vectors) {
    const auto name = vector["name"].get<std::string>();
    CAPTURE(name);
    const Decoded decoded = decode(from_hex(vector["hex"].get<std::string>()));
    if (name == "odd-size-one-too-long") {
      CHECK(decoded.fault.kind == FaultKind::torn_tail);
      continue;
    }
    if (name == "odd-lz4-content-checksum-flag-wrong-checksum-crcfixed") {
      CHECK(decoded.fault.kind == FaultKind::record);  // stricter than Kafka: the data were altered
      continue;
    }
    CHECK_FALSE(decoded.fault);
    check_header(decoded.info, vector["batch"]);
    CHECK(decoded.records == vector["records"]);
    if (remarked.count(name) > 0) CHECK(decoded.oddity != "");
  }
}

TEST_CASE("an overlong varint is odd at every place of a record") {
  // Vector H: one record, 22 bytes of body; its fields and where their varints lie, behind the length.
  const Bytes batch = from_hex(vectors::kH);
  const std::size_t record = kBatchHeader;
  REQUIRE(batch[record] == 0x2c);
  for (const std::size_t field :
       {2, 3, 4, 6, 8, 9, 11}) {  // timestamp, offset, key, value, headers, name, value
    CAPTURE(field);
    Bytes longer = batch;
    const std::size_t at = record + field;
    longer[at] = static_cast<std::uint8_t>(longer[at] | 0x80);
    longer = insert(longer, at + 1, {0x00});
    longer[record] = static_cast<std::uint8_t>(longer[record] + 2);
    store_be<std::int32_t>(longer.data() + batch_layout::kLength,
                           static_cast<std::int32_t>(longer.size() - kUnitPrefix));
    const Decoded decoded = decode(with_right_crc(longer));
    CHECK_FALSE(decoded.fault);
    CHECK(decoded.records == decode(batch).records);
    CHECK(decoded.oddity != "");
  }
  // The length itself.
  Bytes longer = insert(batch, record + 1, {0x00});
  longer[record] = 0xac;
  store_be<std::int32_t>(longer.data() + batch_layout::kLength,
                         static_cast<std::int32_t>(longer.size() - kUnitPrefix));
  const Decoded decoded = decode(with_right_crc(longer));
  CHECK_FALSE(decoded.fault);
  CHECK(decoded.oddity != "");
  CHECK(decode(batch).oddity == "");
}

TEST_CASE("surplus bits in the last byte of a varint are dropped, and odd") {
  // Offset delta 0 in five bytes whose last has only bits that do not fit.
  Bytes batch = from_hex(vectors::kA);
  const std::size_t record = kBatchHeader;
  batch[record + 3] = 0x80;
  batch = insert(batch, record + 4, from_hex("80808010"));
  batch[record] = static_cast<std::uint8_t>(batch[record] + 8);
  store_be<std::int32_t>(batch.data() + batch_layout::kLength,
                         static_cast<std::int32_t>(batch.size() - kUnitPrefix));
  const Decoded decoded = decode(with_right_crc(batch));
  CHECK_FALSE(decoded.fault);
  CHECK(decoded.records == decode(from_hex(vectors::kA)).records);
  CHECK(decoded.oddity != "");
}

TEST_CASE("null and empty, headers in order, offsets left out (N, H, E, TH)") {
  const json n = decode(from_hex(vectors::kN)).records;
  REQUIRE(n.size() == 4);
  CHECK(n[0]["key_b64"] == "");
  CHECK(n[0]["value_b64"] == "");
  CHECK(n[1]["key_b64"].is_null());
  CHECK(n[1]["value_b64"].is_null());
  CHECK(n[2]["value_b64"] == "");
  CHECK(n[3]["value_b64"].is_null());
  const json h = decode(from_hex(vectors::kH)).records;
  CHECK(h[0]["headers"] == json::parse(R"([["a","MQ=="],["a","Mg=="],["n",null],["e",""]])"));

  const Decoded e = decode(from_hex(vectors::kE));
  CHECK(e.records.empty());
  CHECK(e.info.last_offset == Offset(9));
  CHECK(e.oddity == "");
  const Decoded th = decode(from_hex(vectors::kTH));
  REQUIRE(th.records.size() == 1);
  CHECK(th.records[0]["offset"] == 10);
  CHECK(th.info.last_offset == Offset(14));
  CHECK(th.oddity == "");
}

TEST_CASE("every snappy form and the good lz4 give the value; the bad lz4 is a fault (S1-S4, L3-L5)") {
  for (const std::string_view good : {vectors::kS1, vectors::kS2, vectors::kS3, vectors::kS4, vectors::kL3}) {
    const Decoded decoded = decode(from_hex(good));
    CHECK_FALSE(decoded.fault);
    REQUIRE(decoded.records.size() == 1);
    CHECK(decoded.records[0]["value_b64"] == "aGVsbG8=");
  }
  const Decoded header = decode(from_hex(vectors::kL5));
  CHECK(header.fault.kind == FaultKind::record);
  CHECK(header.records.empty());
  // Kafka does not look at the content checksum: what it would give is visited before the fault.
  const Decoded content = decode(from_hex(vectors::kL4));
  CHECK(content.fault.kind == FaultKind::record);
  CHECK(std::string_view(content.fault.detail) == "lz4 content checksum does not match");
  REQUIRE(content.records.size() == 1);
  CHECK(content.records[0]["value_b64"] == "aGVsbG8=");
}

TEST_CASE("no damage behind a good checksum does harm") {
  Random random(1);
  for (const std::string_view hex :
       {vectors::kN, vectors::kH, vectors::kO, vectors::kTX, vectors::kS4, vectors::kL3}) {
    const Bytes batch = from_hex(hex);
    for (int round = 0; round < 400; ++round) {
      Bytes damaged = batch;
      for (std::size_t i = 0; i <= random.below(4); ++i) {
        const std::size_t at =
            batch_layout::kAttributes + random.below(batch.size() - batch_layout::kAttributes);
        damaged[at] = static_cast<std::uint8_t>(random.next());
      }
      const Decoded decoded = decode(with_right_crc(damaged));  // the sanitizers judge
      if (!decoded.fault) CHECK(static_cast<std::int64_t>(decoded.records.size()) == decoded.info.count);
    }
  }
}
