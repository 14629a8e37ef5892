#include "core/log/unit_filter.h"

#include <algorithm>

#include "core/format/legacy_encode.h"

namespace tk {

/// True if the unit's records were all put into the map, so that their offsets decide. (The first offset of
/// old messages is not known without decoding them.)
bool UnitFilter::by_offset(const UnitInfo& info) const {
  return rules_.latest != nullptr && info.kind != UnitKind::legacy &&
         rules_.latest->covers(info.base_offset, info.last_offset);
}

Fault UnitFilter::collect(ByteView unit, const UnitInfo& info) {
  records_.clear();
  if (by_offset(info)) {
    return decoder_.decode(unit, info, [&](const RecordView& record) {
      const bool stays = rules_.latest->is_latest(record.offset);
      records_.push_back({{}, record.offset, record.key.has_value(), record.value.has_value(), stays});
    });
  }
  return decoder_.decode(unit, info, [&](const RecordView& record) {
    Seen& seen = records_.emplace_back();
    seen.offset = record.offset;
    seen.has_value = record.value.has_value();
    if (!record.key) return;
    seen.has_key = true;
    seen.hash = rules_.keys->hash(*record.key);
    rules_.keys->prefetch(seen.hash);
  });
}

void UnitFilter::decide(const UnitInfo& info, bool keep_legacy_tombstones) {
  const bool tombstones_stay = info.kind == UnitKind::legacy
                                   ? keep_legacy_tombstones
                                   : !info.has_delete_horizon() || rules_.now_ms < info.base_timestamp;
  const bool decided = by_offset(info);
  kept_ = 0;
  tombstone_kept_ = false;
  for (Seen& seen : records_) {
    if (decided) {
      seen.stays = seen.stays && (seen.has_value || tombstones_stay);
    } else if (seen.offset <= rules_.map_end) {
      seen.stays = seen.has_key && (seen.has_value || tombstones_stay);
      if (seen.stays) {
        const std::optional<Offset> latest = rules_.keys->find(seen.hash);
        seen.stays = !latest || seen.offset >= *latest;
      }
    }
    if (!seen.stays) continue;
    ++kept_;
    tombstone_kept_ |= !seen.has_value;
  }
}

// It was decoded without a fault before.
template <class Take>
void UnitFilter::each_that_stays(ByteView unit, const UnitInfo& info, Take take) {
  std::size_t i = 0;
  static_cast<void>(decoder_.decode(unit, info, [&](const RecordView& record) {
    if (i < records_.size() && records_[i].stays) take(record);
    ++i;
  }));
}

Fault UnitFilter::filter(ByteView unit, const UnitInfo& info, bool keep_legacy_tombstones, Buffer& out,
                         FilteredUnit& result) {
  const bool bare_marker = rules_.history != nullptr && rules_.history->is_bare_marker(info);
  const bool expired = info.has_delete_horizon() && info.base_timestamp <= rules_.now_ms;
  const bool aborted = rules_.history != nullptr && rules_.history->transactions().aborted(info);
  const bool discard = info.control ? bare_marker && expired : aborted;
  const bool keep_empty = info.kind != UnitKind::legacy &&
                          ((rules_.history != nullptr && rules_.history->is_last_of_producer(info)) ||
                           info.next_offset() == rules_.high_watermark);
  result = {.size = 0,
            .records_before = info.control ? 0 : info.count,
            .records_after = 0,
            .last_offset = info.last_offset,
            .max_timestamp = info.max_timestamp};
  if (discard && !keep_empty) return {};

  const std::size_t begin = out.size();
  kept_ = 0;
  tombstone_kept_ = false;
  std::int64_t latest = -1;  // how many of the records are the last of their keys, if that is known
  if (!discard && !info.control && by_offset(info)) {
    latest = rules_.latest->count_latest(info.base_offset, info.last_offset);
    if (latest > 0 && latest == info.count && !info.has_delete_horizon() &&
        rules_.latest->count_tombstones(info.base_offset, info.last_offset) == 0) {
      out.append(unit);
      result.size = static_cast<std::uint32_t>(unit.size());
      result.records_after = info.count;
      return {};
    }
  }
  if (!discard && info.count > 0 && latest != 0) {
    if (const Fault fault = collect(unit, info)) return fault;
    if (info.kind == UnitKind::legacy) result.records_before = static_cast<std::int32_t>(records_.size());
    if (info.control) {
      kept_ = records_.size();
    } else {
      decide(info, keep_legacy_tombstones);
    }
  } else {
    records_.clear();
  }
  if (kept_ > 0) {
    const bool set_horizon =
        (tombstone_kept_ || bare_marker) && info.kind != UnitKind::legacy && !info.has_delete_horizon();
    if (kept_ == records_.size() && !set_horizon) {
      out.append(unit);
    } else if (info.kind == UnitKind::batch) {
      write_batch(unit, info, set_horizon, out, result);
    } else if (info.kind == UnitKind::json) {
      write_json(unit, info, set_horizon, out);
    } else {
      write_legacy(unit, info, out, result);
    }
    if (!info.control) result.records_after = static_cast<std::int32_t>(kept_);
  } else if (keep_empty) {
    write_empty(info, out);
  }
  result.size = static_cast<std::uint32_t>(out.size() - begin);
  return {};
}

// A horizon takes the place of the base timestamp; the records' own timestamps stay what they were, relative
// to it.
void UnitFilter::write_batch(ByteView unit, const UnitInfo& info, bool set_horizon, Buffer& out,
                             FilteredUnit& result) {
  const bool append_time = info.timestamp_type == TimestampType::log_append_time;
  BatchFields fields;
  fields.base_offset = info.base_offset;
  fields.last_offset_delta = static_cast<std::int32_t>(info.last_offset - info.base_offset);
  fields.leader_epoch = info.leader_epoch;
  fields.attribute_bits = static_cast<std::uint16_t>(
      info.attributes & (kLogAppendTimeBit | kTransactionalBit | kControlBit | kDeleteHorizonBit));
  fields.producer_id = info.producer_id;
  fields.producer_epoch = info.producer_epoch;
  fields.base_sequence = info.base_sequence;
  if (info.has_delete_horizon()) fields.base_timestamp = info.base_timestamp;
  if (set_horizon) {
    fields.base_timestamp = horizon();
    fields.attribute_bits |= kDeleteHorizonBit;
  }
  if (append_time) fields.max_timestamp = info.max_timestamp;
  builder_.start(fields.base_timestamp);
  each_that_stays(unit, info, [&](const RecordView& record) {
    builder_.add_at(out, static_cast<std::int32_t>(record.offset - info.base_offset), record.timestamp,
                    record.key, record.value, record.headers);
  });
  const Compression compression{static_cast<Codec>(info.codec_bits()), std::nullopt};
  result.max_timestamp = builder_.finish(fields, compression, compressor_, out).max_timestamp;
}

namespace {

JsonFields fields_of(const UnitInfo& info) {
  JsonFields fields;
  fields.leader_epoch = info.leader_epoch;
  fields.producer_id = info.producer_id;
  fields.producer_epoch = info.producer_epoch;
  fields.sequence = info.base_sequence;
  fields.transactional = info.transactional;
  return fields;
}

}  // namespace

// Only a tombstone or a marker that gets its horizon is written anew: a json unit has one record.
void UnitFilter::write_json(ByteView unit, const UnitInfo& info, bool set_horizon, Buffer& out) {
  each_that_stays(unit, info, [&](const RecordView& record) {
    JsonFields fields = decoder_.json().fields();
    if (set_horizon) fields.delete_horizon = horizon();
    json_.encode(out, info.base_offset, record, fields);
  });
}

void UnitFilter::write_legacy(ByteView unit, const UnitInfo& info, Buffer& out, FilteredUnit& result) {
  LegacyWrapper wrapper(info);
  each_that_stays(unit, info, [&](const RecordView& record) { wrapper.add(record); });
  const UnitInfo written = wrapper.finish(compressor_, out);
  result.last_offset = written.last_offset;
  result.max_timestamp = written.max_timestamp;
}

void UnitFilter::write_empty(const UnitInfo& info, Buffer& out) {
  if (info.kind == UnitKind::json) {
    RecordView record;
    record.timestamp = info.max_timestamp;
    JsonFields fields = fields_of(info);
    fields.control = JsonControl::empty;
    return json_.encode(out, info.base_offset, record, fields);
  }
  BatchFields fields;
  fields.base_offset = info.base_offset;
  fields.last_offset_delta = static_cast<std::int32_t>(info.last_offset - info.base_offset);
  fields.leader_epoch = info.leader_epoch;
  fields.attribute_bits =
      static_cast<std::uint16_t>(info.attributes & (kLogAppendTimeBit | kTransactionalBit | kControlBit));
  fields.producer_id = info.producer_id;
  fields.producer_epoch = info.producer_epoch;
  fields.base_sequence = info.base_sequence;
  fields.max_timestamp = info.max_timestamp;
  builder_.start();
  builder_.finish(fields, {}, compressor_, out);
}

}  // namespace tk
