// Where a broker's recovery would cut a segment (kafka-on-disk.md §9.2): only what it notices counts.
#pragma once

#include "core/log/log_files.h"
#include "core/log/producer_state.h"
#include "core/log/tail_scan.h"

namespace tk {

struct BrokerScan {
  /// Bytes that a broker would keep.
  std::uint64_t valid_bytes = 0;
  /// Why it would cut there; `none` if it would not.
  Fault fault;
  /// The offset behind the last unit kept; the segment's base if none is.
  Offset next_offset;
  /// The segment is emptied, as an index entry would go back.
  bool emptied = false;
  /// Why the broker does not start at all, nothing having been cut; only where BrokerScanOptions::refusals is
  /// set.
  const char* refusal = nullptr;
  /// The broker makes a segment of its own of what begins here, as its offset cannot be indexed (§9.4).
  std::optional<std::uint64_t> split_at;
};

struct BrokerScanOptions {
  std::int64_t index_interval = 4096;
  /// Where the scan begins, in a segment that is to be split.
  std::uint64_t from = 0;
  /// Look out for what ends a broker's start. Without it an offset below the base is cut, and producers are
  /// not followed.
  bool refusals = false;
  /// The producers before the segment, fed with its units; only with `refusals`, may be null.
  ProducerState* producers = nullptr;
};

/// Walks the segment by the lengths in it and stops at the first unit that a broker would not keep. Offsets
/// are looked at only where an index entry falls due, as a broker does: one that does not rise there empties
/// the segment.
BrokerScan scan_as_broker(FileSystem& fs, const SegmentFile& segment, const BrokerScanOptions& options);

/// Where a broker that trusts the segment sees its end (readNextOffset, §9.1 step 5): `start` is what the
/// last index entry names. Nothing if a length in the way stops the broker.
struct BrokerEnd {
  std::optional<Offset> next_offset;
  Fault fault;
  std::uint64_t position = 0;
};
BrokerEnd find_end_as_broker(FileSystem& fs, const SegmentFile& segment, const std::string& index_path,
                             Offset base);

/// Feeds the units of a segment from offset `from` to below `to` to the producers, as a broker does that
/// rebuilds their state. Why that ends its start, a literal; null if it does not.
const char* feed_producers_as_broker(FileSystem& fs, const SegmentFile& segment, Offset from, Offset to,
                                     ProducerState& producers);

}  // namespace tk
