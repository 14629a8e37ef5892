#include "core/log/compaction_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "core/base/ordered_workers.h"
#include "core/format/record_decoder.h"
#include "core/log/partition_cursor.h"

namespace tk {
namespace {

struct Key {
  KeyHash hash;
  Offset offset;
  bool tombstone;
};

struct Job {
  /// What can be noted as read once its keys are in the map.
  struct Piece {
    std::size_t keys_end = 0;
    Offset last;
  };

  CursorChunk chunk;
  RecordDecoder decoder;
  // For the one map that is filled in order:
  std::vector<Key> keys;
  std::vector<Piece> pieces;
  std::vector<ReadStretch> stretches;
  std::uint64_t bytes = 0;
};

/// Keeps what a job has read until it is its turn.
class KeepKeys {
 public:
  explicit KeepKeys(Job& job) : job_(job) {
    job.keys.clear();
    job.pieces.clear();
  }
  void key(const Key& key) { job_.keys.push_back(key); }
  void piece(Offset last) { job_.pieces.push_back({job_.keys.size(), last}); }

 private:
  Job& job_;
};

/// Puts keys into a map while they are read, each some keys later: its place in memory comes meanwhile.
class PutKeys {
 public:
  explicit PutKeys(KeyMap& map) : map_(map) {}
  void key(const Key& key) {
    map_.prefetch(key.hash);
    waiting_[count_++] = key;
    if (count_ == waiting_.size()) put_all();
  }
  void piece(Offset) {}
  /// False if the map is full.
  bool finish() {
    put_all();
    return !full_;
  }

 private:
  void put_all() {
    for (std::size_t i = 0; i < count_ && !full_; ++i)
      full_ = !map_.put(waiting_[i].hash, waiting_[i].offset, waiting_[i].tombstone);
    count_ = 0;
  }

  KeyMap& map_;
  std::array<Key, 32> waiting_{};
  std::size_t count_ = 0;
  bool full_ = false;
};

class MapBuilder {
 public:
  MapBuilder(const MapInput& input, KeyMaps& keys)
      : from_(input.from), history_(input.history), keys_(keys), map_end_(input.from - 1) {}

  /// Side by side with others. `sink` is told of each key, and of the end of each piece.
  template <class Sink>
  void read(Job& job, Sink&& sink) const {
    job.stretches.clear();
    job.bytes = 0;
    std::int64_t records = 0;
    bool only_records = true;
    Offset last(-1);
    const auto take = [&](const RecordView& record) {
      ++records;
      if (record.key && record.offset >= from_) {
        sink.key(Key{keys_.hash(*record.key), record.offset, !record.value.has_value()});
      }
    };
    const auto refuse = [&](std::uint64_t position, std::uint64_t, const Fault& fault, ByteView) {
      refuse_to_compact(job.chunk.segment->log_path, position, fault);
    };
    for (const Stretch& stretch : job.chunk.scan.stretches) {
      if (stretch.kind != StretchKind::units) refuse(stretch.position, 0, stretch.fault, {});
      job.bytes += stretch.size;
      records = 0;
      only_records = true;
      walk_units(
          job.chunk.scan, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t position) {
            UnitInfo info;
            Fault fault = read_unit_info(unit, kind, info);
            only_records &= kind != UnitKind::legacy && !info.control && info.count > 0;
            if (!fault && !info.control && info.count > 0 &&
                (history_ == nullptr || !history_->transactions().aborted(info))) {
              fault = job.decoder.decode(unit, info, take);
            }
            if (fault) refuse(position, 0, fault, {});
            sink.piece(last = info.last_offset);
          },
          refuse,
          [&](const std::uint8_t* at, const std::uint8_t* end, Offset& before) {
            const PlainRun run = job.decoder.visit_plain_json(at, end, take);
            if (run.end != at) sink.piece(last = before = run.last);
            return run.end;
          });
      job.stretches.push_back({job.chunk.segment->base, stretch.position, stretch.position + stretch.size,
                               stretch.after, last, records, only_records});
    }
  }

