#include "core/sim/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/io/memory_file_system.h"
#include "core/sim/random.h"
#include "core/sim/schedule.h"

namespace tk {
namespace {

constexpr const char* kTopic = "t";

/// A cluster on a disk of its own, with everything that looks at it.
class World {
 public:
  World(const ScenarioConfig& config, std::uint64_t seed, std::function<void(const ClusterEvent&)> on_event)
      : config_(config),
        ids_(seed, "ids"),
        cluster_(disk_, "/c", config.cluster, options(std::move(on_event))) {
    cluster_.make({});
    ConfigMap small;
    // Small segments: a history meets rolls.
    small["segment.bytes"] = std::to_string(config.segment_bytes);
    cluster_.create_topic({kTopic, config.partitions, config.replicas, config.format, small});
    cluster_.propagate(config.propagate);
    run_.emplace(cluster_, kTopic);
    run_->fill_disk = [this](BrokerId id, bool full) { fill(id, full); };
    checker_.emplace(*run_);
  }

  ScenarioRun::Outcome step(const Step& step, std::optional<Violation>& violation) {
    ScenarioRun::Outcome outcome = run_->run(step);
    violation = checker_->check(step, outcome);
    return outcome;
  }

  /// All faults end, all brokers start, everybody has time (replication.md §7.7); then the files are looked
  /// at.
  std::optional<Violation> end() {
    std::optional<Violation> violation;
    const auto go = [&](const char* line) {
      Step parsed;
      parse_step(line, parsed);
      if (!violation) step(parsed, violation);
    };
    go("quorum heal");
    for (const auto& [id, voter] : cluster_.quorum().voters()) {
      if (!voter->up()) go(fmt::format("quorum start {}", id).c_str());
    }
    // An election takes its time, and may need another.
    for (int i = 0; i < 20 && !cluster_.metadata_log().available(); ++i) go("tick 1100");
    go("heal");
    go("propagate on");
    for (const auto& [id, broker] : cluster_.brokers()) {
      if (full_.contains(id)) go(fmt::format("room {}", id).c_str());
    }
    for (const auto& [id, broker] : cluster_.brokers()) {
      if (!broker.up) go(fmt::format("start {}", id).c_str());
      if (!cluster_.active(id)) go(fmt::format("unfence {}", id).c_str());
    }
    for (int i = 0; i < 3; ++i) {
      go("sync 4");
      go("tick 1100");
    }
    go("sync 4");
    if (config_.partitions == 1) scrub_all(go);
    if (violation) return violation;
    if (auto dead = checker_->check_liveness()) return dead;
    return checker_->check_files();
  }

  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] ScenarioRun& run() { return *run_; }

  void count(SimHistory& history) {
    history.acked = cluster_.accounting().acked_counts();
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(cluster_.image().topic(kTopic)->partitions.size());
         ++i) {
      const Counts lost = cluster_.lost(run_->partition_name(i));
      for (std::size_t level = 0; level < lost.size(); ++level) history.lost[level] += lost[level];
    }
  }

 private:
  /// Rot is found and mended: leaderships move away from it, and the log is built anew.
  template <class Go>
  void scrub_all(const Go& go) {
    for (const auto& [id, broker] : cluster_.brokers()) {
      go(fmt::format("scrub {}", id).c_str());
      for (int i = 0; i < 2; ++i) go("sync 4");
      go("tick 1100");
      go("sync 4");
    }
  }

  /// Writes to the broker's directory fail; of the first a part lands.
  void fill(BrokerId id, bool full) {
    if (full) {
      full_.insert(id);
    } else {
      full_.erase(id);
    }
    disk_.on_call = nullptr;
    if (full_.empty()) return;
    disk_.on_call = [this](const DiskCall& call) {
      if (call.kind != DiskCall::Kind::write) return DiskFate::done;
      for (const BrokerId broker : full_) {
        if (call.path.starts_with(cluster_.broker_directory(broker) + "/")) return DiskFate::torn;
      }
      return DiskFate::done;
    };
  }

  Cluster::Options options(std::function<void(const ClusterEvent&)> on_event) {
    Cluster::Options made;
    made.sync = SyncPolicy::never;
    made.lock_wait = 0;
    made.own_disks = true;
    made.on_event = std::move(on_event);
    made.new_id = [this] {
      Uuid id;
      for (std::uint8_t& byte : id.bytes) byte = static_cast<std::uint8_t>(ids_.next() & 0x7f);
      return id;
    };
    return made;
  }

  ScenarioConfig config_;
  MemoryFileSystem disk_;
  std::set<BrokerId> full_;
  SimRandom ids_;
  Cluster cluster_;
  std::optional<ScenarioRun> run_;
  std::optional<Checker> checker_;
};

}  // namespace

std::optional<Faults> parse_faults(const std::vector<std::string>& names) {
  if (names.empty()) return Faults{};
  Faults faults{false, false, false, false, false, false, false};
  for (const std::string& name : names) {
    if (name == "all") return Faults{true, true, true, true, true, true, true};
    if (name == "none") continue;
    bool* const member = name == "net"          ? &faults.net
                         : name == "reorder"    ? &faults.reorder
                         : name == "crash"      ? &faults.crash
                         : name == "power"      ? &faults.power
                         : name == "disk"       ? &faults.disk
                         : name == "controller" ? &faults.controller
                         : name == "client"     ? &faults.client
                                                : nullptr;
    if (member == nullptr) return std::nullopt;
    *member = true;
  }
  return faults;
}

