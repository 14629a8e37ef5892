// A partition on a disk that fails: what writers put there, what they were promised, and whether that holds.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/format/topic_format.h"
#include "core/io/memory_file_system.h"
#include "core/log/partition_log.h"
#include "core/log/recovery.h"
#include "core/log/tail_scan.h"
#include "core/log/verify.h"
#include "tests/support/log_maker.h"

namespace tk::test {

inline const std::string kPartition = "/logs/t-0";

/// What a log holds: its units by first offset, and the first thing wrong with it.
struct LogContent {
  std::map<std::int64_t, Bytes> units;
  std::int64_t end = 0;
  std::string wrong;
  /// What is wrong lies in the last segment.
  bool wrong_at_end = false;
};

/// Reads a log as it lies on the disk, without its indexes: offsets must be dense from the first segment on.
inline LogContent read_log(FileSystem& fs) {
  LogContent content;
  if (!fs.stat(kPartition)) return content;
  const PartitionFiles files = list_partition(fs, kPartition);
  for (const SegmentFile& segment : files.segments) {
    const auto wrong = [&](const std::string& what) {
      if (!content.wrong.empty()) return;
      content.wrong = base_name(segment.log_path) + ": " + what;
      content.wrong_at_end = &segment == &files.segments.back();
    };
    if (segment.base != Offset(content.end)) wrong("begins at another offset than where the log ends");
    const ScanRange range{.position = 0,
                          .end = segment.size,
                          .segment_base = segment.base,
                          .after = segment.base - 1,
                          .below = {}};
    const TailScan scan =
        scan_to_end(fs, segment, range, [&](ByteView unit, UnitKind kind, std::uint64_t position) {
          const auto first = load_be<std::int64_t>(unit.data());
          if (first != content.end) wrong("a gap before the unit at byte " + std::to_string(position));
          if (content.wrong.empty()) {
            content.units[first] = Bytes(unit.begin(), unit.end());
            content.end = last_offset_of(unit, kind).value() + 1;
          }
        });
    if (scan.stop != TailScan::Stop::clean)
      wrong("torn or damaged at byte " + std::to_string(scan.good_bytes));
  }
  return content;
}

/// What `verify` holds against the partition: its problems that are more than notes.
inline std::string verify_says(FileSystem& fs, const VerifyScope& scope = {}) {
  std::string said;
  PartitionVerifier verifier(
      fs,
      [&](const Problem& problem) {
        if (problem.severity == Severity::note) return;
        said += std::string(problem.kind) + " of " + base_name(problem.file) + ": " + problem.message + "; ";
      },
      [] { return false; });
  verifier.verify(kPartition, scope);
  return said;
}

class CrashWorld {
 public:
  CrashWorld(TopicFormat format, SyncPolicy sync) : format_(format), sync_(sync) {}

  MemoryFileSystem fs;

  /// Every offset below is promised to be durable.
  [[nodiscard]] std::int64_t promised() const { return promised_; }
  /// Forgets the promises: for what is broken on purpose.
  void expect(std::int64_t promised) { promised_ = promised; }

  /// A writer that opens the partition, appends so many records at a time, and ends. When something fails it
  /// does what a command does: it settles what it can, and the Error goes on.
  void write(std::initializer_list<int> appends) {
    PartitionLog log(fs, kPartition, options());
    guarded(log, [&] {
      for (const int records : appends) append(log, records);
      log.close();
    });
  }
  /// A writer that gives up its turn between the appends.
  void write_in_turns(std::initializer_list<int> appends) {
    PartitionLog log(fs, kPartition, options());
    guarded(log, [&] {
      for (const int records : appends) {
        log.begin();
        append(log, records);
        log.yield();
        promise(log);
      }
      log.begin();
      log.close();
    });
  }
  /// A writer of one unit with a higher leader epoch, as an import has.
  void raise_epoch(int epoch) {
    PartitionLog log(fs, kPartition, options());
    guarded(log, [&] {
      const Made made = make(log.log_end(), 1, LeaderEpoch(epoch));
      append_made(log, made.bytes, LeaderEpoch(epoch));
      promise(log);
      log.close();
    });
  }
  /// As `tk recover` does.
  RecoveryPlan recover(RecoveryMode mode = RecoveryMode::refuse, bool full = false) {
    RecoveryOptions options;
    options.mode = mode;
    options.full = full;
    options.trust_index = true;
    options.index_interval = config().index_interval_bytes;
    options.infer_interval = false;
    RecoveryPlan plan = plan_recovery(fs, kPartition, options);
    apply_recovery(fs, plan);
    return plan;
  }

