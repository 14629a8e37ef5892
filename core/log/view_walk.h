// Every unit of a view from an offset on, in order and by one thread: for what needs the headers only.
#pragma once

#include "core/log/partition_cursor.h"

namespace tk {

/// A place that cannot be read.
struct WalkDamage {
  const std::string& path;
  std::uint64_t position = 0;
  const Fault& fault;
};

/// Calls `on_unit(unit, info, segment)` for each good unit from `start` on (some that end before it may come
/// first) until it returns false, and `on_damage(WalkDamage)` for what cannot be read; a tail of the last
/// segment is none.
template <class OnUnit, class OnDamage>
void walk_view(FileSystem& fs, const LogView& view, Offset start, OnUnit&& on_unit, OnDamage&& on_damage) {
  if (view.empty()) return;
  PartitionCursor cursor(fs, view, start);
  CursorChunk chunk;
  bool more = true;
  while (more && cursor.next(chunk)) {
    const SegmentFile& segment = *chunk.segment;
    const std::string& path = segment.log_path;
    for (const Stretch& stretch : chunk.scan.stretches) {
      if (!more) return;
      if (stretch.kind == StretchKind::damage) on_damage(WalkDamage{path, stretch.position, stretch.fault});
      if (stretch.kind != StretchKind::units) continue;
      walk_units(
          chunk.scan, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t position) {
            if (!more) return;
            UnitInfo info;
            if (const Fault fault = read_unit_info(unit, kind, info)) {
              on_damage(WalkDamage{path, position, fault});
            } else {
              more = on_unit(unit, info, segment);
            }
          },
          [&](std::uint64_t position, std::uint64_t, const Fault& fault, ByteView) {
            if (more) on_damage(WalkDamage{path, position, fault});
          });
    }
  }
}

/// The base of the first segment: where a view's units begin, whatever its log start.
inline Offset first_base(const LogView& view) {
  return view.empty() ? view.log_start : view.files.segments.front().base;
}

/// The same where damage is stepped over.
template <class OnUnit>
void walk_view(FileSystem& fs, const LogView& view, Offset start, OnUnit&& on_unit) {
  walk_view(fs, view, start, on_unit, [](const WalkDamage&) {});
}

}  // namespace tk
