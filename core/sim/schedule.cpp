#include "core/sim/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/format/batch.h"

namespace tk {

Schedule::Schedule(const HistoryOptions& options)
    : options_(options),
      sched_(options.seed, "sched"),
      work_(options.seed, "workload"),
      faults_(options.seed, "faults"),
      config_(scenario_defaults()) {
  SimRandom draw(options.seed, "config");
  config_.replicas = options.brokers;
  config_.cluster.brokers = options.brokers;
  config_.partitions = draw.chance(1, 6) ? 2 : 1;
  config_.cluster.min_isr = options.min_isr;
  config_.cluster.elr = true;
  config_.cluster.lag_ms = 1000;
  config_.cluster.rules = options.rules;
  config_.format = draw.chance(1, 2) ? TopicFormat::kafka : TopicFormat::json;
  config_.segment_bytes = draw.chance(1, 3) ? 300 : 100000;
  config_.seed = options.seed;
  // Swarm: each seed has some of the faults, a third only few.
  const bool few = draw.chance(1, 3);
  const auto keep = [&](bool on) { return on && (few ? draw.chance(1, 2) : draw.chance(7, 8)); };
  on_ = options.faults;
  on_.net = keep(on_.net);
  on_.reorder = keep(on_.reorder);
  on_.crash = keep(on_.crash);
  on_.power = keep(on_.power);
  on_.client = keep(on_.client);
  on_.disk = keep(on_.disk);
  config_.propagate = !on_.net || draw.chance(1, 3);
  crash_weight_ = on_.crash || on_.power ? static_cast<std::uint64_t>(draw.between(20, 80)) : 0;
  cut_weight_ = on_.net ? static_cast<std::uint64_t>(draw.between(10, 50)) : 0;
  message_weight_ = on_.reorder ? static_cast<std::uint64_t>(draw.between(40, 220)) : 0;
  client_weight_ = on_.client ? static_cast<std::uint64_t>(draw.between(100, 500)) : 0;
  on_.controller = keep(on_.controller);
  const std::int32_t drawn = draw.chance(1, 2) ? 5 : 3;
  config_.cluster.controllers = options.controllers > 1 ? options.controllers : on_.controller ? drawn : 1;
  // A deposed leader that comes back (K3) is rare among random steps: some seeds begin with it.
  if (on_.controller && config_.cluster.controllers == 5 && draw.chance(1, 6)) {
    for (const char* line :
         {"stand 1",       "fetch 2",       "fetch 3", "fetch 4", "fetch 5", "fetch 2", "fetch 3",
          "fetch 4",       "fetch 5",       "kill 1",  "start 1", "stand 1", "fetch 2", "kill 1",
          "stand 5",       "stand 5",       "kill 5",  "start 1", "stand 1", "stand 1", "fetch 3 max=1",
          "fetch 2 max=0", "fetch 3 max=0", "kill 1",  "start 5", "stand 5", "stand 5", "fetch 3",
          "fetch 4",       "fetch 3",       "fetch 4", "fetch 2", "fetch 2"}) {
      Step step;
      parse_step(std::string("quorum ") + line, step);
      planned_.push_back(std::move(step));
    }
  }
  if (on_.controller) quorum_weight_ = draw.chance(1, 4) ? 900 : 30;
  disk_weight_ = on_.disk && options.min_isr > 1 ? static_cast<std::uint64_t>(draw.between(10, 40)) : 0;
  lost_reply_ = on_.net ? static_cast<std::uint64_t>(draw.between(0, 250)) : 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    Producer producer;
    producer.pid = 100 + i;
    producer.transactional = i == 2;
    producers_.push_back(std::move(producer));
  }
}

Step Schedule::make(Op op, std::int64_t n) {
  Step step;
  step.op = op;
  step.n = n;
  return step;
}

