// How far a group is behind (groups.md §10).
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/ids.h"

namespace tk {

/// Offsets from the commit to `end` (the high watermark, or the last stable offset), what the log has lost
/// already left out; never below 0.
constexpr std::int64_t lag_of(Offset committed, Offset log_start, Offset end) {
  return std::max<std::int64_t>(0, end - std::max(committed, log_start));
}

}  // namespace tk
