#include "commands/import_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/varint.h"

namespace tk {
namespace {

/// Bits of `attributes` that no member tells by name.
constexpr std::uint16_t kNamelessBits = 0xff80;
/// A batch with more would not be read again: a decompressed one because of the guard, any other because its
/// size is an int32.
constexpr std::size_t kMostBytes = INT32_MAX - (1U << 20);

/// Puts a number where it belongs; a fault if it does not fit. A missing one leaves `to` as it is.
template <class Int>
std::string fit(const char* name, const std::optional<std::int64_t>& number, Int& to,
                std::int64_t least = -1) {
  if (!number) return {};
  if (*number < least || *number > std::numeric_limits<Int>::max()) {
    return fmt::format("\"{}\" cannot be {}", name, *number);
  }
  to = static_cast<Int>(*number);
  return {};
}

std::size_t record_bytes(const DumpRecord& record) {
  std::size_t bytes = record.key.value_or("").size() + record.value.value_or("").size();
  for (const HeaderView& header : record.headers) {
    bytes += header.name.size() + header.value.value_or("").size() + 2 * kMaxVarintBytes;
  }
  return bytes;
}

}  // namespace

std::string UnitRebuilder::begin(const DumpBatch& batch) {
  if (!batch.has_magic) return "a batch without its \"magic\"";
  if (batch.magic && (*batch.magic < 0 || *batch.magic > 2)) {
    return fmt::format("\"magic\" cannot be {}: batches have 0, 1 or 2, json records null", *batch.magic);
  }
  json_ = !batch.magic;
  legacy_ = batch.magic && *batch.magic < 2;
  if (!batch.base_offset) return "a batch without its \"base_offset\"";
  const std::int64_t first = *batch.base_offset;
  if (first < 0) return fmt::format("\"base_offset\" cannot be {}", first);
  // Both are there in a dump, but only the absolute one is edited by hand.
  std::int64_t delta = 0;
  if (std::string fault = fit<std::int64_t>("last_offset_delta", batch.last_offset_delta, delta, 0);
      !fault.empty())
    return fault;
  if (!batch.last_offset && !batch.last_offset_delta) return "a batch without its \"last_offset\"";
  if (batch.last_offset) delta = *batch.last_offset < first ? -1 : *batch.last_offset - first;
  if (delta < 0 || delta > INT32_MAX || delta > INT64_MAX - 1 - first) {
    return fmt::format("\"last_offset\" cannot be {} in a batch that begins at {}",
                       batch.last_offset.value_or(delta), first);
  }
  first_ = next_ = Offset(first);
  last_ = first_ + delta;
  count_ = 0;
  dumped_count_ = batch.count.value_or(0);
  control_ = batch.control.value_or(!json_ && !legacy_ && (batch.attributes.value_or(0) & kControlBit) != 0);
  unit_.clear();
  if (json_) return begin_json(batch);
  return legacy_ ? begin_legacy(batch) : begin_batch(batch);
}

// A message of magic 0 or 1, or a wrapper around some of them.
std::string UnitRebuilder::begin_legacy(const DumpBatch& batch) {
  const std::int64_t attributes = batch.attributes.value_or(0);
  if (attributes < 0 || attributes > 0xff) return fmt::format("\"attributes\" cannot be {}", attributes);
  const Codec codec = batch.codec.value_or(static_cast<Codec>(attributes & 7));
  if (codec > Codec::lz4) return "messages of magic 0 and 1 are compressed with gzip, snappy or lz4";
  append_time_ = batch.timestamp_type ? *batch.timestamp_type == TimestampType::log_append_time
                                      : (attributes & kLogAppendTimeBit) != 0;
  legacy_info_ = {};
  legacy_info_.kind = UnitKind::legacy;
  legacy_info_.magic = static_cast<std::int8_t>(*batch.magic);
  legacy_info_.attributes = static_cast<std::uint16_t>(codec);
  legacy_info_.timestamp_type = append_time_ ? TimestampType::log_append_time : TimestampType::create_time;
  legacy_info_.max_timestamp = batch.max_ts.value_or(kNoTimestamp);
  legacy_bytes_ = 0;
  wrapper_.reset();
  if (codec != Codec::none) {
    wrapper_.emplace(legacy_info_);
  } else if (first_ != last_) {
    return "a message of magic 0 or 1 that is not compressed has one offset";
  }
  return {};
}

std::string UnitRebuilder::add_legacy(const DumpRecord& record) {
  if (!record.headers.empty()) return "messages of magic 0 and 1 have no headers";
  legacy_bytes_ += record_bytes(record) + kMinLegacyLength + kUnitPrefix + 8;
  if (legacy_bytes_ > kMaxDecompressed) return fmt::format("the set grows beyond {} bytes", kMaxDecompressed);
  RecordView view;
  view.offset = Offset(*record.offset);
  view.timestamp = append_time_ && wrapper_ ? record.create_ts.value_or(*record.ts) : *record.ts;
  view.key = record.key;
  view.value = record.value;
  if (wrapper_) {
    wrapper_->add(view);
  } else {
    info_ = append_legacy_message(legacy_info_, view, unit_);
  }
  return {};
}

std::string UnitRebuilder::check() const {
  if (!legacy_ || count_ == 0 || next_ == last_ + 1) return {};
  return fmt::format("the last record of a set of magic 0 or 1 gives it its offset: {} is not there",
                     last_.value());
}

std::string UnitRebuilder::begin_json(const DumpBatch& batch) {
  if (first_ != last_) return "a json record has one offset";
  json_fields_ = {};
  std::int32_t leader_epoch = 0;
  std::int64_t producer = -1;
  std::string fault = fit("leader_epoch", batch.leader_epoch, leader_epoch);
  if (fault.empty()) fault = fit("producer_id", batch.producer_id, producer);
  if (fault.empty()) fault = fit("producer_epoch", batch.producer_epoch, json_fields_.producer_epoch);
  if (fault.empty()) fault = fit("base_sequence", batch.base_sequence, json_fields_.sequence);
  if (!fault.empty()) return fault;
  if (batch.codec && *batch.codec != Codec::none) return "a json record is not compressed";
  json_fields_.leader_epoch = LeaderEpoch(leader_epoch);
  json_fields_.producer_id = ProducerId(producer);
  json_fields_.transactional = batch.transactional.value_or(false);
  json_fields_.delete_horizon = batch.delete_horizon_ms.value_or(kNoTimestamp);
  return {};
}

std::string UnitRebuilder::begin_batch(const DumpBatch& batch) {
  fields_ = {};
  const std::int64_t attributes = batch.attributes.value_or(0);
  if (attributes < 0 || attributes > 0xffff) return fmt::format("\"attributes\" cannot be {}", attributes);
  const auto has = [&](std::uint16_t bit) { return (attributes & bit) != 0; };
  if (!batch.codec && (attributes & 7) > static_cast<std::int64_t>(Codec::zstd))
    return "\"attributes\" names an unknown codec";
  compression_ = {batch.codec.value_or(static_cast<Codec>(attributes & 7)), std::nullopt};
  append_time_ =
      batch.timestamp_type ? *batch.timestamp_type == TimestampType::log_append_time : has(kLogAppendTimeBit);
  const bool transactional = batch.transactional.value_or(has(kTransactionalBit));
  const bool horizon =
      batch.has_delete_horizon ? batch.delete_horizon_ms.has_value() : has(kDeleteHorizonBit);
  fields_.attribute_bits =
      static_cast<std::uint16_t>((attributes & kNamelessBits) | (append_time_ ? kLogAppendTimeBit : 0) |
                                 (transactional ? kTransactionalBit : 0) | (control_ ? kControlBit : 0) |
                                 (horizon ? kDeleteHorizonBit : 0));

  // An epoch that was left out goes on as it was; one that goes back would be damage.
  std::int32_t leader_epoch = latest_epoch_.value();
  std::int64_t producer = -1;
  std::string fault = fit("leader_epoch", batch.leader_epoch, leader_epoch, INT32_MIN);
  if (fault.empty()) fault = fit("producer_id", batch.producer_id, producer, INT64_MIN);
  if (fault.empty()) fault = fit("producer_epoch", batch.producer_epoch, fields_.producer_epoch, INT16_MIN);
  if (fault.empty()) fault = fit("base_sequence", batch.base_sequence, fields_.base_sequence, INT32_MIN);
  if (!fault.empty()) return fault;
  fields_.base_offset = first_;
  fields_.last_offset_delta = static_cast<std::int32_t>(last_ - first_);
  fields_.leader_epoch = LeaderEpoch(leader_epoch);
  latest_epoch_ = std::max(latest_epoch_, fields_.leader_epoch);
  fields_.producer_id = ProducerId(producer);
  fields_.base_timestamp = batch.delete_horizon_ms ? batch.delete_horizon_ms : batch.base_timestamp;
  given_max_timestamp_ = batch.max_ts;
  max_timestamp_ = INT64_MIN;
  builder_.start(fields_.base_timestamp);
  return {};
}

std::string UnitRebuilder::add(const DumpRecord& record) {
  if (!record.offset) return "a record without its \"offset\"";
  if (!record.ts) return "a record without its \"ts\"";
  const Offset offset(*record.offset);
  if (offset < first_ || offset > last_) {
    return fmt::format("offset {} lies outside its batch, which has {} to {}", offset.value(), first_.value(),
                       last_.value());
  }
  if (offset < next_) return fmt::format("offset {} does not rise above the record before", offset.value());
  std::string fault = json_ ? add_json(record) : legacy_ ? add_legacy(record) : add_to_batch(record);
  next_ = offset + 1;
  ++count_;
  return fault;
}

std::string UnitRebuilder::add_to_batch(const DumpRecord& record) {
  const std::size_t most = compression_.codec == Codec::none ? kMostBytes : kMaxDecompressed;
  const std::size_t bytes = record_bytes(record);
  if (bytes > most || builder_.size_with(bytes) > most)
    return fmt::format("the batch grows beyond {} bytes", most);
  // Where the broker's time took the place of the producer's, the records still hold the latter.
  const std::int64_t timestamp = append_time_ ? record.create_ts.value_or(*record.ts) : *record.ts;
  builder_.add_at(unit_, static_cast<std::int32_t>(*record.offset - first_.value()), timestamp, record.key,
                  record.value, record.headers);
  max_timestamp_ = std::max(max_timestamp_, *record.ts);
  return {};
}

std::string UnitRebuilder::add_json(const DumpRecord& record) {
  const bool ends = record.control == JsonControl::commit || record.control == JsonControl::abort;
  json_fields_.control = record.control;
  if (control_ && !ends) return "a control record that neither commits nor aborts";
  if (!control_ && ends) return "the end of a transaction in a batch that is no control batch";
  RecordView view;
  view.offset = first_;
  view.timestamp = *record.ts;
  view.key = record.key;
  view.value = record.value;
  view.headers = record.headers;
  view.value_is_json = record.value_is_json;
  if (json_record_bound(view) > kMostBytes) return "the record is too large";
  encode_json_record(unit_, first_, view, json_fields_);
  set_json_info(view);
  return {};
}

void UnitRebuilder::set_json_info(const RecordView& record) {
  info_ = {};
  info_.kind = UnitKind::json;
  info_.magic = -1;
  info_.size = unit_.size();
  info_.base_offset = info_.last_offset = first_;
  info_.leader_epoch = json_fields_.leader_epoch;
  info_.base_timestamp = info_.max_timestamp = record.timestamp;
  info_.producer_id = json_fields_.producer_id;
  info_.producer_epoch = json_fields_.producer_epoch;
  info_.base_sequence = json_fields_.sequence;
  info_.transactional = json_fields_.transactional || control_;
  info_.control = control_;
}

bool UnitRebuilder::finish() {
  if (json_ || (legacy_ && count_ == 0)) return count_ > 0;
  if (legacy_) {
    if (wrapper_) info_ = wrapper_->finish(compressor_, unit_);
    info_.base_offset = first_;
    return true;
  }
  if (count_ == 0 && dumped_count_ > 0) {
    // As a cleaner leaves it (kafka-on-disk.md §2.6).
    fields_.base_timestamp = kNoTimestamp;
    fields_.attribute_bits &= static_cast<std::uint16_t>(~kDeleteHorizonBit);
  }
  // A script that moves or drops records leaves the batch's maximum behind, and a wrong one is damage. Append
  // time is the batch's to say, and so is the time of a batch without records.
  const bool of_records = count_ > 0 && !(append_time_ && given_max_timestamp_);
  fields_.max_timestamp = of_records ? max_timestamp_ : given_max_timestamp_.value_or(kNoTimestamp);
  info_ = builder_.finish(fields_, compression_, compressor_, unit_);
  return true;
}

}  // namespace tk
