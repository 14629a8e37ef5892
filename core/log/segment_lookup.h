// Where in a segment to begin reading, by offset or by time: the indexes are asked, and believed only as far
// as the log itself bears them out.
#pragma once

#include "core/log/index_file.h"
#include "core/log/log_files.h"

namespace tk {

/// A place where a whole, good unit begins, before which every offset is below the unit's first.
struct TrustedPlace {
  std::uint64_t position = 0;
  /// Every offset from here on lies above this one.
  Offset after;
  /// The number of the index entry that led here; nothing: the start of the segment.
  std::optional<std::size_t> entry;
};

/// The place to begin looking for `target`: the unit there begins at or below it. An entry that names no such
/// unit is passed over in favour of the one before, at last of the start of the segment, so a wrong index
/// costs time and never a record.
TrustedPlace find_offset(FileSystem& fs, const SegmentFile& segment, Offset target);

/// The place of the first unit that ends above `last`; the segment's end if there is none.
TrustedPlace find_unit_after(FileSystem& fs, const SegmentFile& segment, Offset last);

/// The place of the last index entry that the log bears out: the entry's offset is that of the last record of
/// the unit there. In a partition that tk made everything before it has been forced to disk (design.md §3).
TrustedPlace find_last_indexed(FileSystem& fs, const SegmentFile& segment);
/// Where to begin looking for the end of a segment: the same, but the start where the whole segment is not
/// more than one read, so that listing thousands of small partitions opens no index.
TrustedPlace find_place_before_end(FileSystem& fs, const SegmentFile& segment);

/// The largest timestamp in a segment, by its time index if the log bears its last entry out, else by a scan;
/// -1 if no record has one.
std::int64_t largest_timestamp(FileSystem& fs, const SegmentFile& segment);
/// True if a unit of the segment has a timestamp at or after `timestamp`; looks no further than it must.
bool reaches_timestamp(FileSystem& fs, const SegmentFile& segment, std::int64_t timestamp);

/// The largest timestamp of the segment's first unit, which time rolls go by; -1 if there is none.
std::int64_t first_unit_timestamp(File& file, std::uint64_t size);

/// The place to begin looking for the first record at or after `timestamp`, by the time index.
TrustedPlace find_time(FileSystem& fs, const SegmentFile& segment, std::int64_t timestamp);

}  // namespace tk
