// Where a broker's recovery would cut a segment (kafka-on-disk.md §9.2): only what it notices counts.
#pragma once

#include "core/log/log_files.h"
#include "core/log/tail_scan.h"

namespace tk {

struct BrokerScan {
  /// Bytes that a broker would keep.
  std::uint64_t valid_bytes = 0;
  /// Why it would cut there; `none` if it would not.
  Fault fault;
  /// The offset behind the last unit kept; the segment's base if none is.
  Offset next_offset;
};

/// Walks the segment by the lengths in it and stops at the first unit that a broker would not keep. Offsets
/// are looked at only where an index entry falls due, as a broker does: one that does not rise there empties
/// the segment.
BrokerScan scan_as_broker(FileSystem& fs, const SegmentFile& segment, std::int64_t index_interval);

}  // namespace tk
