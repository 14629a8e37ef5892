#include "core/log/log_view.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/format/batch.h"
#include "core/log/segment_lookup.h"

namespace tk {

namespace {

// A good batch at the very end whose offsets overlap those before it is damage to a reader, but what is
// appended next must lie above it all the same, as a broker has it.
Offset end_with_misplaced(FileSystem& fs, const SegmentFile& segment, const TailScan& scan) {
  if (scan.damage.empty()) return scan.next_offset;
  const DamageRange& last = scan.damage.back();
  if (last.next_good || last.fault.kind != FaultKind::offset_regression || last.size < kBatchHeader) {
    return scan.next_offset;
  }
  const auto file = fs.open(segment.log_path, OpenMode::read);
  Buffer unit;
  unit.resize(static_cast<std::size_t>(std::min<std::uint64_t>(last.size, 16U << 20)));
  unit.cut(file->read_at(last.position, {unit.data(), unit.size()}));
  const Frame frame = frame_unit(unit.view(), unit.size());
  if (frame.status != FrameStatus::whole || check_unit(unit.view().first(frame.size), frame.kind))
    return scan.next_offset;
  const Offset end = last_offset_of(unit.view().first(frame.size), frame.kind) + 1;
  return end - scan.next_offset < static_cast<std::int64_t>(last.size) ? std::max(scan.next_offset, end)
                                                                       : scan.next_offset;
}

}  // namespace

std::uint64_t LogView::bytes() const {
  std::uint64_t sum = 0;
  for (const SegmentFile& segment : files.segments) sum += segment.size;
  return sum;
}

namespace {

LogView look(FileSystem& fs, const std::string& directory, std::optional<Offset> checkpointed_start) {
  LogView view;
  view.files = list_partition(fs, directory);
  if (view.files.segments.empty()) {
    view.log_start = view.log_end = checkpointed_start.value_or(Offset(0));
    return view;
  }
  const SegmentFile& last = view.files.segments.back();
  const TrustedPlace from = find_place_before_end(fs, last);
  const ScanRange range{.position = from.position,
                        .end = last.size,
                        .segment_base = last.base,
                        .after = from.after,
                        .below = {}};
  const TailScan scan = scan_to_end(fs, last, range);
  view.log_end = end_with_misplaced(fs, last, scan);
  view.end_state = scan.stop;
  view.tail = scan.tail;
  view.last_segment_end = scan.tail_size > 0 ? scan.tail_position : last.size;
  view.log_start = view.files.segments.front().base;
  if (checkpointed_start && *checkpointed_start > view.log_start && *checkpointed_start <= view.log_end) {
    view.log_start = *checkpointed_start;
  }
  return view;
}

}  // namespace

// A segment may be replaced or removed between the listing and the look into it.
LogView open_log_view(FileSystem& fs, const std::string& directory,
                      std::optional<Offset> checkpointed_start) {
  constexpr int tries = 20;
  for (int i = 0;; ++i) {
    try {
      return look(fs, directory, checkpointed_start);
    } catch (const Error& error) {
      if (i >= tries || error.path() == directory || fs.stat(error.path())) throw;
    }
  }
}

}  // namespace tk
