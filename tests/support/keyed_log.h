// A log of keyed records on the disk in memory, and what a reader finds in it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/format/topic_format.h"
#include "core/io/memory_file_system.h"
#include "core/log/partition_log.h"
#include "core/log/record_walk.h"
#include "tests/support/crash_world.h"

namespace tk::test {

struct KeyedRecord {
  std::int64_t offset = 0;
  std::string key;
  std::optional<std::string> value;
  std::int64_t timestamp = 0;
  friend auto operator<=>(const KeyedRecord&, const KeyedRecord&) = default;
};

/// Writes records of one batch each.
class KeyedLog {
 public:
  KeyedLog(FileSystem& fs, TopicFormat format, std::int64_t segment_bytes = 400) : fs_(fs), format_(format) {
    config_.segment_bytes = segment_bytes;
    config_.index_interval_bytes = 100;
  }

  /// A tombstone if `value` is nothing. Producer fields go as they are given.
  void append(const std::string& key, const std::optional<std::string>& value, std::int64_t timestamp,
              const BatchFields& fields = {}) {
    PartitionLog log(fs_, kPartition, options());
    log.begin();
    const Offset offset = log.log_end();
    Buffer out;
    if (format_ == TopicFormat::kafka) {
      BatchBuilder builder;
      builder.start();
      builder.add(out, timestamp, key, value, {});
      BatchFields all = fields;
      all.base_offset = offset;
      Compressor compressor;
      builder.finish(all, {}, compressor, out);
    } else {
      RecordView record;
      record.timestamp = timestamp;
      record.key = key;
      if (value) record.value = *value;
      JsonFields json;
      json.producer_id = fields.producer_id;
      json.producer_epoch = fields.producer_epoch;
      json.sequence = fields.base_sequence;
      encode_json_record(out, offset, record, json);
    }
    log.append(out.view(), {{static_cast<std::uint32_t>(out.size()), 1, timestamp}});
    log.close();
    written_.push_back({offset.value(), key, value, timestamp});
  }

  void roll() {
    PartitionLog log(fs_, kPartition, options());
    log.begin();
    log.close_active_segment();
    log.close();
  }

  [[nodiscard]] const std::vector<KeyedRecord>& written() const { return written_; }
  [[nodiscard]] const LogConfig& config() const { return config_; }
  [[nodiscard]] Offset active_base() const { return list_partition(fs_, kPartition).segments.back().base; }

  /// What a reader finds.
  [[nodiscard]] std::vector<KeyedRecord> read() const {
    struct Sink {
      std::vector<KeyedRecord> found;
      std::size_t unit = 0;
      void begin_unit(const UnitInfo&) { unit = found.size(); }
      void record(const RecordView& record) {
        KeyedRecord& it = found.emplace_back();
        it.offset = record.offset.value();
        it.key = record.key.value_or("(null)");
        if (record.value) it.value = std::string(*record.value);
        it.timestamp = record.timestamp;
      }
      void abandon_unit() { found.resize(unit); }
      void damage(ReadDamage&& damage) {
        found.push_back({-1, "damage in " + damage.path, std::string(damage.fault.detail), 0});
      }
    } sink;
    const LogView view = open_log_view(fs_, kPartition);
    if (view.empty()) return {};
    PartitionCursor cursor(fs_, view, view.log_start);
    CursorChunk chunk;
    RecordDecoder decoder;
    while (cursor.next(chunk)) walk_records(chunk, ReadScope{.from = view.log_start}, decoder, sink);
    return sink.found;
  }

  /// What compaction must leave when everything below `upper` was in the map: of each key the last record,
  /// and all from `upper` on.
  [[nodiscard]] std::vector<KeyedRecord> compacted(Offset upper) const {
    std::map<std::string, std::int64_t> last;
    for (const KeyedRecord& record : written_) {
      if (record.offset < upper.value()) last[record.key] = record.offset;
    }
    std::vector<KeyedRecord> left;
    for (const KeyedRecord& record : written_) {
      if (record.offset >= upper.value() || last.at(record.key) == record.offset) left.push_back(record);
    }
    return left;
  }

 private:
  [[nodiscard]] PartitionLog::Options options() const {
    PartitionLog::Options options;
    options.config = config_;
    options.lock_wait = 0;
    return options;
  }

  FileSystem& fs_;
  TopicFormat format_;
  LogConfig config_;
  std::vector<KeyedRecord> written_;
};

}  // namespace tk::test
