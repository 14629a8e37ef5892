#include "core/log/chunk_encoder.h"

#include <fmt/format.h>

#include <algorithm>

namespace tk {

namespace {

std::optional<std::string_view> text_of(const char* data, std::int32_t size) {
  if (size < 0) return std::nullopt;
  return std::string_view(data, static_cast<std::size_t>(size));
}

}  // namespace

// Chooses the partition of every record. Records without a key stick to one partition until its batch closes.
void ChunkEncoder::route(EncodedChunk& chunk) const {
  const std::int32_t count = options_.hash_partitions;
  const auto& records = chunk.parsed.records;
  for (const std::int32_t partition : chunk.touched)
    chunk.outputs[static_cast<std::size_t>(partition)].clear();
  chunk.touched.clear();
  chunk.partition_of.clear();
  if (!chunk.parsed.partition_asked && (options_.partition || count == 1)) {
    chunk.single = options_.partition.value_or(0);
    chunk.outputs[static_cast<std::size_t>(chunk.single)].offsets = static_cast<std::int64_t>(records.size());
    if (!records.empty()) chunk.touched.push_back(chunk.single);
    return;
  }
  const auto n = static_cast<std::uint32_t>(count);
  std::uint32_t sticky = static_cast<std::uint32_t>(options_.sticky_start + chunk.ticket);
  std::int64_t sticky_bytes = 0;
  std::uint32_t turn = sticky;
  // A producer's: by the record's number alone.
  const bool numbered = options_.producer.has_value();
  if (numbered) turn = static_cast<std::uint32_t>(chunk.first_record % n);
  chunk.partition_of.reserve(records.size());
  for (const InputRecord& record : records) {
    std::int32_t partition = 0;
    const std::uint32_t by_number = turn;
    if (numbered && ++turn == n) turn = 0;
    if (record.partition >= 0) {
      partition = record.partition;
    } else if (options_.partition) {
      partition = *options_.partition;
    } else if (!numbered && options_.partitioner == Partitioner::round_robin) {
      partition = static_cast<std::int32_t>(turn++ % n);
    } else if (record.key_size >= 0 && options_.partitioner != Partitioner::sticky &&
               options_.partitioner != Partitioner::round_robin) {
      partition = partition_for_key(options_.partitioner, *text_of(record.key, record.key_size), count);
    } else if (numbered) {
      partition = static_cast<std::int32_t>(by_number);
    } else {
      partition = static_cast<std::int32_t>(sticky % n);
      sticky_bytes += std::max(record.key_size, 0) + std::max(record.value_size, 0) + 8;
      if (sticky_bytes >= options_.batch_size) {
        ++sticky;
        sticky_bytes = 0;
      }
    }
    chunk.partition_of.push_back(partition);
    PartitionOutput& output = chunk.outputs[static_cast<std::size_t>(partition)];
    if (output.offsets++ == 0) chunk.touched.push_back(partition);
  }
}

namespace {

/// What only some records have of their own.
void add_extra(const ParsedChunk& parsed, const InputExtra& extra, const std::vector<HeaderView>& common,
               std::vector<HeaderView>& scratch, RecordFields& fields) {
  if (extra.timestamp) fields.timestamp = *extra.timestamp;
  fields.value_is_json = extra.value_is_json;
  if (extra.header_count > 0) {
    scratch.assign(parsed.headers.begin() + extra.first_header,
                   parsed.headers.begin() + extra.first_header + extra.header_count);
    scratch.insert(scratch.end(), common.begin(), common.end());
    fields.headers = scratch;
  }
}

/// The fields of a record with what the run adds to it.
inline RecordFields fields_of(EncodedChunk& chunk, const InputRecord& record,
                              const std::vector<HeaderView>& common) {
  RecordFields fields;
  fields.key = text_of(record.key, record.key_size);
  fields.value = text_of(record.value, record.value_size);
  fields.timestamp = chunk.now_ms;
  fields.headers = common;
  if (record.extra >= 0) [[unlikely]] {
    const InputExtra& extra = chunk.parsed.extras[static_cast<std::size_t>(record.extra)];
    add_extra(chunk.parsed, extra, common, chunk.headers, fields);
  }
  return fields;
}

std::size_t payload_bytes(const InputRecord& record) {
  return static_cast<std::size_t>(std::max(record.key_size, 0)) +
         static_cast<std::size_t>(std::max(record.value_size, 0));
}

std::size_t header_bytes(const RecordFields& fields) {
  std::size_t bytes = 0;
  for (const HeaderView& header : fields.headers) {
    bytes += 10 + header.name.size() + (header.value ? header.value->size() : 0);
  }
  return bytes;
}

}  // namespace

void ChunkEncoder::encode_batches(EncodedChunk& chunk) const {
  const LogConfig& config = options_.config;
  const auto batch_limit = static_cast<std::size_t>(
      std::min({options_.batch_size, config.segment_bytes, config.max_message_bytes}));
  const bool append_time = config.timestamp_type == TimestampType::log_append_time;
  BatchFields batch;
  if (append_time) {
    batch.attribute_bits = kLogAppendTimeBit;
    batch.max_timestamp = chunk.now_ms;
  }
  if (options_.producer) {
    batch.producer_id = options_.producer->id;
    batch.producer_epoch = options_.producer->epoch;
    if (options_.producer->transactional) batch.attribute_bits |= kTransactionalBit;
  }
  for (const std::int32_t partition : chunk.touched) {
    PartitionOutput& output = chunk.outputs[static_cast<std::size_t>(partition)];
    output.offsets = 0;
    output.to_skip = output.skip;
  }

  auto close = [&](PartitionOutput& output, std::size_t record) {
    if (output.builder.count() == 0) return true;
    const std::size_t begin = output.bytes.size() - output.builder.size();
    if (options_.producer) {
      batch.base_sequence = sequence_after(output.base_sequence, static_cast<std::int32_t>(output.offsets));
    }
    const UnitInfo info = output.builder.finish(batch, options_.compression, chunk.compressor, output.bytes);
    if (static_cast<std::int64_t>(info.size) > config.max_message_bytes) {
      output.bytes.cut(begin);
      chunk.parsed.fault = {ErrorCode::message_too_large, record,
                            fmt::format("the record takes {} bytes, above max.message.bytes {}", info.size,
                                        config.max_message_bytes)};
      return false;
    }
    output.units.push_back({static_cast<std::uint32_t>(info.size), info.count, info.max_timestamp});
    output.offsets += info.count;
    output.close_border();
    return true;
  };

  const auto& records = chunk.parsed.records;
  const bool runs = chunk.partition_of.empty() && options_.headers.empty();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::int32_t partition = chunk.partition_of.empty() ? chunk.single : chunk.partition_of[i];
    PartitionOutput& output = chunk.outputs[static_cast<std::size_t>(partition)];
    if (output.to_skip > 0) {
      --output.to_skip;
      continue;
    }
    if (runs) {
      i += output.builder.add_plain(output.bytes, chunk.now_ms, std::span(records).subspan(i), batch_limit);
      if (i == records.size()) break;
    }
    const InputRecord& record = records[i];
    const bool plain = record.extra < 0 && options_.headers.empty();
    RecordFields fields;
    if (!plain) fields = fields_of(chunk, record, options_.headers);
    const std::size_t bytes = payload_bytes(record) + header_bytes(fields);
    if (bytes > static_cast<std::size_t>(INT32_MAX) / 2 ||
        (output.builder.count() > 0 && output.builder.size_with(bytes) > batch_limit &&
         !close(output, i - 1))) {
      if (!chunk.parsed.fault) {
        chunk.parsed.fault = {ErrorCode::message_too_large, i,
                              "the record is larger than any batch can hold"};
      }
      break;
    }
    if (plain) {
      output.builder.add(output.bytes, chunk.now_ms, record.key, record.key_size, record.value,
                         record.value_size);
    } else {
      output.builder.add(output.bytes, fields.timestamp, fields.key, fields.value, fields.headers);
    }
    if (output.builder.size() >= batch_limit && !close(output, i)) break;
  }
  for (const std::int32_t partition : chunk.touched) {
    if (chunk.parsed.fault || !close(chunk.outputs[static_cast<std::size_t>(partition)], records.size() - 1))
      break;
  }
  if (!chunk.parsed.fault) return;
  for (const std::int32_t partition : chunk.touched) {
    PartitionOutput& output = chunk.outputs[static_cast<std::size_t>(partition)];
    output.builder.abandon(output.bytes);
  }
}

