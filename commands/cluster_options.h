// Options of `tk cluster`, `tk replicate-sim` and `tk failover` (cli.md §7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"

namespace tk {

struct ClusterInitOptions {
  std::int32_t brokers = 3;
  std::int32_t controllers = 1;
  std::vector<ConfigSetting> configs;
};

struct ClusterStatusOptions {};

struct ClusterStopOptions {
  std::vector<std::int32_t> brokers;
  std::vector<std::int32_t> controllers;
  bool controlled = false;
};

struct ClusterStartOptions {
  std::vector<std::int32_t> brokers;
  std::vector<std::int32_t> controllers;
};

struct ClusterEventsOptions {};

/// One of three forms: rounds on a partition, a scenario, seeds.
struct ReplicateSimOptions {
  std::string partition;
  std::int64_t rounds = 1;
  std::vector<std::int32_t> only;
  std::int64_t tick_ms = 0;
  std::vector<std::string> steps;

  std::optional<std::string> scenario;

  std::optional<std::uint64_t> first_seed, last_seed;
  std::int64_t steps_per_seed = 500;
  std::int32_t brokers = 3;
  std::int32_t controllers = 1;
  std::string acks = "mixed";
  std::int32_t min_isr = 2;
  std::vector<std::string> faults;
  std::vector<std::string> without;
  bool trace = false;
  std::int64_t shrink = 1;
};

struct FailoverOptions {
  std::string partition;
  std::optional<std::int32_t> to;
  bool unclean = false;
  bool preferred = false;
  bool dry_run = false;
};

}  // namespace tk
