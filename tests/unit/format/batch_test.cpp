// Batches built here, byte for byte as the worked examples of the specification have them.
#include "core/format/batch.h"

#include <doctest/doctest.h>

#include "core/format/record_decoder.h"
#include "tests/support/bytes.h"
#include "tests/support/vectors.h"

using namespace tk;
using namespace tk::test;

namespace {

constexpr std::int64_t kT = vectors::kT;

/// The batch, taken off the end of `out`.
Bytes finish(BatchBuilder& builder, Buffer& out, const BatchFields& fields, Codec codec = Codec::none) {
  Compressor compressor;
  const UnitInfo info = builder.finish(fields, {codec, {}}, compressor, out);
  const Bytes batch(out.data() + out.size() - info.size, out.data() + out.size());
  out.cut(out.size() - info.size);
  return batch;
}

}  // namespace

TEST_CASE("a batch is built behind what its buffer holds, and taken off again") {
  BatchBuilder builder;
  Buffer out;
  out.append("before");
  builder.start();
  builder.add(out, kT, std::nullopt, "a", {});
  CHECK(out.size() == 6 + builder.size());
  builder.abandon(out);
  CHECK(as_text(out.view()) == "before");
  CHECK(builder.count() == 0);
  builder.abandon(out);
  CHECK(out.size() == 6);
  builder.add(out, kT, std::nullopt, "a", {});
  CHECK(finish(builder, out, {}) == from_hex(vectors::kA));
  CHECK(as_text(out.view()) == "before");
}

TEST_CASE("two records with a header: the bytes of kafka-on-disk.md §17.1") {
  const HeaderView header{"h", "x"};
  BatchBuilder builder;
  Buffer out;
  builder.start();
  builder.add(out, kT, "k1", "v1", {&header, 1});
  builder.add(out, kT + 5, "k2", std::nullopt, {});
  CHECK(builder.count() == 2);
  CHECK(builder.size() == 85);
  BatchFields fields;
  fields.base_offset = Offset(100);
  fields.leader_epoch = LeaderEpoch(7);
  const Bytes expected = from_hex(
      "00 00 00 00 00 00 00 64 00 00 00 49 00 00 00 07"
      "02 f1 75 9b af 00 00 00 00 00 01 00 00 01 8b cf"
      "e5 68 00 00 00 01 8b cf e5 68 05 ff ff ff ff ff"
      "ff ff ff ff ff ff ff ff ff 00 00 00 02 1c 00 00"
      "00 04 6b 31 04 76 31 02 02 68 02 78 10 00 0a 02"
      "04 6b 32 01 00");
  CHECK(finish(builder, out, fields) == expected);
}

TEST_CASE("a tombstone with delete horizon and left-out offsets: the bytes of kafka-on-disk.md §17.4") {
  constexpr std::int64_t kHorizon = 1700086400000;
  BatchBuilder builder;
  Buffer out;
  builder.start(kHorizon);
  builder.add_at(out, 3, kT + 5, "k2", std::nullopt, {});
  BatchFields fields;
  fields.base_offset = Offset(200);
  fields.leader_epoch = LeaderEpoch(7);
  fields.attribute_bits = kDeleteHorizonBit;
  const Bytes expected = from_hex(
      "00 00 00 00 00 00 00 c8 00 00 00 3d 00 00 00 07"
      "02 73 5a 36 43 00 40 00 00 00 03 00 00 01 8b d5"
      "0b c4 00 00 00 01 8b cf e5 68 05 ff ff ff ff ff"
      "ff ff ff ff ff ff ff ff ff 00 00 00 01 16 00 f5"
      "ef b2 52 06 04 6b 32 01 00");
  CHECK(finish(builder, out, fields) == expected);
}

TEST_CASE("a commit marker and a kept empty batch: the bytes of kafka-on-disk.md §17.2 and §17.3") {
  BatchBuilder builder;
  Buffer out;
  builder.start();
  using namespace std::string_view_literals;
  builder.add(out, kT + 100, "\0\0\0\1"sv, "\0\0\0\0\0\3"sv, {});
  BatchFields marker;
  marker.base_offset = Offset(102);
  marker.leader_epoch = LeaderEpoch(7);
  marker.attribute_bits = kTransactionalBit | kControlBit;
  marker.producer_id = ProducerId(4000);
  marker.producer_epoch = 2;
  CHECK(finish(builder, out, marker) == from_hex("00 00 00 00 00 00 00 66 00 00 00 42 00 00 00 07"
                                                 "02 1f eb e1 be 00 30 00 00 00 00 00 00 01 8b cf"
                                                 "e5 68 64 00 00 01 8b cf e5 68 64 00 00 00 00 00"
                                                 "00 0f a0 00 02 ff ff ff ff 00 00 00 01 20 00 00"
                                                 "00 08 00 00 00 01 0c 00 00 00 00 00 03 00"));

  BatchFields empty;
  empty.base_offset = Offset(90);
  empty.last_offset_delta = 9;
  empty.leader_epoch = LeaderEpoch(5);
  empty.attribute_bits = kTransactionalBit;
  empty.producer_id = ProducerId(4000);
  empty.producer_epoch = 2;
  empty.base_sequence = 40;
  empty.max_timestamp = 1699999999000;
  const Bytes expected = from_hex(
      "00 00 00 00 00 00 00 5a 00 00 00 31 00 00 00 05"
      "02 c2 bb 86 4c 00 10 00 00 00 09 ff ff ff ff ff"
      "ff ff ff 00 00 01 8b cf e5 64 18 00 00 00 00 00"
      "00 0f a0 00 02 00 00 00 28 00 00 00 00");
  CHECK(finish(builder, out, empty) == expected);
  CHECK(finish(builder, out, empty, Codec::gzip) == expected);  // nothing to compress
}

