// The second half of a compaction pass: every segment below the map's end is written anew, group by group
// (kafka-on-disk.md §11.3, §11.7).
#pragma once

#include <functional>

#include "core/log/compaction.h"
#include "core/log/settled_stretches.h"
#include "core/log/unit_filter.h"

namespace tk {

struct PassTally {
  std::int64_t records_before = 0, records_after = 0;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  bool interrupted = false;
};

/// Segments that become one: numbers in a listing.
struct SegmentGroup {
  std::size_t first = 0, end = 0;
};

/// Consecutive segments that fit into one by size, size of the indexes, and range of offsets.
std::vector<SegmentGroup> group_segments(FileSystem& fs, const std::vector<SegmentFile>& segments,
                                         Offset upper, const LogConfig& config);

struct PassContext {
  FileSystem& fs;
  const CompactionOptions& options;
  FilterRules rules;
  /// What the pass's first half has read.
  const std::vector<ReadStretch>& read;
  /// The modification time that tombstones of magic 0 and 1 must be younger than to stay (§11.3), in ms.
  std::int64_t legacy_horizon_ms = 0;
  /// Called around each replacement, with the work to do while the right to write is held.
  std::function<void(const std::function<void()>&)> as_writer;
};

/// Filters the segments of `view`, all of which lie below the map's end, and puts what is left in their
/// place.
PassTally run_compaction_pass(const PassContext& context, const LogView& view,
                              const std::function<void(std::uint64_t bytes)>& advanced);

}  // namespace tk
