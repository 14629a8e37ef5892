// Keeping what a repair cuts away: nothing is destroyed silently.
#pragma once

#include <string>

#include "core/log/log_files.h"

namespace tk {

/// Copies the bytes [from, to) of a segment into `<segment>.log.cut-<from>` beside it (".2", ".3" ... behind
/// it if there is one already), without a hole's zeros at the end, and makes the copy durable. Returns its
/// path, or an empty one if there was nothing but zeros to keep.
std::string save_cut(FileSystem& fs, const SegmentFile& segment, std::uint64_t from, std::uint64_t to);

}  // namespace tk
