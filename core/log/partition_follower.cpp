#include "core/log/partition_follower.h"

#include <algorithm>

#include "core/log/segment_names.h"

namespace tk {

PartitionFollower::PartitionFollower(FileSystem& fs, const LogView& view, std::uint64_t position,
                                     Offset last_offset)
    : fs_(fs), directory_(view.files.directory), position_(position), last_(last_offset) {
  if (!view.files.segments.empty()) {
    segment_ = view.files.segments.back();
    file_ = fs_.open(segment_.log_path, OpenMode::read);
    last_ = std::max(last_, segment_.base - 1);
  }
}

bool PartitionFollower::next(CursorChunk& chunk, bool look_for_roll) {
  for (;;) {
    if (file_) {
      const std::uint64_t size = file_->size();
      if (size > position_) {
        segment_.size = size;
        const ScanRange range{
            .position = position_, .end = size, .segment_base = segment_.base, .after = last_, .below = {}};
        SegmentScanner scanner(*file_, range);
        const bool found = scanner.next(chunk.scan);
        // A tail is what the writer has not finished, and comes again when it has.
        std::erase_if(chunk.scan.stretches,
                      [](const Stretch& stretch) { return stretch.kind == StretchKind::tail; });
        position_ = scanner.position();
        last_ = std::max(last_, scanner.last_offset());
        chunk.segment = &segment_;
        if (found && !chunk.scan.stretches.empty()) return true;
      } else if (size < position_) {
        position_ = size;  // a repair cut what this reader had taken for damage, or a torn tail
      }
    }
    if (!look_for_roll || !open_next_segment()) return false;
  }
}

bool PartitionFollower::open_next_segment() {
  const PartitionFiles files = list_partition(fs_, directory_);
  for (const SegmentFile& segment : files.segments) {
    if (file_ && segment.base <= segment_.base) continue;
    segment_ = segment;
    file_ = fs_.open(segment_.log_path, OpenMode::read);
    position_ = 0;
    last_ = std::max(last_, segment_.base - 1);
    return true;
  }
  return false;
}

}  // namespace tk
