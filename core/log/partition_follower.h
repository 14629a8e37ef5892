// Reads on from where a view of a partition ended, as a writer appends: what `consume -F` stands on.
#pragma once

#include <memory>

#include "core/log/partition_cursor.h"

namespace tk {

class PartitionFollower {
 public:
  /// Goes on behind `view`: its last segment from the position and offset given (PartitionCursor's at its
  /// end).
  PartitionFollower(FileSystem& fs, const LogView& view, std::uint64_t position, Offset last_offset);

  /// What has been appended since; false if there is nothing new. An incomplete last unit is left for later.
  /// With `look_for_roll` the directory is listed for a newer segment when the present one has nothing more:
  /// needed only after a file was made there.
  bool next(CursorChunk& chunk, bool look_for_roll);

  [[nodiscard]] Offset last_offset() const { return last_; }

 private:
  bool open_next_segment();

  FileSystem& fs_;
  std::string directory_;
  SegmentFile segment_;
  std::unique_ptr<File> file_;
  std::uint64_t position_ = 0;
  Offset last_;
};

}  // namespace tk
