// Makes the files that keep a partition's producer state anew from the log: what recovery does behind a cut,
// and `recover --full` in any case (kafka-on-disk.md §6.4, §9.2).
#pragma once

#include <string>

#include "core/io/file_system.h"

namespace tk {

/// Writes the snapshots at the base of each segment but the first and at the log's end, and the .txnindex of
/// each segment, where they are not as the log has it, and removes other snapshots. What the snapshot at the
/// first segment's base knows of records that are gone is kept. A partition without any snapshot has no
/// producers, and is left alone, unless they are `demanded` and the log has producers all the same. The
/// caller holds the right to write.
void restore_producer_files(FileSystem& fs, const std::string& directory, bool demanded = false);

}  // namespace tk
