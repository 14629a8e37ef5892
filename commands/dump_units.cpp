#include "commands/dump_units.h"

#include <array>

namespace tk {

void OffsetTrail::join(const OffsetTrail& behind) {
  if (!behind.first) return;
  pass(*behind.first);
  for (const auto& [before, after] : behind.gaps) add_gap(before, after);
  gaps_left_out += behind.gaps_left_out;
  last = behind.last;
}

void UnitDumper::take_object() {
  sink.buffer.append(std::string_view(object_.data(), object_.size()));
  object_.clear();
  sink.settle();
}

void UnitDumper::show_unit(const UnitInfo& info, const BatchObject& batch) {
  if (!style_.json) return append_unit_line(sink.buffer, info, batch.position, batch.valid);
  append_batch_object(object_, info, batch);
  take_object();
}

void UnitDumper::dump_damage(std::uint64_t position, std::uint64_t size, const Fault& fault) {
  if (!style_.json) return;
  append_damage_object(object_, file_, position, size, fault);
  take_object();
}

void UnitDumper::dump_header(const std::uint8_t* header, std::uint64_t position, bool valid, UnitInfo& info) {
  info = read_batch_header(header);
  if (style_.wants(info.base_offset, info.last_offset)) show_unit(info, {file_, position, valid, {}, {}});
}

Fault UnitDumper::dump(ByteView unit, UnitKind kind, std::uint64_t position, bool valid, UnitInfo& info) {
  if (kind == UnitKind::batch) return dump_batch(unit, position, valid, info);
  if (kind == UnitKind::legacy) return dump_legacy(unit, position, valid, info);
  return dump_json_unit(unit, position, valid, info);
}

Fault UnitDumper::dump_batch(ByteView unit, std::uint64_t position, bool valid, UnitInfo& info) {
  if (const Fault fault = read_unit_info(unit, UnitKind::batch, info)) return fault;
  if (!style_.wants(info.base_offset, std::max(info.base_offset, info.last_offset))) return {};
  show_unit(info, {file_, position, valid, {}, {}});
  if (!valid) return {};
  if (style_.records) return dump_batch_records(unit, info);
  if (info.codec_bits() <= static_cast<std::uint8_t>(Codec::zstd)) return {};
  return {FaultKind::record, "unknown compression codec", info.codec_bits(), 0};
}

Fault UnitDumper::dump_batch_records(ByteView unit, const UnitInfo& info) {
  Fault first;
  const Fault fault = records_.decode(unit, info, [&](const RecordView& record) {
    if (!style_.wants(record.offset) || sink.stopped()) return;
    trail.pass(record.offset);
    if (info.control) {
      const Fault of_control = show_control(record);
      if (of_control && !first) first = of_control;
    } else if (style_.json) {
      append_record_object(object_, record, create_ts(record), style_.decoder);
      take_object();
    } else {
      lines_.append_record(sink.buffer, record);
    }
    sink.settle();
  });
  return first ? first : fault;
}

std::optional<std::int64_t> UnitDumper::create_ts(const RecordView& record) const {
  if (record.timestamp_type != TimestampType::log_append_time) return std::nullopt;
  return record.encoded_timestamp;
}

Fault UnitDumper::show_control(const RecordView& record) {
  if (!style_.json) return lines_.append_control(sink.buffer, record);
  const Fault fault = append_control_object(object_, record, create_ts(record));
  take_object();
  return fault;
}

Fault UnitDumper::dump_legacy(ByteView unit, std::uint64_t position, bool valid, UnitInfo& info) {
  const Fault of_header = read_unit_info(unit, UnitKind::legacy, info);
  BatchObject batch{file_, position, valid && !of_header, {}, {}};
  if (!batch.valid) {
    if (style_.wants(info.last_offset)) show_unit(info, batch);
    return of_header;
  }
  // Only its messages tell the first offset of a wrapper.
  const bool look_inside = style_.records || (info.compressed() && style_.filters());
  Fault fault;
  if (look_inside) {
    fault = legacy_.decode(unit, info, decompressor_);
    if (!legacy_.records().empty()) {
      batch.first_offset = legacy_.records().begin()->record.offset;
      batch.count = static_cast<std::int64_t>(legacy_.records().size());
    }
  }
  if (!style_.wants(batch.first_offset.value_or(info.last_offset), info.last_offset)) return fault;
  show_unit(info, batch);
  if (!style_.records) return fault;
  for (const LegacyRecord& message : legacy_.records()) {
    if (!style_.wants(message.record.offset) || sink.stopped()) continue;
    trail.pass(message.record.offset);
    if (style_.json) {
      append_record_object(object_, message.record,
                           info.compressed() ? create_ts(message.record) : std::nullopt, style_.decoder);
      take_object();
    } else {
      lines_.append_legacy(sink.buffer, message);
    }
    sink.settle();
  }
  return fault;
}

Fault UnitDumper::dump_json_unit(ByteView unit, std::uint64_t position, bool valid, UnitInfo& info) {
  const Offset offset(load_be<std::int64_t>(unit.data()));
  info.kind = UnitKind::json;
  info.magic = -1;
  info.size = unit.size();
  info.base_offset = info.last_offset = offset;
  if (!style_.wants(offset)) return {};
  RecordView record;
  const Fault fault = json_.decode(unit, record);
  if (!fault && style_.records) trail.pass(offset);
  const JsonControl control = fault ? JsonControl::none : json_.fields().control;
  if (style_.json) {
    if (!fault) (void)read_unit_info(unit, UnitKind::json, info);
    append_batch_object(object_, info, {file_, position, valid && !fault, {}, {}});
    if (style_.records && valid && !fault) {
      if (control == JsonControl::none) {
        append_record_object(object_, record);
      } else {
        append_json_control_object(object_, record, control);
      }
    }
    take_object();
    return fault;
  }
  JsonUnitText text{offset, position, unit.size(), fault ? nullptr : &record, control, {}, valid && !fault};
  if (!fault && json_.has_crc()) text.crc = json_.crc();
  append_json_unit_line(sink.buffer, text, style_.data && valid);
  sink.settle();
  return fault;
}

}  // namespace tk
