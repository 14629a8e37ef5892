// What the headers of a partition's units tell when read in order: who led when, and what each producer sent.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/format/leader_epochs.h"
#include "core/log/log_files.h"
#include "core/log/problem.h"
#include "core/log/verify_units.h"

namespace tk {

/// Holds the units' leader epochs against each other (they never go back) and against
/// leader-epoch-checkpoint.
class EpochCheck {
 public:
  /// `checkpoint`: entries that rise strictly, or nothing if there is nothing to compare with. `demanded`: a
  /// checkpoint without entries is wrong, too, if units have epochs. It speaks of offsets from `from` on.
  /// `path` is the checkpoint's.
  EpochCheck(std::optional<std::vector<LeaderEpochEntry>> checkpoint, bool demanded, Offset from,
             std::string path)
      : checkpoint_(std::move(checkpoint)), demanded_(demanded), from_(from), path_(std::move(path)) {}

  void add(const UnitFacts& unit, const std::string& segment_path, ProblemCounter& report);

 private:
  void compare(const UnitFacts& unit, ProblemCounter& report);

  std::optional<std::vector<LeaderEpochEntry>> checkpoint_;
  bool demanded_;
  Offset from_;
  std::string path_;
  std::size_t next_ = 0;  // checkpoint entries before this one begin at or below the last unit
  LeaderEpoch latest_ = kNoLeaderEpoch;
  std::uint64_t latest_position_ = 0;  // where the latest epoch was first met
};

/// Follows each producer's sequence numbers and transactions. What compaction and expiry leave is taken as it
/// is; only what no broker would have appended is named.
class ProducerCheck {
 public:
  /// True if the unit ends a transaction by aborting it.
  bool add(const UnitFacts& unit, bool behind_gap, const std::string& segment_path, ProblemCounter& report);
  /// Something is missing or unreadable here: nothing that was known counts any more.
  void forget() { known_.clear(); }

 private:
  struct State {
    std::int16_t epoch = -1;
    std::int32_t first_sequence = -1;
    std::int32_t last_sequence = -1;
    std::uint64_t position = 0;
    bool transaction_open = false;
  };
  /// More producers than this at a time are not followed: memory stays bounded.
  static constexpr std::size_t kMostKnown = 1U << 16;

  std::unordered_map<ProducerId, State> known_;
};

/// Holds the producer snapshots against what the log below them says (kafka-on-disk.md §6), and knows at the
/// end which transactions are open.
class SnapshotCheck {
 public:
  struct Known {
    std::int16_t epoch = -1;
    std::int32_t last_sequence = -1;
    Offset last_offset{-1};
    std::int64_t last_timestamp = kNoTimestamp;
    std::optional<Offset> transaction_first;
  };

  /// `files` must outlive the check.
  SnapshotCheck(FileSystem& fs, const PartitionFiles& files) : fs_(fs), files_(files) {}

  /// Takes the next unit, after the snapshots at or below its first offset were compared.
  void add(const UnitFacts& unit, ProblemCounter& report);
  /// Something is missing or unreadable here, or was compacted away: what is not known may be true.
  void forget() {
    known_.clear();
    whole_ = false;
  }
  /// The records before here may have been removed one by one: no count of a snapshot can be held against
  /// them.
  void compacted() { compacted_ = true; }
  /// After the last unit: the snapshots up to the log's end.
  void finish(Offset log_end, ProblemCounter& report);

  [[nodiscard]] bool any_producer() const { return any_producer_; }
  /// Nothing before the units was missing: who has no open transaction here has none.
  [[nodiscard]] const std::unordered_map<ProducerId, Known>& producers() const { return known_; }
  /// The largest timestamp of the log.
  [[nodiscard]] std::int64_t newest() const { return newest_; }

 private:
  static constexpr std::size_t kMostKnown = 1U << 16;

  void compare_up_to(Offset offset, ProblemCounter& report);
  void compare(Offset at, ProblemCounter& report) const;

  FileSystem& fs_;
  const PartitionFiles& files_;
  std::size_t next_ = 0;  // snapshots before this one were compared
  std::unordered_map<ProducerId, Known> known_;
  bool started_ = false;
  bool whole_ = true;
  bool compacted_ = false;
  bool any_producer_ = false;
  std::int64_t newest_ = kNoTimestamp;
};

}  // namespace tk
