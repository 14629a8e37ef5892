// tk replicate-sim: rounds on a partition, scenarios, and (replicate_seeds.cpp) seeds.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "commands/cluster_options.h"
#include "commands/cluster_session.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/replicate_seeds.h"
#include "commands/table.h"
#include "core/base/error.h"
#include "core/base/json_writer.h"
#include "core/cluster/failover.h"
#include "core/io/output.h"
#include "core/sim/checker.h"
#include "core/sim/scenario_run.h"

namespace tk {
namespace {

void print_replicas(Cluster& cluster, const std::string& partition, Context& context) {
  const PartitionRegistration& state = cluster.partition(partition);
  const TopicPartition name = split_topic_partition(partition);
  Table table({{"BROKER", true},
               {"ROLE"},
               {"ALIVE"},
               {"IN SYNC"},
               {"LOG END", true},
               {"HIGH WATERMARK", true},
               {"EPOCH", true}},
              2);
  TextBuffer text;
  for (const BrokerId id : state.replicas) {
    const ReplicaLook look = look_at_replica(cluster, id, partition);
    const bool up = cluster.broker(id).up, leads = state.leader == id;
    if (context.json) {
      JsonLine(text)
          .text("topic", name.topic)
          .number("partition", name.partition.value())
          .number("broker", id)
          .text("role", leads ? "leader" : "follower")
          .boolean("alive", up)
          .boolean("in_sync", holds(state.isr, id))
          .number("leo", look.log_end.value())
          .number("hw", look.high_watermark.value())
          .number("leader_epoch", state.leader_epoch)
          .end();
    } else {
      table.add({std::to_string(id), leads ? "leader" : "follower", up ? "yes" : "no",
                 holds(state.isr, id) ? "yes" : "no", std::to_string(look.log_end.value()),
                 std::to_string(look.high_watermark.value()), std::to_string(state.leader_epoch)});
    }
  }
  if (!context.json) append(text, partition + "\n" + table.text());
  context.out.write({text.data(), text.size()});
}

int run_rounds(const ReplicateSimOptions& options, Context& context) {
  ClusterSession session = ClusterSession::open(context);
  Cluster& cluster = session.cluster();
  const std::string partition = cluster_partition(cluster, options.partition);
  for (const std::int32_t id : options.only) {
    if (!holds(cluster.partition(partition).replicas, id))
      throw Error(ErrorCode::invalid_request, fmt::format("broker {} has no replica of {}", id, partition))
          .at(cluster.directory());
  }
  if (!options.steps.empty()) {
    const TopicPartition name = split_topic_partition(partition);
    ScenarioRun run(cluster, name.topic);
    for (const std::string& line : options.steps) {
      Step step;
      step.partition = name.partition.value();
      if (const auto problem = parse_step(line, step))
        throw Error(ErrorCode::invalid_request, fmt::format("--step '{}': {}", line, *problem));
      if (step.op == Op::config)
        throw Error(ErrorCode::invalid_request, "config is the first line of a scenario, no step");
      const ScenarioRun::Outcome outcome = run.run(step);
      const std::string report =
          session.end_step(std::string(op_name(step.op)), {line}, outcome.reply, partition);
      context.out.write(report);
      if (outcome.failed)
        context.diagnostics.error(
            Error(ErrorCode::corrupt_message, fmt::format("'{}': {}", line, *outcome.failed)));
    }
    session.finish();
    return 0;
  }
  for (std::int64_t i = 0; i < options.rounds; ++i) {
    if (options.only.empty()) {
      cluster.round(partition);
      session.end_step("sync", {"1"}, "", partition);
    } else {
      for (const std::int32_t id : options.only) {
        const std::string reply = cluster.fetch(id, partition);
        session.end_step("fetch", {std::to_string(id)}, reply, partition);
        if (!context.json) context.diagnostics.note(fmt::format("fetch {}: {}", id, reply));
      }
    }
  }
  if (options.tick_ms > 0) {
    cluster.tick(options.tick_ms);
    session.end_step("tick", {std::to_string(options.tick_ms)}, "", partition);
  }
  print_replicas(cluster, partition, context);
  session.finish();
  return 0;
}

/// A directory for one scenario, removed with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tk-scenario-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw system_error("make a temporary directory", pattern, errno);
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Error scenario_error(const std::string& file, int line, const std::string& message, ErrorCode code) {
  return Error(code, fmt::format("line {}: {}", line, message)).at(file);
}

/// Runs the steps and prints a line for each; what does not hold is reported, and the rest goes on. An
/// invariant may be broken if the scenario says so.
void run_steps(const Scenario& scenario, const std::string& file, ScenarioRun& run,
               std::vector<std::string>& events, Context& context, std::int64_t& steps) {
  std::set<std::string> expected, seen;
  for (const Step& step : scenario.steps) {
    if (step.op == Op::expect_violation) expected.insert(step.words.empty() ? "" : step.words.front());
  }
  Checker checker(run);
  for (const Step& step : scenario.steps) {
    if (context.interrupted.load() != 0) return;
    const ScenarioRun::Outcome outcome = run.run(step);
    StepReport report;
    report.step = ++steps;
    report.op = op_name(step.op);
    report.reply = outcome.reply;
    report.events = std::move(events);
    events.clear();
    report.partition = run.partition_name(step.partition);
    const std::string line = format_step(step);
    if (line.size() > report.op.size()) report.args = {line.substr(report.op.size() + 1)};
    TextBuffer text;
    append_step_line(text, run.cluster(), report);
    if (!context.quiet) context.out.write({text.data(), text.size()});
    if (outcome.failed)
      context.diagnostics.error(scenario_error(file, step.line, *outcome.failed, ErrorCode::corrupt_message));
    const auto violation = checker.check(step, outcome);
    if (!violation) continue;
    if (seen.insert(violation->invariant).second && !expected.contains(violation->invariant)) {
      context.diagnostics.error(scenario_error(file, step.line,
                                               fmt::format("{}: {}", violation->invariant, violation->what),
                                               ErrorCode::corrupt_message));
    }
  }
  if (expected.empty()) return;
  if (const auto violation = checker.check_files()) seen.insert(violation->invariant);
  for (const std::string& id : expected) {
    if (!seen.contains(id))
      context.diagnostics.error(scenario_error(file, scenario.steps.back().line,
                                               fmt::format("expected a violation of {}, there was none", id),
                                               ErrorCode::corrupt_message));
  }
}

void print_summary(ScenarioRun& run, std::int64_t steps, Context& context) {
  Counts lost{};
  for (const auto& [name, topic] : run.cluster().image().topics) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      const Counts of = run.cluster().lost(fmt::format("{}-{}", name, i));
      for (std::size_t level = 0; level < lost.size(); ++level) lost[level] += of[level];
    }
  }
  const Counts acked = run.cluster().accounting().acked_counts();
  TextBuffer text;
  const auto counts = [](const Counts& c) {
    return fmt::format(R"({{"0":{},"1":{},"all":{}}})", c[0], c[1], c[2]);
  };
  JsonLine(text)
      .boolean("summary", true)
      .number("steps", steps)
      .number("violations", context.diagnostics.exit_code() == 0 ? 0 : 1)
      .raw("acked", counts(acked))
      .raw("lost", counts(lost))
      .text("hash", fmt::format("{:016x}", state_hash(run.cluster())))
      .end();
  context.out.write({text.data(), text.size()});
}

