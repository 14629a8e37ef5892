#include "core/log/latest_keys.h"

#include <fmt/format.h>

#include <vector>

#include "core/base/error.h"
#include "core/base/ordered_workers.h"

namespace tk {
namespace {

struct Job {
  struct Key {
    KeyHash hash;
    Offset offset;
  };

  // The sink of walk_records.
  using TakesRuns = void;
  void begin_unit(const UnitInfo&) { unit_begin = keys.size(); }
  void record(const RecordView& record) {
    if (record.key) keys.push_back({map->hash(*record.key), record.offset});
  }
  void abandon_unit() { keys.resize(unit_begin); }
  void damage(ReadDamage&&) {}

  CursorChunk chunk;
  RecordDecoder decoder;
  const KeyMap* map = nullptr;
  std::vector<Key> keys;
  std::size_t unit_begin = 0;
};

}  // namespace

void find_latest_keys(FileSystem& fs, const LogView& view, const ReadScope& scope, KeyMap& keys) {
  PartitionCursor cursor(fs, view, scope.from);
  std::vector<std::unique_ptr<Job>> jobs;
  for (unsigned i = 0; i < job_count(); ++i) {
    jobs.push_back(std::make_unique<Job>());
    jobs.back()->map = &keys;
  }
  run_ordered(
      jobs, [&](Job& job) { return cursor.next(job.chunk); },
      [&](Job& job) {
        job.keys.clear();
        walk_records(job.chunk, scope, job.decoder, job);
      },
      [&](Job& job) {
        for (const Job::Key& key : job.keys) {
          if (keys.put(key.hash, key.offset)) continue;
          throw Error(
              ErrorCode::invalid_request,
              fmt::format("more than {} keys: their last records are not found in memory", keys.capacity()))
              .at(view.files.directory)
              .hint("compact the topic, or read fewer partitions or offsets at once");
        }
        return true;
      },
      [](const Job&) { return true; }, [&](Job& job) { cursor.read_ahead(job.chunk); });
}

}  // namespace tk
