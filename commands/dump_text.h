// The lines of `tk dump-log`, as kafka-dump-log prints them (kafka-on-disk.md §15.2).
//
// Lines are built in a Buffer by plain stores: the caller of a put_ function has made the room.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "commands/dump_style.h"
#include "core/base/buffer.h"
#include "core/base/text.h"
#include "core/format/json_record.h"
#include "core/format/legacy.h"
#include "core/format/unit.h"

namespace tk {

/// The line of a v2 batch or of a legacy entry at `position` in its file. `valid`: size and checksum are
/// right.
void append_unit_line(Buffer& to, const UnitInfo& info, std::uint64_t position, bool valid);

/// What the lines of a batch's records have in common.
class RecordLines {
 public:
  explicit RecordLines(const DumpStyle& style) : style_(style) {}

  /// The `| offset: ...` line of a record.
  void append_record(Buffer& to, const RecordView& record);
  /// The same of a message inside a legacy entry, which has a checksum of its own.
  void append_legacy(Buffer& to, const LegacyRecord& message);
  /// The line of a record of a control batch; on a fault its metadata only.
  Fault append_control(Buffer& to, const RecordView& record);

 private:
  void append_decoded(Buffer& to, const RecordView& record) const;
  char* put_shared(char* at, const RecordView& record);
  char* put_metadata(char* at, const RecordView& record, bool with_sequence);
  char* put_data(char* at, const RecordView& record) const;

  const DumpStyle& style_;
  TextBuffer scratch_;
  // What stands between the offset and the headers in the line of a record without sequence or headers, and
  // of what: records that follow each other often share it. At most " LogAppendTime: " with 20 digits and 53
  // more characters; all kSharedShown bytes are stored, and the writer has room behind.
  struct Shared {
    std::int64_t timestamp = 0, key_size = 0, value_size = 0;
    TimestampType type = TimestampType::none;
    bool operator==(const Shared&) const = default;
  };
  static constexpr std::size_t kSharedShown = 112;
  std::array<char, 160> shared_{};
  std::size_t shared_size_ = 0;
  Shared shared_of_;
};

/// A unit of the json format as text has it.
struct JsonUnitText {
  Offset offset;
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  /// The parsed record; null if the body is none.
  const RecordView* record = nullptr;
  JsonControl control = JsonControl::none;
  /// Nothing: the record has no checksum.
  std::optional<std::uint32_t> crc;
  bool valid = false;
};

/// The one line of a json unit; with `data` its key and value, with line breaks, other control characters,
/// the backslash and bytes that are not UTF-8 as escapes, so that a record is one line whatever it holds.
void append_json_unit_line(Buffer& to, const JsonUnitText& unit, bool data);

}  // namespace tk
