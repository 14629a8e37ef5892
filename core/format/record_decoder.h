// From a stored unit to its records, for every format behind one call.
//
// A unit either gives all its records or a fault: what was visited before a fault must be thrown away by the
// caller (Kafka's consumer hands out the records before a bad one; tk shows nothing of a damaged batch).
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/base/varint.h"
#include "core/format/batch.h"
#include "core/format/json_plain.h"
#include "core/format/json_record.h"
#include "core/format/legacy.h"

namespace tk {

/// Units that were visited together.
struct PlainRun {
  const std::uint8_t* end;  // of the last one; where the run would begin if there is none
  Offset last;              // its offset
};

/// Decodes units one at a time with reused buffers. For one thread; the views it hands out are valid until
/// its next call.
class RecordDecoder {
 public:
  /// Calls `visit(const RecordView&)` for each record of a unit whose checksum was found good, in stored
  /// order.
  template <class Visit>
  Fault decode(ByteView unit, const UnitInfo& info, Visit&& visit);

  /// Checks and visits the json units at `at` for as long as they are plain ones (json_plain.h) with a good
  /// checksum, up to some dozens; says nothing of the first that is not.
  template <class Visit>
  PlainRun visit_plain_json(const std::uint8_t* at, const std::uint8_t* end, Visit&& visit);

  /// The legacy records of the last unit, with what only the dump tool shows of them.
  [[nodiscard]] const LegacyDecoder& legacy() const { return legacy_; }
  /// The members of the last json unit that no record view has.
  [[nodiscard]] const JsonRecordDecoder& json() const { return json_; }

  /// Odd things that Kafka reads all the same (§2.8 "It accepts") in the last batch; null if there were none.
  /// `verify` names them.
  [[nodiscard]] const char* oddity() const { return oddity_; }

 private:
  /// The bytes of a batch's records, decompressed if need be.
  Fault open_records(ByteView batch, const UnitInfo& info, ByteView& records);
  /// The checks that come after the last record.
  Fault close_records(const UnitInfo& info, const std::uint8_t* at, const std::uint8_t* end);
  /// Reads one record at `at`, whatever it is; null on a fault, which is then in `fault_`.
  const std::uint8_t* read_record(const std::uint8_t* at, const std::uint8_t* end, const UnitInfo& info,
                                  RecordView& record);
  const std::uint8_t* read_headers(const std::uint8_t* at, const std::uint8_t* end, std::int32_t count);
  /// A varint, and a length with the bytes behind it (negative: null); null on a fault. They note what is
  /// odd.
  const std::uint8_t* read_varint(const std::uint8_t* at, const std::uint8_t* end, std::int32_t& out);
  const std::uint8_t* read_bytes(const std::uint8_t* at, const std::uint8_t* end,
                                 std::optional<std::string_view>& out);
  const std::uint8_t* refuse(const char* detail);
  /// A record that is as nearly all are: numbers in their shortest form and of few bytes, no attributes, no
  /// headers, everything within bounds.
  struct PlainRecord {
    std::uint32_t timestamp_delta, offset_delta;  // zigzag
    const char* key;                              // null: a null key
    const char* value;
    std::uint32_t key_size, value_size;
  };
  static std::optional<std::string_view> text_of(const char* data, std::uint32_t size) {
    if (data == nullptr) return std::nullopt;
    return std::string_view(data, size);
  }
  static constexpr std::size_t kPlainBlock = 32;
  /// Fills `block` from the plain records at `at`, moves behind them and says how many they are. Stops, and
  /// says nothing about it, before any other record.
  static std::size_t read_plain_block(const std::uint8_t*& at, const std::uint8_t* end,
                                      std::span<PlainRecord> block);
  /// Visits plain records from `at` on for as long as there are some; `left` counts down the batch's records.
  template <class Visit>
  const std::uint8_t* read_plain_records(const std::uint8_t* at, const std::uint8_t* end,
                                         const UnitInfo& info, std::int32_t& left, Visit& visit);
  /// What follows from the deltas that a record was stored with.
  void place_record(const UnitInfo& info, std::int64_t timestamp_delta, std::int32_t offset_delta,
                    RecordView& record);

  static constexpr char kNotRising[] = "record offsets do not rise";
  static constexpr char kAboveLast[] = "record offset above the batch's last offset";

