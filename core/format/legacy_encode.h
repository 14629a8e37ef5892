// Writing messages of magic 0 and 1: a compaction makes a compressed set anew when some of its messages go
// (kafka-on-disk.md §3.2, §11.7), an import what a dump holds. Nothing else writes these formats.
#pragma once

#include "core/base/buffer.h"
#include "core/format/codec.h"
#include "core/format/record.h"
#include "core/format/unit.h"

namespace tk {

/// Appends one message that is no wrapper, of the magic and timestamp type of `like`, and says what its
/// header has.
UnitInfo append_legacy_message(const UnitInfo& like, const RecordView& record, Buffer& out);

/// Puts messages into one wrapper of the same magic, codec and timestamp type as another. Inner offsets are
/// absolute in magic 0, relative to the first message in magic 1; the wrapper's own is that of the last.
class LegacyWrapper {
 public:
  /// `like` is what read_legacy_info gave for the wrapper whose messages these are.
  explicit LegacyWrapper(const UnitInfo& like) : like_(like) {}

  /// Messages in rising order of offsets. They have no headers.
  void add(const RecordView& record);
  /// Appends the wrapper to `out`, given that there is a message, and says what its header has.
  UnitInfo finish(Compressor& compressor, Buffer& out);

 private:
  UnitInfo like_;
  Buffer inner_;
  std::optional<Offset> first_;
  Offset last_;
  std::int64_t max_timestamp_ = kNoTimestamp;
};

}  // namespace tk
