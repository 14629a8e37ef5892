// The first half of a compaction pass: what is dirty goes into the map (kafka-on-disk.md §11.2).
#pragma once

#include <functional>

#include "core/log/key_map.h"
#include "core/log/log_history.h"
#include "core/log/log_view.h"
#include "core/log/settled_stretches.h"

namespace tk {

struct MapInput {
  /// Ends below `upper`.
  const LogView& view;
  /// Records from here on count.
  Offset from;
  Offset upper;
  /// Null: the log has no producers.
  const LogHistory* history = nullptr;
};

struct MapContent {
  /// The last offset up to which all is in the map; upper - 1 unless the map became full.
  Offset end;
  /// What was read, in order.
  std::vector<ReadStretch> read;
};

/// Fills `keys` from the records of the input that have a key and belong to no aborted transaction.
/// `side_by_side`: first tries to give each thread a map of its own, which needs up to twice the memory;
/// becomes false if that is too much. Throws corrupt_message at damage.
MapContent build_key_map(FileSystem& fs, const MapInput& input, KeyMaps& keys, bool& side_by_side,
                         const std::function<void(std::uint64_t bytes)>& advanced);

/// The part of `view` whose segments have bases in [from's segment, upper).
LogView segments_between(const LogView& view, Offset from, Offset upper);

/// Throws the error of a damaged place: a log that cannot be read is not compacted.
[[noreturn]] void refuse_to_compact(const std::string& path, std::uint64_t position, const Fault& fault);

}  // namespace tk
