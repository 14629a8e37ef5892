// Which segments of a log may go by age, size and log start offset (kafka-on-disk.md §10).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/log/log_view.h"

namespace tk {

struct RetentionRules {
  std::int64_t now_ms = 0;
  /// The policy holds `delete`; without it only the log start offset counts.
  bool deletes = true;
  /// -1: without limit.
  std::int64_t retention_ms = -1, retention_bytes = -1;
  /// Nothing at or above it goes.
  Offset high_watermark = {};
};

struct SegmentVerdict {
  SegmentFile segment;
  bool goes = false;
  /// Why it goes or stays.
  std::string reason;
  /// The largest timestamp in it; nothing if no record has one.
  std::optional<std::int64_t> max_timestamp;
  /// The offset after the segment: the base of the next one, or the log end.
  Offset next_offset;
};

struct RetentionPlan {
  /// Oldest first; what goes comes before what stays.
  std::vector<SegmentVerdict> segments;
  /// Where the log begins afterwards.
  Offset log_start;

  [[nodiscard]] std::size_t going() const;
  /// Even the active segment goes: a new one is made first, so that the log end is not forgotten.
  [[nodiscard]] bool takes_active() const { return !segments.empty() && segments.back().goes; }
};

/// Looks at the segments from the oldest on, by each rule in Kafka's order, up to the first that stays. Reads
/// the indexes, as a rule.
RetentionPlan plan_retention(FileSystem& fs, const LogView& view, const RetentionRules& rules);

}  // namespace tk