  Decompressor decompressor_;
  LegacyDecoder legacy_;
  JsonRecordDecoder json_;
  PlainJsonReader plain_json_;
  std::vector<HeaderView> headers_;
  Fault fault_;
  const char* oddity_ = nullptr;
  // What is wrong with a payload that could be decompressed all the same; the fault that follows its records.
  const char* payload_error_ = nullptr;
  std::int64_t last_delta_ = -1;
};

inline void RecordDecoder::place_record(const UnitInfo& info, std::int64_t timestamp_delta,
                                        std::int32_t offset_delta, RecordView& record) {
  if (offset_delta <= last_delta_) oddity_ = kNotRising;
  if (offset_delta > info.last_offset - info.base_offset) oddity_ = kAboveLast;
  last_delta_ = offset_delta;
  record.offset = info.base_offset + offset_delta;
  record.encoded_timestamp = static_cast<std::int64_t>(static_cast<std::uint64_t>(info.base_timestamp) +
                                                       static_cast<std::uint64_t>(timestamp_delta));
  record.timestamp =
      info.timestamp_type == TimestampType::log_append_time ? info.max_timestamp : record.encoded_timestamp;
  record.sequence = info.base_sequence == -1 ? -1 : sequence_after(info.base_sequence, offset_delta);
}

// In blocks, and not inlined: finding the fields and using them are loops of their own, each with few enough
// variables for the processor's registers.
template <class Visit>
[[gnu::noinline]] const std::uint8_t* RecordDecoder::read_plain_records(const std::uint8_t* at,
                                                                        const std::uint8_t* const end,
                                                                        const UnitInfo& info,
                                                                        std::int32_t& left, Visit& visit) {
  const auto base_timestamp = static_cast<std::uint64_t>(info.base_timestamp);
  const std::int64_t base_offset = info.base_offset.value();
  const std::int64_t last_allowed = info.last_offset - info.base_offset;
  std::array<PlainRecord, kPlainBlock> block;
  RecordView record;
  record.timestamp_type = info.timestamp_type;
  while (left > 0) {
    const std::size_t asked = std::min(kPlainBlock, static_cast<std::size_t>(left));
    const std::size_t found = read_plain_block(at, end, {block.data(), asked});
    for (const PlainRecord& plain : std::span(block.data(), found)) {
      const std::int32_t offset_delta = unzigzag(plain.offset_delta);
      if (offset_delta <= last_delta_ || offset_delta > last_allowed) [[unlikely]]
        oddity_ = offset_delta > last_allowed ? kAboveLast : kNotRising;
      last_delta_ = offset_delta;
      record.offset = Offset(base_offset + offset_delta);
      record.encoded_timestamp = static_cast<std::int64_t>(
          base_timestamp +
          static_cast<std::uint64_t>(unzigzag(static_cast<std::uint64_t>(plain.timestamp_delta))));
      record.timestamp = info.timestamp_type == TimestampType::log_append_time ? info.max_timestamp
                                                                               : record.encoded_timestamp;
      record.sequence = info.base_sequence == -1 ? -1 : sequence_after(info.base_sequence, offset_delta);
      record.key = text_of(plain.key, plain.key_size);
      record.value = text_of(plain.value, plain.value_size);
      visit(static_cast<const RecordView&>(record));
    }
    left -= static_cast<std::int32_t>(found);
    if (found < asked) break;
  }
  return at;
}

template <class Visit>
[[gnu::noinline]] PlainRun RecordDecoder::visit_plain_json(const std::uint8_t* at,
                                                           const std::uint8_t* const end, Visit&& visit) {
  std::array<PlainJsonRecord, kPlainBlock> block;
  RecordView record;
  const std::size_t found = plain_json_.read(at, end, block);
  for (const PlainJsonRecord& plain : std::span(block.data(), found)) {
    record.offset = Offset(plain.offset);
    record.timestamp = plain.timestamp;
    record.key = text_of(plain.key, plain.key_size);
    record.value = std::string_view(plain.value, plain.value_size);
    visit(static_cast<const RecordView&>(record));
  }
  return {at, record.offset};
}

template <class Visit>
Fault RecordDecoder::decode(ByteView unit, const UnitInfo& info, Visit&& visit) {
  oddity_ = nullptr;
  if (info.kind == UnitKind::json) {
    RecordView record;
    const Fault fault = json_.decode(unit, record);
    if (!fault) visit(static_cast<const RecordView&>(record));
    return fault;
  }
  if (info.kind == UnitKind::legacy) {
    const Fault fault = legacy_.decode(unit, info, decompressor_);
    if (fault) return fault;
    for (const LegacyRecord& record : legacy_.records()) visit(static_cast<const RecordView&>(record.record));
    return {};
  }
  ByteView records;
  if (const Fault fault = open_records(unit, info, records)) return fault;
  const std::uint8_t* at = records.data();
  const std::uint8_t* const end = at + records.size();
  last_delta_ = -1;
  for (std::int32_t left = info.count;;) {
    at = read_plain_records(at, end, info, left, visit);
    if (left == 0) break;
    RecordView record;
    record.timestamp_type = info.timestamp_type;
    at = read_record(at, end, info, record);
    if (at == nullptr) return fault_;
    visit(static_cast<const RecordView&>(record));
    --left;
  }
  return close_records(info, at, end);
}

}  // namespace tk
