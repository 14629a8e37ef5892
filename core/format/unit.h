// A stored unit: a json record, a record batch (magic 2), or a legacy message (magic 0 or 1). All begin with
// the same 12 bytes, an int64 offset and an int32 length of the rest, so one scanner walks them all
// (design.md §1).
#pragma once

#include <cstdint>

#include "core/base/bytes.h"
#include "core/base/ids.h"
#include "core/format/codec.h"
#include "core/format/fault.h"
#include "core/format/record.h"

namespace tk {

enum class UnitKind : std::uint8_t { json, legacy, batch };

/// Offset and length, before everything else.
inline constexpr std::size_t kUnitPrefix = 12;
/// The magic byte of Kafka's units lies here; a body of json text never has 0, 1 or 2 at this place.
inline constexpr std::size_t kMagicPosition = 16;
/// The least length field of Kafka's units: a magic-0 message with null key and value.
inline constexpr std::int32_t kMinLegacyLength = 14;
/// The least length field of a v2 batch: its header without the prefix.
inline constexpr std::int32_t kMinBatchLength = 49;

enum class FrameStatus : std::uint8_t {
  whole,      // a unit of `size` bytes begins here and fits
  need_more,  // the window ends before the unit does, but the file does not
  cut,        // the file ends inside a unit whose head is sane so far
  fault,      // no unit begins here: `fault` says why
};

struct Frame {
  FrameStatus status = FrameStatus::fault;
  UnitKind kind = UnitKind::batch;
  /// Bytes of the whole unit with its prefix; 0 when too little of it is there to say (cut, need_more).
  std::uint64_t size = 0;
  Fault fault;
};

/// Looks at the head of `window` only: offset, length, magic (or the braces of a json body). `remaining` is
/// how many bytes the file has from here on, at least window.size().
Frame frame_unit(ByteView window, std::uint64_t remaining);

/// Set in a batch whose base timestamp is a delete horizon (§2.5).
inline constexpr std::uint16_t kDeleteHorizonAttribute = 0x40;

/// What the header of a Kafka unit says (for a json record, what its members say). For a legacy wrapper the
/// base offset is not known without decompression: it is given as its last offset.
struct UnitInfo {
  UnitKind kind = UnitKind::batch;
  std::int8_t magic = 2;  // -1 for json
  std::uint16_t attributes = 0;
  std::uint64_t size = 0;
  Offset base_offset;
  Offset last_offset;
  LeaderEpoch leader_epoch = kNoLeaderEpoch;
  std::uint32_t crc = 0;
  std::int64_t base_timestamp = kNoTimestamp;
  std::int64_t max_timestamp = kNoTimestamp;
  ProducerId producer_id = kNoProducerId;
  std::int16_t producer_epoch = -1;
  std::int32_t base_sequence = -1;
  std::int32_t count = 1;
  TimestampType timestamp_type = TimestampType::create_time;
  bool transactional = false;
  bool control = false;
  /// A json record without a checksum (a plain tiny-kafka record).
  bool unprotected = false;

  [[nodiscard]] std::uint8_t codec_bits() const { return attributes & 7; }
  [[nodiscard]] bool compressed() const { return codec_bits() != 0; }
  /// Then base_timestamp is the horizon.
  [[nodiscard]] bool has_delete_horizon() const {
    return (attributes & kDeleteHorizonAttribute) != 0 && kind != UnitKind::legacy;
  }
  [[nodiscard]] std::int32_t last_sequence() const;
  [[nodiscard]] Offset next_offset() const { return last_offset + 1; }
};

/// inc() of kafka-on-disk.md §2.4: sequences wrap from 2^31-1 to 0, in int32 arithmetic as Kafka has it.
inline std::int32_t sequence_after(std::int32_t sequence, std::int32_t delta) {
  // Kafka compares and adds in int32, which wraps; unsigned arithmetic gives the same bits.
  const auto wrapped = [](std::int64_t n) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(n));
  };
  const std::int64_t max = INT32_MAX;
  const std::int32_t limit = wrapped(max - delta);
  if (sequence > limit) return wrapped(static_cast<std::int64_t>(delta) - (max - sequence) - 1);
  return wrapped(static_cast<std::int64_t>(sequence) + delta);
}

/// Reads the header of a whole unit (as frame_unit gave it). For a json record it parses the body; a body
/// that is no JSON object of the right shape is a fault of kind `record`.
Fault read_unit_info(ByteView unit, UnitKind kind, UnitInfo& info);

/// Verifies the checksum of a whole unit (and, for v2, that its size holds a header). A json record without a
/// checksum passes. Does not look at the records.
Fault check_unit(ByteView unit, UnitKind kind);

}  // namespace tk
