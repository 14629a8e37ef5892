#include "core/log/compaction_map.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/ordered_workers.h"
#include "core/format/record_decoder.h"
#include "core/log/partition_cursor.h"

namespace tk {
namespace {

struct Job {
  struct Key {
    KeyHash hash;
    Offset offset;
    bool tombstone;
  };
  /// What can be noted as read once its keys are in the map.
  struct Piece {
    std::size_t keys_end = 0;
    Offset last;
  };

  CursorChunk chunk;
  RecordDecoder decoder;
  std::vector<Key> keys;
  std::vector<Piece> pieces;
  std::vector<ReadStretch> stretches;
  std::uint64_t bytes = 0;
};

class MapBuilder {
 public:
  MapBuilder(Offset from, const LogHistory* history, KeyMap& keys)
      : from_(from), history_(history), keys_(keys) {}

  void read(Job& job) const {
    job.keys.clear();
    job.pieces.clear();
    job.stretches.clear();
    job.bytes = 0;
    std::int64_t records = 0;
    const auto take = [&](const RecordView& record) {
      ++records;
      if (record.key && record.offset >= from_) {
        job.keys.push_back({keys_.hash(*record.key), record.offset, !record.value.has_value()});
      }
    };
    const auto refuse = [&](std::uint64_t position, std::uint64_t, const Fault& fault, ByteView) {
      refuse_to_compact(job.chunk.segment->log_path, position, fault);
    };
    for (const Stretch& stretch : job.chunk.scan.stretches) {
      if (stretch.kind != StretchKind::units) refuse(stretch.position, 0, stretch.fault, {});
      job.bytes += stretch.size;
      records = 0;
      walk_units(
          job.chunk.scan, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t position) {
            UnitInfo info;
            Fault fault = read_unit_info(unit, kind, info);
            if (!fault && !info.control && info.count > 0 &&
                (history_ == nullptr || !history_->transactions().aborted(info))) {
              fault = job.decoder.decode(unit, info, take);
            }
            if (fault) refuse(position, 0, fault, {});
            job.pieces.push_back({job.keys.size(), info.last_offset});
          },
          refuse,
          [&](const std::uint8_t* at, const std::uint8_t* end, Offset& last) {
            const PlainRun run = job.decoder.visit_plain_json(at, end, take);
            if (run.end != at) job.pieces.push_back({job.keys.size(), last = run.last});
            return run.end;
          });
      job.stretches.push_back({job.chunk.segment->base, stretch.position, stretch.position + stretch.size,
                               stretch.after, job.pieces.back().last, records});
    }
  }

  /// False once the map is full.
  bool put(const Job& job, Offset& map_end) {
    std::size_t at = 0;
    for (const Job::Piece& piece : job.pieces) {
      for (; at < piece.keys_end; ++at) {
        if (at + kAhead < job.keys.size()) keys_.prefetch(job.keys[at + kAhead].hash);
        const Job::Key& key = job.keys[at];
        if (!keys_.put(key.hash, key.offset, key.tombstone)) return false;
      }
      if (piece.last >= from_) map_end = std::max(map_end, piece.last);
    }
    return true;
  }

 private:
  static constexpr std::size_t kAhead = 16;

  Offset from_;
  const LogHistory* history_;
  KeyMap& keys_;
};

}  // namespace

Offset build_key_map(FileSystem& fs, const LogView& view, Offset from, Offset upper,
                     const LogHistory* history, KeyMap& keys, std::vector<ReadStretch>& read,
                     const std::function<void(std::uint64_t bytes)>& advanced) {
  PartitionCursor cursor(fs, view, from);
  MapBuilder builder(from, history, keys);
  Offset map_end = from - 1;
  bool full = false;
  std::vector<std::unique_ptr<Job>> jobs;
  for (unsigned i = 0; i < job_count(); ++i) jobs.push_back(std::make_unique<Job>());
  run_ordered(
      jobs, [&](Job& job) { return cursor.next(job.chunk); }, [&](Job& job) { builder.read(job); },
      [&](Job& job) {
        full = !builder.put(job, map_end);
        read.insert(read.end(), job.stretches.begin(), job.stretches.end());
        advanced(job.bytes);
        return !full;
      },
      [](const Job&) { return true; }, [&](Job& job) { cursor.read_ahead(job.chunk); });
  return full ? map_end : upper - 1;
}

LogView segments_between(const LogView& view, Offset from, Offset upper) {
  LogView part;
  part.files.directory = view.files.directory;
  part.log_start = view.log_start;
  part.log_end = upper;
  for (std::size_t i = 0; i < view.files.segments.size(); ++i) {
    const auto& segments = view.files.segments;
    const bool ends_before = i + 1 < segments.size() && segments[i + 1].base <= from;
    if (segments[i].base < upper && !ends_before) part.files.segments.push_back(segments[i]);
  }
  if (!part.files.segments.empty()) part.last_segment_end = part.files.segments.back().size;
  return part;
}

void refuse_to_compact(const std::string& path, std::uint64_t position, const Fault& fault) {
  throw Error(ErrorCode::corrupt_message, fmt::format("a damaged log is not compacted: {}", fault.detail))
      .at(path, position)
      .hint("see what is lost with 'tk verify', repair with 'tk recover'");
}

}  // namespace tk
