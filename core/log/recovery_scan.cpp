#include "core/log/recovery_scan.h"

#include <algorithm>

#include "core/format/record_decoder.h"
#include "core/log/index_check.h"
#include "core/log/partition_cursor.h"
#include "core/log/recovery_point.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

std::int64_t count_records(ByteView unit, UnitKind kind, const UnitInfo& info, RecordDecoder& decoder,
                           Fault& fault) {
  if (kind == UnitKind::json) return 1;
  if (kind == UnitKind::legacy && !info.compressed()) return 1;
  if (kind == UnitKind::batch) return std::max(info.count, 0);
  std::int64_t count = 0;
  fault = decoder.decode(unit, info, [&](const RecordView&) { ++count; });
  return count;
}

/// Adds bytes that are whole, to the stretch before them if they follow it.
void add_good(Scanned& out, std::uint64_t begin, std::uint64_t end, std::int64_t records) {
  if (!out.good.empty() && out.good.back().end == begin) {
    out.good.back().end = end;
    out.good_records.back() += records;
  } else {
    out.good.push_back({begin, end});
    out.good_records.push_back(records);
  }
}

/// True if an index should be made anew: it is wrong, it ends in the zeros of a preallocation, or it is empty
/// where a rebuild would have entries.
template <class Check>
bool must_rebuild(FileSystem& fs, const std::string& path, Check& check, std::size_t entry,
                  const Buffer& rebuilt) {
  if (check.verdict().state == IndexState::wrong) return true;
  const auto stat = fs.stat(path);
  return !stat || stat->size != check.entries() * entry || (check.entries() == 0 && !rebuilt.empty());
}

}  // namespace

std::optional<std::int64_t> spacing_of_indexes(FileSystem& fs, const PartitionFiles& files) {
  std::optional<std::int64_t> least;
  for (const SegmentFile& segment : files.segments) {
    if (!segment.has_index) continue;
    const OffsetIndexFile index(fs, segment.beside(kIndexSuffix), segment.base);
    std::int64_t before = 0;
    for (std::size_t i = 0; i < index.count(); ++i) {
      const std::int64_t position = index.at(i).position;
      if (position <= before || position > static_cast<std::int64_t>(segment.size)) break;
      if (!least || position - before < *least) least = position - before;
      before = position;
    }
  }
  return least;
}

Scanned scan_for_recovery(FileSystem& fs, const PartitionFiles& files, std::size_t i, Offset after,
                          const RecoveryScanSettings& settings, LeaderEpochs& epochs) {
  const SegmentFile& segment = files.segments[i];
  Scanned out{{}, IndexBuilder(segment.base, settings.index_interval), true, {}, {}, {}};
  ScanRange range{
      .position = 0, .end = segment.size, .segment_base = segment.base, .after = after, .below = {}};
  if (settings.trust_tail) {
    const TrustedPlace place = find_recovery_point(fs, segment).place;
    range.position = place.position;
    range.after = place.after;
  }
  range.below = upper_bound_of(fs, files.segments, i);
  if (range.position > 0) add_good(out, 0, range.position, 0);
  RecordDecoder decoder;
  const bool is_last = i + 1 == files.segments.size();
  std::optional<OffsetIndexCheck> offsets;
  std::optional<TimeIndexCheck> times;
  if (range.position == 0 && segment.has_index && segment.has_time_index) {
    offsets.emplace(fs, segment, is_last);
    times.emplace(fs, segment, is_last);
  }
  Offset before = range.after;
  out.scan = scan_to_end(fs, segment, range, [&](ByteView unit, UnitKind kind, std::uint64_t position) {
    UnitInfo info;
    Fault fault = read_unit_info(unit, kind, info);
    if (!fault && settings.mode != RecoveryMode::refuse)
      fault = decoder.decode(unit, info, [](const RecordView&) {});
    if (fault) {
      out.bad_records.push_back({position, unit.size(), fault, info.base_offset - 1, {}});
      if (settings.mode == RecoveryMode::salvage) return;
    }
    Fault ignored;
    add_good(out, position, position + unit.size(),
             fault ? 0 : count_records(unit, kind, info, decoder, ignored));
    out.index.add(info.last_offset, position, unit.size(), info.max_timestamp);
    if (offsets) {
      const bool first_known = kind != UnitKind::legacy || !info.compressed();
      const IndexedUnit indexed{
          position,         unit.size(),        first_known ? info.base_offset : before + 1,
          info.last_offset, info.max_timestamp, kind,
          info.magic != 0};
      offsets->add(indexed);
      times->add(indexed);
    }
    before = info.last_offset;
    if (info.leader_epoch.value() >= 0 && kind != UnitKind::legacy)
      epochs.assign(info.leader_epoch, info.base_offset);
  });
  out.index.add_final_time_entry();
  if (offsets && out.scan.damage.empty()) {
    offsets->finish();
    times->finish();
    out.indexes_wrong = must_rebuild(fs, segment.beside(kIndexSuffix), *offsets, OffsetIndexEntry::kSize,
                                     out.index.offset_entries()) ||
                        must_rebuild(fs, segment.beside(kTimeIndexSuffix), *times, TimeIndexEntry::kSize,
                                     out.index.time_entries());
  }
  return out;
}

}  // namespace tk
