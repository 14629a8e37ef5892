// From a cursor's chunk to the records that a reader is to see: sums, transactions, control records, offset
// limits.
#pragma once

#include "core/format/record_decoder.h"
#include "core/log/partition_cursor.h"
#include "core/log/transactions.h"

namespace tk {

/// Which records of a partition are wanted.
struct ReadScope {
  Offset from;
  Offset below{INT64_MAX};
  /// Data of aborted transactions are left out; null: they are shown (read_uncommitted).
  const Transactions* committed = nullptr;
};

/// Damage that a reader met: nothing of it was shown.
struct ReadDamage {
  std::string path;
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  Fault fault;
  /// The offsets that its header claims, if a header could be read (not to be relied on when the checksum is
  /// bad).
  std::optional<Offset> first, last;
};

/// Walks the chunk's units in order and calls `sink` for what is wanted:
///
///   sink.begin_unit(const UnitInfo&)   before the first record of a unit
///   sink.record(const RecordView&)     for each record within the scope
///   sink.abandon_unit()                the unit turned out damaged: forget its records
///   sink.damage(ReadDamage&&)          something cannot be read
///
/// A sink that has a type `TakesRuns` does not mind that a begin_unit may be followed by the
/// records of several units: runs of plain json records are then passed faster.
///
/// Control records are never shown. A tail of the last segment is not damage.
template <class Sink>
void walk_records(const CursorChunk& chunk, const ReadScope& scope, RecordDecoder& decoder, Sink& sink) {
  auto on_damage = [&](std::uint64_t position, std::uint64_t size, const Fault& fault, ByteView unit) {
    ReadDamage damage{chunk.segment->log_path, position, size, fault, {}, {}};
    UnitInfo info;
    if (unit.size() >= kBatchHeader && framed_kind(unit) == UnitKind::batch) {
      info = read_batch_header(unit.data());
      damage.first = info.base_offset;
      damage.last = info.last_offset;
    } else if (unit.size() >= kUnitPrefix) {
      damage.first = damage.last = Offset(load_be<std::int64_t>(unit.data()));
    }
    if (damage.last && damage.last < scope.from && fault.kind != FaultKind::bad_crc) return;
    if (damage.first && damage.first >= scope.below && fault.kind != FaultKind::bad_crc) return;
    sink.damage(std::move(damage));
  };
  // Of a json record nothing but its offset is needed beforehand, unless transactions matter.
  UnitInfo json_info;
  json_info.kind = UnitKind::json;
  auto on_json = [&](ByteView unit, std::uint64_t position) {
    const Offset offset(load_be<std::int64_t>(unit.data()));
    if (offset < scope.from || offset >= scope.below) return;
    if (scope.committed != nullptr) {
      if (const Fault fault = read_unit_info(unit, UnitKind::json, json_info))
        return on_damage(position, unit.size(), fault, unit);
      if (scope.committed->aborted(json_info)) return;
    }
    json_info.base_offset = json_info.last_offset = offset;
    sink.begin_unit(json_info);
    const Fault fault = decoder.decode(unit, json_info, [&](const RecordView& record) {
      if (decoder.json().fields().control == JsonControl::none) sink.record(record);
    });
    if (!fault) return;
    sink.abandon_unit();
    on_damage(position, unit.size(), fault, unit);
  };
  auto on_unit = [&](ByteView unit, UnitKind kind, std::uint64_t position) {
    if (kind == UnitKind::json) return on_json(unit, position);
    UnitInfo info;
    if (const Fault fault = read_unit_info(unit, kind, info))
      return on_damage(position, unit.size(), fault, unit);
    const bool first_known = kind != UnitKind::legacy || !info.compressed();
    if (info.control || (first_known && info.base_offset >= scope.below)) return;
    if (info.last_offset < scope.from && info.last_offset >= info.base_offset) return;
    if (scope.committed != nullptr && scope.committed->aborted(info)) return;
    sink.begin_unit(info);
    const Offset from = scope.from, below = scope.below;
    const Fault fault = decoder.decode(unit, info, [&sink, from, below](const RecordView& record) {
      if (record.offset >= from && record.offset < below) sink.record(record);
    });
    if (!fault) return;
    sink.abandon_unit();
    on_damage(position, unit.size(), fault, unit);
  };
  // Plain records belong to no transaction. Where one is not plain the next ones mostly are not, either.
  std::size_t hopeless = 0;
  auto on_run = [&](const std::uint8_t* at, const std::uint8_t* end, Offset& last) {
    if constexpr (requires { typename Sink::TakesRuns; }) {
      if (hopeless > 0) {
        --hopeless;
        return at;
      }
      sink.begin_unit(json_info);
      const Offset from = scope.from, below = scope.below;
      const PlainRun run = decoder.visit_plain_json(at, end, [&sink, from, below](const RecordView& record) {
        if (record.offset >= from && record.offset < below) sink.record(record);
      });
      if (run.end == at) {
        hopeless = 16;
      } else {
        last = run.last;
      }
      return run.end;
    }
    return at;
  };
  for (const Stretch& stretch : chunk.scan.stretches) {
    if (stretch.kind == StretchKind::units) {
      walk_units(chunk.scan, stretch, on_unit, on_damage, on_run);
    } else if (stretch.kind == StretchKind::damage && stretch.after < scope.below) {
      on_damage(stretch.position, stretch.size, stretch.fault, {});
    }
  }
}

}  // namespace tk
