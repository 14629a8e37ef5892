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
  if (clean) {
    const bool flushed = on_disk_of(of, [&] {
      for (auto& [name, slot] : of.slots) {
        open_slot(of, slot);
        slot.checkpointed_hw = slot.replica->high_watermark();
        slot.durable = slot.replica->log().end();
        slot.replica->log().close();
      }
    });
    if (!flushed) return;
  }
  of.clean_stop = clean;
  for (auto& [name, slot] : of.slots) {
    if (clean) break;
    open_slot(of, slot);
    ReplicaLog& log = slot.replica->log();
    const Offset end = log.end();
    if (loss.what == DiskLoss::What::records) log.truncate(std::max(slot.durable, end - loss.count));
    if (loss.what == DiskLoss::What::unsynced) log.truncate(slot.durable);
    if (loss.what == DiskLoss::What::bytes && end > slot.durable) {
      log.abandon();
      log.tear(static_cast<std::uint64_t>(loss.count));
    }
    if (log.is_open()) slot.checkpointed_hw = std::min(slot.checkpointed_hw, log.end());
  }
  event({.kind = "kill", .broker = id, .from = loss.count, .detail = clean ? "clean" : ""});
  end_process(of);
}

bool Cluster::start(BrokerId id) {
  Broker& of = broker(id);
  if (of.up)
    throw Error(ErrorCode::broker_not_available, fmt::format("broker {} is up already", id))
        .at(broker_directory(id));
  need_controller();
  const bool clean = of.clean_stop;
  of.up = true;
  of.heartbeat_ms = now_;
  const bool recovered = on_disk_of(of, [&] {
    for (auto& [name, slot] : of.slots) {
      PartitionReplica& replica = *slot.replica;
      replica.log().set_recovery_point(slot.durable);
      if (!rules().tail_check && fs_.stat(replica.log().directory()))
        replica.log().take_torn_tail_for_whole();
      open_slot(of, slot);
      const std::int64_t end = replica.log().end().value();
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
    open_slot(of, slot);
    slot.replica->settle_high_watermark(slot.checkpointed_hw);
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
      open_slot(of, slot);
      slot.replica->log().force();
      slot.durable = slot.replica->log().end();
    }
  });
  if (forced) event({.kind = "flush", .broker = id});
}

void Cluster::retain(std::string_view partition_name, Offset start) {
  for (auto& [id, of] : brokers_) {
    const auto slot = of.slots.find(partition_name);
    if (!of.up || slot == of.slots.end()) continue;
    on_disk_of(of, [&] {
      open_slot(of, slot->second);
      slot->second.replica->log().start_at(start);
    });
  }
}

// As with a log directory that failed: the replica may have lost anything, and leads no more if another can.
void Cluster::give_up_seats(BrokerId id, std::string_view partition_name) {
  const TopicPartition name = split_topic_partition(partition_name);
  controller_.fail_replica(name.topic, name.partition.value(), id);
}

void Cluster::rebuild(BrokerId id, std::string_view partition_name) {
  PartitionReplica* leader = true_leader(partition_name);
  PartitionReplica* rotten = replica(id, partition_name);
  if (leader == nullptr || rotten == nullptr || leader == rotten) {
    throw Error(ErrorCode::not_leader_or_follower, "a replica is rebuilt from another one that leads")
        .at(broker_directory(id));
  }
  need_controller();
  give_up_seats(id, partition_name);
  const Offset start = leader->log().start();
  on_disk_of(broker(id), [&] {
    rotten->log().restart_at(start);
    ReplicaSlot& slot = broker(id).slots.find(partition_name)->second;
    slot.checkpointed_hw = slot.durable = start;
    rotten->settle_high_watermark(start);
  });
}

std::string Cluster::scrub(BrokerId id, std::string_view partition_name) {
  PartitionReplica* replica = this->replica(id, partition_name);
  if (replica == nullptr || !replica->log().is_open()) return "no replica";
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
