// What happens to the brokers of a cluster and their disks.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/cluster/cluster.h"

namespace tk {

// What a process knew is gone; what it leaves of its high watermark is the checkpoint's.
void Cluster::end_process(Broker& of) {
  of.up = false;
  for (auto& [name, slot] : of.slots) {
    slot.replica->log().abandon();
    ReplicaMemory memory;
    memory.high_watermark = of.clean_stop ? slot.replica->high_watermark() : slot.checkpointed_hw;
    slot.replica->memory() = memory;
    slot.offline.reset();
    slot.good_end.reset();
  }
}

void Cluster::disk_failed(Broker& of, const Error& error) {
  of.clean_stop = false;
  event({.kind = "kill", .broker = of.id, .detail = error.message()});
  end_process(of);
}

void Cluster::kill(BrokerId id, bool clean, DiskLoss loss) {
  Broker& of = broker(id);
  if (!of.up) return;
  // A log that cannot be used cannot be vouched for by the mark.
  bool whole = true;
  if (clean) {
    const bool flushed = on_disk_of(of, [&] {
      for (auto& [name, slot] : of.slots) {
        if (!open_slot(of, slot)) {
          whole = false;
          continue;
        }
        slot.checkpointed_hw = slot.replica->high_watermark();
        slot.durable = slot.replica->log().end();
        slot.replica->log().close();
      }
    });
    if (!flushed) return;
  }
  of.clean_stop = clean && whole;
  if (!clean) forget(of, loss);
  event({.kind = "kill", .broker = id, .from = loss.count, .detail = clean ? "clean" : ""});
  end_process(of);
}

void Cluster::forget(Broker& of, DiskLoss loss) {
  for (auto& [name, slot] : of.slots) {
    ReplicaLog& log = slot.replica->log();
    // A process that dies looks at nothing once more.
    if (loss.what != DiskLoss::What::nothing) open_slot(of, slot, Opening::restarts);
    if (!log.is_open()) continue;
    const Offset end = log.end();
    if (loss.what == DiskLoss::What::records) log.truncate(std::max(slot.durable, end - loss.count));
    if (loss.what == DiskLoss::What::unsynced) log.truncate(slot.durable);
    if (loss.what == DiskLoss::What::bytes && end > slot.durable) {
      log.abandon();
      log.tear(static_cast<std::uint64_t>(loss.count));
      continue;
    }
    slot.checkpointed_hw = std::min(slot.checkpointed_hw, log.end());
  }
}

bool Cluster::start(BrokerId id) {
  Broker& of = broker(id);
  if (of.up)
    throw Error(ErrorCode::broker_not_available, fmt::format("broker {} is up already", id))
        .at(broker_directory(id));
  need_controller();
  bool clean = of.clean_stop;
  of.up = true;
  of.heartbeat_ms = now_;
  const bool recovered = on_disk_of(of, [&] {
    for (auto& [name, slot] : of.slots) {
      PartitionReplica& replica = *slot.replica;
      replica.log().set_recovery_point(slot.durable);
      if (!rules().tail_check && fs_.stat(replica.log().directory()))
        replica.log().take_torn_tail_for_whole();
      if (!open_slot(of, slot, Opening::restarts)) {
        clean = false;
        continue;
      }
      const std::int64_t end = replica.log().end().value();
      // Whatever the mark says: what was committed, or forced, and is not there costs the seat (KIP-966).
      if (replica.log().end() < std::max(slot.checkpointed_hw, slot.durable)) clean = false;
      replica.settle_high_watermark(slot.checkpointed_hw);
      slot.durable = std::min(slot.durable, replica.log().end());
      event({.kind = "recover", .broker = id, .partition = name, .to = end});
    }
  });
  if (!recovered) return false;
  event({.kind = "start", .broker = id, .detail = clean ? "clean" : ""});
  of.up = false;  // it hears nothing before it is registered
  controller_.register_broker(id, new_id(), of.directory_id, clean);
  of.broker_epoch = broker_epoch(id);
  of.up = true;
  of.clean_stop = false;
  controller_.unfence(id);
  learn(id);
  return of.up;
}

void Cluster::bounce(BrokerId id) {
  Broker& of = broker(id);
  of.clean_stop = false;
  end_process(of);
  of.up = true;
  for (auto& [name, slot] : of.slots) {
    if (open_slot(of, slot, Opening::restarts)) slot.replica->settle_high_watermark(slot.checkpointed_hw);
  }
  event({.kind = "start", .broker = id, .detail = "bounce"});
  learn(id);
}

void Cluster::stop(BrokerId id) {
  if (!broker(id).up) return;
  need_controller();
  controller_.begin_controlled_shutdown(id);
  kill(id, true);
  controller_.fence(id);
}

void Cluster::checkpoint() {
  for (auto& [id, of] : brokers_) {
    if (!of.up) continue;
    for (auto& [name, slot] : of.slots) slot.checkpointed_hw = slot.replica->high_watermark();
    event({.kind = "checkpoint", .broker = id});
  }
}

void Cluster::flush(BrokerId id) {
  Broker& of = broker(id);
  if (!of.up) return;
  const bool forced = on_disk_of(of, [&] {
    for (auto& [name, slot] : of.slots) {
      if (!open_slot(of, slot)) continue;
      slot.replica->log().force();
      slot.durable = slot.replica->log().end();
    }
  });
  if (forced) event({.kind = "flush", .broker = id});
}

void Cluster::retain(std::string_view partition_name, Offset start) {
  for (auto& entry : brokers_) {
    Broker& of = entry.second;
    const auto slot = of.slots.find(partition_name);
    if (!of.up || slot == of.slots.end()) continue;
    on_disk_of(of, [&] {
      if (open_slot(of, slot->second)) slot->second.replica->log().start_at(start);
    });
  }
}

void Cluster::rebuild(BrokerId id, std::string_view partition_name) {
  PartitionReplica* leader = true_leader(partition_name);
  PartitionReplica* rotten = live_replica(id, partition_name);
  if (leader == nullptr || rotten == nullptr || leader == rotten) {
    throw Error(ErrorCode::not_leader_or_follower, "a replica is rebuilt from another one that leads")
        .at(broker_directory(id));
  }
  need_controller();
  give_up_seats(id, partition_name);
  // A fetch that is under way speaks of the log as it was, and would bring the empty one back into the ISR.
  FollowerView anew;
  anew.broker_epoch = broker_epoch(id);
  anew.number = rotten->memory().fetch_number;
  leader->memory().followers[id] = anew;
  const Offset start = leader->log().start();
  on_disk_of(broker(id), [&] {
    rotten->log().restart_at(start);
    ReplicaSlot& slot = broker(id).slots.find(partition_name)->second;
    slot.checkpointed_hw = slot.durable = start;
    rotten->settle_high_watermark(start);
  });
}

std::string Cluster::scrub(BrokerId id, std::string_view partition_name) {
  PartitionReplica* replica = live_replica(id, partition_name);
  if (replica == nullptr) return "no replica";
  const auto damaged = replica->log().first_damage();
  if (!damaged) return "whole";
  const std::string found = fmt::format("damaged at {}", damaged->value());
  need_controller();
  const TopicPartition name = split_topic_partition(partition_name);
  if (partition(std::string(partition_name)).leader == id) {
    if (!controller_.survives(name.topic, name.partition.value(), id)) return found + ", no other may lead";
    give_up_seats(id, partition_name);
  }
  PartitionReplica* leader = true_leader(partition_name);
  if (leader == nullptr || leader == replica || !broker(id).up) return found + ", no leader to rebuild from";
  rebuild(id, partition_name);
  return fmt::format("{}, rebuilt from {}", found, leader->broker());
}

void Cluster::start_controller(std::int32_t id) {
  QuorumVoter& voter = quorum_.voter(id);
  if (voter.up())
    throw Error(ErrorCode::broker_not_available, fmt::format("controller {} is up already", id))
        .at(voter.directory());
  voter.start(now_);
  // It hears of the leader at once, if there is one.
  quorum_.open();
  quorum_.commit(now_);
  event({.kind = "start", .detail = fmt::format("controller {}", id)});
}

void Cluster::kill_controller(std::int32_t id) {
  QuorumVoter& voter = quorum_.voter(id);
  if (!voter.up())
    throw Error(ErrorCode::broker_not_available, fmt::format("controller {} is stopped already", id))
        .at(voter.directory());
  voter.kill();
  event({.kind = "kill", .detail = fmt::format("controller {}", id)});
}

bool Cluster::corrupt(BrokerId id, std::string_view partition_name, Offset offset, std::size_t byte) {
  const auto slot = broker(id).slots.find(partition_name);
  return slot != broker(id).slots.end() && slot->second.replica->log().corrupt(offset, byte);
}

void Cluster::tear(BrokerId id, std::string_view partition_name, std::uint64_t bytes) {
  const auto slot = broker(id).slots.find(partition_name);
  if (slot == broker(id).slots.end() || broker(id).up) return;
  slot->second.replica->log().tear(bytes);
}

void Cluster::cut(BrokerId a, BrokerId b, bool both_ways) {
  cut_.insert({a, b});
  if (both_ways) cut_.insert({b, a});
  event({.kind = "cut", .from = a, .to = b});
}

void Cluster::heal() {
  if (cut_.empty()) return;
  cut_.clear();
  event({.kind = "heal"});
  if (!propagate_) return;
  for (const auto& [id, of] : brokers_) learn(id);
}

}  // namespace tk
