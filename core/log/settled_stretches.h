// The parts of a log of which a compaction knows the outcome after its first half, so that its second need
// not read them again: where nothing stays, which keys that are written over and over make of most of a log,
// and segments where all does.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/log/latest_offsets.h"
#include "core/log/log_files.h"

namespace tk {

/// Whole units, one behind the other, in one segment.
struct ReadStretch {
  Offset segment;
  std::uint64_t begin = 0, end = 0;  // positions in the segment's file
  /// Its units lie above the first of these, the last one ends with the second.
  Offset after, last;
  std::int64_t records = 0;
  /// Each unit is a batch or json record that holds records: none is empty, a marker, or of an old format.
  bool only_records = false;
};

struct SettledStretch {
  ReadStretch read;
  /// All of it stays as it is; else nothing stays.
  bool stays = false;
};

class SettledStretches {
 public:
  SettledStretches() = default;
  /// Of what was read, in order: what holds no offset that is the last of its key goes, but for what reaches
  /// `log_end` (the end of the log must not be forgotten); what holds no others, and no tombstone, which
  /// would get its delete horizon, stays, if it is all of one of the segments `alone`, which are joined with
  /// no other. Only for a log without producers, whose superseded units may have to leave a trace.
  SettledStretches(const std::vector<ReadStretch>& read, const LatestOffsets& latest, Offset log_end,
                   const std::vector<SegmentFile>& alone);

  /// The one that holds the place, or null.
  [[nodiscard]] const SettledStretch* find(Offset segment, std::uint64_t position) const;
  [[nodiscard]] const std::vector<SettledStretch>& all() const { return stretches_; }

 private:
  void add(const ReadStretch& read, bool stays);

  std::vector<SettledStretch> stretches_;
};

}  // namespace tk
