#include "core/sim/checker.h"

#include <fmt/format.h>

#include <algorithm>

namespace tk {

Checker::Checker(ScenarioRun& run) : run_(run) {
  const auto& partitions = run_.cluster().image().topic(run_.topic())->partitions;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    Watched& watched = partitions_.emplace_back();
    watched.number = static_cast<std::int32_t>(i);
    watched.name = run_.partition_name(watched.number);
    watched.leader_epoch = partitions[i].leader_epoch;
    watched.partition_epoch = partitions[i].partition_epoch;
  }
}

void Checker::fail(const char* invariant, std::string what) {
  if (!found_) found_ = Violation{invariant, std::move(what)};
}

std::optional<Violation> Checker::check(const Step& step, const ScenarioRun::Outcome& outcome) {
  found_.reset();
  if (outcome.violation) found_ = Violation{outcome.violation->first, outcome.violation->second};
  check_appends(step, outcome);
  note_disks(step, outcome);
  note_losses(step, outcome);
  if (step.op == Op::read) check_read();
  for (Watched& partition : partitions_) {
    if (!found_) check_partition(partition);
  }
  if (!found_ && step.op == Op::start && !outcome.skipped) {
    for (const Watched& partition : partitions_) {
      if (found_) break;
      found_ = check_file(partition, static_cast<BrokerId>(step.n));
    }
  }
  return found_;
}

void Checker::note_disks(const Step& step, const ScenarioRun::Outcome& outcome) {
  if (outcome.skipped) return;
  const auto id = static_cast<BrokerId>(step.n);
  if (step.op == Op::corrupt) rotten_.insert(id);
  if (step.op == Op::full) full_.insert(id);
  if (step.op == Op::room) full_.erase(id);
  // A scrub looks at one partition; the rot may be in another's log.
  const bool whole = outcome.reply == "whole" || outcome.reply.find("rebuilt") != std::string::npos;
  if (step.op == Op::scrub && whole && partitions_.size() == 1) rotten_.erase(id);
}

// What a configuration does not promise (replication.md §7.8): an unclean election; a last member that lost
// records without ELR; more lossy stops at a time than min.insync.replicas - 1. A rule that is switched off
// promises all the same.
void Checker::note_losses(const Step& step, const ScenarioRun::Outcome& outcome) {
  Cluster& cluster = run_.cluster();
  if (!(cluster.rules() == Rules{})) return;
  for (auto hurt = hurt_.begin(); hurt != hurt_.end();) {
    bool whole = cluster.broker(*hurt).up && !rotten_.contains(*hurt) && !full_.contains(*hurt);
    for (const Watched& partition : partitions_)
      whole = whole && holds(cluster.partition(partition.name).isr, *hurt);
    hurt = whole ? hurt_.erase(hurt) : std::next(hurt);
  }
  // With ELR nobody can tell an unclean stop that lost nothing from one that did.
  const bool lost = step.op == Op::kill && step.disk.what != DiskLoss::What::nothing;
  const bool unclean = step.op == Op::kill && !step.clean && cluster.cluster_settings().elr;
  const bool lossy = lost || unclean || step.op == Op::tear || step.op == Op::corrupt || step.op == Op::full;
  if (lossy && !outcome.skipped) hurt_.insert(static_cast<BrokerId>(step.n));
  const ClusterSettings& settings = cluster.cluster_settings();
  const auto most =
      settings.elr && settings.strict_hw ? static_cast<std::size_t>(std::max(settings.min_isr - 1, 0)) : 0;
  if (hurt_.size() > most) loss_allowed_ = true;
  for (const Watched& partition : partitions_) {
    if (cluster.partition(partition.name).recovering) loss_allowed_ = true;
  }
}

void Checker::miss(const char* invariant, Watched& partition, const LogShape& leader, std::string what) {
  if (!loss_allowed_) return fail(invariant, std::move(what));
  partition.committed = LeaderEpochs(leader.epochs);
  partition.committed.truncate_from_end(leader.high_watermark);
  partition.committed_end = leader.high_watermark;
}

// R6: one value per offset and epoch over all time.
void Checker::check_appends(const Step& step, const ScenarioRun::Outcome& /*outcome*/) {
  const auto& sent = run_.sent();
  const std::size_t first = sent_seen_;
  for (; sent_seen_ < sent.size(); ++sent_seen_) {
    const ScenarioRun::Sent& record = sent[sent_seen_];
    const RecordKey key{record.partition, record.offset.value(), record.epoch.value()};
    const auto [at, is_new] = sent_by_place_.emplace(key, sent_seen_);
    if (!is_new && sent[at->second].value != record.value) {
      fail("R6", fmt::format("two records, {} and {}, have offset {} and epoch {}", sent[at->second].value,
                             record.value, record.offset.value(), record.epoch.value()));
      at->second = sent_seen_;
    }
  }
  if (step.op == Op::append && step.pid >= 0 && sent.size() > first) check_producer(step, first);
}

