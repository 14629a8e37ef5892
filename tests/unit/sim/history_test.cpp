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
#if defined(__SANITIZE_ADDRESS__)
  constexpr std::uint64_t kSeeds = 100;
#else
  constexpr std::uint64_t kSeeds = 1000;
#endif

  TEST_CASE("seeds break nothing") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      HistoryOptions options;
      options.seed = seed;
      const SimHistory history = run_history(options);
      if (history.violation)
        FAIL_CHECK("seed " << seed << ": " << history.violation->invariant << " " << history.violation->what);
    }
  }

  TEST_CASE("disks that rot and fill up cost nothing that is committed") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      HistoryOptions options;
      options.seed = seed;
      options.faults = *parse_faults({"disk"});
      const SimHistory history = run_history(options);
      if (history.violation)
        FAIL_CHECK("seed " << seed << ": " << history.violation->invariant << " " << history.violation->what);
    }
  }

  TEST_CASE("all faults together, rotting and full disks among them, break nothing") {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      HistoryOptions options;
      options.seed = seed;
      options.faults = *parse_faults({"all"});
      const SimHistory history = run_history(options);
      if (history.violation)
        FAIL_CHECK("seed " << seed << ": " << history.violation->invariant << " " << history.violation->what);
    }
  }

  TEST_CASE("a seed is the same history every time, another one another") {
    CHECK(trace_of(7) == trace_of(7));
    CHECK(trace_of(7) != trace_of(8));
  }

  TEST_CASE("each rule is missed when it is switched off, within the first thousand seeds") {
    for (const RuleName& rule : rule_names()) {
      HistoryOptions options;
      options.rules.*rule.member = false;
      SimHistory found;
      for (options.seed = 1; options.seed <= 1000 && !found.violation; ++options.seed)
        found = run_history(options);
      if (found.violation) {
        MESSAGE(rule.name << ": seed " << found.seed << " step " << found.steps.size() << " "
                          << found.violation->invariant << " " << found.violation->what);
      } else {
        FAIL_CHECK(rule.name << ": no seed finds it");
      }
    }
  }

  TEST_CASE(
      "a violation is found without a rule, made short, and the scenario that is printed shows it again") {
    HistoryOptions options;
    options.rules.hw_waits_for_isr = false;
    SimHistory found;
    for (options.seed = 1; options.seed <= 200 && !found.violation; ++options.seed)
      found = run_history(options);
    REQUIRE(found.violation);
    const SimHistory shrunk = shrink_history(found, 5000);
    CHECK(shrunk.steps.size() < 30);
    CHECK(shrunk.violation->invariant == found.violation->invariant);
    const Scenario read = parse_scenario(scenario_text(shrunk));
    REQUIRE(!read.fault);
    ScenarioConfig config = scenario_defaults();
    if (const auto problem = apply_config(read.config, config))
      FAIL(*problem << "\n" << scenario_text(shrunk));
    std::vector<Step> steps = read.steps;
    REQUIRE(steps.back().op == Op::expect_violation);
    steps.pop_back();
    const SimHistory again = replay_history(config, steps, shrunk.seed);
    REQUIRE(again.violation);
    CHECK(again.violation->invariant == shrunk.violation->invariant);
  }
}
