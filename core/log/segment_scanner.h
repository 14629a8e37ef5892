// Walks a segment from a position to its end in large reads and says, stretch by stretch, what is there.
//
// The scanner frames units and watches their offsets; it does not sum them. So only this walk over the heads
// has an order, and checksums, decoding and output of the chunks it hands out can be done by several threads
// side by side (unit_walk.h does it for one chunk). Where something does not add up it looks closer: at the
// checksum of the unit before, whose length or offset may be what is wrong, and for the next place where a
// whole unit that verifies begins.
//
// What is damage here:
//   - bytes where no unit begins, up to the next unit that verifies, or to the end of the file;
//   - a unit whose offset does not rise above the unit before, or reaches into the next segment;
//   - a unit whose offset leaps ahead and which the unit behind it contradicts (base offsets lie outside
//   Kafka's CRC).
// The end of the file inside a unit, or zeros up to it, is a tail (torn_tail, zero_tail): whether it is
// damage depends on the segment being the last, which the caller knows.
#pragma once

#include <optional>
#include <vector>

#include "core/base/buffer.h"
#include "core/format/unit.h"
#include "core/io/file_system.h"
#include "core/log/read_ahead.h"
#include "core/log/unit_search.h"

namespace tk {

enum class StretchKind : std::uint8_t {
  units,   // whole units in a row, in the chunk's bytes
  damage,  // [position, position + size) cannot be used
  tail,    // the file's last bytes: a torn unit or unwritten zeros
};

struct Stretch {
  StretchKind kind = StretchKind::units;
  /// Place and size in the file.
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  /// units: where they begin in the chunk's bytes.
  std::size_t at = 0;
  /// units: every offset in the stretch lies above this one.
  Offset after;
  /// damage and tail: what is wrong. units: set if the first unit begins below the last offset that the
  /// header of the unit before claims, though above its records: readable, but one of the two headers is
  /// wrong.
  Fault fault;
};

struct ScanChunk {
  Buffer bytes;
  /// What `bytes` holds before the scan comes to this chunk.
  AheadBytes ahead;
  std::vector<Stretch> stretches;
};

/// Where a scan begins and what it knows of the surroundings.
struct ScanRange {
  /// A place where a unit begins.
  std::uint64_t position = 0;
  /// Bytes of the file that count; a writer may be appending behind them.
  std::uint64_t end = 0;
  /// The segment's base offset: a unit that ends below it is damage.
  Offset segment_base;
  /// Offsets must lie above this one (the last offset before `position`; segment_base - 1 if there is none).
  Offset after{-1};
  /// The first offset of the next segment, if there is one: units must lie below it.
  std::optional<Offset> below;
};

class SegmentScanner {
 public:
  /// With `ahead`, a reader of the same file, chunks may come with bytes that it has read.
  SegmentScanner(File& file, const ScanRange& range, std::size_t chunk_bytes = kDefaultChunk,
                 std::shared_ptr<ReadAhead> ahead = nullptr);

  /// Fills `chunk` with the next stretches; false at the end. The chunk's memory is reused.
  bool next(ScanChunk& chunk);

  /// The file position that the next chunk begins at; after a tail, the tail's position.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// The last offset seen, as headers claim it.
  [[nodiscard]] Offset last_offset() const { return last_; }

  static constexpr std::size_t kDefaultChunk = 1U << 20;

 private:
  struct Head;  // offsets of a framed unit
  enum class Step : std::uint8_t { go_on, chunk_done };

  // The unit before the one at hand, in the same chunk or an earlier one.
  struct Previous {
    std::uint64_t position = 0;
    std::uint64_t size = 0;
    UnitKind kind = UnitKind::batch;
    Offset before;       // last_ as it was before this unit
    Offset last_record;  // the last offset its records can have, by their count
    bool there = false;
    std::optional<bool> bad;  // its checksum, once it was asked for
  };

  void begin_chunk(ScanChunk& chunk);
  void read_to(ScanChunk& chunk, std::uint64_t size);
  std::size_t pass_in_line(ScanChunk& chunk, std::size_t at);
  bool pass_json(const std::uint8_t* bytes, std::size_t& at, std::size_t end, std::size_t& size,
                 Offset& last) const;
  Step take_unit(ScanChunk& chunk, std::size_t& at, const Frame& frame);
  Step refuse_unit(ScanChunk& chunk, std::size_t& at, const Frame& frame, const Fault& fault);
  Step read_on(ScanChunk& chunk, std::size_t& at, const Frame& frame);
  Step handle_unframed(ScanChunk& chunk, std::size_t& at, Fault fault);
  Step go_on_at(ScanChunk& chunk, std::size_t& at, std::uint64_t from, std::uint64_t good,
                const Fault& fault);
  bool contradicted(const ScanChunk& chunk, std::size_t at, std::uint64_t size, const Head& head);
  bool previous_is_bad(const ScanChunk& chunk);
  [[nodiscard]] bool previous_ends_at(std::uint64_t position) const;
  void take_back_previous(ScanChunk& chunk);
  void add_units(ScanChunk& chunk, std::size_t at, std::uint64_t size, const Fault& remark);
  void add_damage(ScanChunk& chunk, std::uint64_t from, std::uint64_t to, const Fault& fault);
  void add_end(ScanChunk& chunk, std::uint64_t from, const Fault& fault, bool zeros);
  [[nodiscard]] bool ends_in_brace(std::uint64_t end);
  [[nodiscard]] bool looks_like_next(std::uint64_t from);
  [[nodiscard]] Offset highest_offset() const;

  File& file_;
  ScanRange range_;
  std::size_t chunk_bytes_;
  std::uint64_t position_;
  std::uint64_t chunk_position_ = 0;  // file position of the chunk's first byte
  std::uint64_t chunk_begin_ = 0;     // where the scan of the chunk began: there, or behind it
  Offset last_;
  bool done_ = false;
  Previous previous_;
  UnitSearch search_;
  std::shared_ptr<ReadAhead> ahead_;
};

}  // namespace tk
