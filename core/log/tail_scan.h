// Scans a segment from a trusted place to its end, summing every unit: where the log ends, and whether what
// lies there is whole.
#pragma once

#include <functional>

#include "core/log/log_files.h"
#include "core/log/unit_walk.h"

namespace tk {

/// One damaged range met on the way.
struct DamageRange {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  Fault fault;
  /// The last offset before it.
  Offset after;
  /// The first offset behind it, if a whole unit follows.
  std::optional<Offset> next_good;
};

struct TailScan {
  enum class Stop : std::uint8_t {
    clean,    // whole units to the last byte
    tail,     // a torn unit or unwritten zeros behind the last whole one
    damaged,  // something cannot be read; `damage` says what
  };
  Stop stop = Stop::clean;
  /// Bytes from the start of the file that hold whole, good units, without a gap of damage.
  std::uint64_t good_bytes = 0;
  /// The offset after the last good unit of all (also behind damage).
  Offset next_offset;
  /// The offset after the last good unit before the first damage.
  Offset next_offset_before_damage;
  std::vector<DamageRange> damage;
  /// The tail, if there is one.
  Fault tail;
  std::uint64_t tail_position = 0;
  std::uint64_t tail_size = 0;
  std::uint64_t units = 0;
};

/// Called for each good unit in order, though not always by the same thread.
using UnitSink = std::function<void(ByteView unit, UnitKind kind, std::uint64_t position)>;

/// Scans `segment` by all cores from range.position on (range.end 0: the segment's listed size).
TailScan scan_to_end(FileSystem& fs, const SegmentFile& segment, ScanRange range, const UnitSink& sink = {});

/// The last offset of a framed unit as its header claims it (never below its first).
Offset last_offset_of(ByteView unit, UnitKind kind);

}  // namespace tk
