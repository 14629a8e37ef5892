// Rebuilds a stored unit, a batch or a json record, from the objects of a dump.
#pragma once

#include <cstdint>
#include <string>

#include "commands/dump_reader.h"
#include "core/base/buffer.h"
#include "core/format/batch.h"
#include "core/format/legacy_encode.h"
#include "core/format/topic_format.h"

namespace tk {

/// Takes one batch object after the other, each with its records. For one thread.
///
/// What a batch says by name (codec, transactional, timestamp_type ...) counts; `attributes` is asked for
/// what no other member says. Offsets, timestamps and producer fields are kept as they are; `count` is that
/// of the records given.
class UnitRebuilder {
 public:
  /// Starts a unit; what was begun before is forgotten. Returns what is wrong with the object, empty if
  /// nothing is.
  std::string begin(const DumpBatch& batch);
  /// Adds a record to the unit begun; its offset must lie in the unit, above those before.
  std::string add(const DumpRecord& record);
  /// What is wrong with the unit as a whole, empty if nothing is; before finish().
  [[nodiscard]] std::string check() const;
  /// Closes the unit. False if there is nothing to store: a json record that is not there. A batch whose
  /// records are all gone is stored empty, as a log cleaner leaves it, so that its offsets and its producer's
  /// sequence stay known.
  bool finish();

  // Of the unit begun last.
  [[nodiscard]] TopicFormat format() const { return json_ ? TopicFormat::json : TopicFormat::kafka; }
  [[nodiscard]] Offset first() const { return first_; }
  [[nodiscard]] Offset last() const { return last_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Records that the batch object speaks of.
  [[nodiscard]] std::int64_t dumped_count() const { return dumped_count_; }

  // Of the unit finished last, until the next begin().
  [[nodiscard]] ByteView bytes() const { return unit_.view(); }
  [[nodiscard]] const UnitInfo& info() const { return info_; }

 private:
  std::string begin_batch(const DumpBatch& batch);
  std::string begin_json(const DumpBatch& batch);
  std::string begin_legacy(const DumpBatch& batch);
  std::string add_to_batch(const DumpRecord& record);
  std::string add_legacy(const DumpRecord& record);
  std::string add_json(const DumpRecord& record);
  void set_json_info(const RecordView& record);

  bool json_ = false;
  bool legacy_ = false;
  Offset first_;
  Offset last_;
  Offset next_;  // the least offset that the next record may have
  std::int64_t count_ = 0;
  std::int64_t dumped_count_ = 0;
  bool control_ = false;

  BatchBuilder builder_;
  BatchFields fields_;
  LeaderEpoch latest_epoch_{0};
  Compression compression_;
  bool append_time_ = false;
  std::optional<std::int64_t> given_max_timestamp_;
  std::int64_t max_timestamp_ = kNoTimestamp;
  Compressor compressor_;

  // Of magic 0 and 1.
  UnitInfo legacy_info_;
  std::optional<LegacyWrapper> wrapper_;
  std::size_t legacy_bytes_ = 0;

  JsonFields json_fields_;
  Buffer unit_;
  UnitInfo info_;
};

}  // namespace tk
