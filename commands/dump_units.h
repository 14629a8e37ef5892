// One unit of a log as `tk dump-log` shows it: its own line or object, and those of its records.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/dump_json.h"
#include "commands/dump_style.h"
#include "commands/dump_text.h"
#include "core/format/record_decoder.h"
#include "core/io/output.h"

namespace tk {

/// The offsets of the records shown, and where one does not follow the one before (for the tool's list of
/// non-consecutive offsets). Gaps beyond kMostGaps are only counted.
struct OffsetTrail {
  static constexpr std::size_t kMostGaps = 10000;

  std::optional<Offset> first;
  Offset last;
  std::vector<std::pair<Offset, Offset>> gaps;
  std::uint64_t gaps_left_out = 0;

  void pass(Offset offset) {
    if (!first) {
      first = offset;
    } else if (offset != last + 1) {
      add_gap(last, offset);
    }
    last = offset;
  }
  /// Takes in the trail of what follows.
  void join(const OffsetTrail& behind);
  void clear() { *this = {}; }

 private:
  void add_gap(Offset before, Offset behind) {
    if (gaps.size() < kMostGaps) {
      gaps.emplace_back(before, behind);
    } else {
      ++gaps_left_out;
    }
  }
};

/// Where the lines of units go: a buffer that is handed on at the end, or, so that a huge batch does not need
/// several times its size, on the way.
class DumpSink {
 public:
  /// Beyond this many bytes the buffer is emptied: into the stream, or, without one, into nothing, which
  /// overflowed() tells, and what was being dumped must be dumped again with a stream.
  static constexpr std::size_t kMostBuffered = 32U << 20;

  Buffer buffer;

  /// Starts anew; `stream` may be null.
  void start(OutputStream* stream) {
    buffer.clear();
    stream_ = stream;
    overflowed_ = false;
  }
  [[nodiscard]] bool overflowed() const { return overflowed_; }
  /// To be called between lines.
  void settle() {
    if (buffer.size() > kMostBuffered) [[unlikely]]
      spill();
  }

 private:
  void spill() {
    if (stream_ != nullptr) {
      stream_->write(as_text(buffer.view()));
    } else {
      overflowed_ = true;
    }
    buffer.clear();
  }

  OutputStream* stream_ = nullptr;
  bool overflowed_ = false;
};

/// Dumps units one after the other into a sink. For one thread.
class UnitDumper {
 public:
  /// `style` and `file` (the path as objects name it) must outlive the dumper.
  UnitDumper(const DumpStyle& style, const std::string& file) : style_(style), file_(file), lines_(style) {}

  /// Dumps a whole unit. Nothing inside one that is not `valid` (size and checksum right) is shown. Returns
  /// what is wrong with the records of a valid one (those before the fault were shown), or with a header that
  /// cannot be read. Sets `info` as far as the header could be read.
  Fault dump(ByteView unit, UnitKind kind, std::uint64_t position, bool valid, UnitInfo& info);
  /// Dumps the line of a batch from its header alone (61 bytes): the unit has a length or magic that nothing
  /// can be read by.
  void dump_header(const std::uint8_t* header, std::uint64_t position, bool valid, UnitInfo& info);
  void dump_damage(std::uint64_t position, std::uint64_t size, const Fault& fault);

  DumpSink sink;
  OffsetTrail trail;

 private:
  void show_unit(const UnitInfo& info, const BatchObject& batch);
  Fault dump_batch(ByteView unit, std::uint64_t position, bool valid, UnitInfo& info);
  Fault dump_batch_records(ByteView unit, const UnitInfo& info);
  /// What the producer of a batch's record had stamped, if the broker's time stands in its place.
  [[nodiscard]] std::optional<std::int64_t> create_ts(const RecordView& record) const;
  Fault show_control(const RecordView& record);
  Fault dump_legacy(ByteView unit, std::uint64_t position, bool valid, UnitInfo& info);
  Fault dump_json_unit(ByteView unit, std::uint64_t position, bool valid, UnitInfo& info);
  void take_object();

  const DumpStyle& style_;
  const std::string& file_;
  RecordLines lines_;
  RecordDecoder records_;
  LegacyDecoder legacy_;
  Decompressor decompressor_;
  JsonRecordDecoder json_;
  TextBuffer object_;
};

}  // namespace tk