// R12: in the leader's log the data of a producer are gapless and without repeats, and its epoch never falls.
void Checker::check_producer(const Step& step, std::size_t from) {
  auto& produced = produced_[step.pid];
  std::int32_t sequence = step.sequence;
  for (std::size_t i = from; i < run_.sent().size(); ++i) {
    const ScenarioRun::Sent& record = run_.sent()[i];
    // Of several values some may have been duplicates: their sequences are passed over.
    while (record.sequence >= 0 && sequence != record.sequence) sequence = record.sequence;
    const std::string name = run_.partition_name(record.partition);
    const BrokerId leader = step.to != kNoBroker ? step.to : run_.cluster().partition(name).leader;
    PartitionReplica* replica = run_.cluster().replica(leader, name);
    const Produced* before = nullptr;
    for (auto at = produced.rbegin(); at != produced.rend() && before == nullptr; ++at) {
      if (at->partition != record.partition || at->offset >= record.offset) continue;
      if (replica != nullptr && replica->log().is_open() &&
          replica->log().epochs().epoch_at(at->offset) == at->epoch)
        before = &*at;
    }
    // What a replica knows of producers it reads from its log: one that rotted unnoticed may know less.
    if (before != nullptr && !rotten_.contains(leader)) {
      const bool same = before->producer_epoch == step.epoch;
      const bool next = same ? sequence == sequence_after(before->sequence, 1)
                             : step.epoch > before->producer_epoch && sequence == 0;
      if (!next) {
        fail("R12", fmt::format("producer {} wrote epoch {} sequence {} behind epoch {} sequence {}",
                                step.pid, step.epoch, sequence, before->producer_epoch, before->sequence));
      }
    }
    produced.push_back({record.partition, record.offset, record.epoch, step.epoch, sequence});
    sequence = sequence_after(sequence, 1);
  }
}

// R8 and R13: only offsets below the high watermark, or the first open transaction, each with the committed
// value.
void Checker::check_read() {
  if (!run_.last_read()) return;
  const ReadResult& read = *run_.last_read();
  Watched& partition = partitions_[static_cast<std::size_t>(read.partition)];
  PartitionReplica* replica = run_.cluster().replica(read.from, partition.name);
  if (replica == nullptr) return;
  if (read.limit > replica->high_watermark())
    fail("R8", fmt::format("a consumer read up to {}, the high watermark is {}", read.limit.value(),
                           replica->high_watermark().value()));
  if (read.committed && read.limit > replica->log().first_unstable())
    fail("R13", fmt::format("read_committed read up to {}, past an open transaction at {}",
                            read.limit.value(), replica->log().first_unstable().value()));
}

LeaderEpoch Checker::epoch_at(const LogShape& shape, Offset offset) {
  LeaderEpoch epoch = kNoLeaderEpoch;
  for (const LeaderEpochEntry& entry : shape.epochs) {
    if (entry.start > offset) break;
    epoch = entry.epoch;
  }
  return epoch;
}

/// The first offset below `below` at which two histories have different epochs; `below` if there is none.
Offset Checker::part_at(const LogShape& a, const LogShape& b, Offset below) {
  const Offset from = std::max(a.start, b.start);
  Offset first = below;
  const auto look = [&](Offset point) {
    if (point < from || point >= first) return;
    if (epoch_at(a, point) != epoch_at(b, point)) first = point;
  };
  look(from);
  for (const LeaderEpochEntry& entry : a.epochs) look(entry.start);
  for (const LeaderEpochEntry& entry : b.epochs) look(entry.start);
  return first;
}

Checker::LogShape Checker::shape_of(BrokerId id, const std::string& name) {
  LogShape shape;
  PartitionReplica* replica = run_.cluster().replica(id, name);
  if (replica == nullptr || !replica->log().is_open()) return shape;
  shape.there = true;
  shape.start = replica->log().start();
  shape.end = replica->log().end();
  shape.high_watermark = replica->high_watermark();
  shape.epochs = replica->log().epochs().entries();
  return shape;
}

