// Walks the units of one chunk with their checksums: the part of a scan that needs no order and can run in
// parallel.
#pragma once

#include "core/log/segment_scanner.h"

namespace tk {

/// The kind of a unit that was framed already.
inline UnitKind framed_kind(ByteView unit) {
  if (unit.size() >= kUnitPrefix + kMinLegacyLength && unit[kMagicPosition] <= 2) {
    return unit[kMagicPosition] == 2 ? UnitKind::batch : UnitKind::legacy;
  }
  return UnitKind::json;
}

inline std::uint64_t framed_size(const std::uint8_t* unit) {
  return kUnitPrefix + static_cast<std::uint64_t>(load_be<std::int32_t>(unit + 8));
}

/// A whole unit within a unit whose checksum is bad: its length field may have swallowed good ones.
struct RescuedUnits {
  /// Where in the bad unit the good ones begin; its size if there are none.
  std::size_t begin = 0;
};

/// Looks inside a bad unit for good units with rising offsets above `after` and below `below` that reach
/// exactly to its end.
RescuedUnits rescue_units(ByteView bad_unit, Offset after, Offset below);

/// What a walk may be given to pass several units at once: none.
struct NoRuns {
  const std::uint8_t* operator()(const std::uint8_t* at, const std::uint8_t*, Offset&) const { return at; }
};

/// Calls `on_unit(ByteView unit, UnitKind kind, std::uint64_t position)` for each unit of a stretch of units
/// whose checksum is good, and `on_damage(std::uint64_t position, std::uint64_t size, const Fault&, ByteView
/// unit)` for each that is bad. Before a json unit `on_run(at, end, Offset& last)` may check and take this
/// and the units behind it, as many as it likes, and returns where the one begins that it leaves; `last` then
/// is the offset of the last that it took.
template <class OnUnit, class OnDamage, class OnRun = NoRuns>
void walk_units(const ScanChunk& chunk, const Stretch& stretch, OnUnit&& on_unit, OnDamage&& on_damage,
                OnRun&& on_run = {}) {
  std::size_t at = stretch.at;
  const std::size_t end = stretch.at + stretch.size;
  Offset before = stretch.after;
  while (at < end) {
    const std::uint8_t* const begin = chunk.bytes.data() + at;
    const std::uint64_t position = stretch.position + (at - stretch.at);
    const ByteView unit{begin, framed_size(begin)};
    const UnitKind kind = framed_kind(unit);
    if (kind == UnitKind::json) {
      const std::uint8_t* const next = on_run(begin, chunk.bytes.data() + end, before);
      if (next != begin) {
        at += static_cast<std::size_t>(next - begin);
        continue;
      }
    }
    std::size_t step = unit.size();
    if (const Fault fault = check_unit(unit, kind)) {
      // What was swallowed lies before the unit behind: else an offset would come twice, or go back.
      const bool is_last = at + unit.size() >= end;
      const Offset below = is_last ? Offset(INT64_MAX) : Offset(load_be<std::int64_t>(begin + unit.size()));
      step = rescue_units(unit, before, below).begin;
      on_damage(position, static_cast<std::uint64_t>(step), fault, unit.first(step));
    } else {
      on_unit(unit, kind, position);
      before = Offset(load_be<std::int64_t>(begin));
    }
    at += step;
  }
}

}  // namespace tk
