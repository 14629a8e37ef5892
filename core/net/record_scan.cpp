#include "core/net/record_scan.h"

#include <algorithm>

#include "core/format/record_decoder.h"
#include "core/log/partition_cursor.h"
#include "core/log/unit_walk.h"

namespace tk::net {
namespace {

class Scan {
 public:
  Scan(Offset from, Offset below, std::vector<TxnIndexEntry> aborted,
       const std::function<bool(const RecordView&)>& visit,
       const std::function<void(const ScanDamage&)>& damaged)
      : from_(from),
        below_(below),
        next_(from),
        aborted_(std::move(aborted)),
        visit_(visit),
        damaged_(damaged) {}

  void take(const CursorChunk& chunk) {
    const std::string& path = chunk.segment->log_path;
    for (const Stretch& stretch : chunk.scan.stretches) {
      if (done_) return;
      if (stretch.kind == StretchKind::damage) damaged_({path, stretch.position, stretch.fault});
      if (stretch.kind != StretchKind::units) continue;
      walk_units(
          chunk.scan, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t position) {
            take_unit(unit, kind, position, path);
          },
          [&](std::uint64_t position, std::uint64_t, const Fault& fault, ByteView) {
            if (!done_) damaged_({path, position, fault});
          });
    }
  }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] Offset next() const { return next_; }

 private:
  [[nodiscard]] bool is_aborted(const UnitInfo& info) const {
    return info.transactional && std::ranges::any_of(aborted_, [&](const TxnIndexEntry& entry) {
             return entry.producer == info.producer_id && info.base_offset >= entry.first &&
                    info.base_offset < entry.last;
           });
  }

  void take_unit(ByteView unit, UnitKind kind, std::uint64_t position, const std::string& path) {
    UnitInfo info;
    if (done_) return;
    if (const Fault fault = read_unit_info(unit, kind, info)) return damaged_({path, position, fault});
    if (info.last_offset < from_) return;
    // (Of a wrapper of old messages the header has the last offset only.)
    const bool first_known = kind != UnitKind::legacy || !info.compressed();
    if (first_known && info.base_offset >= below_) {
      done_ = true;
      return;
    }
    bool stopped = false;
    if (!info.control && !is_aborted(info)) {
      const Fault fault = decoder_.decode(unit, info, [&](const RecordView& record) {
        if (stopped || record.offset < from_ || record.offset >= below_) return;
        if (kind == UnitKind::json && decoder_.json().fields().control != JsonControl::none) return;
        if (visit_(record)) {
          next_ = record.offset + 1;
        } else {
          stopped = true;
        }
      });
      if (fault) damaged_({path, position, fault});
    }
    if (stopped) {
      done_ = true;
    } else {
      next_ = std::min(std::max(next_, info.last_offset + 1), below_);
    }
  }

  Offset from_, below_, next_;
  std::vector<TxnIndexEntry> aborted_;
  const std::function<bool(const RecordView&)>& visit_;
  const std::function<void(const ScanDamage&)>& damaged_;
  RecordDecoder decoder_;
  bool done_ = false;
};

}  // namespace

Offset scan_records(Partition& partition, Offset from, Offset below, bool committed,
                    const std::function<bool(const RecordView&)>& visit,
                    const std::function<void(const ScanDamage&)>& damaged) {
  if (from >= below) return from;
  Scan scan(from, below, committed ? partition.aborted_between(from, below) : std::vector<TxnIndexEntry>(),
            visit, damaged);
  const LogView view = partition.known_view();
  // A reader at the tail wants the last few records: small chunks cost least.
  const std::size_t chunk_bytes = view.log_end - from < 1000 ? 64U << 10 : SegmentScanner::kDefaultChunk;
  PartitionCursor cursor(partition.file_system(), view, from, chunk_bytes);
  CursorChunk chunk;
  while (!scan.done() && cursor.next(chunk)) scan.take(chunk);
  return scan.done() ? scan.next() : std::max(scan.next(), below);
}

}  // namespace tk::net
