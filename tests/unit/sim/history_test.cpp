// Random histories: none breaks an invariant; with a rule switched off some does, and the history can be made
// short.
#include "core/sim/history.h"

#include <doctest/doctest.h>

using namespace tk;

namespace {

std::string trace_of(std::uint64_t seed) {
  HistoryOptions options;
  options.seed = seed;
  std::string trace;
  options.on_step = [&](std::int64_t, const Step& step, const ScenarioRun::Outcome& outcome, Cluster&) {
    trace += format_step(step) + " -> " + outcome.reply + "\n";
  };
  run_history(options);
  return trace;
}

}  // namespace

TEST_SUITE("sim.history") {
  TEST_CASE("seeds break nothing") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      HistoryOptions options;
      options.seed = seed;
      const History history = run_history(options);
      if (history.violation)
        FAIL_CHECK("seed " << seed << ": " << history.violation->invariant << " " << history.violation->what);
    }
  }

  TEST_CASE("a seed is the same history every time, another one another") {
    CHECK(trace_of(7) == trace_of(7));
    CHECK(trace_of(7) != trace_of(8));
  }

  TEST_CASE(
      "a violation is found without a rule, made short, and the scenario that is printed shows it again") {
    HistoryOptions options;
    options.rules.hw_waits_for_isr = false;
    History found;
    for (options.seed = 1; options.seed <= 200 && !found.violation; ++options.seed)
      found = run_history(options);
    REQUIRE(found.violation);
    const History shrunk = shrink_history(found, 5000);
    CHECK(shrunk.steps.size() < 30);
    CHECK(shrunk.violation->invariant == found.violation->invariant);
    const Scenario read = parse_scenario(scenario_text(shrunk));
    REQUIRE(!read.fault);
    ScenarioConfig config = scenario_defaults();
    if (const auto problem = apply_config(read.config, config)) FAIL(*problem << "\n" << scenario_text(shrunk));
    std::vector<Step> steps = read.steps;
    REQUIRE(steps.back().op == Op::expect_violation);
    steps.pop_back();
    const History again = replay_history(config, steps, shrunk.seed);
    REQUIRE(again.violation);
    CHECK(again.violation->invariant == shrunk.violation->invariant);
  }
}
