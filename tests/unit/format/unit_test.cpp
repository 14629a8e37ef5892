// Framing: what a unit's first bytes say of it, for every cut and every kind.
#include "core/format/unit.h"

#include <doctest/doctest.h>

#include "core/base/buffer.h"
#include "core/format/batch.h"
#include "core/format/json_record.h"
#include "tests/support/bytes.h"
#include "tests/support/vectors.h"

using namespace tk;
using namespace tk::test;

namespace {

/// Offset 0, this length, and these bytes behind it.
Bytes unit_of(std::int32_t length, std::string_view rest) {
  Bytes bytes(kUnitPrefix);
  store_be<std::int32_t>(bytes.data() + 8, length);
  return bytes + to_bytes(rest);
}

Frame frame(const Bytes& bytes) {
  return frame_unit(bytes, bytes.size());
}

}  // namespace

TEST_CASE("the kind follows from length, magic and brace") {
  CHECK(frame(from_hex(vectors::kA)).kind == UnitKind::batch);
  CHECK(frame(from_hex(vectors::kG1)).kind == UnitKind::legacy);
  CHECK(frame(from_hex(vectors::kW1)).kind == UnitKind::legacy);
  const Bytes teaching = from_hex(vectors::kJ);
  const Frame json = frame_unit(ByteView(teaching).first(20), teaching.size());
  CHECK(json.status == FrameStatus::whole);
  CHECK(json.kind == UnitKind::json);
  CHECK(json.size == 14);
  // A kafka batch whose leader epoch begins with the byte of a brace is a batch.
  Bytes braced = from_hex(vectors::kA);
  braced[12] = '{';
  CHECK(frame(braced).kind == UnitKind::batch);
}

TEST_CASE("lengths that no unit can have") {
  for (const std::int32_t length : {0, 1, -1, INT32_MIN}) {
    CHECK(frame(unit_of(length, "{}")).status == FrameStatus::fault);
    CHECK(frame(unit_of(length, "{}")).fault.kind == FaultKind::bad_length);
  }
  CHECK(frame(unit_of(2, "{}")).status == FrameStatus::whole);
  CHECK(frame(unit_of(2, "ab")).fault.kind == FaultKind::bad_length);
  CHECK(frame(unit_of(3, "{}x")).fault.kind == FaultKind::bad_length);
  // Between 14 and 48 only an old message is possible.
  Bytes batch = from_hex(vectors::kA);
  store_be<std::int32_t>(batch.data() + 8, 48);
  CHECK(frame(batch).fault.kind == FaultKind::bad_length);
  batch[kMagicPosition] = 1;
  CHECK(frame(batch).status == FrameStatus::whole);
  batch[kMagicPosition] = 3;
  CHECK(frame(batch).fault.kind == FaultKind::bad_magic);
  batch[kMagicPosition] = 255;
  CHECK(frame(batch).fault.kind == FaultKind::bad_magic);
}

TEST_CASE("a cut file and a short window are told apart") {
  Buffer out;
  RecordView record;
  record.value = "some text";
  encode_json_record(out, Offset(5), record, {});
  for (const Bytes& unit :
       {from_hex(vectors::kA), from_hex(vectors::kG1), Bytes(out.data(), out.data() + out.size())}) {
    for (std::size_t size = 0; size < unit.size(); ++size) {
      CAPTURE(size);
      const Frame at_end = frame_unit(ByteView(unit).first(size), size);
      CHECK(at_end.status == FrameStatus::cut);
      CHECK((at_end.size == 0 || at_end.size == unit.size()));
      const Frame in_window = frame_unit(ByteView(unit).first(size), unit.size() + 1000);
      CHECK(in_window.status == FrameStatus::need_more);
      CHECK(in_window.size > size);
      CHECK(in_window.size <= unit.size());
    }
    const Frame whole = frame_unit(unit, unit.size() + 1000);
    CHECK(whole.status == FrameStatus::whole);
    CHECK(whole.size == unit.size());
  }
}

TEST_CASE("stored checksums of the vectors, and any flip behind them") {
  for (const std::string_view hex :
       {vectors::kA, vectors::kG1, vectors::kG2, vectors::kW0, vectors::kW1, vectors::kE}) {
    const Bytes unit = from_hex(hex);
    const UnitKind kind = frame(unit).kind;
    CHECK_FALSE(check_unit(unit, kind));
    for (std::size_t bit = (kMagicPosition + 1) * 8; bit < unit.size() * 8; ++bit) {
      CHECK(check_unit(flip(unit, bit), kind).kind == FaultKind::bad_crc);
    }
  }
  // R01: the value `b` becomes `c`.
  Bytes b = from_hex(vectors::kB);
  b[67] = 'c';
  const Fault fault = check_unit(b, UnitKind::batch);
  CHECK(fault.found == 3712301227);
  CHECK(fault.expected == 3471286492);
}

TEST_CASE("facts of a legacy message and of a json record as unit facts") {
  UnitInfo info;
  const Bytes legacy = from_hex(vectors::kG1);
  CHECK_FALSE(read_unit_info(legacy, UnitKind::legacy, info));
  CHECK(info.magic == 0);
  CHECK(info.timestamp_type == TimestampType::none);
  CHECK(info.max_timestamp == kNoTimestamp);

  Buffer out;
  RecordView record;
  record.timestamp = 1234;
  JsonFields fields;
  fields.leader_epoch = LeaderEpoch(3);
  fields.producer_id = ProducerId(4005);
  fields.producer_epoch = 18;
  fields.sequence = 7;
  fields.transactional = true;
  encode_json_record(out, Offset(9), record, fields);
  CHECK_FALSE(read_unit_info(out.view(), UnitKind::json, info));
  CHECK(info.kind == UnitKind::json);
  CHECK(info.magic == -1);
  CHECK(info.base_offset == Offset(9));
  CHECK(info.next_offset() == Offset(10));
  CHECK(info.max_timestamp == 1234);
  CHECK(info.leader_epoch == LeaderEpoch(3));
  CHECK(info.producer_id == ProducerId(4005));
  CHECK(info.producer_epoch == 18);
  CHECK(info.last_sequence() == 7);
  CHECK(info.transactional);
  CHECK_FALSE(info.control);
  CHECK_FALSE(info.unprotected);
  CHECK(info.count == 1);
}
