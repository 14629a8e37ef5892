#include "core/log/unit_walk.h"

#include "core/format/json_record.h"

namespace tk {
namespace {

/// A json record with a checksum. One without is proof of nothing inside a unit of Kafka's: a message's value
/// may look like it.
bool is_protected(ByteView unit) {
  UnitInfo info;
  return !read_json_info(unit, info) && !info.unprotected;
}

/// True if whole, good units with rising offsets below `below` follow each other from `at` to the end.
bool chain_to_end(ByteView bytes, std::size_t at, Offset after, Offset below) {
  const bool within_json = framed_kind(bytes) == UnitKind::json;
  while (at < bytes.size()) {
    const ByteView rest = bytes.subspan(at);
    const Frame frame = frame_unit(rest, rest.size());
    if (frame.status != FrameStatus::whole) return false;
    const Offset offset(load_be<std::int64_t>(rest.data()));
    const ByteView unit = rest.first(frame.size);
    if (offset <= after || offset >= below || check_unit(unit, frame.kind)) return false;
    if (frame.kind == UnitKind::json && !within_json && !is_protected(unit)) return false;
    after = offset;
    at += frame.size;
  }
  return true;
}

}  // namespace

RescuedUnits rescue_units(ByteView bad_unit, Offset after, Offset below) {
  // Every place costs a look at its head; a chain is summed only where head and offset are possible, and at
  // most a few times, so that a file made to mislead costs little.
  int chains = 64;
  for (std::size_t at = kUnitPrefix; at + kUnitPrefix < bad_unit.size() && chains > 0; ++at) {
    const ByteView rest = bad_unit.subspan(at);
    if (rest.size() > kMagicPosition && rest[kMagicPosition] > 2 && rest[kUnitPrefix] != '{') continue;
    const Offset offset(load_be<std::int64_t>(rest.data()));
    if (offset <= after || offset >= below || offset - after > INT32_MAX) continue;
    if (frame_unit(rest, rest.size()).status != FrameStatus::whole) continue;
    --chains;
    if (chain_to_end(bad_unit, at, after, below)) return {at};
  }
  return {bad_unit.size()};
}

}  // namespace tk
