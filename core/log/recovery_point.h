// Where a writer or a recovery begins to scan the last segment of a partition that tk made, and what there
// shows a write that was never forced.
//
// tk writes an index entry only for data already forced to disk, so everything below the last one is
// (design.md §3). What lies above may be forced or not: a power cut leaves of an append that was not forced
// any subset of its blocks.
#pragma once

#include "core/log/segment_lookup.h"
#include "core/log/tail_scan.h"

namespace tk {

struct RecoveryPoint {
  /// The start of the segment, unless both indexes are in order up to the last entry that the log bears out.
  TrustedPlace place;
  /// Bytes of each index up to there.
  std::uint64_t index_bytes = 0;
  std::uint64_t time_index_bytes = 0;
  /// The last entry of the time index up to there.
  TimeIndexEntry last_time;
};

/// Reads both indexes from the start: blocks of them may be missing anywhere after a power cut.
RecoveryPoint find_recovery_point(FileSystem& fs, const SegmentFile& segment);

/// True if there is a recovery point above the start of the segment, and the index files hold nothing behind
/// it but the time index's final entry.
bool indexes_end_at_recovery_point(FileSystem& fs, const SegmentFile& segment);

/// True if the first damage of a scan that began at a recovery point holds blocks that were never written:
/// zeros from the last whole unit to the end of its block, or a block of nothing but zeros. Forced data have
/// no such holes, and as appends are forced in order, nothing behind one was forced either.
bool begins_with_unwritten_blocks(FileSystem& fs, const SegmentFile& segment, const TailScan& scan);

}  // namespace tk