namespace {

/// Encodes one record and returns its timestamp.
std::int64_t encode_record(EncodedChunk& chunk, PartitionOutput& output, Offset offset,
                           const InputRecord& record, const EncodeOptions& options, bool append_time) {
  const std::vector<HeaderView>& common = options.headers;
  if (record.extra < 0 && common.empty() && !options.producer) {
    chunk.json.encode_plain(output.bytes, offset, record.key, record.key_size, record.value,
                            record.value_size, chunk.now_ms, output.epoch);
    return chunk.now_ms;
  }
  const RecordFields fields = fields_of(chunk, record, common);
  RecordView view;
  view.key = fields.key;
  view.value = fields.value;
  view.timestamp = append_time ? chunk.now_ms : fields.timestamp;
  view.headers = fields.headers;
  view.value_is_json = fields.value_is_json;
  JsonFields json{.leader_epoch = output.epoch};
  if (options.producer) {
    json.producer_id = options.producer->id;
    json.producer_epoch = options.producer->epoch;
    json.sequence = sequence_after(output.base_sequence, static_cast<std::int32_t>(output.units.size()));
    json.transactional = options.producer->transactional;
  }
  chunk.json.encode(output.bytes, offset, view, json);
  return view.timestamp;
}

}  // namespace

// What encode_json() does, for records from `at` on that are only a key and a value of common size. Returns
// the place of the first that is not, or that it must judge.
std::size_t ChunkEncoder::encode_json_run(EncodedChunk& chunk, PartitionOutput& output,
                                          std::size_t at) const {
  constexpr std::size_t most = 1U << 20;
  const auto& records = chunk.parsed.records;
  const auto limit = static_cast<std::size_t>(options_.config.max_message_bytes);
  const std::int64_t batch_size = options_.batch_size, now = chunk.now_ms;
  const LeaderEpoch epoch = output.epoch;
  const auto room = static_cast<std::size_t>(output.offsets) - output.units.size();
  const std::size_t end = at + std::min(records.size() - at, room);
  Offset offset = output.base + static_cast<std::int64_t>(output.units.size());
  for (; at < end; ++at) {
    const InputRecord& record = records[at];
    if (record.extra >= 0 || payload_bytes(record) > most) break;
    const std::size_t begin = output.bytes.size();
    chunk.json.encode_plain(output.bytes, offset, record.key, record.key_size, record.value,
                            record.value_size, now, epoch);
    const std::size_t size = output.bytes.size() - begin;
    if (size > limit) {
      output.bytes.cut(begin);
      break;
    }
    output.units.push_back({static_cast<std::uint32_t>(size), 1, now});
    output.open_bytes += size;
    if (static_cast<std::int64_t>(output.open_bytes) >= batch_size) output.close_json_border();
    offset += 1;
  }
  return at;
}

