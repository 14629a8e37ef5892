// What kafka-dump-log lists on stderr after all files: index entries that do not fit the log, and records
// whose offset does not follow the one before (kafka-on-disk.md §15.3). They are information, not damage:
// several releases of Kafka write such indexes, and compaction leaves such gaps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"

namespace tk {

class Diagnostics;  // commands/diagnostics.h
struct OffsetTrail;

class DumpReports {
 public:
  /// An .index entry whose batch ends with another offset.
  void index_mismatch(const std::string& path, Offset indexed, Offset found);
  /// A .timeindex entry whose timestamp is not the largest of its batch.
  void timestamp_mismatch(const std::string& path, std::int64_t indexed, std::int64_t found);
  void timestamp_out_of_order(const std::string& path, std::int64_t indexed, std::int64_t previous);
  /// A .timeindex entry whose offset ends no batch; `found`: the first batch behind it, -1 for none.
  void offset_not_found(const std::string& path, Offset indexed, Offset found);
  /// The records of a segment. Kafka's tool counts from -1: a segment that does not begin at 0 has a gap
  /// before its first record.
  void gaps(const std::string& path, const OffsetTrail& trail);

  /// Prints the lists as notes.
  void print(Diagnostics& diagnostics) const;

 private:
  struct Entry {
    std::int64_t first;
    std::int64_t second;
  };
  struct List {
    std::string path;
    std::vector<Entry> entries;
    std::uint64_t left_out = 0;
  };
  /// Lists of one kind by file, in the order of the files.
  using Lists = std::vector<List>;

  void add(Lists& lists, const std::string& path, Entry entry);

  Lists index_mismatches_;
  Lists timestamp_mismatches_;
  Lists out_of_order_;
  Lists not_found_;
  Lists gaps_;
  std::size_t held_ = 0;
};

}  // namespace tk
