// Which part of a log is to be compacted, and whether it is worth it (kafka-on-disk.md §11.1).
#pragma once

#include <optional>
#include <string>

#include "core/log/log_view.h"

namespace tk {

struct CompactionRules {
  std::int64_t now_ms = 0;
  /// min.cleanable.dirty.ratio; the dirty share must be above it.
  double min_dirty_ratio = 0.5;
  std::int64_t min_lag_ms = 0;
  std::int64_t max_lag_ms = INT64_MAX;
  /// Neither ratio nor lag times count; what is clean is gone through all the same, for tombstones and
  /// markers whose delete horizon has passed.
  bool force = false;
  /// Where the last compaction ended (cleaner-offset-checkpoint).
  std::optional<Offset> checkpoint;
};

struct CompactionRange {
  Offset first_dirty;
  /// The base of the first segment that is not cleaned.
  Offset upper;
  std::uint64_t clean_bytes = 0;      // of segments below first_dirty
  std::uint64_t cleanable_bytes = 0;  // of segments from there up to `upper`
  std::uint64_t other_bytes = 0;      // of those that stay as they are
  /// Why `upper` is where it is.
  std::string upper_reason;
  /// Why it should not be done now; empty if it should.
  std::string not_now;

  [[nodiscard]] double dirty_ratio() const {
    const auto all = static_cast<double>(clean_bytes + cleanable_bytes);
    return all == 0 ? 0 : static_cast<double>(cleanable_bytes) / all;
  }
};

/// `last_stable` is the log's last stable offset.
CompactionRange choose_compaction_range(FileSystem& fs, const LogView& view, Offset last_stable,
                                        const CompactionRules& rules);

}  // namespace tk
