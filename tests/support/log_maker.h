// Makes segments for tests, unit by unit, in every format, and remembers what lies where.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "core/format/batch.h"
#include "core/format/json_record.h"
#include "core/log/log_files.h"
#include "core/log/partition_log.h"
#include "core/log/segment_names.h"
#include "core/log/unit_walk.h"
#include "tests/support/bytes.h"
#include "tests/support/vectors.h"

namespace tk::test {

/// A unit of a log that a test made.
struct MadeUnit {
  Bytes bytes;
  std::size_t position = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t max_timestamp = kNoTimestamp;
};

class LogMaker {
 public:
  explicit LogMaker(std::int64_t base = 0) : base_(base), next_(base) {}

  /// A json record at the next offset.
  LogMaker& json(std::string_view value, std::int64_t timestamp = vectors::kT,
                 const JsonFields& fields = {}) {
    RecordView record;
    record.timestamp = timestamp;
    record.value = value;
    Buffer out;
    encode_json_record(out, Offset(next_), record, fields);
    return unit({out.data(), out.data() + out.size()}, 1, timestamp);
  }

  /// A batch at the next offset, with a record for each timestamp.
  LogMaker& batch(std::vector<std::int64_t> timestamps, Codec codec = Codec::none,
                  std::string_view value = "value", BatchFields fields = {}) {
    BatchBuilder builder;
    Buffer out;
    builder.start();
    for (const std::int64_t timestamp : timestamps) builder.add(out, timestamp, std::nullopt, value, {});
    fields.base_offset = Offset(next_);
    Compressor compressor;
    const UnitInfo info = builder.finish(fields, {codec, {}}, compressor, out);
    return unit({out.data(), out.data() + out.size()}, info.last_offset - info.base_offset + 1,
                info.max_timestamp);
  }

  /// A ready-made unit, moved to the next offset.
  LogMaker& raw(std::string_view hex, std::int64_t offsets = 1, std::int64_t max_timestamp = vectors::kT) {
    return unit(at_offset(from_hex(hex), next_), offsets, max_timestamp);
  }

  /// Leaves out offsets.
  LogMaker& skip(std::int64_t offsets) {
    next_ += offsets;
    return *this;
  }

  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] const std::vector<MadeUnit>& units() const { return units_; }
  [[nodiscard]] std::int64_t base() const { return base_; }
  [[nodiscard]] std::int64_t next_offset() const { return next_; }

 private:
  LogMaker& unit(Bytes unit, std::int64_t offsets, std::int64_t max_timestamp) {
    units_.push_back({unit, bytes_.size(), next_, next_ + offsets - 1, max_timestamp});
    bytes_.insert(bytes_.end(), unit.begin(), unit.end());
    next_ += offsets;
    return *this;
  }

  std::int64_t base_;
  std::int64_t next_;
  Bytes bytes_;
  std::vector<MadeUnit> units_;
};

/// Writes a segment file with this base offset and describes it as a listing would.
inline SegmentFile write_segment(FileSystem& fs, const std::string& directory, std::int64_t base,
                                 const Bytes& log) {
  SegmentFile segment;
  segment.base = Offset(base);
  segment.size = log.size();
  segment.log_path = join_path(directory, segment_file_name(segment.base, kLogSuffix));
  write_file(fs, segment.log_path, log);
  return segment;
}

inline SegmentFile write_segment(FileSystem& fs, const std::string& directory, const LogMaker& maker) {
  return write_segment(fs, directory, maker.base(), maker.bytes());
}

/// Appends a unit that bears its offset already.
inline void append_made(PartitionLog& log, const Bytes& unit, std::optional<LeaderEpoch> epoch) {
  const ByteView bytes{unit.data(), unit.size()};
  UnitInfo info;
  static_cast<void>(read_unit_info(bytes, framed_kind(bytes), info));
  log.append_at(info, epoch, bytes);
}
inline void append_made(PartitionLog& log, const MadeUnit& unit, std::optional<LeaderEpoch> epoch) {
  append_made(log, unit.bytes, epoch);
}

}  // namespace tk::test
