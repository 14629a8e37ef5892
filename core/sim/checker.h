// The invariants of replication.md §7.8, looked at after every step.
//
// A log's history is its epoch entries and its end: two logs that have the same epoch at an offset have the
// same record there, as long as no two records ever had the same offset and epoch (R6, looked at on every
// append) and the entries are what the records bear (R9, R16, looked at whenever a log is opened, and at the
// end). So each step costs a few comparisons of entries.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/sim/scenario_run.h"

namespace tk {

struct Violation {
  /// "R4"
  std::string invariant;
  std::string what;
};

class Checker {
 public:
  explicit Checker(ScenarioRun& run);

  /// After a step; `outcome` is what it said.
  std::optional<Violation> check(const Step& step, const ScenarioRun::Outcome& outcome);
  /// The files of every replica against what was appended (R16).
  std::optional<Violation> check_files();
  /// When all faults are over and everybody had time: leaders, high watermarks, answers (R18).
  std::optional<Violation> check_liveness();

 private:
  struct LogShape {
    bool there = false;
    Offset start;
    Offset end;
    Offset high_watermark;
    std::vector<LeaderEpochEntry> epochs;
    bool operator==(const LogShape&) const = default;
  };
  struct Watched {
    std::string name;
    std::int32_t number = 0;
    std::map<BrokerId, LogShape> shapes;
    /// The committed prefix: which epoch each offset has.
    LeaderEpochs committed;
    Offset committed_end{0};
    /// Per replica the last (leader epoch, high watermark) as leader.
    std::map<BrokerId, std::pair<LeaderEpoch, Offset>> led;
    std::int32_t leader_epoch = 0;
    std::int32_t partition_epoch = 0;
    std::size_t sent_seen = 0;
    std::vector<AckedRange> acked_all;
  };
  struct RecordKey {
    std::int32_t partition;
    std::int64_t offset;
    std::int32_t epoch;
    auto operator<=>(const RecordKey&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const RecordKey& key) const {
      return static_cast<std::size_t>(key.offset) * 0x9e3779b97f4a7c15ULL ^
             static_cast<std::size_t>(key.epoch) << 20 ^ static_cast<std::size_t>(key.partition) << 52;
    }
  };

  void fail(const char* invariant, std::string what);
  void note_disks(const Step& step, const ScenarioRun::Outcome& outcome);
  void note_losses(const Step& step, const ScenarioRun::Outcome& outcome);
  /// A committed record is not where it should be. Where the configuration allows it that is a loss to be
  /// counted: what is committed is what the leader has from now on.
  void miss(const char* invariant, Watched& partition, const LogShape& leader, std::string what);
  void check_appends(const Step& step, const ScenarioRun::Outcome& outcome);
  void check_producer(const Step& step, std::size_t from);
  void check_read();
  void check_partition(Watched& partition);
  void check_controller(Watched& partition, const PartitionRegistration& state);
  void check_leader(Watched& partition, const PartitionRegistration& state);
  void check_pairs(Watched& partition);
  std::optional<Violation> check_file(const Watched& partition, BrokerId id);
  LogShape shape_of(BrokerId id, const std::string& name);
  static LeaderEpoch epoch_at(const LogShape& shape, Offset offset);
  static Offset part_at(const LogShape& a, const LogShape& b, Offset below);

  ScenarioRun& run_;
  std::vector<Watched> partitions_;
  std::unordered_map<RecordKey, std::size_t, KeyHash> sent_by_place_;
  std::size_t sent_seen_ = 0;
  struct Produced {
    std::int32_t partition;
    Offset offset;
    LeaderEpoch epoch;
    std::int32_t producer_epoch;
    std::int32_t sequence;
  };
  std::map<std::int64_t, std::vector<Produced>> produced_;
  std::optional<Violation> found_;
  // Brokers that have lost records and not caught up since, and whether more was lost than the configuration
  // promises to bear.
  std::set<BrokerId> hurt_;
  // Brokers whose disk has rotted and was not scrubbed since, or is full.
  std::set<BrokerId> rotten_, full_;
  bool loss_allowed_ = false;
};

}  // namespace tk