  /// What of the promise does not hold on the disk as it is; empty if all holds. The end of the last segment
  /// may be torn.
  std::string broken_promise() {
    const LogContent content = read_log(fs);
    if (!content.wrong.empty() && !content.wrong_at_end) return content.wrong;
    if (content.end < promised_) {
      return "only " + std::to_string(content.end) + " of " + std::to_string(promised_) +
             " promised records; " + content.wrong;
    }
    for (const auto& [first, bytes] : content.units) {
      if (written_.at(first) != bytes) return "other bytes at offset " + std::to_string(first);
    }
    return {};
  }

  /// Opens the partition again without any manual step, appends, and looks at everything: empty if all is
  /// well. `recover_first`: with a `tk recover` before the append in place of behind it.
  std::string reopen(bool recover_first) {
    try {
      if (const std::string broken = broken_promise(); !broken.empty()) return "before opening: " + broken;
      fs.make_directories(kPartition);
      if (recover_first) {
        if (!recover().whole_afterwards()) return "recover leaves damage";
        if (const std::string said = verify_says(fs); !said.empty()) return "after recover: " + said;
      }
      write({2, 3});
      if (const std::string said = verify_says(fs); !said.empty()) return "after the append: " + said;
      const LogContent content = read_log(fs);
      if (!content.wrong.empty()) return "after the append: " + content.wrong;
      if (content.end != promised_) return "the append is not at the end of the log";
      if (const std::string broken = broken_promise(); !broken.empty()) return "after the append: " + broken;
      RecoveryPlan plan = recover();
      plan.steps.clear();  // left-over temporary files may go
      if (plan.changes_anything()) return "a second recover has work";
    } catch (const Error& error) {
      return "refused: " + error.message() + " " + error.path();
    } catch (const std::out_of_range&) {
      return "a unit that nobody wrote";
    }
    return {};
  }

 private:
  struct Made {
    Bytes bytes;
    std::vector<AppendUnit> units;
  };

  /// Small segments, and an index entry for nearly every unit, so that an index spans several blocks.
  static LogConfig config() {
    LogConfig config;
    config.segment_bytes = 12000;
    config.index_interval_bytes = 60;
    return config;
  }
  [[nodiscard]] PartitionLog::Options options() const {
    PartitionLog::Options options;
    options.config = config();
    options.sync = sync_;
    options.lock_wait = 0;
    return options;
  }

  template <class Work>
  void guarded(PartitionLog& log, Work work) {
    try {
      log.begin();
      work();
      promise(log);
    } catch (const Error&) {
      if (log.has_turn()) {
        try {
          log.settle();
        } catch (const Error&) {
        }
        promise(log);
      }
      throw;
    }
  }
  void promise(const PartitionLog& log) { promised_ = std::max(promised_, log.durable_end().value()); }

  void append(PartitionLog& log, int records) {
    const Made made = make(log.log_end(), records, log.leader_epoch());
    log.append({made.bytes.data(), made.bytes.size()}, made.units);
    promise(log);
  }

  /// Records are what their offset says; kafka batches hold up to three of them.
  Made make(Offset at, int records, LeaderEpoch epoch) {
    Made made;
    const int most = format_ == TopicFormat::json ? 1 : 3;
    while (records > 0) {
      const int count = std::min(records, most);
      Buffer out;
      AppendUnit unit;
      unit.offsets = count;
      builder_.start();
      for (int i = 0; i < count; ++i) {
        const std::int64_t offset = at.value() + i;
        const std::string value =
            std::to_string(offset) + std::string(static_cast<std::size_t>(offset * 37 % 90), 'v');
        // Most rise, some stand out.
        const std::int64_t timestamp = vectors::kT + offset * 10 + (offset % 29 == 7 ? 700 : 0);
        unit.max_timestamp = std::max(unit.max_timestamp, timestamp);
        if (format_ == TopicFormat::json) {
          RecordView record;
          record.timestamp = timestamp;
          record.value = value;
          JsonFields fields;
          fields.leader_epoch = epoch;
          encode_json_record(out, at + i, record, fields);
        } else {
          builder_.add(out, timestamp, std::nullopt, value, {});
        }
      }
      if (format_ == TopicFormat::kafka) {
        BatchFields fields;
        fields.base_offset = at;
        fields.leader_epoch = epoch;
        builder_.finish(fields, {Codec::none, {}}, compressor_, out);
      }
      unit.size = static_cast<std::uint32_t>(out.size());
      written_[at.value()] = Bytes(out.data(), out.data() + out.size());
      made.bytes.insert(made.bytes.end(), out.data(), out.data() + out.size());
      made.units.push_back(unit);
      at += count;
      records -= count;
    }
    return made;
  }

  TopicFormat format_;
  SyncPolicy sync_;
  BatchBuilder builder_;
  Compressor compressor_;
  std::int64_t promised_ = 0;
  std::map<std::int64_t, Bytes> written_;  // by first offset, as it was written last
};

}  // namespace tk::test
