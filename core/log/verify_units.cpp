#include "core/log/verify_units.h"

#include <algorithm>

#include "core/format/control_record.h"
#include "core/log/unit_walk.h"

namespace tk {
namespace {

std::optional<std::pair<Offset, Offset>> claimed_offsets(ByteView unit) {
  if (unit.size() < kUnitPrefix) return std::nullopt;
  const Offset first(load_be<std::int64_t>(unit.data()));
  if (framed_kind(unit) != UnitKind::batch || unit.size() < kBatchHeader) return std::pair(first, first);
  const UnitInfo info = read_batch_header(unit.data());
  return std::pair(info.base_offset, std::max(info.base_offset, info.last_offset));
}

/// What a walk over a unit's records learns.
struct RecordSummary {
  std::int64_t count = 0;
  std::int64_t largest_timestamp = kNoTimestamp;
  Offset first;
  Offset last{INT64_MIN};
  bool rising = true;

  void add(const RecordView& record) {
    if (count++ == 0) {
      first = record.offset;
    } else if (record.offset <= last) {
      rising = false;
    }
    last = record.offset;
    largest_timestamp = std::max(largest_timestamp, record.timestamp);
  }
};

Fault bad(const char* detail, std::int64_t found, std::int64_t expected) {
  return {FaultKind::record, detail, found, expected};
}

/// What a good batch promises beyond what Kafka's reader demands (kafka-on-disk.md §2.8).
Fault check_summary(const RecordSummary& records, const UnitInfo& info) {
  const bool batch = info.kind == UnitKind::batch;
  if (batch && info.last_offset < info.base_offset) {
    return bad("last offset delta is negative", info.last_offset - info.base_offset, 0);
  }
  if (records.count == 0) return {};
  if (!records.rising) return bad("record offsets do not rise", 0, 0);
  if (batch && records.first < info.base_offset) {
    return bad("a record's offset lies below the batch's first", records.first.value(),
               info.base_offset.value());
  }
  // A wrapper of offset 0 is a client's mistake that Kafka reads; its inner offsets stand for themselves.
  if (records.last > info.last_offset && (batch || info.last_offset != Offset(0))) {
    return bad("a record's offset lies above the batch's last", records.last.value(),
               info.last_offset.value());
  }
  if (batch && info.timestamp_type == TimestampType::create_time &&
      records.largest_timestamp != info.max_timestamp) {
    return bad("the batch's largest timestamp is not that of its records", info.max_timestamp,
               records.largest_timestamp);
  }
  return {};
}

/// Markers end transactions: one that cannot be understood leaves them open.
Fault check_control(const RecordView& record, const UnitInfo& info, bool& aborts) {
  ControlKey key;
  if (const Fault fault = parse_control_key(record.key, key)) return fault;
  if (info.producer_id.value() < 0) return {};
  if (!key.ends_transaction()) return bad("control record of unknown type from a producer", key.type_id, 1);
  aborts = key.type == ControlType::abort;
  std::int32_t coordinator_epoch = 0;
  return parse_end_marker(record.value, coordinator_epoch);
}

}  // namespace

void UnitInspector::inspect(const CursorChunk& chunk, ChunkFacts& facts) {
  facts.clear();
  auto event = [&](UnitEvent::Kind kind, std::uint64_t position, std::uint64_t size, const Fault& fault) {
    facts.events.push_back({kind, facts.units.size(), position, size, fault, {}, false});
  };
  for (const Stretch& stretch : chunk.scan.stretches) {
    if (stretch.kind == StretchKind::damage) {
      event(UnitEvent::Kind::damage, stretch.position, stretch.size, stretch.fault);
    } else if (stretch.kind == StretchKind::tail) {
      event(UnitEvent::Kind::tail, stretch.position, stretch.size, stretch.fault);
    } else {
      if (stretch.fault) event(UnitEvent::Kind::overlap, stretch.position, 0, stretch.fault);
      walk_units(
          chunk.scan, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t position) {
            inspect_unit(unit, kind, position, facts);
          },
          [&](std::uint64_t position, std::uint64_t size, const Fault& fault, ByteView unit) {
            event(UnitEvent::Kind::damage, position, size, fault);
            facts.events.back().offsets = claimed_offsets(unit);
          });
    }
  }
}

void UnitInspector::bad_records(ByteView unit, UnitFacts& unit_facts, const Fault& fault, ChunkFacts& facts) {
  unit_facts.bad_records = true;
  facts.events.push_back({UnitEvent::Kind::damage, facts.units.size(), unit_facts.position, unit.size(),
                          fault, std::pair(unit_facts.first, std::max(unit_facts.first, unit_facts.last)),
                          true});
}

