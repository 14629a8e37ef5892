// The parts of a log in which a compaction leaves nothing: found by its first half, not read again by its
// second. Keys that are written over and over make most of a log such.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/log/latest_offsets.h"

namespace tk {

/// Whole units, one behind the other, in one segment.
struct ReadStretch {
  Offset segment;
  std::uint64_t begin = 0, end = 0;  // positions in the segment's file
  /// Its units lie above the first of these, the last one ends with the second.
  Offset after, last;
  std::int64_t records = 0;
};

class DeadStretches {
 public:
  DeadStretches() = default;
  /// Of what was read, in order, what holds no offset that is the last of its key. What reaches `log_end`
  /// stays: the end of the log must not be forgotten. Only for a log without producers, whose superseded
  /// units may have to leave a trace.
  DeadStretches(const std::vector<ReadStretch>& read, const LatestOffsets& latest, Offset log_end);

  /// The one that holds the place, or null.
  [[nodiscard]] const ReadStretch* find(Offset segment, std::uint64_t position) const;
  [[nodiscard]] const std::vector<ReadStretch>& all() const { return stretches_; }

 private:
  std::vector<ReadStretch> stretches_;
};

}  // namespace tk
