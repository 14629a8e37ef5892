#include "core/log/compaction_range.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/log/segment_lookup.h"

namespace tk {
namespace {

/// The segment that holds the offset: the last with a base at or below it.
std::size_t segment_of(const std::vector<SegmentFile>& segments, Offset offset) {
  const auto above =
      std::ranges::upper_bound(segments, offset, {}, [](const SegmentFile& s) { return s.base; });
  return above == segments.begin() ? 0 : static_cast<std::size_t>(above - segments.begin()) - 1;
}

/// Where the records end that are old enough, and why.
Offset first_uncleanable(FileSystem& fs, const LogView& view, std::size_t first, Offset last_stable,
                         const CompactionRules& rules, std::string& reason) {
  const auto& segments = view.files.segments;
  Offset least = segments.back().base;
  reason = "the active segment is never cleaned";
  if (last_stable < least) {
    least = last_stable;
    reason = fmt::format("a transaction has been open since offset {}", last_stable.value());
  }
  if (rules.min_lag_ms <= 0 || rules.force) return least;
  for (std::size_t i = first; i + 1 < segments.size() && segments[i].base < least; ++i) {
    const std::int64_t largest = largest_timestamp(fs, segments[i]);
    if (largest <= rules.now_ms - rules.min_lag_ms) continue;
    reason = fmt::format("segment {} has a record of {}, younger than min.compaction.lag.ms",
                         segments[i].base.value(), largest);
    return segments[i].base;
  }
  return least;
}

bool overdue(FileSystem& fs, const LogView& view, std::size_t first, const CompactionRules& rules) {
  if (rules.max_lag_ms == INT64_MAX) return false;
  const auto& segments = view.files.segments;
  for (std::size_t i = first; i + 1 < segments.size(); ++i) {
    const auto file = fs.open(segments[i].log_path, OpenMode::read);
    const std::int64_t timestamp = first_unit_timestamp(*file, segments[i].size);
    if (timestamp >= 0 && timestamp < rules.now_ms - rules.max_lag_ms) return true;
  }
  return false;
}

}  // namespace

CompactionRange choose_compaction_range(FileSystem& fs, const LogView& view, Offset last_stable,
                                        const CompactionRules& rules) {
  CompactionRange range;
  range.first_dirty = rules.checkpoint.value_or(view.log_start);
  if (range.first_dirty < view.log_start || range.first_dirty > view.log_end)
    range.first_dirty = view.log_start;
  range.upper = range.first_dirty;
  const auto& segments = view.files.segments;
  if (segments.empty()) {
    range.not_now = "the log is empty";
    return range;
  }
  const std::size_t first = segment_of(segments, range.first_dirty);
  const Offset limit =
      std::max(first_uncleanable(fs, view, first, last_stable, rules, range.upper_reason), range.first_dirty);
  const std::size_t end = std::max(std::min(segment_of(segments, limit), segments.size() - 1), first);
  range.upper = segments[end].base;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (i >= end) {
      range.other_bytes += segments[i].size;
    } else if (i >= first) {
      range.cleanable_bytes += segments[i].size;
    }
    if (segments[i].base < range.first_dirty && i < end) range.clean_bytes += segments[i].size;
  }
  const bool dirty = range.upper > range.first_dirty && range.cleanable_bytes > 0;
  if (!dirty && !(rules.force && range.clean_bytes > 0)) {
    range.not_now = "nothing to clean: " + range.upper_reason;
  } else if (!rules.force && range.dirty_ratio() <= rules.min_dirty_ratio &&
             !overdue(fs, view, first, rules)) {
    range.not_now = fmt::format("the dirty ratio {:.2f} is not above min.cleanable.dirty.ratio {}",
                                range.dirty_ratio(), rules.min_dirty_ratio);
  }
  return range;
}

}  // namespace tk
