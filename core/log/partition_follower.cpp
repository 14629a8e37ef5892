#include "core/log/partition_follower.h"

#include <algorithm>

#include "core/log/segment_lookup.h"
#include "core/log/segment_names.h"

namespace tk {

PartitionFollower::PartitionFollower(FileSystem& fs, const LogView& view, std::uint64_t position,
                                     Offset last_offset)
    : fs_(fs), directory_(view.files.directory), position_(position), last_(last_offset) {
  if (!view.files.segments.empty()) {
    segment_ = view.files.segments.back();
    last_ = std::max(last_, segment_.base - 1);
    // One that was replaced meanwhile is looked for anew.
    const auto there = fs_.stat(segment_.log_path);
    if (there && segment_.is(*there)) file_ = fs_.open(segment_.log_path, OpenMode::read);
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

// The one that holds what comes next: mostly a segment that was begun since, but a compaction may have put it
// into one with what was read already.
bool PartitionFollower::open_next_segment() {
  const PartitionFiles files = list_partition(fs_, directory_);
  const auto& segments = files.segments;
  const auto above = std::ranges::upper_bound(segments, last_ + 1, {}, &SegmentFile::base);
  auto next = above == segments.begin() ? above : above - 1;
  if (file_ && next != segments.end() && next->is(file_->stat()) && next->inode != 0) ++next;
  if (next == segments.end()) return false;
  std::unique_ptr<File> file = fs_.open(next->log_path, OpenMode::read);
  if (!next->is(file->stat())) return false;
  const TrustedPlace place =
      next->base > last_ ? TrustedPlace{0, last_, {}} : find_unit_after(fs_, *next, last_);
  segment_ = *next;
  file_ = std::move(file);
  position_ = place.position;
  last_ = std::max(last_, segment_.base - 1);
  return true;
}

}  // namespace tk
