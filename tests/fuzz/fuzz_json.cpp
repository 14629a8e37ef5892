// JSON text through the strict reader, and as the body of a json record.
#include <string>
#include <vector>

#include "core/base/json_reader.h"
#include "core/format/json_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  JsonReader reader(text);
  reader.skip();
  const bool whole = reader.finish();
  if (whole && reader.position() > size) __builtin_trap();

  std::vector<std::uint8_t> unit(kUnitPrefix + size);
  store_be<std::int64_t>(unit.data(), 0);
  store_be<std::int32_t>(unit.data() + 8, static_cast<std::int32_t>(size));
  if (size > 0) std::memcpy(unit.data() + kUnitPrefix, data, size);
  const Frame frame = frame_unit(unit, unit.size());
  if (frame.status != FrameStatus::whole || frame.kind != UnitKind::json) return 0;
  if (check_unit(unit, UnitKind::json)) return 0;
  JsonRecordDecoder decoder;
  RecordView record;
  (void)decoder.decode(unit, record);
  return 0;
}