Step Schedule::next(ScenarioRun& run) {
  for (auto hurt = hurt_.begin(); hurt != hurt_.end();) {
    bool whole = run.cluster().broker(*hurt).up && !rotten_.contains(*hurt) && !full_.contains(*hurt);
    for (std::int32_t p = 0; whole && p < config_.partitions; ++p)
      whole = holds(run.cluster().partition(run.partition_name(p)).isr, *hurt);
    hurt = whole ? hurt_.erase(hurt) : std::next(hurt);
  }
  if (!planned_.empty()) {
    Step step = std::move(planned_.front());
    planned_.erase(planned_.begin());
    return step;
  }
  std::uint64_t draw = sched_.below(kParts);
  const auto falls = [&](std::uint64_t weight) {
    if (draw < weight) return true;
    draw -= weight;
    return false;
  };
  if (quorum_weight_ > 0 && sched_.below(kParts) < quorum_weight_) return quorum();
  if (falls(crash_weight_)) return crash(run);
  if (falls(crash_weight_)) return revive(run);
  if (falls(cut_weight_)) return cut(run);
  if (falls(cut_weight_)) return heal(run);
  if (falls(message_weight_)) return message(run);
  if (falls(disk_weight_)) return disk(run);
  if (falls(10)) return make(Op::checkpoint);
  if (falls(10)) return make(Op::flush);
  if (falls(40)) return make(Op::tick, std::array<std::int64_t, 3>{100, 600, 1100}[faults_.below(3)]);
  if (falls(60)) return read(run);
  if (falls(8)) {
    Step step = make(Op::elect);
    step.words = {"preferred"};
    step.partition = any_partition();
    return step;
  }
  if (!config_.propagate && falls(130)) return make(Op::learn, any_broker());
  if (on_.client && falls(20)) return transaction();
  if (falls(200)) return append(run);
  return fetch(run);
}

Step Schedule::append(ScenarioRun& run) {
  Step step = make(Op::append);
  step.partition = any_partition();
  step.acks = options_.acks.value_or(std::array<AckLevel, 4>{AckLevel::all, AckLevel::all, AckLevel::leader,
                                                             AckLevel::none}[work_.below(4)]);
  // Any replica that takes itself for the leader may be asked.
  BrokerIds leaders;
  for (const auto& [id, broker] : run.cluster().brokers()) {
    const auto slot = broker.slots.find(run.partition_name(step.partition));
    if (broker.up && slot != broker.slots.end() && slot->second.replica->leads()) leaders.push_back(id);
  }
  if (leaders.empty()) return fetch(run);
  step.to = leaders[work_.below(leaders.size())];
  was_producer_ = false;
  if (work_.below(kParts) < client_weight_) return append_of_producer(run, std::move(step));
  const std::int64_t count = work_.between(1, 2);
  for (std::int64_t i = 0; i < count; ++i) step.words.push_back(fmt::format("r{}", values_++));
  return step;
}

Step Schedule::append_of_producer(ScenarioRun& /*run*/, Step step) {
  current_ = work_.below(producers_.size());
  Producer& producer = producers_[current_];
  step.partition = 0;
  if (producer.transactional && !producer.in_transaction) {
    producer.in_transaction = true;
    Step begin = make(Op::txn);
    begin.words = {"begin"};
    begin.pid = producer.pid;
    planned_.push_back(std::move(step));
    Step& later = planned_.back();
    later.pid = producer.pid;
    later.epoch = producer.epoch;
    later.sequence = producer.sequence;
    later.transactional = true;
    later.words = {fmt::format("r{}", values_++)};
    was_producer_ = true;
    return begin;
  }
  step.pid = producer.pid;
  step.transactional = producer.transactional;
  was_producer_ = true;
  const std::uint64_t kind = work_.below(10);
  if (kind < 2 && producer.last_sequence >= 0 && producer.last_epoch == producer.epoch) {
    // A retry: the producer has not heard of its success.
    step.epoch = producer.epoch;
    step.sequence = producer.last_sequence;
    step.words = {producer.last_value};
  } else if (kind == 2 && producer.epoch > 0) {
    // A zombie of the instance before.
    step.epoch = producer.epoch - 1;
    step.sequence = producer.sequence + 1;
    step.words = {fmt::format("r{}", values_++)};
  } else if (kind == 3 && !producer.transactional) {
    // The producer restarts.
    ++producer.epoch;
    producer.sequence = 0;
    step.epoch = producer.epoch;
    step.sequence = 0;
    step.words = {fmt::format("r{}", values_++)};
  } else {
    step.epoch = producer.epoch;
    step.sequence = producer.sequence;
    step.words = {fmt::format("r{}", values_++)};
  }
  return step;
}

