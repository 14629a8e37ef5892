#include "core/log/tail_scan.h"

#include <algorithm>

#include "core/base/ordered_workers.h"
#include "core/format/batch.h"

namespace tk {

Offset last_offset_of(ByteView unit, UnitKind kind) {
  const Offset first(load_be<std::int64_t>(unit.data()));
  if (kind != UnitKind::batch) return first;
  return first + std::max(load_be<std::int32_t>(unit.data() + batch_layout::kLastOffsetDelta), 0);
}

namespace {

/// A scan of less is done before a second thread would have begun.
constexpr std::uint64_t kWorthAThread = 4U << 20;

/// One unit or range of a chunk, summed.
struct Found {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  std::size_t at = 0;  // of a good unit, in the chunk's bytes
  UnitKind kind = UnitKind::batch;
  StretchKind what = StretchKind::units;
  std::size_t fault = 0;  // of anything else than a good unit, in `faults`
};

struct Job {
  ScanChunk chunk;
  std::vector<Found> found;
  std::vector<Fault> faults;

  /// The part that needs no order.
  void sum() {
    found.clear();
    faults.clear();
    const auto bad = [this](std::uint64_t position, std::uint64_t size, StretchKind what,
                            const Fault& fault) {
      found.push_back({position, size, 0, UnitKind::batch, what, faults.size()});
      faults.push_back(fault);
    };
    for (const Stretch& stretch : chunk.stretches) {
      if (stretch.kind != StretchKind::units) {
        bad(stretch.position, stretch.size, stretch.kind, stretch.fault);
        continue;
      }
      walk_units(
          chunk, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t position) {
            const auto at = static_cast<std::size_t>(unit.data() - chunk.bytes.data());
            found.push_back({position, unit.size(), at, kind, StretchKind::units, 0});
          },
          [&](std::uint64_t position, std::uint64_t size, const Fault& fault, ByteView) {
            bad(position, size, StretchKind::damage, fault);
          });
    }
  }
};

/// The part that has an order.
class Taking {
 public:
  Taking(TailScan& result, const UnitSink& sink) : result_(result), sink_(sink) {}

  void take(const Job& job) {
    for (const Found& found : job.found) {
      if (found.what == StretchKind::units) {
        good(job.chunk.bytes.view().subspan(found.at, found.size), found);
      } else if (found.what == StretchKind::damage) {
        result_.stop = TailScan::Stop::damaged;
        result_.damage.push_back(
            {found.position, found.size, job.faults[found.fault], result_.next_offset - 1, {}});
      } else {
        if (result_.stop == TailScan::Stop::clean) result_.stop = TailScan::Stop::tail;
        result_.tail = job.faults[found.fault];
        result_.tail_position = found.position;
        result_.tail_size = found.size;
      }
    }
  }

 private:
  void good(ByteView unit, const Found& found) {
    ++result_.units;
    result_.next_offset = std::max(result_.next_offset, last_offset_of(unit, found.kind) + 1);
    if (result_.damage.empty()) {
      result_.next_offset_before_damage = result_.next_offset;
      result_.good_bytes = found.position + found.size;
    } else {
      // Several damaged ranges may lie side by side: the unit follows all of them.
      const Offset first(load_be<std::int64_t>(unit.data()));
      for (auto behind = result_.damage.rbegin(); behind != result_.damage.rend() && !behind->next_good;
           ++behind)
        behind->next_good = first;
    }
    if (sink_) sink_(unit, found.kind, found.position);
  }

  TailScan& result_;
  const UnitSink& sink_;
};

}  // namespace

TailScan scan_to_end(FileSystem& fs, const SegmentFile& segment, ScanRange range, const UnitSink& sink) {
  if (range.end == 0) range.end = segment.size;
  TailScan result;
  result.good_bytes = range.position;
  result.next_offset = result.next_offset_before_damage = std::max(range.after + 1, range.segment_base);
  if (range.position >= range.end) return result;

  const std::shared_ptr<File> file = fs.open(segment.log_path, OpenMode::read);
  const bool large = range.end - range.position >= kWorthAThread;
  const auto ahead =
      large ? std::make_shared<ReadAhead>(file, range.end, SegmentScanner::kDefaultChunk) : nullptr;
  SegmentScanner scanner(*file, range, SegmentScanner::kDefaultChunk, ahead);
  Taking taking(result, sink);
  std::vector<std::unique_ptr<Job>> jobs;
  for (unsigned i = 0; i < (large ? job_count() : 1); ++i) jobs.push_back(std::make_unique<Job>());
  run_ordered(
      jobs, [&](Job& job) { return scanner.next(job.chunk); }, [](Job& job) { job.sum(); },
      [&](const Job& job) { return taking.take(job), true; }, [](const Job&) { return true; },
      [&](Job& job) { ahead->read(job.chunk.bytes, job.chunk.ahead); });
  return result;
}

}  // namespace tk