void UnitInspector::inspect_unit(ByteView unit, UnitKind kind, std::uint64_t position, ChunkFacts& facts) {
  UnitFacts it;
  it.position = position;
  it.size = unit.size();
  it.kind = kind;
  if (kind == UnitKind::json) {
    inspect_json(unit, it, facts);
    facts.units.push_back(it);
    return;
  }
  UnitInfo info;
  const Fault fault = read_unit_info(unit, kind, info);
  it.first = info.base_offset;
  it.last = std::max(info.base_offset, info.last_offset);
  it.max_timestamp = info.max_timestamp;
  it.producer_id = info.producer_id;
  it.leader_epoch = info.leader_epoch;
  it.base_sequence = info.base_sequence;
  it.last_sequence = info.last_sequence();
  it.producer_epoch = info.producer_epoch;
  it.first_known = kind == UnitKind::batch || !info.compressed();
  it.has_timestamp = kind == UnitKind::batch || info.magic == 1;
  it.transactional = info.transactional;
  it.control = info.control;
  it.sparse = kind == UnitKind::batch && info.count < it.last - it.first + 1;
  if (fault) {
    bad_records(unit, it, fault, facts);
  } else if (quick_) {
    facts.records += kind == UnitKind::batch ? static_cast<std::uint64_t>(std::max(info.count, 0)) : 1;
  } else {
    inspect_records(unit, info, it, facts);
  }
  facts.units.push_back(it);
}

void UnitInspector::inspect_json(ByteView unit, UnitFacts& it, ChunkFacts& facts) {
  it.first = it.last = Offset(load_be<std::int64_t>(unit.data()));
  if (quick_) {
    it.has_timestamp = false;
    it.leader_epoch = kNoLeaderEpoch;
    ++facts.records;
    return;
  }
  UnitInfo info;
  info.kind = UnitKind::json;
  RecordSummary records;
  if (const Fault fault =
          decoder_.decode(unit, info, [&](const RecordView& record) { records.add(record); })) {
    return bad_records(unit, it, fault, facts);
  }
  const JsonFields& fields = decoder_.json().fields();
  if (fields.control != JsonControl::empty) ++facts.records;
  if (!decoder_.json().has_crc()) ++facts.unprotected;
  it.max_timestamp = records.largest_timestamp;
  it.leader_epoch = fields.leader_epoch;
  it.producer_id = fields.producer_id;
  it.producer_epoch = fields.producer_epoch;
  it.base_sequence = it.last_sequence = fields.sequence;
  it.transactional = fields.transactional;
  it.control = fields.control == JsonControl::commit || fields.control == JsonControl::abort;
  it.sparse = fields.control == JsonControl::empty;
}

void UnitInspector::inspect_records(ByteView unit, const UnitInfo& info, UnitFacts& it, ChunkFacts& facts) {
  if (const Fault fault = walk_records_of(unit, info, it, facts)) return bad_records(unit, it, fault, facts);
  const char* const oddity = info.kind == UnitKind::batch ? decoder_.oddity() : decoder_.legacy().oddity();
  if (oddity == nullptr) return;
  facts.events.push_back({UnitEvent::Kind::oddity,
                          facts.units.size(),
                          it.position,
                          unit.size(),
                          {FaultKind::record, oddity, 0, 0},
                          std::pair(it.first, it.last),
                          true});
}

Fault UnitInspector::walk_records_of(ByteView unit, const UnitInfo& info, UnitFacts& it, ChunkFacts& facts) {
  RecordSummary records;
  Fault control_fault;
  Fault fault;
  if (info.control) {
    fault = decoder_.decode(unit, info, [&](const RecordView& record) {
      records.add(record);
      if (!control_fault) control_fault = check_control(record, info, it.aborts);
    });
  } else {
    fault = decoder_.decode(unit, info, [&](const RecordView& record) { records.add(record); });
  }
  if (fault) return fault;
  if (info.kind == UnitKind::legacy && info.compressed() && records.count > 0) {
    it.first = std::min(records.first, it.last);
    it.first_known = true;
    it.sparse = records.count < it.last - it.first + 1;
    if (info.last_offset == Offset(0)) it.last = std::max(it.last, records.last);
  }
  if (control_fault) return control_fault;
  if (const Fault wrong = check_summary(records, info)) return wrong;
  facts.records += static_cast<std::uint64_t>(records.count);
  return {};
}

}  // namespace tk
