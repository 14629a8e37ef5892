#include "core/net/kafka/batch_append.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/format/record_decoder.h"
#include "core/log/producer_admission.h"
#include "core/net/kafka/errors.h"

namespace tk::kafka {
namespace {

net::AppendResult refused(std::int16_t code, std::string message) {
  net::AppendResult result;
  result.error = code;
  result.message = std::move(message);
  return result;
}

std::optional<std::int64_t> number_of(const ConfigMap& configs, const char* key) {
  const auto at = configs.find(key);
  return at == configs.end() ? std::nullopt : parse_int(at->second);
}

/// The same for a batch that is whole.
net::AppendResult refused_by_log(std::int16_t code, std::string message) {
  net::AppendResult result = refused(code, std::move(message));
  result.refused_by_log = true;
  return result;
}

/// The head: lengths, magic, sums, and what a client may not say.
net::AppendResult check_head(BatchInput& input, const AppendConfig& config, UnitInfo& info) {
  const ByteView bytes = input.bytes;
  if (bytes.empty()) return refused(kInvalidRecord, "no records");
  if (bytes.size() < kUnitPrefix + 5) return refused(kInvalidRecord, "a batch that is cut");
  const std::int64_t size = static_cast<std::int64_t>(kUnitPrefix) + load_be<std::int32_t>(bytes.data() + 8);
  const std::int8_t magic = static_cast<std::int8_t>(bytes[kMagicPosition]);
  if (magic < 0 || magic > 2) return refused(kCorruptMessage, fmt::format("magic {} is not known", magic));
  if (magic < 2) return refused(kInvalidRecord, "messages of the formats before 0.11 are not taken");
  if (size < static_cast<std::int64_t>(kBatchHeader))
    return refused(kCorruptMessage, "the batch is shorter than its header");
  if (size > static_cast<std::int64_t>(bytes.size())) return refused(kInvalidRecord, "the batch is cut");
  const ByteView rest = bytes.subspan(static_cast<std::size_t>(size));
  if (rest.size() >= kUnitPrefix) {
    const std::int64_t next = static_cast<std::int64_t>(kUnitPrefix) + load_be<std::int32_t>(rest.data() + 8);
    if (next >= static_cast<std::int64_t>(kUnitPrefix) && next <= static_cast<std::int64_t>(rest.size()))
      return refused(kInvalidRecord, "one batch a partition and request is taken");
  }
  input.bytes = input.bytes.first(static_cast<std::size_t>(size));
  info = read_batch_header(input.bytes.data());
  if (check_unit(input.bytes, UnitKind::batch))
    return refused(kCorruptMessage, "the batch's checksum is wrong");
  if (size > config.log.max_message_bytes)
    return refused(kMessageTooLarge, fmt::format("the batch has {} bytes, at most {} are taken", size,
                                                 config.log.max_message_bytes));
  if (size > config.log.segment_bytes)
    return refused(kRecordListTooLarge, "the batch is larger than a segment of the topic");
  if (info.base_offset != Offset(0))
    return refused_by_log(kInvalidRecord, "the base offset of a new batch is 0");
  if (info.count <= 0 || info.count - 1 != info.last_offset - info.base_offset)
    return refused_by_log(kInvalidRecord, "the count is not that of the offsets");
  if (info.control) return refused_by_log(kInvalidRecord, "clients write no control records");
  if (info.producer_id.value() >= 0 && info.base_sequence < 0)
    return refused_by_log(kInvalidRecord, "a producer id without a sequence");
  if (info.codec_bits() > 4) return refused(kInvalidRecord, "a codec that is not known");
  if (info.codec_bits() == 4 && !input.zstd_allowed)
    return refused(kUnsupportedCompressionType, "zstd needs Produce version 7");
  return {};
}

/// Why records cannot be read: the compressed bytes, or what was in them.
net::AppendResult unreadable(ByteView batch, const UnitInfo& info, const Fault& fault) {
  if (info.compressed()) {
    Decompressor decompressor;
    const Decompressed plain =
        decompressor.decompress(static_cast<Codec>(info.codec_bits()), batch.subspan(kBatchHeader));
    if (plain.error != nullptr) return refused(kCorruptMessage, plain.error);
  }
  return refused_by_log(kInvalidRecord, fault.detail);
}

}  // namespace

AppendConfig append_config(const ConfigMap& configs) {
  AppendConfig config;
  config.log = log_config(configs);
  config.compression = topic_compression(configs);
  config.needs_keys = upkeep_config(configs, true).compacts;
  config.before_max_ms = number_of(configs, "message.timestamp.before.max.ms").value_or(INT64_MAX);
  config.after_max_ms = number_of(configs, "message.timestamp.after.max.ms").value_or(3600000);
  config.min_insync_replicas =
      static_cast<std::int32_t>(number_of(configs, "min.insync.replicas").value_or(1));
  return config;
}

net::AppendResult check_batch(BatchInput& input, const AppendConfig& config, std::int64_t now_ms,
                              UnitInfo& info) {
  if (net::AppendResult wrong = check_head(input, config, info); wrong.error != kNone) return wrong;
  thread_local RecordDecoder decoder;
  const bool client_time = config.log.timestamp_type == TimestampType::create_time;
  const std::int64_t oldest = config.before_max_ms > now_ms ? INT64_MIN : now_ms - config.before_max_ms;
  const std::int64_t newest =
      config.after_max_ms > INT64_MAX - now_ms ? INT64_MAX : now_ms + config.after_max_ms;
  std::int32_t index = 0;
  bool misplaced = false;
  std::int64_t max_timestamp = kNoTimestamp;
  net::AppendResult result;
  constexpr std::size_t most_named = 100;
  const auto name = [&](std::int16_t code, const char* why) {
    if (result.error != kNone && result.error != code) return;
    result.error = code;
    result.bad_records_reason = why;
    if (result.bad_records.size() < most_named) result.bad_records.emplace_back(index, why);
  };
  // A flag of log append time from a client counts for nothing: the records' own timestamps do.
  UnitInfo own = info;
  own.timestamp_type = TimestampType::create_time;
  const Fault fault = decoder.decode(input.bytes, own, [&](const RecordView& record) {
    if (record.offset.value() != index) misplaced = true;
    max_timestamp = std::max(max_timestamp, record.encoded_timestamp);
    if (config.needs_keys && !record.key) name(kInvalidRecord, "a record without a key in a compacted topic");
    if (client_time && record.encoded_timestamp != kNoTimestamp &&
        (record.encoded_timestamp < oldest || record.encoded_timestamp > newest))
      name(kInvalidTimestamp, "a timestamp outside of what the topic takes");
    ++index;
  });
  if (fault) return unreadable(input.bytes, info, fault);
  if (misplaced) return refused_by_log(kInvalidRecord, "the records' offsets are not 0, 1, 2 ...");
  if (result.error != kNone) {
    result.message = result.bad_records_reason;
    result.refused_by_log = true;
    return result;
  }
  info.max_timestamp = max_timestamp;
  return {};
}

namespace {

/// Puts the log's own timestamp type and the largest timestamp in, and the checksum right if that changed it.
void settle_timestamps(MutableBytes batch, UnitInfo& info, const AppendConfig& config, std::int64_t now_ms) {
  const auto stored = load_be<std::uint16_t>(batch.data() + batch_layout::kAttributes);
  const auto stored_max = load_be<std::int64_t>(batch.data() + batch_layout::kMaxTimestamp);
  auto attributes = static_cast<std::uint16_t>(stored & ~(kLogAppendTimeBit | kDeleteHorizonBit));
  if (config.log.timestamp_type == TimestampType::log_append_time) {
    attributes |= kLogAppendTimeBit;
    info.max_timestamp = now_ms;
  }
  info.timestamp_type = config.log.timestamp_type;
  info.attributes = attributes;
  if (attributes == stored && info.max_timestamp == stored_max) return;
  store_be(batch.data() + batch_layout::kAttributes, attributes);
  store_be(batch.data() + batch_layout::kMaxTimestamp, info.max_timestamp);
  info.crc = batch_crc(batch);
  store_be(batch.data() + batch_layout::kCrc, info.crc);
}

/// The batch in the topic's own codec.
Buffer encode_anew(ByteView batch, UnitInfo& info, const Compression& compression) {
  thread_local RecordDecoder decoder;
  thread_local Compressor compressor;
  Buffer out;
  BatchBuilder builder;
  builder.start();
  UnitInfo own = info;
  own.timestamp_type = TimestampType::create_time;
  // What was decoded once without a fault is so again.
  static_cast<void>(decoder.decode(batch, own, [&](const RecordView& record) {
    builder.add(out, record.encoded_timestamp, record.key, record.value, record.headers);
  }));
  BatchFields fields;
  fields.attribute_bits =
      static_cast<std::uint16_t>(info.attributes & (kTransactionalBit | kLogAppendTimeBit));
  fields.producer_id = info.producer_id;
  fields.producer_epoch = info.producer_epoch;
  fields.base_sequence = info.base_sequence;
  fields.max_timestamp = info.max_timestamp;
  const std::int32_t count = info.count;
  info = builder.finish(fields, compression, compressor, out);
  info.count = count;
  return out;
}

void encode_as_json(ByteView batch, const UnitInfo& info, const PartitionLog& log, std::int64_t now_ms,
                    Buffer& out, std::vector<AppendUnit>& units) {
  thread_local RecordDecoder decoder;
  JsonRecordEncoder encoder;
  const bool append_time = log.config().timestamp_type == TimestampType::log_append_time;
  JsonFields fields;
  fields.leader_epoch = log.leader_epoch();
  fields.producer_id = info.producer_id;
  fields.producer_epoch = info.producer_epoch;
  fields.transactional = info.transactional;
  UnitInfo own = info;
  own.timestamp_type = TimestampType::create_time;
  Offset offset = log.log_end();
  static_cast<void>(decoder.decode(batch, own, [&](const RecordView& record) {
    RecordView stored = record;
    stored.timestamp = append_time ? now_ms : record.encoded_timestamp;
    fields.sequence = info.producer_id.value() < 0 ? -1 : record.sequence;
    const std::size_t before = out.size();
    encoder.encode(out, offset, stored, fields);
    units.push_back({static_cast<std::uint32_t>(out.size() - before), 1, stored.timestamp});
    ++offset;
  }));
}

/// A batch of a json log is there already if its sequences are not above the last one of its epoch: an
/// epoch's sequences have no gap, and the borders of batches are not stored. After a restart it is known of
/// the last one only where it lies; a client that sends several again is not told that they are out of order.
std::optional<ProducedBatch> json_duplicate(const ProducerState& state, const UnitInfo& info) {
  const ProducerEntry* const entry = state.find(info.producer_id);
  if (entry == nullptr || entry->epoch != info.producer_epoch) return std::nullopt;
  const ProducedBatch* const last = entry->last_batch();
  if (last == nullptr) return std::nullopt;
  const auto behind =
      static_cast<std::uint32_t>(last->last_sequence) - static_cast<std::uint32_t>(info.last_sequence());
  constexpr std::uint32_t most = 1U << 20;  // sequences wrap: what is far off lies ahead
  if (behind > most) return std::nullopt;
  ProducedBatch found = *last;
  found.offset_delta = info.count - 1;
  if (behind != 0) found.last_offset = Offset(found.offset_delta - 1);  // its first offset is -1, unknown
  return found;
}

}  // namespace

net::AppendResult append_batch(PartitionLog& log, const BatchInput& input, const UnitInfo& checked,
                               const AppendConfig& config, TopicFormat format, std::int64_t now_ms,
                               net::RecentBatches& recent) {
  net::AppendResult result;
  UnitInfo info = checked;
  const bool idempotent = info.producer_id.value() >= 0;
  if (idempotent) {
    const ProducerState& state = log.producers();
    Admission admission = admit(state, info);
    if (format == TopicFormat::json) {
      auto copy = json_duplicate(state, info);
      if (copy && recent.find(info)) copy = recent.find(info);
      if (copy) {
        admission.verdict = Admission::Verdict::duplicate;
        admission.copy = *copy;
      }
    }
    if (admission.verdict == Admission::Verdict::duplicate) {
      result.base = admission.copy.first_offset();
      result.last = admission.copy.last_offset;
      result.log_append_time = admission.copy.timestamp;
      return result;
    }
    if (admission.verdict != Admission::Verdict::append) {
      const Error error =
          admission_error(admission, {info.producer_id, info.producer_epoch, info.base_sequence,
                                      info.last_sequence(), info.transactional});
      return refused_by_log(error_of(error), error.message());
    }
  }
  const bool append_time = config.log.timestamp_type == TimestampType::log_append_time;
  result.base = log.log_end();
  result.last = result.base + (info.count - 1);
  if (append_time) result.log_append_time = now_ms;
  const ProducerFields fields{info.producer_id, info.producer_epoch, info.base_sequence, info.transactional};
  if (format == TopicFormat::json) {
    Buffer units_bytes;
    std::vector<AppendUnit> units;
    encode_as_json(input.bytes, info, log, now_ms, units_bytes, units);
    log.append(units_bytes.view(), units, idempotent ? &fields : nullptr);
    if (idempotent) recent.note(info, result.base, units.back().max_timestamp);
    result.bytes = units_bytes.size();
    return result;
  }
  settle_timestamps(input.bytes, info, config, now_ms);
  MutableBytes bytes = input.bytes;
  Buffer anew;
  if (config.compression && static_cast<std::uint8_t>(config.compression->codec) != info.codec_bits()) {
    anew = encode_anew(input.bytes, info, *config.compression);
    bytes = {anew.data(), anew.size()};
  }
  assign_base_offset(bytes.data(), result.base, log.leader_epoch());
  log.append(bytes, {{static_cast<std::uint32_t>(bytes.size()), info.count, info.max_timestamp}},
             idempotent ? &fields : nullptr);
  result.bytes = bytes.size();
  if (anew.empty()) {
    result.info = read_batch_header(bytes.data());
    result.unit = bytes;
  }
  return result;
}

}  // namespace tk::kafka
