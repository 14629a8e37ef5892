#include "core/log/offset_search.h"

#include <algorithm>

#include "core/log/segment_lookup.h"

namespace tk {
namespace {

/// Finds the first record that is late enough, in a unit that proves whole.
struct TimeSink {
  std::int64_t timestamp;
  std::optional<RecordPlace> found;
  std::optional<RecordPlace> unit_found;

  void begin_unit(const UnitInfo&) { end_unit(); }
  void record(const RecordView& record) {
    if (!found && !unit_found && record.timestamp >= timestamp)
      unit_found = RecordPlace{record.offset, record.timestamp};
  }
  void abandon_unit() { unit_found.reset(); }
  void damage(ReadDamage&&) {}
  void end_unit() {
    if (!found && unit_found) found = unit_found;
    unit_found.reset();
  }
};

/// Counts visible records.
struct CountSink {
  std::int64_t count = 0;
  std::int64_t in_unit = 0;

  void begin_unit(const UnitInfo&) { in_unit = 0; }
  void record(const RecordView&) {
    ++count;
    ++in_unit;
  }
  void abandon_unit() { count -= in_unit; }
  void damage(ReadDamage&&) {}
};

/// From where the segment's time index leads to.
ScanRange range_from_time(FileSystem& fs, const LogView& view, const SegmentFile& segment,
                          std::int64_t timestamp) {
  return range_from(view, segment, find_time(fs, segment, timestamp));
}

std::optional<RecordPlace> first_in_segment(FileSystem& fs, const LogView& view, const SegmentFile& segment,
                                            std::int64_t timestamp) {
  const ScanRange range = range_from_time(fs, view, segment, timestamp);
  if (range.position >= range.end) return std::nullopt;
  const auto file = fs.open(segment.log_path, OpenMode::read);
  SegmentScanner scanner(*file, range, 256U << 10);
  CursorChunk chunk;
  chunk.segment = &segment;
  RecordDecoder decoder;
  const ReadScope scope{.from = view.log_start, .below = Offset(INT64_MAX), .committed = nullptr};
  TimeSink sink{timestamp, {}, {}};
  while (!sink.found && scanner.next(chunk.scan)) {
    walk_records(chunk, scope, decoder, sink);
    sink.end_unit();
  }
  return sink.found;
}

}  // namespace

ScanRange range_from(const LogView& view, const SegmentFile& segment, const TrustedPlace& place) {
  const bool is_last = &segment == &view.files.segments.back();
  return {.position = place.position,
          .end = is_last ? view.last_segment_end : segment.size,
          .segment_base = segment.base,
          .after = place.after,
          .below = {}};
}

std::optional<Offset> offset_for_time(FileSystem& fs, const LogView& view, std::int64_t timestamp) {
  const auto found = record_at_time(fs, view, timestamp);
  return found ? std::optional(found->offset) : std::nullopt;
}

std::optional<RecordPlace> latest_record(FileSystem& fs, const LogView& view) {
  const SegmentFile* in = nullptr;
  std::int64_t largest = kNoTimestamp;
  for (const SegmentFile& segment : view.files.segments) {
    const std::int64_t timestamp = largest_timestamp(fs, segment);
    if (timestamp <= largest) continue;
    largest = timestamp;
    in = &segment;
  }
  if (in == nullptr) return std::nullopt;
  std::optional<RecordPlace> found;
  RecordDecoder decoder;
  bool unit_seen = false;
  scan_to_end(fs, *in, range_from_time(fs, view, *in, largest),
              [&](ByteView unit, UnitKind kind, std::uint64_t) {
                UnitInfo info;
                if (unit_seen || read_unit_info(unit, kind, info) || info.max_timestamp != largest) return;
                unit_seen = true;
                const Fault fault = decoder.decode(unit, info, [&](const RecordView& record) {
                  if (!found && record.timestamp == largest) found = RecordPlace{record.offset, largest};
                });
                if (fault) found.reset();
              });
  return found;
}

std::optional<RecordPlace> record_at_time(FileSystem& fs, const LogView& view, std::int64_t timestamp) {
  for (std::size_t i = 0; i < view.files.segments.size(); ++i) {
    const SegmentFile& segment = view.files.segments[i];
    if (i + 1 < view.files.segments.size() && view.files.segments[i + 1].base <= view.log_start) continue;
    if (!reaches_timestamp(fs, segment, timestamp)) continue;
    // The largest timestamp may be a control record's, or lie below the log start: then the next segment has
    // it.
    if (const auto found = first_in_segment(fs, view, segment, timestamp)) return found;
  }
  return std::nullopt;
}

LastRecords find_last_records(FileSystem& fs, const LogView& view, const ReadScope& scope,
                              std::int64_t count) {
  const Offset end = std::min(scope.below, view.log_end);
  for (std::int64_t span = std::max<std::int64_t>(count, 1);; span *= 2) {
    const bool whole = span >= end - scope.from;
    const Offset from = whole ? scope.from : end - span;
    ReadScope part = scope;
    part.from = from;
    PartitionCursor cursor(fs, view, from);
    CursorChunk chunk;
    RecordDecoder decoder;
    CountSink sink;
    while (cursor.next(chunk)) walk_records(chunk, part, decoder, sink);
    if (whole || sink.count >= count) return {from, std::max<std::int64_t>(sink.count - count, 0)};
  }
}

}  // namespace tk
