#include "core/sim/scenario_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/format/end_marker.h"

namespace tk {
namespace {

constexpr int kSyncRounds = 3;

ScenarioRun::Outcome done(std::string reply = {}) {
  return {std::move(reply), false, {}, {}};
}
ScenarioRun::Outcome skipped() {
  return {{}, true, {}, {}};
}

}  // namespace

std::string ScenarioRun::partition_name(std::int32_t number) const {
  return fmt::format("{}-{}", topic_, number);
}

ScenarioRun::Outcome ScenarioRun::run(const Step& step) {
  Outcome outcome;
  try {
    outcome = run_step(step);
  } catch (const Error& error) {
    // Nothing can be decided now, and nothing was done; or committed metadata would have been given up.
    if (error.code() == ErrorCode::leader_not_available) {
      outcome = {"NOT_CONTROLLER", true, {}, {}};
    } else if (error.code() == ErrorCode::corrupt_state) {
      outcome.violation.emplace("R14", error.message());
    } else {
      throw;
    }
  }
  if (auto violation = quorum_.check(); violation && !outcome.violation)
    outcome.violation = std::move(violation);
  if (step.op != Op::expect_reply) last_reply_ = outcome.reply;
  return outcome;
}

ScenarioRun::Outcome ScenarioRun::run_step(const Step& step) {
  switch (step.op) {
    case Op::append:
      return append(step);
    case Op::read:
      return read(step);
    case Op::txn:
      return transaction(step);
    case Op::commit:
      group_offsets_[step.group] = Offset(step.n);
      return done();
    case Op::kill:
    case Op::start:
    case Op::bounce:
    case Op::stop:
    case Op::fence:
    case Op::unfence:
    case Op::learn:
      return broker(step);
    case Op::fetch:
    case Op::sync:
    case Op::checkpoint:
    case Op::flush:
    case Op::retain:
    case Op::corrupt:
    case Op::tear:
    case Op::rebuild:
      return replicas(step);
    case Op::scrub:
    case Op::full:
    case Op::room:
      return disk(step);
    case Op::send:
    case Op::deliver:
    case Op::drop:
    case Op::dup:
      return message(step);
    case Op::tick:
      cluster_.tick(step.n);
      return done();
    case Op::elect:
      return elect(step);
    case Op::partition:
      return partition(step);
    case Op::heal:
      cluster_.heal();
      return done();
    case Op::propagate:
      cluster_.propagate(step.words.front() == "on");
      return done();
    case Op::quorum: {
      QuorumRun::Outcome said = quorum_.run(step);
      return {std::move(said.reply), said.skipped, {}, {}};
    }
    default:
      return expectation(step);
  }
}

bool ScenarioRun::is_up(BrokerId id) const {
  const auto broker = cluster_.brokers().find(id);
  return broker != cluster_.brokers().end() && broker->second.up;
}

ScenarioRun::Outcome ScenarioRun::broker(const Step& step) {
  const auto id = static_cast<BrokerId>(step.n);
  const bool known = cluster_.brokers().contains(id), up = is_up(id);
  const bool hears = known && cluster_.linked(id, kControllerNode);
  const bool applies = step.op == Op::start   ? known && !up && hears
                       : step.op == Op::stop  ? up && hears
                       : step.op == Op::fence ? known
                                              : up;
  if (!applies) return skipped();
  switch (step.op) {
    case Op::kill:
      cluster_.kill(id, step.clean, step.disk);
      break;
    case Op::start:
      return cluster_.start(id) ? done() : done("STORAGE_ERROR");
    case Op::bounce:
      cluster_.bounce(id);
      break;
    case Op::stop:
      cluster_.stop(id);
      break;
    case Op::fence:
      cluster_.fence(id);
      break;
    case Op::unfence:
      cluster_.unfence(id);
      break;
    default:
      cluster_.learn(id);
      break;
  }
  return done();
}

ScenarioRun::Outcome ScenarioRun::replicas(const Step& step) {
  const auto id = static_cast<BrokerId>(step.n);
  const std::string name = partition_name(step.partition);
  const bool known = cluster_.brokers().contains(id);
  switch (step.op) {
    case Op::fetch:
      return known ? done(cluster_.fetch(id, name, step.max, step.lose)) : skipped();
    case Op::sync:
      for (std::int64_t i = 0; i < (step.n < 0 ? kSyncRounds : step.n); ++i) {
        const auto& topic = *cluster_.image().topic(topic_);
        for (std::size_t p = 0; p < topic.partitions.size(); ++p)
          cluster_.round(partition_name(static_cast<std::int32_t>(p)));
      }
      return done();
    case Op::checkpoint:
      cluster_.checkpoint();
      return done();
    case Op::flush:
      for (const auto& [other, state] : cluster_.brokers()) {
        if (step.links.empty() || holds(step.links, other)) cluster_.flush(other);
      }
      return done();
    case Op::retain:
      cluster_.retain(name, Offset(step.n));
      return done();
    case Op::corrupt: {
      const auto byte = static_cast<std::size_t>(step.max);
      return known && cluster_.corrupt(id, name, Offset(step.from), byte) ? done() : skipped();
    }
    case Op::tear:
      if (!known || is_up(id)) return skipped();
      cluster_.tear(id, name, static_cast<std::uint64_t>(step.max));
      return done();
    default:
      if (!is_up(id) || cluster_.true_leader(name) == nullptr) return skipped();
      cluster_.rebuild(id, name);
      return done();
  }
}

ScenarioRun::Outcome ScenarioRun::expectation(const Step& step) {
  switch (step.op) {
    case Op::expect_log:
      return expect_log(step);
    case Op::expect_leader:
      return expect_leader(step);
    case Op::expect_lost:
      return expect_lost(step);
    case Op::expect_logs_equal:
    case Op::expect_logs_diverge:
      return expect_logs(step);
    case Op::expect_reply:
      if (step.words.front() == last_reply_) return done();
      return {
          {}, false, fmt::format("the reply is '{}', expected '{}'", last_reply_, step.words.front()), {}};
    default:
      return done();
  }
}

ScenarioRun::Outcome ScenarioRun::append(const Step& step) {
  std::string reply;
  std::int32_t sequence = step.sequence;
  for (const std::string& value : step.words) {
    NewRecord record;
    record.value = value;
    record.timestamp = cluster_.now();
    if (step.pid >= 0) {
      record.producer = ProducerId(step.pid);
      record.producer_epoch = static_cast<std::int16_t>(std::max(step.epoch, 0));
      record.sequence = sequence;
      sequence = sequence_after(sequence, 1);
      record.transactional = step.transactional;
    }
    const std::string name = partition_name(step.partition);
    const std::size_t place = sent_.size();
    // Known before the answer, which may come at once.
    BrokerId target = step.to != kNoBroker ? step.to : cluster_.partition(name).leader;
    PartitionReplica* leader =
        cluster_.brokers().contains(target) ? cluster_.live_replica(target, name) : nullptr;
    if (leader != nullptr && leader->leads())
      sent_.push_back(
          {value, step.partition, leader->log().end(), leader->memory().leader_epoch, {}, record.sequence});
    const PartitionReplica::Appended appended = cluster_.append(name, record, step.acks, step.to);
    // What a disk that failed has of it may be there when it is read again.
    const bool unknown = appended.error == ReplicaError::storage_error;
    if ((appended.error != ReplicaError::none && !unknown) || appended.duplicate) sent_.resize(place);
    if (!reply.empty()) reply += " ";
    reply += appended.error == ReplicaError::none ? std::to_string(appended.first.value())
                                                  : std::string(replica_error_name(appended.error));
    if (appended.error == ReplicaError::none && step.transactional) {
      std::vector<std::int32_t>& open = open_transactions_[step.pid];
      if (std::find(open.begin(), open.end(), step.partition) == open.end()) open.push_back(step.partition);
    }
  }
  return done(std::move(reply));
}

void ScenarioRun::answered(const PartitionReplica& leader, AckLevel level, Offset first, Offset last,
                           LeaderEpoch epoch, ReplicaError error) {
  if (error != ReplicaError::none) return;
  for (auto sent = sent_.rbegin(); sent != sent_.rend(); ++sent) {
    if (sent->partition == leader.number() && sent->epoch == epoch && sent->offset >= first &&
        sent->offset <= last) {
      sent->acked = level;
      if (sent->offset == first) return;
    }
  }
}

ScenarioRun::Outcome ScenarioRun::read(const Step& step) {
  const std::string name = partition_name(step.partition);
  last_read_.reset();
  const BrokerId target = step.to != kNoBroker ? step.to : cluster_.partition(name).leader;
  if (!cluster_.brokers().contains(target) || !cluster_.brokers().at(target).up)
    return done("LEADER_NOT_AVAILABLE");
  PartitionReplica* replica = cluster_.live_replica(target, name);
  if (replica == nullptr) return done("NOT_LEADER_OR_FOLLOWER");
  // Without an offset from the log start on, as a consumer with --from-beginning.
  Offset from = step.from >= 0 ? Offset(step.from) : replica->log().start();
  if (step.from < 0 && !step.group.empty()) from = group_offsets_[step.group];
  if (from < replica->log().start()) return done("OFFSET_OUT_OF_RANGE");
  Offset limit = cluster_.rules().consumer_below_hw ? replica->high_watermark() : replica->log().end();
  if (step.read_committed && cluster_.rules().last_stable_offset)
    limit = std::min(limit, replica->log().first_unstable());
  ReadResult result{target, step.partition, step.read_committed, limit,
                    read_log_values(cluster_.file_system(), replica->log().directory(), from, limit)};
  std::string reply;
  for (const LoggedRecord& record : result.values.records) {
    if (record.marker || (step.read_committed && record.aborted)) continue;
    reply += reply.empty() ? record.value : " " + record.value;
  }
  if (result.values.damaged) reply = "CORRUPT_MESSAGE";
  last_read_ = std::move(result);
  return done(std::move(reply));
}

ScenarioRun::Outcome ScenarioRun::transaction(const Step& step) {
  if (step.words.front() == "begin") {
    open_transactions_[step.pid].clear();
    return done();
  }
  const auto open = open_transactions_.find(step.pid);
  if (open == open_transactions_.end()) return skipped();
  std::string reply;
  for (const std::int32_t number : open->second) {
    EndMarker marker;
    marker.producer = ProducerId(step.pid);
    marker.epoch = static_cast<std::int16_t>(std::max(step.epoch, 0));
    marker.commit = step.words.front() == "commit";
    marker.timestamp = cluster_.now();
    marker.coordinator_epoch = step.coordinator;
    const PartitionReplica::Appended appended =
        cluster_.append_marker(partition_name(number), marker, step.to);
    if (!reply.empty()) reply += " ";
    reply += appended.error == ReplicaError::none ? std::to_string(appended.first.value())
                                                  : std::string(replica_error_name(appended.error));
  }
  return done(std::move(reply));
}

ScenarioRun::Outcome ScenarioRun::disk(const Step& step) {
  const auto id = static_cast<BrokerId>(step.n);
  const auto broker = cluster_.brokers().find(id);
  if (broker == cluster_.brokers().end()) return skipped();
  if (step.op == Op::scrub) {
    // Who is not heard of, or hears of nothing, hands nothing over.
    if (!broker->second.up || !cluster_.linked(id, kControllerNode) || !cluster_.propagates())
      return skipped();
    if (!broker->second.slots.contains(partition_name(step.partition))) return skipped();
    return done(cluster_.scrub(id, partition_name(step.partition)));
  }
  // Only a disk in memory can be full for one broker and not for another.
  if (!fill_disk) return skipped();
  fill_disk(id, step.op == Op::full);
  return done();
}

ScenarioRun::Outcome ScenarioRun::message(const Step& step) {
  if (step.op == Op::send) {
    const auto id = static_cast<BrokerId>(step.n);
    if (!cluster_.brokers().contains(id)) return skipped();
    const auto request = cluster_.make_fetch(id, partition_name(step.partition), step.max);
    if (!request) return skipped();
    in_flight_.push_back({step.partition, {}, *request});
    return done();
  }
  const auto index = static_cast<std::size_t>(step.n - 1);
  if (step.n < 1 || index >= in_flight_.size()) return skipped();
  if (step.op == Op::dup) {
    InFlight copy;
    copy.partition = in_flight_[index].partition;
    copy.request = in_flight_[index].request;
    if (in_flight_[index].reply) {
      const FetchReply& reply = *in_flight_[index].reply;
      copy.reply.emplace();
      copy.reply->error = reply.error;
      copy.reply->request = reply.request;
      copy.reply->has_end = reply.has_end;
      copy.reply->diverging = reply.diverging;
      copy.reply->end = reply.end;
      copy.reply->high_watermark = reply.high_watermark;
      copy.reply->log_start = reply.log_start;
      copy.reply->log_end = reply.log_end;
      copy.reply->units.bytes.append(reply.units.bytes.view());
      copy.reply->units.units = reply.units.units;
      copy.reply->units.records = reply.units.records;
    }
    in_flight_.push_back(std::move(copy));
    return done();
  }
  InFlight message = std::move(in_flight_[index]);
  in_flight_.erase(in_flight_.begin() + step.n - 1);
  if (step.op == Op::drop) return done();
  if (!cluster_.linked(message.request.follower, message.request.leader)) return done("unreachable");
  const std::string name = partition_name(message.partition);
  if (message.reply) return done(cluster_.take_reply(*message.reply, name));
  const bool stale = message.request.broker_epoch < cluster_.broker_epoch(message.request.follower);
  auto reply = cluster_.serve_fetch(message.request, name);
  if (!reply) return done("unreachable");
  Outcome outcome;
  if (stale && reply->error == ReplicaError::none && !reply->has_end) {
    outcome.violation.emplace("R15", fmt::format("a fetch of an earlier incarnation of broker {} counted",
                                                 message.request.follower));
  }
  message.reply = std::move(*reply);
  in_flight_.push_back(std::move(message));
  return outcome;
}

ScenarioRun::Outcome ScenarioRun::elect(const Step& step) {
  const ElectionKind kind = step.words.front() == "preferred" ? ElectionKind::preferred
                            : step.words.front() == "unclean" ? ElectionKind::unclean
                                                              : ElectionKind::online;
  switch (cluster_.elect(partition_name(step.partition), kind, step.to)) {
    case ElectionOutcome::done:
      return done();
    case ElectionOutcome::not_needed:
      return done("ELECTION_NOT_NEEDED");
    case ElectionOutcome::preferred_not_available:
      return done("PREFERRED_LEADER_NOT_AVAILABLE");
    case ElectionOutcome::none_eligible:
      return done("ELIGIBLE_LEADERS_NOT_AVAILABLE");
  }
  return done();
}

ScenarioRun::Outcome ScenarioRun::partition(const Step& step) {
  const auto id = static_cast<BrokerId>(step.n);
  if (!cluster_.brokers().contains(id)) return skipped();
  BrokerIds ends = step.links;
  if (ends.empty()) {
    ends.push_back(kControllerNode);
    for (const auto& [other, broker] : cluster_.brokers()) {
      if (other != id) ends.push_back(other);
    }
  }
  for (const BrokerId end : ends) cluster_.cut(id, end);
  return done();
}

}  // namespace tk
