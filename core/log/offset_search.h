// Offsets by time and by count (kafka-on-disk.md §5.3; cli.md §4 `-o`).
#pragma once

#include <optional>

#include "core/log/log_view.h"
#include "core/log/record_walk.h"
#include "core/log/segment_lookup.h"

namespace tk {

/// A segment of the view from a place in it on, as far as it counts.
ScanRange range_from(const LogView& view, const SegmentFile& segment, const TrustedPlace& place);

/// The first record at or after `timestamp`, in offset order, at or above the log start; nothing if there is
/// none. Control records do not count. Reads the indexes and a part of one segment, as a rule.
std::optional<Offset> offset_for_time(FileSystem& fs, const LogView& view, std::int64_t timestamp);

/// A record's place in the log.
struct RecordPlace {
  Offset offset;
  std::int64_t timestamp = kNoTimestamp;
};
/// The same record, with its timestamp.
std::optional<RecordPlace> record_at_time(FileSystem& fs, const LogView& view, std::int64_t timestamp);
/// The first record with the largest timestamp of the log, in the first unit that has it; a control record
/// counts, as Kafka has it (KIP-734). Nothing if no record has a timestamp.
std::optional<RecordPlace> latest_record(FileSystem& fs, const LogView& view);

/// Where to begin so that the last `count` visible records of the scope are read: an offset, and how many
/// visible records from there on to leave out.
struct LastRecords {
  Offset from;
  std::int64_t skip = 0;
};
LastRecords find_last_records(FileSystem& fs, const LogView& view, const ReadScope& scope,
                              std::int64_t count);

}  // namespace tk
