// Record batches, magic 2 (kafka-on-disk.md §2): header layout, reading, and building.
//
//   0 baseOffset i64 | 8 batchLength i32 | 12 leaderEpoch i32 | 16 magic i8 | 17 crc u32 | 21 attributes i16
//   23 lastOffsetDelta i32 | 27 baseTimestamp i64 | 35 maxTimestamp i64 | 43 producerId i64 | 51
//   producerEpoch i16 53 baseSequence i32 | 57 recordsCount i32 | 61 records
//
// The CRC covers [21, end): base offset, length, leader epoch and magic lie outside it, so a batch can be
// encoded before its offset is known, and a good CRC does not make a good batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/short_copy.h"
#include "core/base/varint.h"
#include "core/format/codec.h"
#include "core/format/record.h"
#include "core/format/unit.h"

namespace tk {

namespace batch_layout {
inline constexpr std::size_t kBaseOffset = 0;
inline constexpr std::size_t kLength = kBaseOffset + 8;
inline constexpr std::size_t kLeaderEpoch = kLength + 4;
inline constexpr std::size_t kMagic = kLeaderEpoch + 4;
inline constexpr std::size_t kCrc = kMagic + 1;
inline constexpr std::size_t kAttributes = kCrc + 4;
inline constexpr std::size_t kLastOffsetDelta = kAttributes + 2;
inline constexpr std::size_t kBaseTimestamp = kLastOffsetDelta + 4;
inline constexpr std::size_t kMaxTimestamp = kBaseTimestamp + 8;
inline constexpr std::size_t kProducerId = kMaxTimestamp + 8;
inline constexpr std::size_t kProducerEpoch = kProducerId + 8;
inline constexpr std::size_t kBaseSequence = kProducerEpoch + 2;
inline constexpr std::size_t kCount = kBaseSequence + 4;
inline constexpr std::size_t kRecords = kCount + 4;
static_assert(kRecords == 61);
}  // namespace batch_layout

/// Bytes before the records.
inline constexpr std::size_t kBatchHeader = batch_layout::kRecords;

/// Attribute bits (§2.2).
inline constexpr std::uint16_t kLogAppendTimeBit = 0x08;
inline constexpr std::uint16_t kTransactionalBit = 0x10;
inline constexpr std::uint16_t kControlBit = 0x20;
inline constexpr std::uint16_t kDeleteHorizonBit = kDeleteHorizonAttribute;

/// Reads the header at `header` (61 bytes) of a batch whose length field was checked.
UnitInfo read_batch_header(const std::uint8_t* header);

/// CRC-32C of a whole batch, as its header should have it.
std::uint32_t batch_crc(ByteView batch);

/// What a batch carries besides its records.
struct BatchFields {
  Offset base_offset;
  /// The last offset is base_offset + this; without it the last record's delta.
  std::optional<std::int32_t> last_offset_delta;
  LeaderEpoch leader_epoch{0};
  std::uint16_t attribute_bits = 0;  // without the codec's
  ProducerId producer_id = kNoProducerId;
  std::int16_t producer_epoch = -1;
  std::int32_t base_sequence = -1;
  /// Instead of the first record's timestamp (a delete horizon, or what a dump says).
  std::optional<std::int64_t> base_timestamp;
  /// Instead of the records' maximum.
  std::optional<std::int64_t> max_timestamp;
};

/// Encodes records at the end of a buffer, one after the other, and closes them into a batch right there, so
/// that what is not compressed is never copied again. While a batch is open (count() > 0) nothing else is
/// appended to its buffer. For one thread.
class BatchBuilder {
 public:
  /// Starts an empty batch; its first record's timestamp becomes the base unless `base_timestamp` says
  /// another.
  void start(std::optional<std::int64_t> base_timestamp = std::nullopt);

  /// Adds a record at the next offset delta (or at `delta`, which must rise).
  void add(Buffer& out, std::int64_t timestamp, const std::optional<std::string_view>& key,
           const std::optional<std::string_view>& value, std::span<const HeaderView> headers);
  /// The same without headers, of parts given by place and size; a size of -1 is null.
  void add(Buffer& out, std::int64_t timestamp, const char* key, std::int32_t key_size, const char* value,
           std::int32_t value_size);
  void add_at(Buffer& out, std::int32_t delta, std::int64_t timestamp,
              const std::optional<std::string_view>& key, const std::optional<std::string_view>& value,
              std::span<const HeaderView> headers);

  /// Adds records to an open batch, with one timestamp, for as long as they are plain ones: a key and a value
  /// (by the members that add() has as parameters), an `extra` below 0, no number of more than two bytes.
  /// Stops before the first that might take the batch beyond `limit` bytes, and says how many it has added.
  template <class Record>
  std::size_t add_plain(Buffer& out, std::int64_t timestamp, std::span<const Record> records,
                        std::size_t limit);

