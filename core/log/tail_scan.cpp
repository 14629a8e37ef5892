#include "core/log/tail_scan.h"

#include <algorithm>

#include "core/format/batch.h"

namespace tk {

Offset last_offset_of(ByteView unit, UnitKind kind) {
  const Offset first(load_be<std::int64_t>(unit.data()));
  if (kind != UnitKind::batch) return first;
  return first + std::max(load_be<std::int32_t>(unit.data() + batch_layout::kLastOffsetDelta), 0);
}

TailScan scan_to_end(FileSystem& fs, const SegmentFile& segment, ScanRange range, const UnitSink& sink) {
  if (range.end == 0) range.end = segment.size;
  TailScan result;
  result.good_bytes = range.position;
  result.next_offset = result.next_offset_before_damage = std::max(range.after + 1, range.segment_base);
  if (range.position >= range.end) return result;

  const auto file = fs.open(segment.log_path, OpenMode::read);
  SegmentScanner scanner(*file, range);
  ScanChunk chunk;
  auto damage = [&](std::uint64_t position, std::uint64_t size, const Fault& fault) {
    result.stop = TailScan::Stop::damaged;
    result.damage.push_back({position, size, fault, result.next_offset - 1, std::nullopt});
  };
  auto good = [&](ByteView unit, UnitKind kind, std::uint64_t position) {
    ++result.units;
    result.next_offset = std::max(result.next_offset, last_offset_of(unit, kind) + 1);
    if (result.damage.empty()) {
      result.next_offset_before_damage = result.next_offset;
      result.good_bytes = position + unit.size();
    } else {
      // Several damaged ranges may lie side by side: the unit follows all of them.
      const Offset first(load_be<std::int64_t>(unit.data()));
      for (auto behind = result.damage.rbegin(); behind != result.damage.rend() && !behind->next_good;
           ++behind)
        behind->next_good = first;
    }
    if (sink) sink(unit, kind, position);
  };
  while (scanner.next(chunk)) {
    for (const Stretch& stretch : chunk.stretches) {
      if (stretch.kind == StretchKind::units) {
        walk_units(chunk, stretch, good,
                   [&](std::uint64_t position, std::uint64_t size, const Fault& fault, ByteView) {
                     damage(position, size, fault);
                   });
      } else if (stretch.kind == StretchKind::damage) {
        damage(stretch.position, stretch.size, stretch.fault);
      } else {
        if (result.stop == TailScan::Stop::clean) result.stop = TailScan::Stop::tail;
        result.tail = stretch.fault;
        result.tail_position = stretch.position;
        result.tail_size = stretch.size;
      }
    }
  }
  return result;
}

}  // namespace tk
