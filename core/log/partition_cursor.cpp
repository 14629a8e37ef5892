#include "core/log/partition_cursor.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/log/segment_lookup.h"
#include "core/log/tail_scan.h"

namespace tk {

namespace {

struct FirstUnit {
  Offset first;
  Offset last;
};

/// The first unit of a segment, if it is whole, good and not of unusual size.
std::optional<FirstUnit> first_unit(FileSystem& fs, const SegmentFile& segment) {
  if (segment.size < kUnitPrefix || !fs.stat(segment.log_path)) return std::nullopt;
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
  if (frame.status != FrameStatus::whole) return std::nullopt;
  const ByteView unit = bytes.view().first(frame.size);
  if (check_unit(unit, frame.kind)) return std::nullopt;
  return FirstUnit{Offset(load_be<std::int64_t>(unit.data())), last_offset_of(unit, frame.kind)};
}

/// True if a reader from `start` on needs the segment before this one: the name lies below the first record,
/// so what is sought may be there; or above it, so that only the segment before tells which offsets may
/// follow.
bool needs_segment_before(FileSystem& fs, const SegmentFile& segment, Offset start) {
  const auto unit = first_unit(fs, segment);
  if (!unit) return false;
  return unit->first > start || unit->first < segment.base;
}

}  // namespace

Offset first_stored_offset(FileSystem& fs, const SegmentFile& segment) {
  const auto unit = first_unit(fs, segment);
  return unit ? std::max(segment.base, unit->first) : segment.base;
}

std::optional<Offset> upper_bound_of(FileSystem& fs, const std::vector<SegmentFile>& segments,
                                     std::size_t index) {
  for (std::size_t next = index + 1; next < segments.size(); ++next) {
    if (segments[next].size > 0) return first_stored_offset(fs, segments[next]);
  }
  if (index + 1 < segments.size()) return segments[index + 1].base;
  return std::nullopt;
}

PartitionCursor::PartitionCursor(FileSystem& fs, const LogView& view, Offset start, std::size_t chunk_bytes)
    : fs_(fs), view_(&view), chunk_bytes_(chunk_bytes), start_(start), last_(-1) {
  const auto& segments = view.files.segments;
  const auto above =
      std::upper_bound(segments.begin(), segments.end(), start,
                       [](Offset offset, const SegmentFile& segment) { return offset < segment.base; });
  index_ = above == segments.begin() ? 0 : static_cast<std::size_t>(above - segments.begin()) - 1;
  while (index_ > 0 && index_ < segments.size() && needs_segment_before(fs, segments[index_], start))
    --index_;
}

// A segment may have been replaced or removed since it was listed, once more while it is being opened.
void PartitionCursor::open_segment() {
  constexpr int tries = 20;
  for (int i = 0; index_ < view_->files.segments.size(); ++i) {
    try {
      if (try_to_open()) return;
    } catch (const Error&) {
      const SegmentFile& segment = view_->files.segments[index_];
      const auto there = fs_.stat(segment.log_path);
      if (i >= tries || (there && segment.is(*there))) throw;
    }
    look_again();
  }
}

bool PartitionCursor::try_to_open() {
  const auto& segments = view_->files.segments;
  const SegmentFile& segment = segments[index_];
  ScanRange range{
      .position = 0, .end = segment.size, .segment_base = segment.base, .after = last_, .below = {}};
  if (first_segment_) {
    const TrustedPlace place = looked_again_ ? find_unit_after(fs_, segment, std::max(last_, start_ - 1))
                                             : find_offset(fs_, segment, start_);
    range.position = place.position;
    range.after = place.after;
  }
  range.below = upper_bound_of(fs_, segments, index_);
  std::shared_ptr<File> file = fs_.open(segment.log_path, OpenMode::read);
  if (!segment.is(file->stat())) return false;
  first_segment_ = false;
  file_ = std::move(file);
  range_ = range;
  auto ahead = std::make_shared<ReadAhead>(file_, range.end, chunk_bytes_);
  scanner_.emplace(*file_, range, chunk_bytes_, ahead);
  const std::scoped_lock lock(mutex_);
  ahead_ = std::move(ahead);
  return true;
}

// What was appended since the first view was made is none of this reader's.
void PartitionCursor::look_again() {
  LogView view = open_log_view(fs_, view_->files.directory, view_->log_start);
  const SegmentFile& last = view_->files.segments.back();
  std::erase_if(view.files.segments,
                [&](const SegmentFile& segment) { return segment.base >= view_->log_end; });
  if (!view.files.segments.empty() && view.files.segments.back().inode == last.inode &&
      view.files.segments.back().base == last.base) {
    view.last_segment_end = view_->last_segment_end;
    view.files.segments.back().size = last.size;
  } else if (!view.files.segments.empty()) {
    view.last_segment_end = view.files.segments.back().size;
  }
  view.log_end = view_->log_end;
  const auto& segments = newer_views_.emplace_back(std::move(view)).files.segments;
  view_ = &newer_views_.back();
  const Offset next = std::max(last_ + 1, start_);
  const auto above = std::ranges::upper_bound(segments, next, {}, &SegmentFile::base);
  index_ = above == segments.begin() ? 0 : static_cast<std::size_t>(above - segments.begin()) - 1;
  first_segment_ = true;
  looked_again_ = true;
}

// In a segment that was replaced since they were found, places mean nothing.
void PartitionCursor::step_over_settled() {
  if (settled_ == nullptr || looked_again_) return;
  const SettledStretch* const settled =
      settled_->find(view_->files.segments[index_].base, scanner_->position());
  if (settled == nullptr) return;
  range_.position = settled->read.end;
  range_.after = last_ = settled->read.last;
  ahead_->passed(settled->read.end);
  scanner_.emplace(*file_, range_, chunk_bytes_, ahead_);
}

void PartitionCursor::read_ahead(CursorChunk& chunk) {
  std::shared_ptr<ReadAhead> ahead;
  {
    const std::scoped_lock lock(mutex_);
    ahead = ahead_;
  }
  if (ahead) ahead->read(chunk.scan.bytes, chunk.scan.ahead);
}

// What is missing now was there when the view was made: it must not pass for the end of the log. Only the
// tail of the last segment may go, which a writer cuts.
void PartitionCursor::require_whole() {
  const auto& segments = view_->files.segments;
  const SegmentFile& segment = segments[index_];
  const bool tail_may_go = index_ + 1 == segments.size() && view_->last_segment_end > 0;
  const std::uint64_t expected = tail_may_go ? view_->last_segment_end : segment.size;
  const std::uint64_t size = file_->size();
  if (size >= expected) return;
  throw Error(
      ErrorCode::storage_error,
      fmt::format("the file shrank to {} bytes while it was read: {} were there before", size, expected))
      .at(segment.log_path, size);
}

bool PartitionCursor::next(CursorChunk& chunk) {
  while (index_ < view_->files.segments.size()) {
    if (!scanner_) open_segment();
    if (!scanner_) break;
    step_over_settled();
    const auto& segments = view_->files.segments;
    const bool more = scanner_->next(chunk.scan);
    last_ = std::max(last_, scanner_->last_offset());
    position_ = scanner_->position();
    const auto is_tail = [](const Stretch& stretch) { return stretch.kind == StretchKind::tail; };
    if (!more || std::ranges::any_of(chunk.scan.stretches, is_tail)) require_whole();
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
  index_ = view_->files.segments.size();
  return false;
}

}  // namespace tk
