#include "commands/replicate_seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "commands/cluster_options.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/progress.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/json_writer.h"
#include "core/base/text.h"
#include "core/cluster/event_log.h"
#include "core/cluster/rules.h"
#include "core/io/output.h"
#include "core/sim/history.h"

namespace tk {
namespace {

constexpr std::int64_t kShrinkMs = 10000;

std::string counts_json(const Counts& counts) {
  return fmt::format(R"({{"0":{},"1":{},"all":{}}})", counts[0], counts[1], counts[2]);
}

HistoryOptions history_options(const ReplicateSimOptions& options) {
  HistoryOptions history;
  history.steps = options.steps_per_seed;
  history.brokers = options.brokers;
  history.controllers = options.controllers;
  history.min_isr = options.min_isr;
  if (options.acks != "mixed")
    history.acks = options.acks == "0"   ? AckLevel::none
                   : options.acks == "1" ? AckLevel::leader
                                         : AckLevel::all;
  const auto faults = parse_faults(options.faults);
  if (!faults) {
    throw Error(ErrorCode::invalid_request,
                "--faults takes net, reorder, crash, power, disk, controller, client, all or none, separated "
                "by commas");
  }
  history.faults = *faults;
  for (const std::string& name : options.without) {
    const RuleName* rule = find_rule(name);
    if (rule == nullptr) {
      std::vector<std::string> names;
      for (const RuleName& known : rule_names()) names.emplace_back(known.name);
      Error error(ErrorCode::invalid_request, fmt::format("there is no rule '{}'", printable(name)));
      if (const auto nearest = nearest_name(name, names))
        throw std::move(error).hint(fmt::format("did you mean '{}'?", *nearest));
      throw std::move(error).hint("'tk replicate-sim --without help' lists them");
    }
    history.rules.*rule->member = false;
  }
  return history;
}

class Campaign {
 public:
  Campaign(const ReplicateSimOptions& options, Context& context)
      : options_(options), context_(context), history_(history_options(options)) {}

  int run() {
    const std::int64_t began = monotonic_ms();
    const std::uint64_t first = options_.first_seed.value_or(1), last = options_.last_seed.value_or(1000);
    // With --trace or --json the lines say how far it is.
    std::optional<Progress> progress(std::in_place, context_, "simulated", ProgressUnit{"seeds", 1.0},
                                     output_is_file() || (!options_.trace && !context_.json));
    progress->expect(last - first + 1);
    for (std::uint64_t seed = first; seed <= last && context_.interrupted.load() == 0; ++seed) {
      run_seed(seed);
      ++seeds_;
      progress->add(1);
      if (failed_ > 0 && failed_ >= options_.shrink) break;  // what more would fail is of the same kind
    }
    progress.reset();
    const std::int64_t took = std::max<std::int64_t>(monotonic_ms() - began, 1);
    print_summary(steps_ * 1000 / took);
    if (failed_ == 0) return 0;
    context_.diagnostics.error(Error(ErrorCode::corrupt_message,
                                     fmt::format("an invariant is violated; seed {} shows it", first_failed_))
                                   .hint(fmt::format("run it again with --seed {}", first_failed_)));
    return 0;
  }

 private:
  void run_seed(std::uint64_t seed) {
    history_.seed = seed;
    std::vector<std::string> events;
    if (options_.trace) {
      history_.on_event = [&](const ClusterEvent& event) { events.push_back(event_json(event)); };
      history_.on_step = [&](std::int64_t number, const Step& step, const ScenarioRun::Outcome& outcome,
                             Cluster& cluster) {
        StepReport report;
        report.step = number;
        report.op = op_name(step.op);
        const std::string line = format_step(step);
        if (line.size() > report.op.size()) report.args = {line.substr(report.op.size() + 1)};
        report.reply = outcome.reply;
        report.events = std::move(events);
        events.clear();
        report.partition = fmt::format("t-{}", step.partition);
        TextBuffer text;
        append_step_line(text, cluster, report);
        context_.out.write({text.data(), text.size()});
      };
    }
    const SimHistory history = run_history(history_);
    steps_ += static_cast<std::int64_t>(history.steps.size());
    if (history.violation) {
      if (failed_++ == 0) first_failed_ = seed;
    }
    if (context_.json || history.violation) print_seed(history);
    if (history.violation && failed_ <= options_.shrink) {
      const SimHistory shrunk = shrink_history(history, kShrinkMs);
      print_scenario(shrunk);
    }
  }

  void print_scenario(const SimHistory& shrunk) {
    const std::string scenario = scenario_text(shrunk);
    if (!context_.json) return context_.out.write(scenario);
    TextBuffer text;
    JsonLine(text)
        .text("type", "scenario")
        .number("seed", static_cast<std::int64_t>(shrunk.seed))
        .number("steps", static_cast<std::int64_t>(shrunk.steps.size()))
        .text("scenario", scenario)
        .end();
    context_.out.write({text.data(), text.size()});
  }

  void print_seed(const SimHistory& history) {
    if (!context_.json) {
      context_.out.write(fmt::format("seed {}: step {}: {} {}\n", history.seed, history.steps.size(),
                                     history.violation->invariant, history.violation->what));
      return;
    }
    TextBuffer violation;
    std::string violations = "[]";
    if (history.violation) {
      JsonLine(violation)
          .text("invariant", history.violation->invariant)
          .number("step", static_cast<std::int64_t>(history.steps.size()))
          .text("what", history.violation->what)
          .end();
      violations = "[" + std::string(violation.data(), violation.size() - 1) + "]";
    }
    TextBuffer text;
    JsonLine(text)
        .number("seed", static_cast<std::int64_t>(history.seed))
        .number("steps", static_cast<std::int64_t>(history.steps.size()))
        .raw("acked", counts_json(history.acked))
        .raw("lost", counts_json(history.lost))
        .raw("expected_lost", counts_json({history.lost[0], history.lost[1], 0}))
        .raw("violations", violations)
        .end();
    context_.out.write({text.data(), text.size()});
  }

  void print_summary(std::int64_t speed) {
    if (!context_.json) {
      if (!options_.trace)
        context_.out.write(fmt::format("{} seed{}, {} failed, {} steps/s\n", seeds_, seeds_ == 1 ? "" : "s",
                                       failed_, speed));
      return;
    }
    TextBuffer text;
    JsonLine(text)
        .text("type", "summary")
        .number("seeds", seeds_)
        .number("failed", failed_)
        .number("steps_per_second", speed)
        .end();
    context_.out.write({text.data(), text.size()});
  }

  const ReplicateSimOptions& options_;
  Context& context_;
  HistoryOptions history_;
  std::int64_t seeds_ = 0, steps_ = 0, failed_ = 0;
  std::uint64_t first_failed_ = 0;
};

}  // namespace

int run_seeds(const ReplicateSimOptions& options, Context& context) {
  if (options.without.size() == 1 && options.without.front() == "help") {
    for (const RuleName& rule : rule_names())
      context.out.write(fmt::format("{:<26} {}\n", rule.name, rule.protects));
    return 0;
  }
  return Campaign(options, context).run();
}

}  // namespace tk
