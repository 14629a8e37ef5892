#include "core/store/log_edges.h"

#include "core/log/offset_search.h"
#include "core/log/record_walk.h"
#include "core/log/segment_lookup.h"

namespace tk {
namespace {

/// Reads for one record need no large chunks.
constexpr std::size_t kSmallChunk = 64U << 10;

/// Keeps the first record of the units that decode as a whole.
struct FirstRecord {
  void begin_unit(const UnitInfo&) { keep(); }
  void record(const RecordView& record) {
    if (!pending) pending = record.timestamp;
  }
  void abandon_unit() { pending.reset(); }
  void damage(ReadDamage&&) {}

  void keep() {
    if (!kept) kept = pending;
    pending.reset();
  }

  std::optional<std::int64_t> kept;
  std::optional<std::int64_t> pending;
};

std::optional<std::int64_t> if_known(std::optional<std::int64_t> timestamp) {
  return timestamp == kNoTimestamp ? std::nullopt : timestamp;
}

bool holds_data(ByteView unit, UnitKind kind) {
  if (kind == UnitKind::legacy) return true;
  // Few json records say anything of control: only those are parsed.
  if (kind == UnitKind::json && as_text(unit).find("\"control\"") == std::string_view::npos) return true;
  UnitInfo info;
  return !read_unit_info(unit, kind, info) && !info.control && info.count > 0;
}

struct UnitPlace {
  UnitKind kind = UnitKind::batch;
  std::uint64_t position = 0;
  std::size_t size = 0;
};

std::optional<UnitPlace> last_data_unit(FileSystem& fs, const SegmentFile& segment, const ScanRange& range) {
  std::optional<UnitPlace> last;
  scan_to_end(fs, segment, range, [&](ByteView unit, UnitKind kind, std::uint64_t position) {
    if (holds_data(unit, kind)) last = UnitPlace{kind, position, unit.size()};
  });
  return last;
}

/// The timestamp of the unit's last record at or above `from`.
std::optional<std::int64_t> last_timestamp_in(FileSystem& fs, const SegmentFile& segment,
                                              const UnitPlace& place, Offset from) {
  Buffer bytes;
  bytes.resize(place.size);
  bytes.cut(fs.open(segment.log_path, OpenMode::read)->read_at(place.position, {bytes.data(), bytes.size()}));
  UnitInfo info;
  if (bytes.size() < place.size || read_unit_info(bytes.view(), place.kind, info)) return {};
  std::optional<std::int64_t> last;
  RecordDecoder decoder;
  const Fault fault = decoder.decode(bytes.view(), info, [&](const RecordView& record) {
    if (record.offset >= from) last = record.timestamp;
  });
  return fault ? std::nullopt : last;
}

}  // namespace

std::optional<std::int64_t> first_timestamp(FileSystem& fs, const LogView& view) {
  if (view.empty() || view.log_start >= view.log_end) return {};
  PartitionCursor cursor(fs, view, view.log_start, kSmallChunk);
  CursorChunk chunk;
  RecordDecoder decoder;
  FirstRecord first;
  while (!first.kept && cursor.next(chunk)) {
    walk_records(chunk, ReadScope{.from = view.log_start}, decoder, first);
    first.keep();
  }
  return if_known(first.kept);
}

std::optional<std::int64_t> last_timestamp(FileSystem& fs, const LogView& view) {
  if (view.log_start >= view.log_end) return {};
  const auto& segments = view.files.segments;
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    if (segment->size == 0) continue;
    const TrustedPlace start{0, segment->base - 1, std::nullopt};
    const TrustedPlace indexed = find_place_before_end(fs, *segment);
    auto unit = last_data_unit(fs, *segment, range_from(view, *segment, indexed));
    if (!unit && indexed.position > 0) unit = last_data_unit(fs, *segment, range_from(view, *segment, start));
    if (unit) return if_known(last_timestamp_in(fs, *segment, *unit, view.log_start));
  }
  return {};
}

std::vector<DamageRange> damage_at_end(FileSystem& fs, const LogView& view) {
  if (view.empty() || view.end_state != TailScan::Stop::damaged) return {};
  const SegmentFile& last = view.files.segments.back();
  return scan_to_end(fs, last, range_from(view, last, find_place_before_end(fs, last))).damage;
}

}  // namespace tk
