#include "core/format/batch.h"

#include <algorithm>

#include "core/base/crc.h"

namespace tk {

using namespace batch_layout;

UnitInfo read_batch_header(const std::uint8_t* header) {
  UnitInfo info;
  info.kind = UnitKind::batch;
  info.magic = static_cast<std::int8_t>(header[kMagic]);
  info.attributes = load_be<std::uint16_t>(header + kAttributes);
  info.size = static_cast<std::uint64_t>(load_be<std::int32_t>(header + kLength)) + kUnitPrefix;
  info.base_offset = Offset(load_be<std::int64_t>(header + kBaseOffset));
  info.last_offset = info.base_offset + load_be<std::int32_t>(header + kLastOffsetDelta);
  info.leader_epoch = LeaderEpoch(load_be<std::int32_t>(header + kLeaderEpoch));
  info.crc = load_be<std::uint32_t>(header + kCrc);
  info.base_timestamp = load_be<std::int64_t>(header + kBaseTimestamp);
  info.max_timestamp = load_be<std::int64_t>(header + kMaxTimestamp);
  info.producer_id = ProducerId(load_be<std::int64_t>(header + kProducerId));
  info.producer_epoch = load_be<std::int16_t>(header + kProducerEpoch);
  info.base_sequence = load_be<std::int32_t>(header + kBaseSequence);
  info.count = load_be<std::int32_t>(header + kCount);
  info.timestamp_type = (info.attributes & kLogAppendTimeBit) != 0 ? TimestampType::log_append_time
                                                                   : TimestampType::create_time;
  info.transactional = (info.attributes & kTransactionalBit) != 0;
  info.control = (info.attributes & kControlBit) != 0;
  return info;
}

std::uint32_t batch_crc(ByteView batch) {
  return crc32c(batch.subspan(kAttributes));
}

void BatchBuilder::start(std::optional<std::int64_t> base_timestamp) {
  open_ = false;
  size_ = kBatchHeader;
  count_ = 0;
  last_delta_ = -1;
  base_timestamp_ = base_timestamp;
  max_timestamp_ = kNoTimestamp;
}

void BatchBuilder::open(Buffer& out) {
  if (open_) return;
  open_ = true;
  out.room(kBatchHeader);
  out.commit(kBatchHeader);
}

namespace {

std::uint8_t* put_bytes(std::uint8_t* to, const std::optional<std::string_view>& bytes) {
  if (!bytes) {
    *to = 1;  // -1 in zigzag
    return to + 1;
  }
  to = put_varint(to, static_cast<std::int32_t>(bytes->size()));
  copy_short(to, bytes->data(), bytes->size());
  return to + bytes->size();
}

std::size_t nullable_size(const std::optional<std::string_view>& bytes) {
  if (!bytes) return 1;
  return varint_size(static_cast<std::int32_t>(bytes->size())) + bytes->size();
}

}  // namespace

void BatchBuilder::add(Buffer& out, std::int64_t timestamp, const std::optional<std::string_view>& key,
                       const std::optional<std::string_view>& value, std::span<const HeaderView> headers) {
  add_at(out, last_delta_ + 1, timestamp, key, value, headers);
}

void BatchBuilder::add(Buffer& out, std::int64_t timestamp, const char* key, std::int32_t key_size,
                       const char* value, std::int32_t value_size) {
  struct One {
    const char* key;
    const char* value;
    std::int32_t key_size, value_size, extra;
  };
  const One one{key, value, key_size, value_size, -1};
  if (add_plain(out, timestamp, std::span(&one, 1), SIZE_MAX) == 1) return;
  const auto text = [](const char* data, std::int32_t size) {
    return size < 0 ? std::nullopt : std::optional(std::string_view(data, static_cast<std::size_t>(size)));
  };
  add_at(out, last_delta_ + 1, timestamp, text(key, key_size), text(value, value_size), {});
}

inline void BatchBuilder::count_record(std::int32_t delta, std::int64_t timestamp, std::size_t bytes) {
  size_ += bytes;
  ++count_;
  last_delta_ = delta;
  if (timestamp > max_timestamp_) max_timestamp_ = timestamp;
}

void BatchBuilder::add_at(Buffer& out, std::int32_t delta, std::int64_t timestamp,
                          const std::optional<std::string_view>& key,
                          const std::optional<std::string_view>& value, std::span<const HeaderView> headers) {
  open(out);
  if (!base_timestamp_) base_timestamp_ = timestamp;
  const std::int64_t timestamp_delta = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(timestamp) - static_cast<std::uint64_t>(*base_timestamp_));
  std::size_t body = 1 + varlong_size(timestamp_delta) + varint_size(delta) + nullable_size(key) +
                     nullable_size(value) + varint_size(static_cast<std::int32_t>(headers.size()));
  for (const HeaderView& header : headers) body += nullable_size(header.name) + nullable_size(header.value);

  std::uint8_t* to = out.room(body + kMaxVarintBytes);
  std::uint8_t* const begin = to;
  to = put_varint(to, static_cast<std::int32_t>(body));
  *to++ = 0;  // attributes, unused
  to = put_varlong(to, timestamp_delta);
  to = put_varint(to, delta);
  to = put_bytes(to, key);
  to = put_bytes(to, value);
  to = put_varint(to, static_cast<std::int32_t>(headers.size()));
  for (const HeaderView& header : headers) to = put_bytes(put_bytes(to, header.name), header.value);

  out.commit_to(to);
  count_record(delta, timestamp, static_cast<std::size_t>(to - begin));
}

void BatchBuilder::abandon(Buffer& out) {
  if (open_) out.cut(out.size() - size_);
  start();
}

UnitInfo BatchBuilder::finish(const BatchFields& fields, const Compression& compression,
                              Compressor& compressor, Buffer& out) {
  open(out);
  const std::size_t begin = out.size() - size_;
  const Codec codec = count_ == 0 ? Codec::none : compression.codec;
  if (codec != Codec::none) {
    compressed_.clear();
    compressor.compress(compression, out.view().subspan(begin + kBatchHeader), compressed_);
    out.cut(begin + kBatchHeader);
    out.append(ByteView(compressed_));
  }
  std::uint8_t* header = out.data() + begin;
  const std::size_t size = out.size() - begin;
  store_be<std::int64_t>(header + kBaseOffset, fields.base_offset.value());
  store_be<std::int32_t>(header + kLength, static_cast<std::int32_t>(size - kUnitPrefix));
  store_be<std::int32_t>(header + kLeaderEpoch, fields.leader_epoch.value());
  header[kMagic] = 2;
  store_be<std::uint16_t>(
      header + kAttributes,
      static_cast<std::uint16_t>(fields.attribute_bits | static_cast<std::uint16_t>(codec)));
  store_be<std::int32_t>(header + kLastOffsetDelta, fields.last_offset_delta.value_or(last_delta_));
  store_be<std::int64_t>(header + kBaseTimestamp,
                         fields.base_timestamp.value_or(base_timestamp_.value_or(kNoTimestamp)));
  store_be<std::int64_t>(header + kMaxTimestamp, fields.max_timestamp.value_or(max_timestamp_));
  store_be<std::int64_t>(header + kProducerId, fields.producer_id.value());
  store_be<std::int16_t>(header + kProducerEpoch, fields.producer_epoch);
  store_be<std::int32_t>(header + kBaseSequence, fields.base_sequence);
  store_be<std::int32_t>(header + kCount, count_);
  store_be<std::uint32_t>(header + kCrc, batch_crc({header, size}));
  const UnitInfo info = read_batch_header(header);
  start();
  return info;
}

}  // namespace tk
