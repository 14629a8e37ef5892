// What a worker of `consume` makes of its chunk: printed records with what is needed to cut them off, and
// damage.
#pragma once

#include <optional>
#include <regex>
#include <vector>

#include "commands/record_format.h"
#include "core/base/ordered_workers.h"
#include "core/base/short_copy.h"
#include "core/log/key_map.h"
#include "core/log/record_walk.h"

namespace tk {

/// Which records are printed, beyond the scope of the read.
class RecordFilter {
 public:
  /// Throws invalid_request for an expression that cannot be used.
  explicit RecordFilter(const ConsumeOptions& options);
  /// The same, of those records only that are the last of their key by `keys`, and have a value.
  [[nodiscard]] RecordFilter only_latest(const KeyMap& keys) const;
  [[nodiscard]] bool takes_all() const { return takes_all_; }
  [[nodiscard]] bool takes(const RecordView& record) const { return takes_all_ || examine(record); }

 private:
  [[nodiscard]] bool examine(const RecordView& record) const;

  bool takes_all_;
  std::optional<std::string> key_;
  std::optional<std::regex> grep_;
  const KeyMap* latest_ = nullptr;
};

/// Sink of walk_records (record_walk.h).
class ConsumeSink {
 public:
  struct Mark {
    std::size_t end = 0;  // of the record in the text
    std::int64_t timestamp = kNoTimestamp;
    Offset offset;
  };
  struct Found {
    ReadDamage damage;
    std::size_t text_before = 0;  // text and records before it, in this chunk
    std::int64_t records_before = 0;
  };

  using TakesRuns = void;

  /// With `marks` the end of every record is kept, so that the output can be cut after any of them.
  void start(const RecordFilter& filter, const RecordFormatter& formatter, bool marks);

  void begin_unit(const UnitInfo&) {
    unit_text_ = text.size();
    unit_records_ = records;
    unit_marks_ = marks.size();
  }
  [[gnu::always_inline]] void record(const RecordView& record) {
    // (A copy of the record, so that the decoder's own need not exist in memory.)
    if (!values_only_ || !record.value) return record_any(RecordView(record));
    // A value and a byte behind it: what is printed mostly, and by the million.
    const std::size_t size = record.value->size();
    std::uint8_t* const to = text.room(size + 1);
    copy_short(to, record.value->data(), size);
    to[size] = delimiter_;
    text.commit(size + 1);
    ++records;
  }
  void abandon_unit() {
    text.cut(unit_text_);
    records = unit_records_;
    marks.resize(unit_marks_);
  }
  void damage(ReadDamage&& damage) { found.push_back({std::move(damage), text.size(), records}); }

  Buffer text;
  std::int64_t records = 0;
  std::vector<Mark> marks;
  std::vector<Found> found;

 private:
  [[gnu::noinline]] void record_any(const RecordView& record);

  const RecordFilter* filter_ = nullptr;
  const RecordFormatter* formatter_ = nullptr;
  bool keep_marks_ = false;
  // Every record is printed as its value and the delimiter, and no more is to be known of it.
  bool values_only_ = false;
  std::uint8_t delimiter_ = 0;
  std::size_t unit_text_ = 0;
  std::int64_t unit_records_ = 0;
  std::size_t unit_marks_ = 0;
};

}  // namespace tk
