#include "core/log/segment_lookup.h"

#include <algorithm>

#include "core/format/batch.h"
#include "core/log/segment_names.h"
#include "core/log/tail_scan.h"

namespace tk {
namespace {

/// A unit larger than this is not read to bear out an index entry: the entry before is taken instead.
constexpr std::uint64_t kLargestWitness = 16U << 20;
/// Entries tried, from the wanted one down, before the start of the segment is taken.
constexpr std::size_t kTries = 4;

struct Witness {
  UnitKind kind = UnitKind::batch;
  Offset first;
  Offset last;
  bool first_known = true;  // not for a compressed legacy message
};

/// True if a json record seems to begin the file. Elsewhere what looks like one, without a checksum, may be
/// the value of a message.
bool begins_with_json(File& file, std::uint64_t file_size) {
  std::uint8_t bytes[kBatchHeader];
  const ByteView head{bytes, file.read_at(0, {bytes, std::min<std::uint64_t>(sizeof bytes, file_size)})};
  const Frame frame = frame_unit(head, file_size);
  return (frame.status == FrameStatus::whole || frame.status == FrameStatus::need_more) &&
         frame.kind == UnitKind::json;
}

/// Reads the unit at `position` if a whole, good one begins there.
std::optional<Witness> good_unit(File& file, std::uint64_t file_size, std::int64_t position, Buffer& bytes) {
  if (position < 0 || static_cast<std::uint64_t>(position) + kUnitPrefix > file_size) return std::nullopt;
  const auto start = static_cast<std::uint64_t>(position);
  const std::uint64_t remaining = file_size - start;
  bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(remaining, 32768)));
  bytes.cut(file.read_at(start, {bytes.data(), bytes.size()}));
  Frame frame = frame_unit(bytes.view(), remaining);
  if (frame.status == FrameStatus::need_more && frame.size <= kLargestWitness) {
    bytes.resize(frame.size);
    bytes.cut(file.read_at(start, {bytes.data(), bytes.size()}));
    frame = frame_unit(bytes.view(), remaining);
  }
  if (frame.status != FrameStatus::whole) return std::nullopt;
  const ByteView unit = bytes.view().first(frame.size);
  if (check_unit(unit, frame.kind)) return std::nullopt;
  if (frame.kind == UnitKind::json && !begins_with_json(file, file_size)) return std::nullopt;
  Witness witness{frame.kind, Offset(load_be<std::int64_t>(unit.data())), last_offset_of(unit, frame.kind),
                  true};
  if (frame.kind == UnitKind::legacy) witness.first_known = (unit[kMagicPosition + 1] & 7) == 0;
  return witness;
}

TrustedPlace segment_start(const SegmentFile& segment) {
  return {0, segment.base - 1, std::nullopt};
}

OffsetIndexFile offset_index(FileSystem& fs, const SegmentFile& segment) {
  return {fs, segment.beside(kIndexSuffix), segment.base};
}

}  // namespace

TrustedPlace find_offset(FileSystem& fs, const SegmentFile& segment, Offset target) {
  if (!segment.has_index || target <= segment.base) return segment_start(segment);
  const OffsetIndexFile index = offset_index(fs, segment);
  const auto floor = index.last_where([&](const OffsetIndexEntry& entry) { return entry.offset <= target; });
  if (!floor) return segment_start(segment);
  const auto file = fs.open(segment.log_path, OpenMode::read);
  Buffer bytes;
  for (std::size_t tried = 0; tried < kTries && tried <= *floor; ++tried) {
    const std::size_t i = *floor - tried;
    const OffsetIndexEntry entry = index.at(i);
    const auto unit = good_unit(*file, segment.size, entry.position, bytes);
    // Whatever releases index a unit by, it is no offset below its first.
    if (unit && unit->first_known && entry.offset < unit->first) continue;
    if (unit && (unit->first_known ? unit->first : unit->last) <= target && unit->last >= segment.base) {
      const Offset after = unit->first_known ? unit->first - 1 : segment.base - 1;
      return {static_cast<std::uint64_t>(entry.position), after, i};
    }
  }
  return segment_start(segment);
}

TrustedPlace find_unit_after(FileSystem& fs, const SegmentFile& segment, Offset last) {
  const TrustedPlace from = find_offset(fs, segment, last + 1);
  const auto file = fs.open(segment.log_path, OpenMode::read);
  const ScanRange range{.position = from.position,
                        .end = segment.size,
                        .segment_base = segment.base,
                        .after = from.after,
                        .below = {}};
  SegmentScanner scanner(*file, range, 128U << 10);
  ScanChunk chunk;
  TrustedPlace place{segment.size, last, std::nullopt};
  bool found = false;
  while (!found && scanner.next(chunk)) {
    for (const Stretch& stretch : chunk.stretches) {
      if (stretch.kind != StretchKind::units) continue;
      walk_units(
          chunk, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t position) {
            if (found || last_offset_of(unit, kind) <= last) return;
            found = true;
            place.position = position;
          },
          [](std::uint64_t, std::uint64_t, const Fault&, ByteView) {});
    }
  }
  return place;
}

