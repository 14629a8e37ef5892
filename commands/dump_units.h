// One unit of a log as `tk dump-log` shows it: its own line or object, and those of its records.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/dump_json.h"
#include "commands/dump_style.h"
#include "commands/dump_text.h"
#include "core/base/ordered_workers.h"
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

/// Where the lines of units go: a buffer that is handed on at the end, or, where that would grow too large,
/// by itself, once it is its turn.
class DumpSink {
 public:
  static constexpr std::size_t kMostBuffered = 4U << 20;

  Buffer buffer;

  /// Starts anew; both outlive the units.
  void start(OutputStream& out, const OrderedTurn& turn) {
    buffer.clear();
    out_ = &out;
    turn_ = &turn;
    stopped_ = false;
  }
  /// True once nothing is wanted any more.
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// To be called between lines.
  void settle() {
    if (buffer.size() > kMostBuffered) [[unlikely]]
      spill();
  }

 private:
  void spill() {
    if (!stopped_ && turn_->await()) {
      out_->write(as_text(buffer.view()));
      stopped_ = out_->closed();
    } else {
      stopped_ = true;
    }
    buffer.clear();
  }

  OutputStream* out_ = nullptr;
  const OrderedTurn* turn_ = nullptr;
  bool stopped_ = false;
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