void Schedule::note(const Step& step, const ScenarioRun::Outcome& outcome) {
  const auto id = static_cast<BrokerId>(step.n);
  if (step.op == Op::corrupt && !outcome.skipped) rotten_.insert(id);
  const bool whole = outcome.reply == "whole" || outcome.reply.find("rebuilt") != std::string::npos;
  if (step.op == Op::scrub && !outcome.skipped && whole) rotten_.erase(id);
  if (step.op != Op::append || step.pid < 0) return;
  Producer* producer = nullptr;
  for (Producer& one : producers_) {
    if (one.pid == step.pid) producer = &one;
  }
  if (producer == nullptr || step.epoch != producer->epoch) return;
  const bool appended =
      !outcome.reply.empty() && outcome.reply.front() >= '0' && outcome.reply.front() <= '9';
  if (appended && step.sequence == producer->sequence) {
    producer->last_value = step.words.front();
    producer->last_sequence = step.sequence;
    producer->last_epoch = step.epoch;
    ++producer->sequence;
  } else if (outcome.reply == "OUT_OF_ORDER_SEQUENCE_NUMBER" && step.sequence == producer->sequence) {
    // Records before it were lost: it can only go on as a new instance.
    ++producer->epoch;
    producer->sequence = 0;
    producer->last_sequence = -1;
  }
}

Step Schedule::fetch(ScenarioRun& run) {
  Step step = make(Op::fetch, any_broker());
  step.partition = any_partition();
  const auto size = work_.below(3);
  if (size < 2) step.max = static_cast<std::int64_t>(size) + 1;
  if (faults_.below(kParts) < lost_reply_)
    step.lose = faults_.chance(1, 4) ? Cluster::Lose::request : Cluster::Lose::reply;
  static_cast<void>(run);
  return step;
}

Step Schedule::message(ScenarioRun& run) {
  const std::size_t waiting = run.in_flight().size();
  const std::uint64_t kind = faults_.below(8);
  if (waiting == 0 || (kind < 3 && waiting < 12)) {
    Step step = make(Op::send, any_broker());
    step.partition = any_partition();
    if (faults_.chance(1, 2)) step.max = 1;
    return step;
  }
  const auto any = static_cast<std::int64_t>(faults_.below(waiting)) + 1;
  if (kind == 3) return make(Op::dup, any);
  if (kind == 4) return make(Op::drop, any);
  return make(Op::deliver, any);
}

Step Schedule::crash(ScenarioRun& run) {
  BrokerIds up;
  for (const auto& [id, broker] : run.cluster().brokers()) {
    if (broker.up) up.push_back(id);
  }
  if (up.size() < 2 && faults_.chance(3, 4)) return fetch(run);
  if (up.empty()) return revive(run);
  const BrokerId id = up[faults_.below(up.size())];
  if (faults_.chance(1, 8) && run.cluster().linked(id, kControllerNode)) return make(Op::stop, id);
  Step step = make(Op::kill, id);
  // What a configuration promises: so many unclean stops at a time, whether they lose records or not.
  const bool may_be_unclean = static_cast<std::int32_t>(hurt_.size()) < config_.cluster.min_isr - 1;
  step.clean = !may_be_unclean || !(on_.crash || on_.power) || faults_.chance(1, 4);
  if (!step.clean) {
    hurt_.insert(id);
    switch (on_.power ? faults_.below(5) : 4) {
      case 0:
        step.disk.what = DiskLoss::What::unsynced;
        break;
      case 1:
        step.disk = {DiskLoss::What::bytes, faults_.between(1, 60)};
        break;
      case 2:
      case 3:
        step.disk = {DiskLoss::What::records, faults_.between(1, 3)};
        break;
      default:
        break;
    }
  }
  // The controller finds out, sooner or later.
  if (faults_.chance(1, 2)) planned_.push_back(make(Op::fence, id));
  return step;
}

Step Schedule::revive(ScenarioRun& run) {
  BrokerIds down;
  for (const auto& [id, broker] : run.cluster().brokers()) {
    if (!broker.up) down.push_back(id);
  }
  if (down.empty()) return fetch(run);
  const BrokerId id = down[faults_.below(down.size())];
  if (run.cluster().active(id) && faults_.chance(1, 2)) return make(Op::fence, id);
  return make(Op::start, id);
}