void Checker::check_partition(Watched& partition) {
  const PartitionRegistration& state = run_.cluster().partition(partition.name);
  bool changed = false;
  for (const BrokerId id : state.replicas) {
    LogShape shape = shape_of(id, partition.name);
    LogShape& known = partition.shapes[id];
    // R1
    if (shape.there && (shape.high_watermark > shape.end || shape.start > shape.high_watermark)) {
      fail("R1", fmt::format("replica {}: log start {}, high watermark {}, log end {}", id,
                             shape.start.value(), shape.high_watermark.value(), shape.end.value()));
    }
    if (shape == known) continue;
    changed = true;
    // R9, as far as entries alone tell.
    for (std::size_t i = 1; i < shape.epochs.size(); ++i) {
      if (shape.epochs[i].epoch <= shape.epochs[i - 1].epoch ||
          shape.epochs[i].start <= shape.epochs[i - 1].start)
        fail("R9", fmt::format("replica {}: epoch entries do not rise", id));
    }
    known = std::move(shape);
  }
  changed |= state.partition_epoch != partition.partition_epoch;
  check_controller(partition, state);
  check_leader(partition, state);
  if (changed) check_pairs(partition);
}

// R10
void Checker::check_controller(Watched& partition, const PartitionRegistration& state) {
  if (state.partition_epoch == partition.partition_epoch && state.leader_epoch == partition.leader_epoch)
    return;
  if (state.leader != kNoBroker && !holds(state.isr, state.leader))
    fail("R10", "the leader is not in the ISR");
  for (const BrokerId id : state.elr) {
    if (holds(state.isr, id)) fail("R10", fmt::format("{} is in ISR and ELR", id));
  }
  const TopicState& topic = *run_.cluster().image().topic(run_.topic());
  const auto least = static_cast<std::size_t>(run_.cluster().controller().effective_min_isr(topic, state));
  if (state.isr.size() >= least && !state.elr.empty()) fail("R10", "an ELR beside a full ISR");
  if (state.partition_epoch < partition.partition_epoch || state.leader_epoch < partition.leader_epoch)
    fail("R10", "an epoch of the controller fell");
  partition.partition_epoch = state.partition_epoch;
  partition.leader_epoch = state.leader_epoch;
}

// R2, R3, R4, R7
void Checker::check_leader(Watched& partition, const PartitionRegistration& state) {
  for (const auto& [id, shape] : partition.shapes) {
    PartitionReplica* replica = shape.there ? run_.cluster().replica(id, partition.name) : nullptr;
    if (replica == nullptr || !replica->leads()) {
      partition.led.erase(id);
      continue;
    }
    auto& [epoch, mark] = partition.led[id];
    if (epoch == replica->memory().leader_epoch && shape.high_watermark < mark)
      fail("R2", fmt::format("the high watermark of leader {} fell from {} to {}", id, mark.value(),
                             shape.high_watermark.value()));
    epoch = replica->memory().leader_epoch;
    mark = shape.high_watermark;
  }
  PartitionReplica* leader = run_.cluster().true_leader(partition.name);
  if (leader == nullptr) return;
  const LogShape& log = partition.shapes[leader->broker()];
  LogShape committed{true, Offset(0), partition.committed_end, partition.committed_end,
                     partition.committed.entries()};
  committed.start = log.start;
  if (log.end < partition.committed_end) {
    return miss("R3", partition, log,
                fmt::format("leader {} ends at {}, committed are {}", leader->broker(), log.end.value(),
                            partition.committed_end.value()));
  }
  const Offset part = part_at(log, committed, partition.committed_end);
  if (part < partition.committed_end)
    return miss("R3", partition, log,
                fmt::format("leader {} has another record at the committed offset {}", leader->broker(),
                            part.value()));
  if (log.high_watermark > partition.committed_end) {
    for (std::size_t i = 0; i < log.epochs.size(); ++i) {
      const Offset end = i + 1 < log.epochs.size() ? log.epochs[i + 1].start : log.end;
      const Offset from = std::max(log.epochs[i].start, partition.committed_end);
      if (from < std::min(end, log.high_watermark)) partition.committed.assign(log.epochs[i].epoch, from);
    }
    partition.committed_end = log.high_watermark;
  }
  const auto missing =
      run_.cluster().accounting().missing(partition.name, LeaderEpochs(log.epochs), log.start, log.end);
  const auto& lost = missing[static_cast<std::size_t>(AckLevel::all)];
  if (!lost.empty() && !loss_allowed_)
    return fail("R7", fmt::format("acks=all record at offset {} (epoch {}) is missing on leader {}",
                                  lost.front().first.value(), lost.front().epoch.value(), leader->broker()));
  committed = {true, Offset(0), partition.committed_end, partition.committed_end,
               partition.committed.entries()};
  for (const BrokerId id : state.isr) {
    const LogShape& member = partition.shapes[id];
    const BrokerState* broker = run_.cluster().image().broker(id);
    if (!member.there || broker == nullptr || broker->fenced) continue;
    // What a disk lets rot nobody knows before a scrub: R16 looks at it when all is over.
    if (rotten_.contains(id)) continue;
    if (member.end < partition.committed_end ||
        part_at(member, committed, partition.committed_end) < partition.committed_end) {
      committed.start = member.start;
      if (loss_allowed_) continue;
      return fail("R4",
                  fmt::format("ISR member {} lacks a committed record (it ends at {}, committed are {})", id,
                              member.end.value(), partition.committed_end.value()));
    }
  }
}

