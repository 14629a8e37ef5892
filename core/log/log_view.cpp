#include "core/log/log_view.h"

#include "core/log/segment_lookup.h"

namespace tk {

std::uint64_t LogView::bytes() const {
  std::uint64_t sum = 0;
  for (const SegmentFile& segment : files.segments) sum += segment.size;
  return sum;
}

LogView open_log_view(FileSystem& fs, const std::string& directory,
                      std::optional<Offset> checkpointed_start) {
  LogView view;
  view.files = list_partition(fs, directory);
  if (view.files.segments.empty()) {
    view.log_start = view.log_end = checkpointed_start.value_or(Offset(0));
    return view;
  }
  const SegmentFile& last = view.files.segments.back();
  const TrustedPlace from = find_last_indexed(fs, last);
  const ScanRange range{.position = from.position,
                        .end = last.size,
                        .segment_base = last.base,
                        .after = from.after,
                        .below = {}};
  const TailScan scan = scan_to_end(fs, last, range);
  view.log_end = scan.next_offset;
  view.end_state = scan.stop;
  view.tail = scan.tail;
  view.last_segment_end = scan.tail_size > 0 ? scan.tail_position : last.size;
  view.log_start = view.files.segments.front().base;
  if (checkpointed_start && *checkpointed_start > view.log_start && *checkpointed_start <= view.log_end) {
    view.log_start = *checkpointed_start;
  }
  return view;
}

}  // namespace tk