// With a fault in the chunk this runs once before the reservation, to see which records are in batches that
// closed.
void ChunkEncoder::encode_json(EncodedChunk& chunk) const {
  const LogConfig& config = options_.config;
  const bool append_time = config.timestamp_type == TimestampType::log_append_time;
  const auto& records = chunk.parsed.records;
  for (const std::int32_t partition : chunk.touched) {
    PartitionOutput& output = chunk.outputs[static_cast<std::size_t>(partition)];
    output.bytes.clear();
    output.units.clear();
    output.borders.clear();
    output.open_bytes = 0;
    output.open_records = 0;
    output.to_skip = output.skip;
  }
  const bool runs = chunk.partition_of.empty() && options_.headers.empty() && !options_.producer;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto p =
        static_cast<std::size_t>(chunk.partition_of.empty() ? chunk.single : chunk.partition_of[i]);
    PartitionOutput& output = chunk.outputs[p];
    if (runs) {
      i = encode_json_run(chunk, output, i);
      if (i == records.size()) break;
    }
    if (output.to_skip > 0) {
      --output.to_skip;
      continue;
    }
    if (static_cast<std::int64_t>(output.units.size()) >= output.offsets) continue;  // cut off by a fault
    const std::size_t begin = output.bytes.size();
    const bool huge = payload_bytes(records[i]) > static_cast<std::size_t>(INT32_MAX) / 8;
    std::int64_t timestamp = kNoTimestamp;
    if (!huge) {
      const Offset offset = output.base + static_cast<std::int64_t>(output.units.size());
      timestamp = encode_record(chunk, output, offset, records[i], options_, append_time);
    }
    const std::size_t size = output.bytes.size() - begin;
    if (huge || static_cast<std::int64_t>(size) > config.max_message_bytes) {
      output.bytes.cut(begin);
      if (!chunk.parsed.fault || chunk.parsed.fault->record > i) {
        chunk.parsed.fault = {ErrorCode::message_too_large, i,
                              fmt::format("the record takes {} bytes, above max.message.bytes {}", size,
                                          config.max_message_bytes)};
      }
      break;
    }
    output.units.push_back({static_cast<std::uint32_t>(size), 1, timestamp});
    output.open_bytes += size;
    if (static_cast<std::int64_t>(output.open_bytes) >= options_.batch_size) output.close_json_border();
  }
  for (const std::int32_t partition : chunk.touched) {
    PartitionOutput& output = chunk.outputs[static_cast<std::size_t>(partition)];
    if (!chunk.parsed.fault && output.open_bytes > 0) output.close_json_border();
    if (!chunk.parsed.fault) continue;
    // Only whole batches before the fault are kept.
    const PartitionOutput::Border last =
        output.borders.empty() ? PartitionOutput::Border{} : output.borders.back();
    output.bytes.cut(last.bytes);
    output.units.resize(last.units);
    output.offsets = last.offsets;
  }
}

RecordFields ChunkEncoder::fields(EncodedChunk& chunk, const InputRecord& record) const {
  return fields_of(chunk, record, options_.headers);
}

}  // namespace tk
