// The first half of a compaction pass: what is dirty goes into the map (kafka-on-disk.md §11.2).
#pragma once

#include <functional>

#include "core/log/dead_stretches.h"
#include "core/log/key_map.h"
#include "core/log/log_history.h"
#include "core/log/log_view.h"

namespace tk {

/// Fills `keys` from the records of `view` at or above `from` that have a key and belong to no aborted
/// transaction. `view` ends below `upper`. Returns the map's end: the last offset up to which all is in it;
/// upper - 1 unless the map became full. Throws corrupt_message at damage.
Offset build_key_map(FileSystem& fs, const LogView& view, Offset from, Offset upper,
                     const LogHistory* history, KeyMap& keys, std::vector<ReadStretch>& read,
                     const std::function<void(std::uint64_t bytes)>& advanced);

/// The part of `view` whose segments have bases in [from's segment, upper).
LogView segments_between(const LogView& view, Offset from, Offset upper);

/// Throws the error of a damaged place: a log that cannot be read is not compacted.
[[noreturn]] void refuse_to_compact(const std::string& path, std::uint64_t position, const Fault& fault);

}  // namespace tk