  /// In order. False once the map is full.
  bool put(const Job& job) {
    KeyMap& map = keys_.of_writer(0);
    std::size_t at = 0;
    for (const Job::Piece& piece : job.pieces) {
      if (!put_keys(job, map, at, piece.keys_end)) return false;
      at = piece.keys_end;
      if (piece.last >= from_) map_end_ = std::max(map_end_, piece.last);
    }
    return true;
  }

  /// A map that is this thread's own.
  KeyMap& map_of_this_thread() { return keys_.of_writer(number_of_this_thread()); }

  [[nodiscard]] Offset map_end() const { return map_end_; }

 private:
  static constexpr std::size_t kAhead = 16;

  static bool put_keys(const Job& job, KeyMap& map, std::size_t at, std::size_t end) {
    for (; at < end; ++at) {
      if (at + kAhead < job.keys.size()) map.prefetch(job.keys[at + kAhead].hash);
      const Key& key = job.keys[at];
      if (!map.put(key.hash, key.offset, key.tombstone)) return false;
    }
    return true;
  }

  unsigned number_of_this_thread() {
    const std::scoped_lock lock(threads_mutex_);
    const auto found = std::ranges::find(threads_, std::this_thread::get_id());
    const auto number = static_cast<unsigned>(found - threads_.begin());
    if (found == threads_.end()) threads_.push_back(std::this_thread::get_id());
    return number;
  }

  Offset from_;
  const LogHistory* history_;
  KeyMaps& keys_;
  Offset map_end_;
  std::mutex threads_mutex_;
  std::vector<std::thread::id> threads_;
};

/// One reading of the input: side by side, or into one map in order.
struct MapReading {
  FileSystem& fs;
  const MapInput& input;
  MapBuilder& builder;
  MapContent& content;
  const std::function<void(std::uint64_t bytes)>& advanced;

  /// False if a map became full.
  bool run(bool apart) {
    content.read.clear();
    PartitionCursor cursor(fs, input.view, input.from);
    std::atomic<bool> full{false};
    std::vector<std::unique_ptr<Job>> jobs;
    for (unsigned i = 0; i < job_count(); ++i) jobs.push_back(std::make_unique<Job>());
    run_ordered(
        jobs, [&](Job& job) { return cursor.next(job.chunk); },
        [&](Job& job) {
          if (!apart) return builder.read(job, KeepKeys(job));
          PutKeys put(builder.map_of_this_thread());
          builder.read(job, put);
          if (!put.finish()) full = true;
        },
        [&](Job& job) {
          if (!apart && !builder.put(job)) full = true;
          content.read.insert(content.read.end(), job.stretches.begin(), job.stretches.end());
          advanced(job.bytes);
          return !full;
        },
        [](const Job&) { return true; }, [&](Job& job) { cursor.read_ahead(job.chunk); });
    return !full;
  }
};

}  // namespace

MapContent build_key_map(FileSystem& fs, const MapInput& input, KeyMaps& keys, bool& side_by_side,
                         const std::function<void(std::uint64_t bytes)>& advanced) {
  MapContent content{input.upper - 1, {}};
  MapBuilder builder(input, keys);
  std::uint64_t told = 0;  // of what is read twice, nothing is told twice
  if (side_by_side) {
    keys.divide(worker_count());
    const std::function<void(std::uint64_t bytes)> note = [&](std::uint64_t bytes) {
      told += bytes;
      advanced(bytes);
    };
    if (MapReading{fs, input, builder, content, note}.run(true)) return content;
    side_by_side = false;
    keys.divide(1);
  }
  const std::function<void(std::uint64_t bytes)> rest = [&](std::uint64_t bytes) {
    const std::uint64_t again = std::min(bytes, told);
    told -= again;
    advanced(bytes - again);
  };
  if (!MapReading{fs, input, builder, content, rest}.run(false)) content.end = builder.map_end();
  return content;
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
