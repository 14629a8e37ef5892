// One stored unit of any kind: framed, summed, and decoded to its records. The checksum of a v2 batch is put
// right first, so that what lies behind it is reached.
#include <vector>

#include "core/base/crc.h"
#include "core/format/record_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  std::vector<std::uint8_t> bytes(data, data + size);
  const Frame frame = frame_unit(bytes, bytes.size());
  if (frame.status != FrameStatus::whole) return 0;
  const MutableBytes unit = MutableBytes(bytes).first(frame.size);
  if (frame.kind == UnitKind::batch && unit.size() >= kBatchHeader) {
    store_be<std::uint32_t>(unit.data() + batch_layout::kCrc, batch_crc(unit));
  }
  if (frame.kind == UnitKind::legacy)
    store_be<std::uint32_t>(unit.data() + 12, crc32(ByteView(unit).subspan(16)));
  UnitInfo info;
  if (check_unit(unit, frame.kind) || read_unit_info(unit, frame.kind, info)) return 0;
  RecordDecoder decoder;
  std::size_t seen = 0;
  (void)decoder.decode(unit, info, [&](const RecordView& record) {
    // Touches every byte that a record points to.
    if (record.key) seen += record.key->size();
    if (record.value) {
      for (const char c : *record.value) seen += static_cast<unsigned char>(c);
    }
    for (const HeaderView& header : record.headers)
      seen += header.name.size() + (header.value ? header.value->size() : 0);
  });
  return seen == SIZE_MAX ? 1 : 0;
}
