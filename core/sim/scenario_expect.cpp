// What a scenario expects of the state that its steps have led to.
#include <fmt/format.h>

#include <algorithm>

#include "core/sim/scenario_run.h"

namespace tk {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += text.empty() ? word : " " + word;
  return text;
}

}  // namespace

std::string epochs_text(const LeaderEpochs& epochs, std::string_view between) {
  std::string text;
  for (const LeaderEpochEntry& entry : epochs.entries()) {
    if (!text.empty()) text += between;
    text += fmt::format("{}@{}", entry.epoch.value(), entry.start.value());
  }
  return text;
}

std::string ids_text(const BrokerIds& ids, std::string_view between) {
  std::string text;
  for (const BrokerId id : ids) {
    if (!text.empty()) text += between;
    text += std::to_string(id);
  }
  return text;
}

std::vector<std::string> ScenarioRun::lost_values(std::int32_t partition, AckLevel level) {
  std::vector<std::string> lost;
  const std::string name = partition_name(partition);
  const BrokerId leader = cluster_.partition(name).leader;
  if (leader == kNoBroker) return lost;
  PartitionReplica* replica = cluster_.replica(leader, name);
  const LogValues values =
      read_log_values(cluster_.file_system(), replica->log().directory(), Offset(0), Offset(INT64_MAX));
  const Offset start = replica->log().is_open() ? replica->log().start() : values.start;
  for (const Sent& sent : sent_) {
    if (sent.partition != partition || sent.acked != level || sent.offset < start) continue;
    const auto at =
        std::lower_bound(values.records.begin(), values.records.end(), sent.offset,
                         [](const LoggedRecord& record, Offset offset) { return record.offset < offset; });
    if (at == values.records.end() || at->offset != sent.offset || at->epoch != sent.epoch)
      lost.push_back(sent.value);
  }
  return lost;
}

ScenarioRun::Outcome ScenarioRun::expect_log(const Step& step) {
  const auto id = static_cast<BrokerId>(step.n);
  if (!cluster_.brokers().contains(id)) return {{}, false, fmt::format("there is no replica {}", id), {}};
  const std::string name = partition_name(step.partition);
  PartitionReplica* replica = cluster_.replica(id, name);
  if (replica == nullptr) return {{}, false, fmt::format("there is no replica {} of {}", id, name), {}};
  const std::string& directory = replica->log().directory();
  const LogValues values =
      read_log_values(cluster_.file_system(), directory, replica->log().start(), Offset(INT64_MAX));
  std::vector<std::string> words;
  for (const LoggedRecord& record : values.records) words.push_back(record.value);
  const Offset start = replica->log().is_open() ? replica->log().start() : values.start;
  const std::string epochs = epochs_text(read_leader_epochs(cluster_.file_system(), directory), ",");
  Outcome outcome;
  const auto expect = [&](std::string_view what, const std::string& got, const std::string& wanted) {
    if (!outcome.failed && got != wanted)
      outcome.failed = fmt::format("{} of {} on {} is '{}', expected '{}'", what, name, id, got, wanted);
  };
  const std::string wanted = join(step.words);
  expect("the log", words.empty() ? "-" : join(words), wanted.empty() ? "-" : wanted);
  if (step.epochs) expect("epochs", epochs.empty() ? "-" : epochs, *step.epochs);
  if (step.high_watermark)
    expect("the high watermark", std::to_string(replica->high_watermark().value()),
           std::to_string(*step.high_watermark));
  if (step.log_end) expect("the log end", std::to_string(values.end.value()), std::to_string(*step.log_end));
  if (step.log_start) expect("the log start", std::to_string(start.value()), std::to_string(*step.log_start));
  return outcome;
}

ScenarioRun::Outcome ScenarioRun::expect_leader(const Step& step) {
  const PartitionRegistration& state = cluster_.partition(partition_name(step.partition));
  Outcome outcome;
  const auto expect = [&](std::string_view what, const std::string& got, const std::string& wanted) {
    if (!outcome.failed && got != wanted)
      outcome.failed = fmt::format("{} is '{}', expected '{}'", what, got, wanted);
  };
  const auto leader = [](std::int64_t id) {
    return id == kNoBroker ? std::string("none") : std::to_string(id);
  };
  expect("the leader", leader(state.leader), leader(step.n));
  if (step.epoch >= 0)
    expect("the leader epoch", std::to_string(state.leader_epoch), std::to_string(step.epoch));
  if (step.max != kNoLimit)
    expect("the partition epoch", std::to_string(state.partition_epoch), std::to_string(step.max));
  const auto ids = [](const BrokerIds& set) { return set.empty() ? std::string("-") : ids_text(set, ","); };
  if (step.isr) expect("the ISR", ids(state.isr), *step.isr);
  if (step.elr) expect("the ELR", ids(state.elr), *step.elr);
  return outcome;
}

ScenarioRun::Outcome ScenarioRun::expect_lost(const Step& step) {
  Outcome outcome;
  const std::vector<std::string> lost = lost_values(step.partition, step.acks);
  if (lost != step.words) {
    outcome.failed = fmt::format("lost of acks={} is '{}', expected '{}'", ack_level_name(step.acks),
                                 join(lost), join(step.words));
  }
  return outcome;
}

ScenarioRun::Outcome ScenarioRun::expect_logs(const Step& step) {
  const std::string name = partition_name(step.partition);
  std::vector<LogValues> logs;
  for (const BrokerId id : cluster_.partition(name).replicas)
    logs.push_back(read_log_values(cluster_.file_system(), cluster_.replica(id, name)->log().directory(),
                                   Offset(0), Offset(INT64_MAX)));
  std::optional<Offset> diverged;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (std::size_t k = i + 1; k < logs.size(); ++k) {
      for (const LoggedRecord& record : logs[i].records) {
        const auto other = std::find_if(logs[k].records.begin(), logs[k].records.end(),
                                        [&](const LoggedRecord& r) { return r.offset == record.offset; });
        const bool differs =
            other != logs[k].records.end() && (other->epoch != record.epoch || other->value != record.value);
        if (differs && (!diverged || record.offset < *diverged)) diverged = record.offset;
      }
    }
  }
  Outcome outcome;
  if (step.op == Op::expect_logs_equal && diverged)
    outcome.failed = fmt::format("the logs diverge at {}", diverged->value());
  if (step.op == Op::expect_logs_diverge && (!diverged || diverged->value() != step.n)) {
    outcome.failed = diverged ? fmt::format("the logs diverge at {}, expected {}", diverged->value(), step.n)
                              : fmt::format("the logs are equal, expected to diverge at {}", step.n);
  }
  return outcome;
}

}  // namespace tk
