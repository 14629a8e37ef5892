// The first and the last record of a partition, and what is wrong at its end, without a scan of the log.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/log/log_view.h"

namespace tk {

/// The timestamp of the first record at or above the log start, in ms. Nothing if there is no record, or the
/// first one has no timestamp. Control records do not count.
std::optional<std::int64_t> first_timestamp(FileSystem& fs, const LogView& view);

/// The same of the last record. Reads the segment behind its last index entry, as opening the view did; more
/// only where that part holds no record.
std::optional<std::int64_t> last_timestamp(FileSystem& fs, const LogView& view);

/// The damaged ranges that made a view's end_state `damaged`, all in its last segment.
std::vector<DamageRange> damage_at_end(FileSystem& fs, const LogView& view);

}  // namespace tk
