#include "core/log/partition_cursor.h"

#include <algorithm>

#include "core/log/segment_lookup.h"

namespace tk {

Offset first_stored_offset(FileSystem& fs, const SegmentFile& segment) {
  if (segment.size < kUnitPrefix) return segment.base;
  const auto file = fs.open(segment.log_path, OpenMode::read);
  Buffer bytes;
  bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(segment.size, 32768)));
  bytes.cut(file->read_at(0, {bytes.data(), bytes.size()}));
  Frame frame = frame_unit(bytes.view(), segment.size);
  if (frame.status == FrameStatus::need_more && frame.size <= (16U << 20)) {
    bytes.resize(frame.size);
    bytes.cut(file->read_at(0, {bytes.data(), bytes.size()}));
    frame = frame_unit(bytes.view(), segment.size);
  }
  if (frame.status != FrameStatus::whole || check_unit(bytes.view().first(frame.size), frame.kind)) return segment.base;
  return std::max(segment.base, Offset(load_be<std::int64_t>(bytes.data())));
}

PartitionCursor::PartitionCursor(FileSystem& fs, const LogView& view, Offset start, std::size_t chunk_bytes)
    : fs_(fs), view_(view), chunk_bytes_(chunk_bytes), start_(start), last_(-1) {
  const auto& segments = view.files.segments;
  const auto above = std::upper_bound(segments.begin(), segments.end(), start,
                                      [](Offset offset, const SegmentFile& segment) { return offset < segment.base; });
  index_ = above == segments.begin() ? 0 : static_cast<std::size_t>(above - segments.begin()) - 1;
  // A segment whose name lies below its first record: what is sought may be in the one before.
  while (index_ > 0 && index_ < segments.size() && first_stored_offset(fs, segments[index_]) > start &&
         segments[index_].base != start) {
    --index_;
  }
}

void PartitionCursor::open_segment(std::size_t index) {
  const auto& segments = view_.files.segments;
  const SegmentFile& segment = segments[index];
  ScanRange range{.position = 0, .end = segment.size, .segment_base = segment.base, .after = std::max(last_, segment.base - 1), .below = {}};
  if (first_segment_) {
    const TrustedPlace place = find_offset(fs_, segment, start_);
    range.position = place.position;
    range.after = place.after;
  } else if (last_ >= segment.base) {
    range.after = last_;
  }
  for (std::size_t next = index + 1; next < segments.size() && !range.below; ++next) {
    if (segments[next].size > 0) range.below = first_stored_offset(fs_, segments[next]);
  }
  first_segment_ = false;
  file_ = fs_.open(segment.log_path, OpenMode::read);
  scanner_.emplace(*file_, range, chunk_bytes_);
}

bool PartitionCursor::next(CursorChunk& chunk) {
  const auto& segments = view_.files.segments;
  while (index_ < segments.size()) {
    if (!scanner_) open_segment(index_);
    const bool more = scanner_->next(chunk.scan);
    last_ = std::max(last_, scanner_->last_offset());
    position_ = scanner_->position();
    if (more) {
      chunk.segment = &segments[index_];
      const bool is_last = index_ + 1 == segments.size();
      for (Stretch& stretch : chunk.scan.stretches) {
        if (stretch.kind == StretchKind::tail && !is_last) stretch.kind = StretchKind::damage;
      }
      return true;
    }
    scanner_.reset();
    file_.reset();
    if (index_ + 1 == segments.size()) break;
    ++index_;
  }
  index_ = segments.size();
  return false;
}

}  // namespace tk