  [[nodiscard]] std::int32_t count() const { return count_; }
  /// Bytes that the batch would take uncompressed with one record more of these sizes.
  [[nodiscard]] std::size_t size_with(std::size_t key_and_value_bytes) const {
    return size_ + key_and_value_bytes + kMaxRecordOverhead;
  }
  /// Bytes of the batch so far, uncompressed, header included.
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Closes the batch at the end of `out` and returns its header's facts; a batch that compression does not
  /// shrink is still stored compressed, as Kafka's own client does. The builder is empty again.
  UnitInfo finish(const BatchFields& fields, const Compression& compression, Compressor& compressor,
                  Buffer& out);
  /// Takes an open batch off the end of `out`.
  void abandon(Buffer& out);

  /// A record's bytes beside key, value and headers, at most (§2.3).
  static constexpr std::size_t kMaxRecordOverhead = 21;

 private:
  void count_record(std::int32_t delta, std::int64_t timestamp, std::size_t bytes);
  /// Makes the header's place at the end of `out` if this is the batch's first record.
  void open(Buffer& out);

  std::vector<std::uint8_t> compressed_;
  bool open_ = false;
  std::size_t size_ = kBatchHeader;
  std::int32_t count_ = 0;
  std::int32_t last_delta_ = -1;
  std::optional<std::int64_t> base_timestamp_;
  std::int64_t max_timestamp_ = kNoTimestamp;
};

/// Writes what assignment of an offset changes in an encoded batch: outside the CRC, so nothing is summed
/// again.
inline void assign_base_offset(std::uint8_t* batch, Offset base_offset, LeaderEpoch leader_epoch) {
  store_be<std::int64_t>(batch + batch_layout::kBaseOffset, base_offset.value());
  store_be<std::int32_t>(batch + batch_layout::kLeaderEpoch, leader_epoch.value());
}

// All the state that the loop needs lies in locals: there are millions of records to a second.
template <class Record>
std::size_t BatchBuilder::add_plain(Buffer& out, std::int64_t timestamp, std::span<const Record> records,
                                    std::size_t limit) {
  if (!open_ || records.empty()) return 0;
  const std::uint64_t stamp = zigzag(static_cast<std::int64_t>(static_cast<std::uint64_t>(timestamp) -
                                                               static_cast<std::uint64_t>(*base_timestamp_)));
  if (stamp >= kTwoByteLimit) return 0;
  const std::size_t stamp_size = small_uvarint_size(stamp);
  std::uint8_t* to = out.room(0);
  std::uint8_t* room_end = out.data() + out.capacity();
  std::size_t size = size_;
  auto offset = static_cast<std::uint32_t>(2 * (last_delta_ + 1));  // in zigzag
  const Record* at = records.data();
  for (const Record* const end = at + records.size(); at != end; ++at) {
    const auto key_bytes = static_cast<std::size_t>(at->key_size < 0 ? 0 : at->key_size);
    const auto value_bytes = static_cast<std::size_t>(at->value_size < 0 ? 0 : at->value_size);
    const std::uint32_t key_length = zigzag(at->key_size), value_length = zigzag(at->value_size);
    if (at->extra >= 0 || (offset | key_length | value_length) >= kTwoByteLimit ||
        size + key_bytes + value_bytes + kMaxRecordOverhead > limit)
      break;
    const std::size_t body = 2 + stamp_size + small_uvarint_size(offset) + small_uvarint_size(key_length) +
                             key_bytes + small_uvarint_size(value_length) + value_bytes;
    if (static_cast<std::size_t>(room_end - to) < body + kMaxVarintBytes) {
      out.commit_to(to);
      to = out.room(body + kMaxVarintBytes);
      room_end = out.data() + out.capacity();
    }
    std::uint8_t* const begin = to;
    to = put_uvarint(to, 2 * body);
    *to++ = 0;  // attributes, unused
    to = put_small_uvarint(to, stamp);
    to = put_small_uvarint(to, offset);
    to = put_small_uvarint(to, key_length);
    copy_short(to, at->key, key_bytes);
    to = put_small_uvarint(to + key_bytes, value_length);
    copy_short(to, at->value, value_bytes);
    to += value_bytes;
    *to++ = 0;  // headers
    size += static_cast<std::size_t>(to - begin);
    offset += 2;
  }
  const auto added = static_cast<std::size_t>(at - records.data());
  out.commit_to(to);
  size_ = size;
  count_ += static_cast<std::int32_t>(added);
  last_delta_ += static_cast<std::int32_t>(added);
  if (added > 0 && timestamp > max_timestamp_) max_timestamp_ = timestamp;
  return added;
}

}  // namespace tk
