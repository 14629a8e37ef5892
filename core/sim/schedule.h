// Which step comes next in a random history: the workload and the faults of a seed (replication.md §7.6).
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/sim/history.h"
#include "core/sim/random.h"

namespace tk {

class Schedule {
 public:
  explicit Schedule(const HistoryOptions& options);

  [[nodiscard]] const ScenarioConfig& config() const { return config_; }
  /// Looks at the state to choose steps that make sense; nothing in it is changed.
  Step next(ScenarioRun& run);
  /// What came of the step.
  void note(const Step& step, const ScenarioRun::Outcome& outcome);

 private:
  struct Producer {
    std::int64_t pid = 0;
    std::int32_t epoch = 0;
    std::int32_t sequence = 0;
    bool transactional = false;
    bool in_transaction = false;
    /// The batch that was sent last: sent again, it must have the same value.
    std::string last_value;
    std::int32_t last_sequence = -1;
    std::int32_t last_epoch = 0;
  };

  Step append(ScenarioRun& run);
  Step append_of_producer(ScenarioRun& run, Step step);
  Step fetch(ScenarioRun& run);
  Step message(ScenarioRun& run);
  Step crash(ScenarioRun& run);
  Step revive(ScenarioRun& run);
  Step cut(ScenarioRun& run);
  Step heal(ScenarioRun& run);
  Step read(ScenarioRun& run);
  Step transaction();
  Step disk(ScenarioRun& run);
  Step quorum();
  BrokerId any_broker() { return static_cast<BrokerId>(work_.between(1, options_.brokers)); }
  std::int32_t any_partition() {
    return static_cast<std::int32_t>(work_.below(static_cast<std::uint64_t>(config_.partitions)));
  }
  static Step make(Op op, std::int64_t n = -1);

  const HistoryOptions& options_;
  SimRandom sched_, work_, faults_;
  ScenarioConfig config_;
  Faults on_;
  // How often each kind of step comes, in parts of kParts; drawn per seed.
  static constexpr std::uint64_t kParts = 1000;
  std::uint64_t crash_weight_ = 0, cut_weight_ = 0, message_weight_ = 0, client_weight_ = 0,
                quorum_weight_ = 0, disk_weight_ = 0;
  std::uint64_t lost_reply_ = 0;
  std::int64_t values_ = 0;
  std::vector<Producer> producers_;
  std::size_t current_ = 0;
  bool was_producer_ = false;
  // Brokers whose disk has lost something and that have not caught up since.
  std::set<BrokerId> hurt_;
  // Brokers whose disk has a flipped byte that no scrub has found yet, or is full.
  std::set<BrokerId> rotten_, full_;
  std::vector<Step> planned_;
};

}  // namespace tk
