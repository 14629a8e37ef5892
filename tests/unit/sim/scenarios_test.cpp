// The scenario tables of replication.md, written down by an independent model (tests/fixtures/replication),
// on a disk in memory.
#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "core/sim/checker.h"

using namespace tk;

namespace {

std::vector<std::string> scenario_files() {
  std::vector<std::string> files;
  for (const DirEntry& entry : posix_file_system().list(TK_FIXTURES "/replication")) {
    if (entry.name.ends_with(".scenario"))
      files.push_back(std::string(TK_FIXTURES "/replication/") + entry.name);
  }
  return files;
}

/// In the format that the scenario asks for, if it does.
void run_file(const std::string& path, TopicFormat format) {
  const Scenario scenario = parse_scenario(read_whole(posix_file_system(), path));
  if (scenario.fault) FAIL(path << ":" << scenario.fault->line << ": " << scenario.fault->message);
  ScenarioConfig config = scenario_defaults();
  if (const auto problem = apply_config(scenario.config, config)) FAIL(path << ": " << *problem);
  for (const auto& [key, value] : scenario.config) {
    if (key == "format") format = config.format;
  }
  MemoryFileSystem disk;
  Cluster::Options options;
  options.sync = SyncPolicy::never;
  Cluster cluster(disk, "/cluster", config.cluster, options);
  cluster.make({});
  cluster.create_topic({"t", config.partitions, config.replicas, format, {}, config.assignment});
  ScenarioRun run(cluster, "t");
  Checker checker(run);
  std::set<std::string> expected, seen;
  for (const Step& step : scenario.steps) {
    if (step.op == Op::expect_violation) expected.insert(step.words.front());
  }
  for (const Step& step : scenario.steps) {
    const ScenarioRun::Outcome outcome = run.run(step);
    INFO(path << ":" << step.line << ": " << format_step(step));
    const auto violation = checker.check(step, outcome);
    if (violation && !expected.contains(violation->invariant))
      FAIL_CHECK(violation->invariant << " " << violation->what);
    if (violation) seen.insert(violation->invariant);
    CHECK_MESSAGE(!outcome.skipped, "skipped");
    if (outcome.failed) FAIL_CHECK(*outcome.failed);
  }
  INFO(path);
  CHECK(seen == expected);
}

}  // namespace

TEST_SUITE("sim.scenarios") {
  TEST_CASE("every scenario ends as its table says, in both formats") {
    const auto files = scenario_files();
    CHECK(files.size() >= 69);
    for (const std::string& file : files) {
      run_file(file, TopicFormat::json);
      run_file(file, TopicFormat::kafka);
    }
  }

  TEST_CASE("a step is written as it is read") {
    for (const char* line :
         {"append a b acks=1 to=2", "fetch 2 max=1 lose=reply", "kill 1 lose=2", "kill 1 lose=bytes:7",
          "kill 2 lose=all", "kill 3 clean", "partition 1 from=C,2", "elect unclean", "read iso=rc from=3",
          "append x p=1 pid=7 epoch=1 seq=3 txn", "expect log 1 = a b epochs=0@0,1@3 hw=4",
          "expect leader none epoch=2 isr=1", "deliver 3", "commit g 5"}) {
      Step step;
      REQUIRE(!parse_step(line, step));
      const std::string written = format_step(step);
      Step again;
      REQUIRE(!parse_step(written, again));
      CHECK(format_step(again) == written);
    }
  }

  TEST_CASE("a line that is none says what was expected") {
    const auto fault = [](const char* text) {
      const Scenario scenario = parse_scenario(text);
      REQUIRE(scenario.fault);
      return std::to_string(scenario.fault->line) + " " + scenario.fault->message;
    };
    CHECK(fault("append a\nfetsh 2\n") == "2 there is no step 'fetsh'; did you mean 'fetch'?");
    CHECK(fault("fetch x") == "1 what follows fetch is a whole number from 0, not 'x'");
    CHECK(fault("fetch") == "1 fetch is followed by a number");
    CHECK(fault("append a; append b acks=2") == "1 acks is 0, 1 or all, not '2'");
    CHECK(fault("append a\nconfig rf=2") == "2 config is the first step or none");
    CHECK(fault("{\"steps\":[{\"op\":\"append\",\"values\":[\"d\"],\"acks\":\"9\"}]}") ==
          "1 acks is 0, 1 or all, not '9'");
  }
}
