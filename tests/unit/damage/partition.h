// Partition directories that the damage test works on: their files in memory, and what a reader makes of
// them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/io/memory_file_system.h"
#include "core/log/log_view.h"
#include "core/log/record_walk.h"
#include "tests/support/bytes.h"
#include "tests/support/records.h"

namespace tk::test {

inline constexpr const char* kPartition = "logs/t-0";

/// A partition's files by name.
using PartitionBytes = std::map<std::string, Bytes>;

inline void put(FileSystem& fs, const PartitionBytes& files) {
  fs.make_directories(kPartition);
  for (const auto& [name, bytes] : files) write_file(fs, join_path(kPartition, name), bytes);
}

/// A record, and the same without its place: what Kafka's checksums cover. They leave the base offset of a
/// unit out, so a flipped bit there may move good records where nothing around contradicts it.
struct Placed {
  Record record;
  Record within;             // its offset relative to the unit's last
  bool unprotected = false;  // a json record without a checksum, among others that have one
};

struct ReadBack {
  std::vector<Placed> records;
  std::vector<ReadDamage> damage;

  [[nodiscard]] std::vector<Record> plain() const {
    std::vector<Record> out;
    for (const Placed& placed : records) out.push_back(placed.record);
    return out;
  }
};

/// Reads everything from `from` on as `consume` does.
inline ReadBack read_back(FileSystem& fs, Offset from = Offset(INT64_MIN),
                          std::size_t chunk_bytes = SegmentScanner::kDefaultChunk) {
  struct Sink {
    ReadBack out;
    std::size_t unit_start = 0;
    Offset unit_last;
    RecordDecoder decoder;
    bool is_json = false;
    void begin_unit(const UnitInfo& info) {
      is_json = info.kind == UnitKind::json;
      unit_start = out.records.size();
      unit_last = info.last_offset;
    }
    void record(const RecordView& view) {
      Placed placed{owned(view), owned(view), is_json && !decoder.json().has_crc()};
      placed.within.offset = view.offset - unit_last;
      out.records.push_back(std::move(placed));
    }
    void abandon_unit() { out.records.resize(unit_start); }
    void damage(ReadDamage&& damage) { out.damage.push_back(std::move(damage)); }
  } sink;
  const LogView view = open_log_view(fs, kPartition);
  PartitionCursor cursor(fs, view, from, chunk_bytes);
  CursorChunk chunk;
  ReadScope scope;
  scope.from = from;
  while (cursor.next(chunk)) walk_records(chunk, scope, sink.decoder, sink);
  return std::move(sink.out);
}

/// A healthy partition and its records.
struct Original {
  std::string name;
  PartitionBytes files;
  bool is_json = false;
  std::set<Record> records;
  std::set<Record> within;
};

/// Real brokers' partitions of every magic and codec, and logs that tk's own writer makes.
const std::vector<Original>& originals();

}  // namespace tk::test