SimHistory run_history(const HistoryOptions& options) {
  Schedule schedule(options);
  SimHistory history;
  history.seed = options.seed;
  history.config = schedule.config();
  World world(history.config, options.seed, options.on_event);
  history.steps.reserve(static_cast<std::size_t>(options.steps));
  while (static_cast<std::int64_t>(history.steps.size()) < options.steps && !history.violation) {
    history.steps.push_back(schedule.next(world.run()));
    const Step& step = history.steps.back();
    const ScenarioRun::Outcome outcome = world.step(step, history.violation);
    schedule.note(step, outcome);
    if (options.on_step)
      options.on_step(static_cast<std::int64_t>(history.steps.size()), step, outcome, world.cluster());
  }
  if (!history.violation) history.violation = world.end();
  world.count(history);
  return history;
}

SimHistory replay_history(const ScenarioConfig& config, const std::vector<Step>& steps, std::uint64_t seed) {
  SimHistory history;
  history.seed = seed;
  history.config = config;
  World world(config, seed, {});
  for (const Step& step : steps) {
    history.steps.push_back(step);
    world.step(step, history.violation);
    if (history.violation) break;
  }
  if (!history.violation) history.violation = world.end();
  world.count(history);
  return history;
}

namespace {

/// Fewer and smaller steps for as long as the same invariant breaks.
class Shrinker {
 public:
  Shrinker(const SimHistory& found, std::int64_t budget_ms)
      : best_(found), end_ms_(monotonic_ms() + budget_ms) {}

  SimHistory run() {
    // All steps up to the violation are there; whole chunks go first, then single steps.
    for (std::size_t chunk = best_.steps.size() / 2; chunk >= 1; chunk = chunk == 1 ? 0 : chunk / 2) {
      bool again = true;
      while (again && has_time()) {
        again = false;
        for (std::size_t at = 0; at < best_.steps.size() && has_time();) {
          std::vector<Step> fewer = best_.steps;
          const std::size_t end = std::min(at + chunk, fewer.size());
          fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at),
                      fewer.begin() + static_cast<std::ptrdiff_t>(end));
          if (try_steps(fewer)) {
            again = true;
          } else {
            at += chunk;
          }
        }
      }
    }
    simplify();
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool has_time() const { return monotonic_ms() < end_ms_; }

  bool try_steps(const std::vector<Step>& steps) {
    SimHistory tried = replay_history(best_.config, steps, best_.seed);
    if (!tried.violation || tried.violation->invariant != best_.violation->invariant) return false;
    best_ = std::move(tried);
    return true;
  }

  void simplify() {
    for (std::size_t i = 0; i < best_.steps.size() && has_time(); ++i) {
      const auto with = [&](auto change) {
        if (i >= best_.steps.size()) return;
        std::vector<Step> steps = best_.steps;
        change(steps[i]);
        if (format_step(steps[i]) != format_step(best_.steps[i])) try_steps(steps);
      };
      with([](Step& step) {
        if (step.op == Op::append && step.words.size() > 1) step.words.resize(1);
      });
      with([](Step& step) { step.max = step.op == Op::fetch || step.op == Op::send ? kNoLimit : step.max; });
      with([](Step& step) { step.lose = step.op == Op::fetch ? Cluster::Lose::nothing : step.lose; });
      with([](Step& step) {
        if (step.op == Op::kill && step.disk.what == DiskLoss::What::records) step.disk.count = 1;
      });
    }
  }

  SimHistory best_;
  std::int64_t end_ms_;
};

}  // namespace

SimHistory shrink_history(const SimHistory& found, std::int64_t budget_ms) {
  return Shrinker(found, budget_ms).run();
}

std::string scenario_text(const SimHistory& history) {
  const ScenarioConfig& config = history.config;
  const auto on = [](bool value) { return value ? "on" : "off"; };
  std::string text = fmt::format("# seed {}", history.seed);
  if (history.violation)
    text += fmt::format(": {} {}", history.violation->invariant, history.violation->what);
  text += fmt::format(
      "\nconfig rf={} partitions={} min.isr={} elr={} unclean={} hw.strict={} trunc={} lag.ms={} "
      "controllers={} propagate={} format={} segment.bytes={}",
      config.replicas, config.partitions, config.cluster.min_isr, on(config.cluster.elr),
      on(config.cluster.unclean), on(config.cluster.strict_hw), truncation_name(config.cluster.truncation),
      config.cluster.lag_ms, config.cluster.controllers, on(config.propagate),
      topic_format_name(config.format), config.segment_bytes);
  for (const RuleName& rule : rule_names()) {
    if (!(config.cluster.rules.*rule.member)) text += fmt::format(" without={}", rule.name);
  }
  text += "\n";
  for (const Step& step : history.steps) text += format_step(step) + "\n";
  if (history.violation) text += fmt::format("expect-violation {}\n", history.violation->invariant);
  return text;
}

}  // namespace tk