// R5 and R11
void Checker::check_pairs(Watched& partition) {
  for (auto a = partition.shapes.begin(); a != partition.shapes.end(); ++a) {
    for (auto b = std::next(a); b != partition.shapes.end(); ++b) {
      if (!a->second.there || !b->second.there) continue;
      const Offset below = std::min(a->second.end, b->second.end);
      const Offset part = part_at(a->second, b->second, below);
      if (part >= below) continue;
      // Behind where they part no epoch may be the same at the same offset.
      const auto same_again = [&](Offset point) {
        return point > part && point < below && epoch_at(a->second, point) == epoch_at(b->second, point);
      };
      for (const LogShape* shape : {&a->second, &b->second}) {
        for (const LeaderEpochEntry& entry : shape->epochs) {
          if (same_again(entry.start))
            return fail("R5", fmt::format("logs {} and {} part at {} and agree again at {}", a->first,
                                          b->first, part.value(), entry.start.value()));
        }
      }
      // After a loss that is allowed a replica may know a high watermark of what is gone, till it has
      // followed.
      const BrokerIds& isr = run_.cluster().partition(partition.name).isr;
      const bool must_agree = !loss_allowed_ || (holds(isr, a->first) && holds(isr, b->first));
      if (must_agree && part < std::min(a->second.high_watermark, b->second.high_watermark))
        return fail("R11", fmt::format("logs {} and {} part at {}, below both high watermarks", a->first,
                                       b->first, part.value()));
    }
  }
}

// R16: every record is the one that was appended with its offset and epoch, and the epoch entries are those
// of the records.
std::optional<Violation> Checker::check_file(const Watched& partition, BrokerId id) {
  PartitionReplica* replica = run_.cluster().replica(id, partition.name);
  if (replica == nullptr || rotten_.contains(id)) return std::nullopt;
  const LogValues values = read_log_values(run_.cluster().file_system(), replica->log().directory(),
                                           replica->log().start(), Offset(INT64_MAX));
  if (values.damaged)
    return Violation{"R16", fmt::format("the log of {} on {} is damaged", partition.name, id)};
  if (replica->log().is_open() && values.end != replica->log().end())
    return Violation{"R16", fmt::format("the log of {} on {} ends at {}, its files at {}", partition.name, id,
                                        replica->log().end().value(), values.end.value())};
  Offset next = replica->log().start();
  for (const LoggedRecord& record : values.records) {
    if (record.offset != next)
      return Violation{"R16", fmt::format("offset {} is missing on {}", next.value(), id)};
    next = record.offset + 1;
    if (replica->log().is_open() && replica->log().epochs().epoch_at(record.offset) != record.epoch)
      return Violation{"R9", fmt::format("the record at {} on {} is of epoch {}, the entries say otherwise",
                                         record.offset.value(), id, record.epoch.value())};
    if (record.marker) continue;
    const auto sent = sent_by_place_.find({partition.number, record.offset.value(), record.epoch.value()});
    if (sent == sent_by_place_.end() || run_.sent()[sent->second].value != record.value)
      return Violation{"R16", fmt::format("the record at {} on {} is not what was appended there",
                                          record.offset.value(), id)};
  }
  return std::nullopt;
}

std::optional<Violation> Checker::check_files() {
  MetadataImage replayed;
  run_.cluster().metadata_log().replay(replayed);
  if (!(replayed == run_.cluster().image()))
    return Violation{"R14", "the committed metadata log gives another state than the controllers hold"};
  for (const Watched& partition : partitions_) {
    for (const BrokerId id : run_.cluster().partition(partition.name).replicas) {
      if (auto violation = check_file(partition, id)) return violation;
    }
  }
  return std::nullopt;
}

std::optional<Violation> Checker::check_liveness() {
  if (!run_.cluster().metadata_log().available())
    return Violation{"R18", "the controllers have no leader though all are up"};
  for (const Watched& partition : partitions_) {
    PartitionReplica* leader = run_.cluster().true_leader(partition.name);
    if (leader == nullptr)
      return Violation{"R18", partition.name + " has no leader though all brokers are up"};
    if (leader->high_watermark() != leader->log().end())
      return Violation{
          "R18", fmt::format("{}: high watermark {}, log end {} though all had time to fetch", partition.name,
                             leader->high_watermark().value(), leader->log().end().value())};
    if (!leader->memory().pending.empty())
      return Violation{"R18", partition.name + ": a producer was never answered"};
  }
  return std::nullopt;
}

}  // namespace tk