Step Schedule::cut(ScenarioRun& run) {
  if (run.cluster().cut_links().size() > 4) return heal(run);
  const BrokerId id = any_broker();
  Step step = make(Op::partition, id);
  if (faults_.chance(1, 2))
    step.links = {kControllerNode};
  else if (faults_.chance(1, 2))
    step.links = {any_broker()};
  if (faults_.chance(1, 2) && (step.links.empty() || step.links.front() == kControllerNode))
    planned_.push_back(make(Op::fence, id));
  return step;
}

Step Schedule::heal(ScenarioRun& run) {
  for (const auto& [id, broker] : run.cluster().brokers()) {
    if (broker.up && !run.cluster().active(id)) planned_.push_back(make(Op::unfence, id));
  }
  return make(Op::heal);
}

Step Schedule::read(ScenarioRun& run) {
  Step step = make(Op::read);
  step.partition = any_partition();
  step.read_committed = work_.chance(1, 2);
  static_cast<void>(run);
  return step;
}

Step Schedule::transaction() {
  Producer& producer = producers_.back();
  if (!producer.in_transaction) return make(Op::checkpoint);
  producer.in_transaction = work_.chance(1, 4);  // the coordinator may repeat
  Step step = make(Op::txn);
  step.words = {work_.chance(3, 4) ? "commit" : "abort"};
  step.pid = producer.pid;
  step.epoch = producer.epoch;
  return step;
}

// One disk at a time, within what the configuration promises to bear: a flipped byte in records that no other
// copy of is hurt, or a disk that takes no more. Then a scrub, or room.
Step Schedule::disk(ScenarioRun& run) {
  if (!rotten_.empty()) {
    Step step = make(Op::scrub, *rotten_.begin());
    return step;
  }
  if (!full_.empty()) {
    const BrokerId id = *full_.begin();
    if (faults_.chance(1, 2)) return fetch(run);
    full_.erase(id);
    return make(Op::room, id);
  }
  const bool may_be_hurt = static_cast<std::int32_t>(hurt_.size()) < config_.cluster.min_isr - 1;
  const BrokerId id = any_broker();
  if (!may_be_hurt || !run.cluster().broker(id).up) return fetch(run);
  if (faults_.chance(1, 3)) {
    hurt_.insert(id);
    full_.insert(id);
    return make(Op::full, id);
  }
  // Rot is looked for in one log.
  PartitionReplica* replica = run.cluster().live_replica(id, run.partition_name(0));
  if (config_.partitions > 1 || replica == nullptr || replica->log().end() <= replica->log().start())
    return fetch(run);
  hurt_.insert(id);
  Step step = make(Op::corrupt, id);
  step.from = faults_.between(replica->log().start().value(), replica->log().end().value() - 1);
  step.max = faults_.between(0, 70);
  // The leader epoch of a batch is covered by no checksum: an altered one is found beside another replica
  // only (tk verify DIR DIR), as in Kafka.
  const bool in_epoch = step.max >= static_cast<std::int64_t>(batch_layout::kLeaderEpoch) &&
                        step.max < static_cast<std::int64_t>(batch_layout::kMagic);
  if (in_epoch && config_.format == TopicFormat::kafka) step.max += 4;
  return step;
}

// The controllers: elections, fetches, crashes and cuts, in any order.
Step Schedule::quorum() {
  Step step = make(Op::quorum);
  const auto any = [&] { return std::to_string(faults_.between(1, config_.cluster.controllers)); };
  const std::uint64_t kind = faults_.below(100);
  if (kind < 46) {
    step.words = {"fetch", any()};
    if (faults_.chance(3, 4)) step.max = faults_.between(0, 1);
  } else if (kind < 70) {
    step.words = {"stand", any()};
  } else if (kind < 72) {
    step.words = {"append", fmt::format("m{}", values_++)};
    step.to = static_cast<BrokerId>(faults_.between(1, config_.cluster.controllers));
  } else if (kind < 81) {
    step.words = {"kill", any()};
  } else if (kind < 92) {
    step.words = {"start", any()};
  } else if (kind < 95) {
    step.words = {"cut", any(), any()};
  } else if (kind < 99) {
    step.words = {"heal"};
  } else {
    step.words = {"tick", "1000"};
  }
  return step;
}

}  // namespace tk
