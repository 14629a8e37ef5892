// The scenario language (replication.md §9): one step per line or separated by `;`, `#` comments, words by
// blanks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/cluster.h"

namespace tk {

enum class Op : std::uint8_t {
  none,
  config,
  append,
  fetch,
  sync,
  read,
  commit,
  tick,
  kill,
  start,
  bounce,
  stop,
  fence,
  unfence,
  elect,
  partition,
  heal,
  propagate,
  learn,
  checkpoint,
  flush,
  retain,
  corrupt,
  tear,
  rebuild,
  scrub,
  full,
  room,
  txn,
  send,
  deliver,
  drop,
  dup,
  quorum,
  expect_log,
  expect_leader,
  expect_reply,
  expect_lost,
  expect_logs_equal,
  expect_logs_diverge,
  expect_violation,
};

/// One step with its choices made. What an op does not use has its default.
struct Step {
  Op op = Op::none;
  /// The first replica or number that the op names; -1: none.
  std::int64_t n = -1;
  /// p=
  std::int32_t partition = 0;
  /// The values of an append, the words of an expectation, the kind of an election, key=value of a config.
  std::vector<std::string> words;
  AckLevel acks = AckLevel::all;
  BrokerId to = kNoBroker;
  std::int64_t max = kNoLimit;
  Cluster::Lose lose = Cluster::Lose::nothing;
  DiskLoss disk;
  bool clean = false;
  bool transactional = false;
  std::int64_t pid = -1;
  std::int32_t epoch = -1;
  std::int32_t sequence = -1;
  std::int32_t coordinator = 0;
  /// A coordinator does not hear that its marker was written.
  bool lose_ack = false;
  std::int64_t from = -1;
  std::string group;
  bool read_committed = false;
  /// partition R from=...; kControllerNode is C.
  BrokerIds links;
  /// Of expectations.
  std::optional<std::int64_t> high_watermark, log_end, log_start;
  std::optional<std::string> epochs, isr, elr;
  /// Where it stands; 0: nowhere.
  int line = 0;
};

/// What is wrong with a line: for people.
struct StepFault {
  int line = 0;
  std::string message;
};

struct Scenario {
  /// key=value of the `config` step.
  std::vector<std::pair<std::string, std::string>> config;
  std::vector<Step> steps;
  std::optional<StepFault> fault;
};

/// Reads a whole file, text or JSON. Stops at the first fault.
Scenario parse_scenario(std::string_view text);
/// Reads one step; a fault says what was expected.
std::optional<std::string> parse_step(std::string_view text, Step& step);
/// The line that parses to this step.
std::string format_step(const Step& step);
/// The parts of a text between any of these characters; none is empty.
std::vector<std::string_view> split_words(std::string_view text, std::string_view separators);
/// "append" and so on.
std::string_view op_name(Op op);
/// Settings of a config step. Says what is wrong with the first that is none.
struct ScenarioConfig {
  std::int32_t replicas = 3;
  std::int32_t partitions = 1;
  bool propagate = true;
  std::uint64_t seed = 0;
  std::int64_t segment_bytes = 1073741824;
  /// The replicas in their order; empty: from 1 on.
  BrokerIds assignment;
  TopicFormat format = TopicFormat::json;
  ClusterSettings cluster;
};
std::optional<std::string> apply_config(const std::vector<std::pair<std::string, std::string>>& config,
                                        ScenarioConfig& to);
/// What scenarios begin with: rf=3 min.isr=2 elr=off unclean=off hw.strict=on trunc=fetch (replication.md
/// §6.1).
ScenarioConfig scenario_defaults();

}  // namespace tk
