#include "core/format/unit.h"

#include "core/base/crc.h"
#include "core/format/batch.h"
#include "core/format/json_record.h"
#include "core/format/legacy.h"

namespace tk {
namespace {

Frame cut() {
  return {.status = FrameStatus::cut, .size = 0, .fault = {}};
}
Frame need_more(std::uint64_t size) {
  return {.status = FrameStatus::need_more, .size = size, .fault = {}};
}

Frame refused(FaultKind kind, const char* detail, std::int64_t found, std::int64_t expected = 0) {
  return {.status = FrameStatus::fault, .fault = {kind, detail, found, expected}};
}

/// What the byte at 16 says of a unit whose length allows one: 0, 1 and 2 are magics, nothing else is
/// Kafka's.
bool is_magic(std::uint8_t byte) {
  return byte <= 2;
}

Frame frame_kafka(std::uint8_t magic, std::int32_t length, std::uint64_t size, bool whole_in_file,
                  std::size_t window) {
  const bool batch = magic == 2;
  if (batch && length < kMinBatchLength) {
    return refused(FaultKind::bad_length, "length below the smallest batch", length, kMinBatchLength);
  }
  Frame frame{.status = FrameStatus::whole,
              .kind = batch ? UnitKind::batch : UnitKind::legacy,
              .size = size,
              .fault = {}};
  if (!whole_in_file) {
    frame.status = FrameStatus::cut;
  } else if (window < size) {
    frame.status = FrameStatus::need_more;
  }
  return frame;
}

}  // namespace

Frame frame_unit(ByteView window, std::uint64_t remaining) {
  if (window.size() < kUnitPrefix) return remaining < kUnitPrefix ? cut() : need_more(kUnitPrefix);
  const auto length = load_be<std::int32_t>(window.data() + 8);
  if (length < 2) return refused(FaultKind::bad_length, "length below the smallest record", length, 2);
  const std::uint64_t size = kUnitPrefix + static_cast<std::uint64_t>(length);
  const bool whole_in_file = size <= remaining;

  if (window.size() == kUnitPrefix) return remaining == kUnitPrefix ? cut() : need_more(kUnitPrefix + 1);
  const bool brace = window[kUnitPrefix] == '{';
  if (length >= kMinLegacyLength) {
    if (window.size() <= kMagicPosition) {
      return remaining <= kMagicPosition ? cut() : need_more(kMagicPosition + 1);
    }
    const std::uint8_t magic = window[kMagicPosition];
    if (is_magic(magic)) return frame_kafka(magic, length, size, whole_in_file, window.size());
    if (!brace) return refused(FaultKind::bad_magic, "neither a magic of 0 to 2 nor a json body", magic);
  } else if (!brace) {
    return refused(FaultKind::bad_length, "length below the smallest message", length, kMinLegacyLength);
  }
  if (!whole_in_file) return {.status = FrameStatus::cut, .kind = UnitKind::json, .size = size, .fault = {}};
  if (window.size() < size)
    return {.status = FrameStatus::need_more, .kind = UnitKind::json, .size = size, .fault = {}};
  if (window[size - 1] != '}') {
    return refused(FaultKind::bad_length, "json body does not end in a brace", length);
  }
  return {.status = FrameStatus::whole, .kind = UnitKind::json, .size = size, .fault = {}};
}

std::int32_t UnitInfo::last_sequence() const {
  if (base_sequence == -1) return -1;
  return sequence_after(base_sequence, static_cast<std::int32_t>(last_offset - base_offset));
}

Fault read_unit_info(ByteView unit, UnitKind kind, UnitInfo& info) {
  if (kind == UnitKind::json) return read_json_info(unit, info);
  if (kind == UnitKind::legacy) return read_legacy_info(unit, info);
  if (unit.size() < kBatchHeader) return {FaultKind::bad_length, "batch smaller than its header", 0, 0};
  info = read_batch_header(unit.data());
  return {};
}

Fault check_unit(ByteView unit, UnitKind kind) {
  if (kind == UnitKind::json) return check_json_unit(unit);
  if (kind == UnitKind::legacy) return check_legacy(unit);
  if (unit.size() < kBatchHeader) return {FaultKind::bad_length, "batch smaller than its header", 0, 0};
  const auto stored = load_be<std::uint32_t>(unit.data() + batch_layout::kCrc);
  const std::uint32_t computed = batch_crc(unit);
  if (stored != computed) return {FaultKind::bad_crc, "checksum mismatch", stored, computed};
  return {};
}

}  // namespace tk
