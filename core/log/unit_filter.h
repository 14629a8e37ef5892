// What a compaction leaves of one unit (kafka-on-disk.md §11.3 to §11.7): the unit as it was, a smaller one,
// an empty one, or nothing. Has no order: several threads filter side by side.
#pragma once

#include <vector>

#include "core/format/json_record.h"
#include "core/format/record_decoder.h"
#include "core/log/key_map.h"
#include "core/log/latest_offsets.h"
#include "core/log/log_history.h"

namespace tk {

struct FilterRules {
  const KeyMaps* keys = nullptr;
  /// What the map says of its own range, by offset; null: keys are looked up.
  const LatestOffsets* latest = nullptr;
  /// Null: the log has no producers.
  const LogHistory* history = nullptr;
  /// Records above it were not looked at for the map: they stay.
  Offset map_end;
  /// What ends here is the end of all, and stays, empty if need be, so that the offset is not forgotten. (As
  /// Kafka 4.4 has it; kafka-on-disk.md §11.6 names the end of what can be cleaned.)
  Offset high_watermark;
  /// In ms; tombstones whose delete horizon it has reached go.
  std::int64_t now_ms = 0;
  std::int64_t delete_retention_ms = 0;
};

/// What became of a unit.
struct FilteredUnit {
  /// In the output; 0: nothing is left.
  std::uint32_t size = 0;
  std::int32_t records_before = 0;
  std::int32_t records_after = 0;
  Offset last_offset;
  std::int64_t max_timestamp = kNoTimestamp;
};

/// For one thread.
class UnitFilter {
 public:
  explicit UnitFilter(const FilterRules& rules) : rules_(rules) {}

  /// Appends to `out` what is left of the unit, whose checksum was found good. `keep_legacy_tombstones`: of
  /// magic 0 and 1, in this segment (§11.3). A fault if its records cannot be read; `out` is then as it was.
  Fault filter(ByteView unit, const UnitInfo& info, bool keep_legacy_tombstones, Buffer& out,
               FilteredUnit& result);

 private:
  /// What is to be known of a record to decide about it; a unit that is written anew is decoded once more.
  struct Seen {
    KeyHash hash;
    Offset offset;
    bool has_key = false;
    bool has_value = false;
    bool stays = true;
  };

  [[nodiscard]] bool by_offset(const UnitInfo& info) const;
  Fault collect(ByteView unit, const UnitInfo& info);
  void decide(const UnitInfo& info, bool keep_legacy_tombstones);
  void write_batch(ByteView unit, const UnitInfo& info, bool set_horizon, Buffer& out, FilteredUnit& result);
  void write_json(ByteView unit, const UnitInfo& info, bool set_horizon, Buffer& out);
  void write_legacy(ByteView unit, const UnitInfo& info, Buffer& out, FilteredUnit& result);
  void write_empty(const UnitInfo& info, Buffer& out);
  /// Calls `take` with each record that stays.
  template <class Take>
  void each_that_stays(ByteView unit, const UnitInfo& info, Take take);
  [[nodiscard]] std::int64_t horizon() const { return rules_.now_ms + rules_.delete_retention_ms; }

  FilterRules rules_;
  RecordDecoder decoder_;
  BatchBuilder builder_;
  Compressor compressor_;
  JsonRecordEncoder json_;
  std::vector<Seen> records_;
  std::size_t kept_ = 0;
  bool tombstone_kept_ = false;
};

}  // namespace tk
