// Whole random histories of a cluster on a disk in memory, with faults, checked after every step
// (replication.md §7).
//
// A history is a list of steps of the scenario language; a seed decides which. So whatever is found can be
// run again, made shorter, and printed as a scenario.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/sim/checker.h"
#include "core/sim/step.h"

namespace tk {

/// Kinds of faults (replication.md §7.12). A disk that rots is asked for by name: rot on a replica in the ISR
/// that no scrub has found yet may show as a record that is missing there.
struct Faults {
  bool net = true;
  bool reorder = true;
  bool crash = true;
  bool power = true;
  bool disk = false;
  bool controller = true;
  bool client = true;
};
/// Names of faults, "none" or "all"; all but the disk if there are none; nothing if one is unknown.
std::optional<Faults> parse_faults(const std::vector<std::string>& names);

struct HistoryOptions {
  std::uint64_t seed = 1;
  std::int64_t steps = 500;
  std::int32_t brokers = 3;
  std::int32_t controllers = 1;
  std::int32_t min_isr = 2;
  /// Nothing: mixed.
  std::optional<AckLevel> acks;
  Faults faults;
  Rules rules;
  /// Told of every step with what it said, and the cluster after it.
  std::function<void(std::int64_t number, const Step&, const ScenarioRun::Outcome&, Cluster&)> on_step;
  /// Told of every event of the cluster.
  std::function<void(const ClusterEvent&)> on_event;
};

struct SimHistory {
  std::uint64_t seed = 0;
  /// What the `config` line of the scenario says.
  ScenarioConfig config;
  std::vector<Step> steps;
  std::optional<Violation> violation;
  Counts acked{};
  Counts lost{};
};

/// Runs the history of a seed up to its first violation.
SimHistory run_history(const HistoryOptions& options);
/// Runs given steps; the history ends with the first violation, if there is one.
SimHistory replay_history(const ScenarioConfig& config, const std::vector<Step>& steps, std::uint64_t seed);
/// A history, as short as can be found within `budget_ms`, that breaks the same invariant.
SimHistory shrink_history(const SimHistory& found, std::int64_t budget_ms);
/// The history as a scenario file, with what it breaks as the last line.
std::string scenario_text(const SimHistory& history);

}  // namespace tk
