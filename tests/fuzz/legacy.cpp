// A legacy entry, magic 0 or 1: as it is, and with its size and checksum put right. What is said of a message
// can be found again in its bytes, and a wrapper's messages are the same at every walk over them.
#include "core/format/legacy.h"

#include "core/base/crc.h"
#include "core/format/record_decoder.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/bytes.h"
#include "tests/support/records.h"

namespace tk::fuzz {
namespace {

using test::Record;

void put_nullable(test::Bytes& to, const std::optional<std::string>& bytes) {
  std::uint8_t length[4];
  store_be<std::int32_t>(length, bytes ? static_cast<std::int32_t>(bytes->size()) : -1);
  to.insert(to.end(), length, length + 4);
  if (bytes) to.insert(to.end(), bytes->begin(), bytes->end());
}

/// A plain message holds, in this order, exactly what was decoded of it.
void check_plain(ByteView unit, const UnitInfo& info, const Record& record) {
  const std::size_t head = info.magic == 0 ? 18 : 26;
  test::Bytes body;
  put_nullable(body, record.key);
  put_nullable(body, record.value);
  require(head + body.size() <= unit.size() &&
              std::equal(body.begin(), body.end(), unit.begin() + static_cast<std::ptrdiff_t>(head)),
          "key and value are the message's");
  require(record.offset == load_be<std::int64_t>(unit.data()), "a plain message has its entry's offset");
  if (info.magic == 0) require(record.timestamp == kNoTimestamp, "magic 0 has no timestamps");
}

void check(ByteView unit) {
  static RecordDecoder decoder;
  const Frame frame = frame_unit(unit, unit.size());
  if (frame.status != FrameStatus::whole || frame.kind != UnitKind::legacy) return;
  unit = unit.first(frame.size);
  UnitInfo info;
  if (check_unit(unit, frame.kind) || read_unit_info(unit, frame.kind, info)) return;
  std::vector<Record> records;
  const Fault fault =
      decoder.decode(unit, info, [&](const RecordView& r) { records.push_back(test::owned(r)); });
  // Also what is shown of a damaged entry must lie in bounds, and be counted right.
  std::vector<Record> again;
  bool all_valid = true;
  for (const LegacyRecord& record : decoder.legacy().records()) {
    again.push_back(test::owned(record.record));
    all_valid = all_valid && record.valid;
  }
  require(again.size() == decoder.legacy().records().size(), "as many messages as are announced");
  if (fault) return;
  require(!records.empty(), "a good entry holds a message");
  require(all_valid, "every message of a good entry has a good checksum");
  require(records == again, "messages are the same at every walk");
  if (!info.compressed()) {
    require(records.size() == 1, "a plain entry is one message");
    check_plain(unit, info, records.front());
  }
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  fuzz::check({data, size});
  if (size < kUnitPrefix + static_cast<std::size_t>(kMinLegacyLength)) return 0;
  std::vector<std::uint8_t> unit(data, data + size);
  store_be<std::int32_t>(unit.data() + 8, static_cast<std::int32_t>(size - kUnitPrefix));
  unit[kMagicPosition] &= 1;
  store_be<std::uint32_t>(unit.data() + 12, crc32(ByteView(unit).subspan(16)));
  fuzz::check(unit);
  return 0;
}