TEST_CASE("the independent encoder's batches: A, H, O, TX") {
  BatchBuilder builder;
  Buffer out;
  builder.start();
  builder.add(out, kT, std::nullopt, "a", {});
  CHECK(finish(builder, out, {}) == from_hex(vectors::kA));

  const HeaderView headers[] = {{"a", "1"}, {"a", "2"}, {"n", std::nullopt}, {"e", ""}};
  builder.add(out, kT, "k", "v", headers);
  CHECK(finish(builder, out, {}) == from_hex(vectors::kH));

  // The base timestamp of O is T, though no record has it.
  builder.start(kT);
  builder.add(out, kT + 100, std::nullopt, "x", {});
  builder.add(out, kT + 50, std::nullopt, "y", {});
  builder.add(out, kT + 200, std::nullopt, "z", {});
  CHECK(finish(builder, out, {}) == from_hex(vectors::kO));

  builder.add(out, kT, "k", "a", {});
  builder.add(out, kT, "k", "b", {});
  BatchFields fields;
  fields.attribute_bits = kTransactionalBit;
  fields.producer_id = ProducerId(4005);
  fields.producer_epoch = 18;
  fields.base_sequence = 0;
  CHECK(finish(builder, out, fields) == from_hex(vectors::kTX));
}

TEST_CASE("a base offset is assigned without touching the checksum") {
  Bytes batch = from_hex(vectors::kB);
  assign_base_offset(batch.data(), Offset(77), LeaderEpoch(9));
  CHECK_FALSE(check_unit(batch, UnitKind::batch));
  const UnitInfo info = read_batch_header(batch.data());
  CHECK(info.base_offset == Offset(77));
  CHECK(info.leader_epoch == LeaderEpoch(9));
  CHECK(info.crc == 3712301227U);
  CHECK(part(batch, 16, 53) == part(from_hex(vectors::kB), 16, 53));
}

TEST_CASE("sequence numbers wrap to 0 (kafka-on-disk.md §2.4)") {
  CHECK(sequence_after(0, 0) == 0);
  CHECK(sequence_after(41, 1) == 42);
  CHECK(sequence_after(INT32_MAX, 0) == INT32_MAX);
  CHECK(sequence_after(INT32_MAX, 1) == 0);
  CHECK(sequence_after(INT32_MAX - 1, 3) == 1);
  CHECK(sequence_after(5, INT32_MAX) == 4);
  CHECK(sequence_after(60, -2) == -2147483590);  // int32 arithmetic, as §2.4 says
  UnitInfo info;
  info.base_sequence = -1;
  info.last_offset = Offset(9);
  CHECK(info.last_sequence() == -1);
}

TEST_CASE("what is built is read back, with every codec and with values of every size class") {
  Random random(7);
  for (const Codec codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
    CAPTURE(codec_name(codec));
    BatchBuilder builder;
    Buffer out;
    builder.start();
    std::vector<std::string> values;
    std::size_t bound = kBatchHeader;
    for (const std::size_t size : {0U, 1U, 63U, 64U, 127U, 128U, 8191U, 8192U, 70000U}) {
      const Bytes bytes = random.bytes(size);
      values.emplace_back(bytes.begin(), bytes.end());
      CHECK(builder.size_with(size) >= builder.size() + size);
      bound += size + BatchBuilder::kMaxRecordOverhead;
      const std::int64_t timestamp = static_cast<std::int64_t>(random.next());
      builder.add(out, timestamp, std::nullopt, values.back(), {});
      CHECK(builder.size() <= bound);
    }
    const Bytes batch = finish(builder, out, {}, codec);
    CHECK(builder.count() == 0);
    const Frame frame = frame_unit(batch, batch.size());
    REQUIRE(frame.status == FrameStatus::whole);
    CHECK(frame.size == batch.size());
    CHECK_FALSE(check_unit(batch, frame.kind));
    RecordDecoder decoder;
    std::vector<std::string> read;
    std::int64_t largest = kNoTimestamp;
    Random again(7);
    const UnitInfo info = read_batch_header(batch.data());
    CHECK_FALSE(decoder.decode(batch, info, [&](const RecordView& record) {
      CHECK(record.offset == Offset(static_cast<std::int64_t>(read.size())));
      read.emplace_back(*record.value);
      largest = std::max(largest, record.timestamp);
    }));
    CHECK(read == values);
    CHECK(info.max_timestamp == largest);
    CHECK(decoder.oddity() == nullptr);
  }
}
