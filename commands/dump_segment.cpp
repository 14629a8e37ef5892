#include "commands/dump_segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "commands/dump_damage.h"
#include "commands/dump_reports.h"
#include "commands/dump_units.h"
#include "commands/progress.h"
#include "core/base/error.h"
#include "core/base/ordered_workers.h"
#include "core/io/file_system.h"
#include "core/io/output.h"
#include "core/log/unit_walk.h"

namespace tk {
namespace {

/// A chunk of the segment and what became of it.
struct Job {
  Job(const DumpStyle& style, const std::string& path) : dumper(style, path) {}

  ScanChunk chunk;
  UnitDumper dumper;
  FoundDamage found;
  /// Behind the last unit of which a line was shown; nothing if there was none.
  std::optional<std::uint64_t> units_end;
};

class SegmentDump {
 public:
  SegmentDump(const SegmentPlace& place, const DumpStyle& style, std::optional<std::uint64_t> max_bytes,
              Context& context)
      : place_(place),
        style_(style),
        max_bytes_(max_bytes),
        context_(context),
        progress_(context, "dumped", kProgressMiB, output_is_file()),
        damage_(place.path, context) {}

  void run(DumpReports& reports);

 private:
  void say(std::string_view text) {
    if (!style_.json) context_.out.write(text);
  }
  Offset first_offset();
  void format(Job& job, const OrderedTurn& turn);
  void show_units(Job& job, const Stretch& stretch);
  void show_damage(Job& job, const Stretch& stretch);
  std::uint64_t show_damaged_unit(Job& job, const Stretch& stretch, std::uint64_t at);
  void show_whole(Job& job, std::uint64_t at, std::uint64_t size);
  bool give(Job& job);

