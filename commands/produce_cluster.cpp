#include "commands/produce_cluster.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/cluster/cluster.h"
#include "core/cluster/event_log.h"

namespace tk {
namespace {

/// Cluster time passes in steps of this: sessions and lags end on none of their own.
constexpr std::int64_t kTimeStepMs = 500;

}  // namespace

AckLevel ack_level(const ProduceOptions& options) {
  switch (options.acks.value_or(ProduceOptions::Acks::all)) {
    case ProduceOptions::Acks::none:
      return AckLevel::none;
    case ProduceOptions::Acks::leader:
      return AckLevel::leader;
    case ProduceOptions::Acks::all:
      return AckLevel::all;
  }
  return AckLevel::all;
}

void check_acks(Store& store, const std::string& topic, std::int32_t partition, AckLevel level) {
  const std::string name = fmt::format("{}-{}", topic, partition);
  PartitionReplica& leader = store.cluster()->need_leader(name);
  if (!leader.refuses(level)) return;
  throw Error(ErrorCode::not_enough_replicas,
              fmt::format("{} has {} in-sync replica{}, and acks=all needs {}: nothing is written to it",
                          name, leader.memory().isr.size(), leader.memory().isr.size() == 1 ? "" : "s",
                          store.cluster()->settings(leader).effective_min_isr))
      .at(store.directory())
      .hint("start brokers and let them catch up, or produce with --acks 1");
}

namespace {

/// Lines of events.ndjson: one a partition; what happened meanwhile stands in the first.
void write_events(Cluster& cluster, const std::string& topic, const std::vector<AppendedRange>& ranges,
                  AckLevel level, const std::string& reply, std::vector<std::string> events) {
  TextBuffer text;
  for (const AppendedRange& range : ranges) {
    StepReport report;
    report.step = ++cluster.steps;
    report.op = "append";
    report.partition = fmt::format("{}-{}", topic, range.partition);
    report.args = {fmt::format("{} {}..{}", report.partition, range.first.value(), range.last.value()),
                   fmt::format("acks={}", ack_level_name(level))};
    report.reply = reply;
    report.events = std::move(events);
    events.clear();
    append_step_line(text, cluster, report);
  }
  append_to_event_log(cluster.file_system(), cluster.directory(), {text.data(), text.size()});
}

}  // namespace

void replicate_appended(Store& store, const std::string& topic, const std::vector<AppendedRange>& ranges,
                        AckLevel level, std::int64_t timeout_ms) {
  Cluster& cluster = *store.cluster();
  std::optional<ReplicaError> refused;
  std::vector<std::string> events;
  cluster.on_event([&](const ClusterEvent& event) { events.push_back(event_json(event)); });
  cluster.on_answer = [&](const PartitionReplica&, AckLevel, Offset, Offset, LeaderEpoch,
                          ReplicaError error) {
    if (error != ReplicaError::none) refused = error;
  };
  for (const AppendedRange& range : ranges) {
    cluster.need_leader(fmt::format("{}-{}", topic, range.partition)).took(range.first, range.last, level);
  }
  const auto waiting = [&](std::int32_t partition) {
    const PartitionReplica* leader = cluster.true_leader(fmt::format("{}-{}", topic, partition));
    return leader != nullptr && !leader->memory().pending.empty();
  };
  std::int64_t left = timeout_ms;
  bool waits = level == AckLevel::all;
  while (waits && !refused) {
    waits = false;
    for (const AppendedRange& range : ranges) {
      const std::string name = fmt::format("{}-{}", topic, range.partition);
      PartitionReplica* leader = cluster.true_leader(name);
      // A follower takes a limited amount at a time, and its next fetch says that it has it.
      Offset before(-1);
      while (waiting(range.partition) && leader != nullptr && leader->high_watermark() != before) {
        before = leader->high_watermark();
        cluster.round(name);
        cluster.round(name);
      }
      waits |= waiting(range.partition);
    }
    if (!waits || refused) break;
    if (left <= 0) refused = ReplicaError::none;
    const std::int64_t step = std::min(left, kTimeStepMs);
    left -= step;
    cluster.tick(step);
  }
  cluster.on_answer = nullptr;
  cluster.on_event({});
  std::string_view reply;
  if (refused) reply = *refused == ReplicaError::none ? "REQUEST_TIMED_OUT" : replica_error_name(*refused);
  write_events(cluster, topic, ranges, level, std::string(reply), std::move(events));
  store.save_cluster();
  if (!refused) return;
  if (*refused == ReplicaError::not_enough_replicas) {
    throw Error(
        ErrorCode::not_enough_replicas_after_append,
        "the in-sync replicas became too few: the records are in the leader's log, and may survive or not")
        .at(store.directory());
  }
  if (*refused == ReplicaError::not_leader_or_follower) {
    throw Error(ErrorCode::not_leader_or_follower,
                "the leader changed before the records were committed: they may survive or not")
        .at(store.directory());
  }
  throw Error(ErrorCode::request_timed_out,
              fmt::format("not committed within {} ms of cluster time: the records are in the leader's log, "
                          "and may survive or not",
                          timeout_ms))
      .at(store.directory());
}

void replicate_news(Store& store) {
  Cluster* cluster = store.cluster();
  if (cluster == nullptr) return;
  for (const auto& [name, topic] : cluster->image().topics) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      const std::string partition = fmt::format("{}-{}", name, i);
      // A follower takes what is new, and its next fetch says that it has it.
      for (int round = 0; round < 2 && cluster->true_leader(partition) != nullptr; ++round)
        cluster->round(partition);
    }
  }
  ++cluster->steps;
  store.save_cluster();
}

}  // namespace tk