int run_scenario(const ReplicateSimOptions& options, Context& context) {
  const std::string& file = *options.scenario;
  const Scenario scenario = parse_scenario(read_whole(context.fs, file));
  if (scenario.fault)
    throw scenario_error(file, scenario.fault->line, scenario.fault->message, ErrorCode::invalid_request);
  ScenarioConfig config = scenario_defaults();
  if (const auto problem = apply_config(scenario.config, config))
    throw scenario_error(file, 1, *problem, ErrorCode::invalid_request);
  std::vector<std::string> events;
  const auto note_event = [&](const ClusterEvent& event) { events.push_back(event_json(event)); };
  if (context.directory_given && is_cluster(context.fs, context.directory)) {
    ClusterSession session = ClusterSession::open(context);
    if (session.cluster().image().topic("t") == nullptr)
      session.cluster().create_topic(
          {"t", config.partitions, config.replicas, config.format, {}, config.assignment});
    session.cluster().on_event(note_event);
    ScenarioRun run(session.cluster(), "t");
    run_steps(scenario, file, run, events, context, session.cluster().steps);
    print_summary(run, static_cast<std::int64_t>(scenario.steps.size()), context);
    session.finish();
    return 0;
  }
  const TemporaryDirectory directory;
  Cluster::Options made;
  made.sync = SyncPolicy::never;
  Cluster cluster(context.fs, directory.path(), config.cluster, made);
  cluster.make({});
  cluster.create_topic({"t", config.partitions, config.replicas, config.format, {}, config.assignment});
  cluster.propagate(config.propagate);
  cluster.on_event(note_event);
  ScenarioRun run(cluster, "t");
  std::int64_t steps = 0;
  run_steps(scenario, file, run, events, context, steps);
  print_summary(run, steps, context);
  return 0;
}

}  // namespace

int run_replicate_sim(const ReplicateSimOptions& options, Context& context) {
  if (options.scenario) return run_scenario(options, context);
  if (options.first_seed || !options.without.empty()) return run_seeds(options, context);
  return run_rounds(options, context);
}

}  // namespace tk