  const SegmentPlace& place_;
  const DumpStyle& style_;
  std::optional<std::uint64_t> max_bytes_;
  Context& context_;
  Progress progress_;
  std::shared_ptr<File> file_;
  std::uint64_t end_ = 0;
  // Of what was given so far:
  DamageReport damage_;
  OffsetTrail trail_;
  std::uint64_t units_end_ = 0;
};

/// The base of a segment whose name says none: its first unit's offset.
Offset SegmentDump::first_offset() {
  std::array<std::uint8_t, 8> bytes{};
  if (file_->read_at(0, bytes) < bytes.size()) return Offset(0);
  return std::max(Offset(0), Offset(load_be<std::int64_t>(bytes.data())));
}

void SegmentDump::run(DumpReports& reports) {
  // The tool names the file before it opens it.
  say(fmt::format("Dumping {}\n", place_.path));
  if (!place_.headline.empty()) {
    say(place_.headline + "\n");
  } else if (place_.base) {
    say(fmt::format("Log starting offset: {}\n", place_.base->value()));
  }
  file_ = context_.fs.open(place_.opens.empty() ? place_.path : place_.opens, OpenMode::read);
  end_ = file_->size();
  if (max_bytes_) end_ = std::min(end_, *max_bytes_);
  const Offset base = place_.base ? *place_.base : first_offset();
  if (!place_.base && place_.headline.empty()) say(fmt::format("Log starting offset: {}\n", base.value()));

  progress_.expect(end_);
  const auto ahead = std::make_shared<ReadAhead>(file_, end_, SegmentScanner::kDefaultChunk);
  SegmentScanner scanner(
      *file_, {.position = 0, .end = end_, .segment_base = base, .after = base - 1, .below = place_.below},
      SegmentScanner::kDefaultChunk, ahead);
  std::vector<std::unique_ptr<Job>> jobs;
  const std::uint64_t chunks = end_ / SegmentScanner::kDefaultChunk + 1;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(job_count(), chunks); ++i) {
    jobs.push_back(std::make_unique<Job>(style_, place_.path));
  }
  run_ordered(
      jobs, [&](Job& job) { return context_.interrupted.load() == 0 && scanner.next(job.chunk); },
      [&](Job& job, const OrderedTurn& turn) { format(job, turn); }, [&](Job& job) { return give(job); },
      [](const Job&) { return true; }, [&](Job& job) { ahead->read(job.chunk.bytes, job.chunk.ahead); });
  damage_.finish();
  if (context_.out.closed() || context_.interrupted.load() != 0) return;
  if (const std::uint64_t size = file_->size(); size < end_) {
    throw Error(
        ErrorCode::storage_error,
        fmt::format("the file shrank to {} bytes while it was read: {} were there before", size, end_))
        .at(place_.path, size);
  }
  if (units_end_ < end_ && !max_bytes_) {
    say(fmt::format("Found {} invalid bytes at the end of {}\n", end_ - units_end_, base_name(place_.path)));
  }
  reports.gaps(place_.path, trail_);
}

void SegmentDump::format(Job& job, const OrderedTurn& turn) {
  job.dumper.sink.start(context_.out, turn);
  job.dumper.trail.clear();
  job.found.clear();
  job.units_end.reset();
  for (const Stretch& stretch : job.chunk.stretches) {
    if (job.dumper.sink.stopped()) return;
    if (stretch.kind == StretchKind::units) {
      show_units(job, stretch);
    } else {
      show_damage(job, stretch);
    }
  }
}

void SegmentDump::show_units(Job& job, const Stretch& stretch) {
  if (stretch.fault) {
    job.found.add({stretch.position, 0, stretch.fault, std::nullopt, std::nullopt});
    job.dumper.dump_damage(stretch.position, 0, stretch.fault);
  }
  walk_units(
      job.chunk, stretch,
      [&](ByteView unit, UnitKind kind, std::uint64_t position) {
        UnitInfo info;
        const Fault fault = job.dumper.dump(unit, kind, position, true, info);
        job.units_end = position + unit.size();
        if (fault) {
          job.found.add({position, unit.size(), fault, offsets_of(info), std::nullopt});
          job.dumper.dump_damage(position, unit.size(), fault);
        } else {
          job.found.good_unit(position, Offset(load_be<std::int64_t>(unit.data())));
        }
      },
      [&](std::uint64_t position, std::uint64_t size, const Fault& fault, ByteView part) {
        // `part` ends where good units begin inside the bad one: its header still has the whole length.
        UnitInfo info;
        const UnitKind kind = framed_kind(part);
        if (kind == UnitKind::batch && part.size() >= kBatchHeader) {
          job.dumper.dump_header(part.data(), position, false, info);
        } else {
          (void)job.dumper.dump(part, kind, position, false, info);
        }
        job.units_end = position + size;
        job.found.add({position, size, fault, offsets_of(info), std::nullopt});
        job.dumper.dump_damage(position, size, fault);
      });
}

void SegmentDump::show_damage(Job& job, const Stretch& stretch) {
  const bool tail = stretch.kind == StretchKind::tail;
  if (!tail) {
    std::uint64_t at = stretch.position;
    while (at < stretch.position + stretch.size) {
      const std::uint64_t size = show_damaged_unit(job, stretch, at);
      if (size == 0) break;
      at += size;
      job.units_end = std::min(at, stretch.position + stretch.size);
    }
  }
  // Where reading was told to stop, a unit that goes on is no finding.
  if (tail && max_bytes_) return;
  const bool expected = tail && !place_.below;
  if (!expected) job.found.add({stretch.position, stretch.size, stretch.fault, std::nullopt, std::nullopt});
  job.dumper.dump_damage(stretch.position, stretch.size, stretch.fault);
}

/// Shows what stands at `at` in a damaged stretch as the unit that its length says, if it does; its size, or
/// 0 if no unit has this shape.
std::uint64_t SegmentDump::show_damaged_unit(Job& job, const Stretch& stretch, std::uint64_t at) {
  std::array<std::uint8_t, kBatchHeader> head{};
  const std::size_t got =
      file_->read_at(at, MutableBytes(head).first(std::min<std::uint64_t>(head.size(), end_ - at)));
  if (got <= kMagicPosition) return 0;
  const auto length = load_be<std::int32_t>(head.data() + 8);
  if (length < kMinLegacyLength) return 0;
  const std::uint64_t size = kUnitPrefix + static_cast<std::uint64_t>(length);
  if (size > end_ - at) return 0;
  const std::uint64_t stretch_left = stretch.position + stretch.size - at;
  // Behind the first unit only what lies within the stretch has a shape to go by.
  if (at != stretch.position && size > stretch_left) return 0;
  if (stretch.fault.kind == FaultKind::offset_regression && size <= stretch_left) {
    show_whole(job, at, size);
    return size;
  }
  const bool v2_like = head[kMagicPosition] >= 2 && head[kMagicPosition] < 0x80;
  // A length below the header's is shown with what stands there, as the tool does.
  const bool shows_header = size >= kBatchHeader || (at == stretch.position && got == head.size());
  if (!v2_like || !shows_header) return 0;
  UnitInfo info;
  bool valid = false;
  // A magic lies outside the checksum: the batch may be good but for it.
  constexpr std::uint64_t kMostSummed = 64U << 20;
  if (stretch.fault.kind == FaultKind::bad_magic && size >= kBatchHeader &&
      size <= std::min(stretch_left, kMostSummed)) {
    Buffer unit;
    unit.resize(size);
    valid = file_->read_at(at, {unit.data(), size}) == size && !check_unit(unit.view(), UnitKind::batch);
  }
  job.dumper.dump_header(head.data(), at, valid, info);
  return size;
}

/// A unit that is whole but out of place.
void SegmentDump::show_whole(Job& job, std::uint64_t at, std::uint64_t size) {
  Buffer bytes;
  bytes.room(size + kDecompressedSlack);
  bytes.resize(size);
  if (file_->read_at(at, {bytes.data(), size}) < size) return;
  const ByteView unit = bytes.view();
  const UnitKind kind = framed_kind(unit);
  UnitInfo info;
  (void)job.dumper.dump(unit, kind, at, !check_unit(unit, kind), info);
}

bool SegmentDump::give(Job& job) {
  context_.out.write(as_text(job.dumper.sink.buffer.view()));
  damage_.take(job.found);
  // A gap between what --offsets shows is no gap of the log.
  if (!style_.filters()) trail_.join(job.dumper.trail);
  if (job.units_end) units_end_ = *job.units_end;
  for (const Stretch& stretch : job.chunk.stretches) progress_.add(stretch.size);
  return !context_.out.closed();
}

}  // namespace

void dump_segment(const SegmentPlace& place, const DumpStyle& style, std::optional<std::uint64_t> max_bytes,
                  DumpReports& reports, Context& context) {
  SegmentDump(place, style, max_bytes, context).run(reports);
}

}  // namespace tk
