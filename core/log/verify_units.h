// The part of `tk verify` that needs no order: sums and records of one chunk, boiled down to what the ordered
// checks (verify_order.h) go by.
#pragma once

#include <vector>

#include "core/format/record_decoder.h"
#include "core/log/partition_cursor.h"

namespace tk {

/// A unit whose checksum is good.
struct UnitFacts {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  Offset first;
  Offset last;
  std::int64_t max_timestamp = kNoTimestamp;
  ProducerId producer_id = kNoProducerId;
  LeaderEpoch leader_epoch = kNoLeaderEpoch;
  std::int32_t base_sequence = -1;
  std::int32_t last_sequence = -1;
  std::int16_t producer_epoch = -1;
  UnitKind kind = UnitKind::batch;
  /// False for a compressed legacy unit that was not opened.
  bool first_known = true;
  bool has_timestamp = true;
  bool transactional = false;
  bool control = false;
  /// An ABORT marker; known only if records are looked at.
  bool aborts = false;
  /// Offsets within it have no record, as compaction leaves it.
  bool sparse = false;
  /// Its records cannot be used, though its checksum is good.
  bool bad_records = false;
};

/// Something found at a place between or in units.
struct UnitEvent {
  enum class Kind : std::uint8_t {
    damage,   // [position, position + size) cannot be used
    tail,     // the partition's last bytes: torn, or zeros
    overlap,  // a readable unit begins below the last offset that the header of the unit before claims
    oddity,   // odd, but read by Kafka
  };
  Kind kind = Kind::damage;
  /// How many of the chunk's units lie before it.
  std::size_t units_before = 0;
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  Fault fault;
  /// The offsets that the unit's header claims, if there is a unit.
  std::optional<std::pair<Offset, Offset>> offsets;
  bool checksum_good = false;
};

/// What one chunk holds, in order; reused from chunk to chunk.
struct ChunkFacts {
  std::vector<UnitFacts> units;
  std::vector<UnitEvent> events;
  std::uint64_t records = 0;
  std::uint64_t unprotected = 0;

  void clear() {
    units.clear();
    events.clear();
    records = unprotected = 0;
  }
};

/// Looks into units with a decoder of its own. For one thread.
class UnitInspector {
 public:
  /// `quick`: checksums and headers only.
  explicit UnitInspector(bool quick) : quick_(quick) {}

  void inspect(const CursorChunk& chunk, ChunkFacts& facts);

 private:
  void inspect_unit(ByteView unit, UnitKind kind, std::uint64_t position, ChunkFacts& facts);
  void inspect_json(ByteView unit, UnitFacts& unit_facts, ChunkFacts& facts);
  void inspect_records(ByteView unit, const UnitInfo& info, UnitFacts& unit_facts, ChunkFacts& facts);
  Fault walk_records_of(ByteView unit, const UnitInfo& info, UnitFacts& unit_facts, ChunkFacts& facts);
  void bad_records(ByteView unit, UnitFacts& unit_facts, const Fault& fault, ChunkFacts& facts);

  bool quick_;
  RecordDecoder decoder_;
};

}  // namespace tk
