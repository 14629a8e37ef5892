// Message sets, magic 0 and 1 (kafka-on-disk.md §3), as brokers before 0.11 left them. They are only read.
//
//   0 offset i64 | 8 size i32 | 12 crc u32 | 16 magic i8 | 17 attributes i8 | [magic 1: 18 timestamp i64]
//   keyLength i32, key | valueLength i32, value
//
// An entry whose attributes name a codec is a wrapper: its value is a compressed sequence of such entries,
// and its offset is that of the last of them. The inner entry's magic decides its layout, the wrapper's magic
// what the inner offsets mean: the two may differ (KAFKA-4298).
#pragma once

#include <cstdint>
#include <optional>

#include "core/format/codec.h"
#include "core/format/record.h"
#include "core/format/unit.h"

namespace tk {

/// Reads the header of one whole entry. What the entry is too small to hold keeps its default and is a fault
/// of kind `record`; a magic other than 0 and 1 is one of kind `bad_magic`. Base and last offset are both the
/// header's: a wrapper's first offset is known only after decompression.
Fault read_legacy_info(ByteView unit, UnitInfo& info);

/// Verifies the CRC-32 of one whole entry, which covers everything from the magic on, but not offset and
/// size.
Fault check_legacy(ByteView unit);

/// A message with what only Kafka's dump tool shows of it.
struct LegacyRecord {
  RecordView record;
  /// The stored checksum of this very message, not of a wrapper around it.
  std::uint32_t crc = 0;
  std::int8_t magic = 0;
  /// The checksum is right.
  bool valid = true;
};

/// The messages of one entry, parsed anew at each iteration: a set of millions of small messages costs no
/// memory beyond its bytes. Valid until the decoder's next unit.
class LegacyRecords {
 public:
  class Iterator {
   public:
    const LegacyRecord& operator*() const { return record_; }
    const LegacyRecord* operator->() const { return &record_; }
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    friend class LegacyRecords;
    Iterator(const LegacyRecords& records, std::size_t index) : records_(&records), index_(index) { load(); }
    void load();

    const LegacyRecords* records_;
    std::size_t index_;
    std::size_t position_ = 0;  // of the entry in the set
    LegacyRecord record_;
  };

  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, count_}; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  friend class LegacyDecoder;

  ByteView set_;  // whole entries, the first count_ of which were parsed once without a mistake
  std::size_t count_ = 0;
  std::int64_t shift_ = 0;  // from an inner offset to the record's
  TimestampType timestamp_type_ = TimestampType::none;
  std::optional<std::int64_t> append_time_;  // stands for the timestamp of every message that has one
  bool all_valid_ = true;
};

/// Decodes entries one at a time with the caller's decompressor, in whose memory the records of a wrapper lie
/// until that is used again.
class LegacyDecoder {
 public:
  /// Takes the entry apart: one message, or those inside a wrapper. `info` is what read_legacy_info gave for
  /// it. Verifies the checksum of every message it gives, so a message altered inside a wrapper is a fault
  /// (`record`; an unwrapped one is `bad_crc`); a wrapper's own checksum is check_legacy's matter. On a fault
  /// records() holds what can be shown of the entry all the same, as Kafka's dump tool does, with `valid`
  /// telling good from bad.
  Fault decode(ByteView unit, const UnitInfo& info, Decompressor& decompressor);

  [[nodiscard]] const LegacyRecords& records() const { return records_; }

  /// Something odd in the last entry that Kafka reads all the same, a literal; null if there was nothing.
  [[nodiscard]] const char* oddity() const { return oddity_; }

 private:
  Fault open_wrapper(ByteView unit, const UnitInfo& info, Decompressor& decompressor);
  Fault count_entries(Offset& last);
  Fault check_entries(const UnitInfo& info);
  void note(const char* oddity) {
    if (oddity_ == nullptr) oddity_ = oddity;
  }

  LegacyRecords records_;
  const char* oddity_ = nullptr;
};

}  // namespace tk
