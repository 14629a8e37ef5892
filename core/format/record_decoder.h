// From a stored unit to its records, for every format behind one call.
//
// A unit either gives all its records or a fault: what was visited before a fault must be thrown away by the
// caller (Kafka's consumer hands out the records before a bad one; tk shows nothing of a damaged batch).
#pragma once

#include <vector>

#include "core/base/varint.h"
#include "core/format/batch.h"
#include "core/format/json_record.h"
#include "core/format/legacy.h"

namespace tk {

/// Decodes units one at a time with reused buffers. For one thread; the views it hands out are valid until
/// its next call.
class RecordDecoder {
 public:
  /// Calls `visit(const RecordView&)` for each record of a unit whose checksum was found good, in stored
  /// order.
  template <class Visit>
  Fault decode(ByteView unit, const UnitInfo& info, Visit&& visit);

  /// The legacy records of the last unit, with what only the dump tool shows of them.
  [[nodiscard]] const LegacyDecoder& legacy() const { return legacy_; }
  /// The members of the last json unit that no record view has.
  [[nodiscard]] const JsonRecordDecoder& json() const { return json_; }

  /// The timestamp that the record visited last was encoded with. In a batch with log append time it is not
  /// the record's (which is the batch's maximum), but what its producer had stamped; a rebuilt batch needs
  /// it.
  [[nodiscard]] std::int64_t encoded_timestamp() const { return encoded_timestamp_; }

  /// Odd things that Kafka reads all the same (§2.8 "It accepts") in the last batch; null if there were none.
  /// `verify` names them.
  [[nodiscard]] const char* oddity() const { return oddity_; }

 private:
  /// The bytes of a batch's records, decompressed if need be.
  Fault open_records(ByteView batch, const UnitInfo& info, ByteView& records);
  /// The checks that come after the last record.
  Fault close_records(const UnitInfo& info, const std::uint8_t* at, const std::uint8_t* end);
  /// Reads one record at `at` if it is as nearly all are: numbers in their shortest form and of few bytes, no
  /// attributes, no headers, everything within bounds. Null for any other, and then nothing is said about it.
  const std::uint8_t* read_plain_record(const std::uint8_t* at, const std::uint8_t* end, const UnitInfo& info,
                                        RecordView& record);
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
  /// What follows from the deltas that a record was stored with.
  void place_record(const UnitInfo& info, std::int64_t timestamp_delta, std::int32_t offset_delta,
                    RecordView& record);

  Decompressor decompressor_;
  LegacyDecoder legacy_;
  JsonRecordDecoder json_;
  std::vector<HeaderView> headers_;
  Fault fault_;
  const char* oddity_ = nullptr;
  // What is wrong with a payload that could be decompressed all the same; the fault that follows its records.
  const char* payload_error_ = nullptr;
  std::int64_t last_delta_ = -1;
  std::int64_t encoded_timestamp_ = kNoTimestamp;
};

[[gnu::always_inline]] inline void RecordDecoder::place_record(const UnitInfo& info,
                                                               std::int64_t timestamp_delta,
                                                               std::int32_t offset_delta,
                                                               RecordView& record) {
  if (offset_delta <= last_delta_) oddity_ = "record offsets do not rise";
  if (offset_delta > info.last_offset - info.base_offset)
    oddity_ = "record offset above the batch's last offset";
  last_delta_ = offset_delta;
  record.offset = info.base_offset + offset_delta;
  encoded_timestamp_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(info.base_timestamp) +
                                                 static_cast<std::uint64_t>(timestamp_delta));
  record.timestamp =
      info.timestamp_type == TimestampType::log_append_time ? info.max_timestamp : encoded_timestamp_;
  record.sequence = info.base_sequence == -1 ? -1 : sequence_after(info.base_sequence, offset_delta);
}

[[gnu::always_inline]] inline const std::uint8_t* RecordDecoder::read_plain_record(const std::uint8_t* at,
                                                                                   const std::uint8_t* end,
                                                                                   const UnitInfo& info,
                                                                                   RecordView& record) {
  // Up to the key's length: four numbers and the attributes.
  if (static_cast<std::size_t>(end - at) < 4 * kMaxShortVarint + 1) return nullptr;
  std::uint32_t length = 0, timestamp_delta = 0, offset_delta = 0, key = 0, value = 0;
  at = get_short_uvarint(at, length);
  if (at == nullptr || (length & 1) != 0 || length / 2 > static_cast<std::size_t>(end - at)) return nullptr;
  const std::uint8_t* const record_end = at + length / 2;
  if (*at != 0) return nullptr;
  at = get_short_uvarint(at + 1, timestamp_delta);
  if (at == nullptr) return nullptr;
  at = get_short_uvarint(at, offset_delta);
  if (at == nullptr) return nullptr;
  at = get_short_uvarint(at, key);
  if (at == nullptr) return nullptr;
  // A length of 1 is -1 in zigzag: null. Lower ones are odd, too, and are not for here.
  if (key == 1) {
    record.key.reset();
  } else {
    if ((key & 1) != 0 || at > record_end || key / 2 > static_cast<std::size_t>(record_end - at))
      return nullptr;
    record.key.emplace(reinterpret_cast<const char*>(at), key / 2);
    at += key / 2;
  }
  if (static_cast<std::size_t>(end - at) < kMaxShortVarint) return nullptr;
  at = get_short_uvarint(at, value);
  if (at == nullptr) return nullptr;
  if (value == 1) {
    record.value.reset();
  } else {
    if ((value & 1) != 0 || at > record_end || value / 2 > static_cast<std::size_t>(record_end - at)) {
      return nullptr;
    }
    record.value.emplace(reinterpret_cast<const char*>(at), value / 2);
    at += value / 2;
  }
  if (record_end - at != 1 || *at != 0) return nullptr;
  record.headers = {};
  place_record(info, unzigzag(static_cast<std::uint64_t>(timestamp_delta)), unzigzag(offset_delta), record);
  return record_end;
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
  RecordView record;
  record.timestamp_type = info.timestamp_type;
  last_delta_ = -1;
  for (std::int32_t i = 0; i < info.count; ++i) {
    const std::uint8_t* next = read_plain_record(at, end, info, record);
    if (next == nullptr) next = read_record(at, end, info, record);
    if (next == nullptr) return fault_;
    at = next;
    visit(static_cast<const RecordView&>(record));
  }
  return close_records(info, at, end);
}

}  // namespace tk
