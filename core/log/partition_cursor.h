// Reads a partition's segments one after the other, chunk by chunk, from an offset on.
//
// The cursor is the ordered part of every parallel read (ordered_workers.h): it lists stretches of units and
// of damage; sums, decoding and output belong to whoever takes its chunks.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

#include "core/log/log_view.h"
#include "core/log/segment_scanner.h"
#include "core/log/settled_stretches.h"

namespace tk {

/// A chunk with the segment that it comes from.
struct CursorChunk {
  ScanChunk scan;
  const SegmentFile* segment = nullptr;
};

class PartitionCursor {
 public:
  /// `view` must outlive the cursor. Units that end below `start` may come first.
  PartitionCursor(FileSystem& fs, const LogView& view, Offset start,
                  std::size_t chunk_bytes = SegmentScanner::kDefaultChunk);

  /// The next chunk; false at the end of the view. Where segments were replaced or removed since the view was
  /// made (a compaction, a retention), it goes on behind what it has read, in what there is now. A tail in
  /// another segment than the last comes as damage; the last segment's tail ends the reading. Throws
  /// storage_error if a segment is shorter by then than the view has it.
  bool next(CursorChunk& chunk);

  /// Steps over these from now on, as far as it is up to it: some of their units may come. They must outlive
  /// the cursor.
  void skip(const SettledStretches& settled) { settled_ = &settled; }

  /// Reads for a chunk what next() will probably want in it. For any thread, while another may be in next();
  /// only a matter of speed.
  void read_ahead(CursorChunk& chunk);

  /// Where a follower goes on: the file position in the last segment, and the last offset seen.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] Offset last_offset() const { return last_; }

 private:
  void open_segment();
  bool try_to_open();
  void look_again();
  void step_over_settled();
  void require_whole();

  FileSystem& fs_;
  const LogView* view_;              // as it was given, or the last of these:
  std::deque<LogView> newer_views_;  // chunks point into them
  std::size_t chunk_bytes_;
  std::size_t index_ = 0;  // of the segment being read
  std::shared_ptr<File> file_;
  std::optional<SegmentScanner> scanner_;
  ScanRange range_;  // of the scanner
  const SettledStretches* settled_ = nullptr;
  std::mutex mutex_;
  std::shared_ptr<ReadAhead> ahead_;  // of the segment being read; guarded by mutex_
  Offset start_;
  Offset last_;
  bool first_segment_ = true;
  bool looked_again_ = false;
  std::uint64_t position_ = 0;
};

/// The offset that every unit of segment `index` must lie below: the first one stored in the next segment
/// that holds anything, else the base of the next one; nothing for the last segment.
std::optional<Offset> upper_bound_of(FileSystem& fs, const std::vector<SegmentFile>& segments,
                                     std::size_t index);

/// The first offset stored in a segment, by its first unit if that is whole and not below the segment's base,
/// else the base.
Offset first_stored_offset(FileSystem& fs, const SegmentFile& segment);

}  // namespace tk