TrustedPlace find_last_indexed(FileSystem& fs, const SegmentFile& segment) {
  if (!segment.has_index) return segment_start(segment);
  const OffsetIndexFile index = offset_index(fs, segment);
  if (index.count() == 0) return segment_start(segment);
  const std::size_t last = index.count() - 1;
  const OffsetIndexEntry entry = index.at(last);
  const auto file = fs.open(segment.log_path, OpenMode::read);
  Buffer bytes;
  const auto unit = good_unit(*file, segment.size, entry.position, bytes);
  if (!unit || !unit->first_known || unit->last != entry.offset) return segment_start(segment);
  return {static_cast<std::uint64_t>(entry.position), unit->first - 1, last};
}

TrustedPlace find_place_before_end(FileSystem& fs, const SegmentFile& segment) {
  constexpr std::uint64_t kOneRead = 16U << 10;
  return segment.size <= kOneRead ? segment_start(segment) : find_last_indexed(fs, segment);
}

namespace {

/// True if the unit that the log holds at a time entry's offset has that timestamp as its largest. Releases
/// before 3.8 stored the record's own offset, so the unit only has to hold the offset.
bool borne_out(FileSystem& fs, const SegmentFile& segment, const TimeIndexEntry& entry) {
  const TrustedPlace place = find_offset(fs, segment, entry.offset);
  const auto file = fs.open(segment.log_path, OpenMode::read);
  ScanRange range{.position = place.position,
                  .end = segment.size,
                  .segment_base = segment.base,
                  .after = place.after,
                  .below = {}};
  SegmentScanner scanner(*file, range, 128U << 10);
  ScanChunk chunk;
  bool found = false, done = false;
  while (!done && scanner.next(chunk)) {
    for (const Stretch& stretch : chunk.stretches) {
      if (stretch.kind != StretchKind::units) continue;
      walk_units(
          chunk, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t) {
            if (done || last_offset_of(unit, kind) < entry.offset) return;
            UnitInfo info;
            done = true;
            found = !read_unit_info(unit, kind, info) && info.max_timestamp == entry.timestamp;
          },
          [](std::uint64_t, std::uint64_t, const Fault&, ByteView) {});
    }
  }
  return found;
}

/// The largest timestamp, or one that is not below `enough`.
std::int64_t largest_up_to(FileSystem& fs, const SegmentFile& segment, std::int64_t enough) {
  if (segment.size == 0) return kNoTimestamp;
  TrustedPlace from = segment_start(segment);
  std::int64_t largest = kNoTimestamp;
  if (segment.has_time_index) {
    const TimeIndexFile index(fs, segment.beside(kTimeIndexSuffix), segment.base);
    if (index.count() > 0) {
      const TimeIndexEntry last = index.at(index.count() - 1);
      if (last.timestamp >= 0 && borne_out(fs, segment, last)) {
        largest = last.timestamp;
        if (largest >= enough) return largest;
        // Nothing before the entry's offset has a larger timestamp. The log goes on behind it, and the offset
        // index may go farther than a time index that lost its end.
        from = find_offset(fs, segment, last.offset);
      }
    }
  }
  const ScanRange range{.position = from.position,
                        .end = segment.size,
                        .segment_base = segment.base,
                        .after = from.after,
                        .below = {}};
  scan_to_end(fs, segment, range, [&](ByteView unit, UnitKind kind, std::uint64_t) {
    UnitInfo info;
    if (!read_unit_info(unit, kind, info)) largest = std::max(largest, info.max_timestamp);
  });
  return largest;
}

}  // namespace

std::int64_t largest_timestamp(FileSystem& fs, const SegmentFile& segment) {
  return largest_up_to(fs, segment, INT64_MAX);
}

bool reaches_timestamp(FileSystem& fs, const SegmentFile& segment, std::int64_t timestamp) {
  return largest_up_to(fs, segment, timestamp) >= timestamp;
}

std::int64_t first_unit_timestamp(File& file, std::uint64_t size) {
  Buffer bytes;
  const auto witness = good_unit(file, size, 0, bytes);
  if (!witness) return kNoTimestamp;
  UnitInfo info;
  const ByteView unit = bytes.view().first(framed_size(bytes.data()));
  return read_unit_info(unit, witness->kind, info) ? kNoTimestamp : info.max_timestamp;
}

TrustedPlace find_time(FileSystem& fs, const SegmentFile& segment, std::int64_t timestamp) {
  if (!segment.has_time_index || !segment.has_index) return segment_start(segment);
  const TimeIndexFile index(fs, segment.beside(kTimeIndexSuffix), segment.base);
  const auto floor =
      index.last_where([&](const TimeIndexEntry& entry) { return entry.timestamp < timestamp; });
  if (!floor) return segment_start(segment);
  const TimeIndexEntry entry = index.at(*floor);
  if (entry.offset < segment.base || !borne_out(fs, segment, entry)) return segment_start(segment);
  return find_offset(fs, segment, entry.offset);
}

}  // namespace tk
