// The replicas that a broker holds: how their logs are opened, and what is done when a disk does not give
// back what it was given.
//
// A log is closed between two commands while its broker counts as up. So what happens to the files meanwhile
// (a flipped byte, a directory that was removed) is found at the next opening, and must not pass for what the
// leader has: its followers would give up the same records.
#include <fmt/format.h>

#include "core/catalog/topic_name.h"
#include "core/cluster/cluster.h"
#include "core/format/checkpoint_file.h"
#include "core/log/segment_names.h"

namespace tk {

ReplicaSlot& Cluster::make_slot(Broker& of, const std::string& partition, const TopicState& topic) {
  ReplicaSlot& slot = of.slots[partition];
  if (slot.replica) return slot;
  ReplicaLog::Options options;
  const auto format = topic.configs.find(std::string(kFormatConfig));
  options.format =
      format != topic.configs.end() && format->second == "kafka" ? TopicFormat::kafka : TopicFormat::json;
  options.config = log_config(topic.configs);
  options.sync = options_.sync;
  options.lock_wait = options_.lock_wait;
  options.note = options_.note;
  ReplicaLog log(fs_, join_path(broker_directory(of.id), partition), std::move(options));
  slot.replica = std::make_unique<PartitionReplica>(
      *this, of.id, partition, split_topic_partition(partition).partition.value(), std::move(log));
  return slot;
}

PartitionReplica* Cluster::replica(BrokerId id, std::string_view partition_name) {
  Broker& of = broker(id);
  const auto found = of.slots.find(partition_name);
  if (found == of.slots.end()) return nullptr;
  static_cast<void>(open_slot(of, found->second));
  return found->second.replica.get();
}

PartitionReplica* Cluster::live_replica(BrokerId id, std::string_view partition_name) {
  PartitionReplica* found = broker(id).up ? replica(id, partition_name) : nullptr;
  return found != nullptr && found->log().is_open() ? found : nullptr;
}

PartitionReplica* Cluster::true_leader(std::string_view partition_name) {
  for (;;) {
    const PartitionRegistration& state = partition(std::string(partition_name));
    const BrokerId id = state.leader;
    if (id == kNoBroker) return nullptr;
    PartitionReplica* leader = live_replica(id, partition_name);
    // The look at its log may have cost it the leadership.
    if (state.leader != id) continue;
    if (leader == nullptr || !leader->leads() ||
        leader->memory().leader_epoch != LeaderEpoch(state.leader_epoch))
      return nullptr;
    return leader;
  }
}

PartitionReplica& Cluster::need_leader(std::string_view partition_name) {
  if (PartitionReplica* leader = true_leader(partition_name)) return *leader;
  const auto of = brokers_.find(partition(std::string(partition_name)).leader);
  if (of != brokers_.end()) {
    const auto slot = of->second.slots.find(partition_name);
    if (slot != of->second.slots.end() && slot->second.offline) throw *slot->second.offline;
  }
  throw Error(ErrorCode::leader_not_available, fmt::format("{} has no live leader", partition_name))
      .at(directory_)
      .hint(fmt::format("see 'tk cluster status', then 'tk cluster start B' or 'tk failover {}'",
                        partition_name));
}

// ---- opening

void Cluster::make_partition_directory(const PartitionReplica& replica) {
  const std::string& directory = replica.log().directory();
  const std::string metadata = join_path(directory, kPartitionMetadataFile);
  if (fs_.stat(metadata)) return;
  fs_.make_directories(directory);
  const TopicState* topic = image().topic(split_topic_partition(replica.partition()).topic);
  if (topic == nullptr) return;
  replace_atomically(fs_, metadata, as_bytes(format_partition_metadata(topic->id)),
                     options_.sync != SyncPolicy::never);
}

bool Cluster::open_slot(Broker& of, ReplicaSlot& slot, Opening opening) {
  ReplicaLog& log = slot.replica->log();
  if (log.is_open()) return true;
  if (!of.up || slot.offline || only_looks_) return false;
  make_partition_directory(*slot.replica);
  try {
    if (opening == Opening::restarts) {
      log.open();
    } else {
      open_again(of, slot);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt_message || options_.own_disks) throw;
    log.abandon();
    slot.offline = error;
    if (options_.on_damage) options_.on_damage(error);
    return false;
  }
  const ReplicaMemory& memory = slot.replica->memory();
  if (memory.high_watermark > log.end() || memory.high_watermark < log.start())
    slot.replica->settle_high_watermark(memory.high_watermark);
  // An epoch in which nothing was written has no trace in the files.
  if (slot.replica->leads()) log.begin_epoch(memory.leader_epoch);
  return true;
}

void Cluster::open_again(Broker& of, ReplicaSlot& slot) {
  ReplicaLog& log = slot.replica->log();
  const Offset committed = slot.replica->high_watermark();
  std::optional<Error> damage;
  try {
    log.open_whole();
    if (log.end() >= committed) return;
    damage = Error(ErrorCode::corrupt_message,
                   fmt::format("the log ends at {}, and records up to {} were committed: they are gone from "
                               "this disk",
                               log.end().value(), committed.value()))
                 .at(log.directory());
    log.abandon();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt_message) throw;
    damage = error;
  }
  require_other_leader(of, *slot.replica, *damage);
  const bool led = slot.replica->leads();
  Offset last(0);
  if (led) {
    last = log.last_on_disk();
    send_sound_part(slot, *damage);
    require_other_leader(of, *slot.replica, *damage);  // those who fetched were looked at, too
  }
  log.open();
  if (options_.note) {
    options_.note(fmt::format("{}: {}: broker {} leaves the ISR of {} and copies what is missing",
                              damage->path(), damage->message(), of.id, slot.replica->partition()));
  }
  try {
    need_controller();
  } catch (...) {
    log.abandon();  // what it had committed is remembered, so the next opening finds the same
    throw;
  }
  slot.replica->settle_high_watermark(committed);
  give_up_seats(of.id, slot.replica->partition());
  if (led) tell_lost(*slot.replica, last, *damage);
}

// What only the leader has goes with its seat: others who are in sync take what is sound of it before.
void Cluster::send_sound_part(ReplicaSlot& slot, const Error& damage) {
  const PartitionReplica& replica = *slot.replica;
  slot.offline = damage;
  for (const BrokerId id : BrokerIds(partition(replica.partition()).isr)) {
    if (id == replica.broker()) continue;
    while (fetch(id, replica.partition()).starts_with('+')) {
    }
  }
  slot.offline.reset();
  slot.good_end.reset();
}

// A leader looks at the end of its log only: what lies before, the first follower that fetches it finds.
void Cluster::tell_damage(const FetchRequest& request, std::string_view partition_name) {
  if (!options_.on_damage) return;
  ReplicaSlot& slot = broker(request.leader).slots.find(partition_name)->second;
  ReplicaLog& log = slot.replica->log();
  if (slot.told_damage || !log.is_open()) return;
  slot.told_damage = true;
  const Offset first = request.offset < log.start()
                           ? request.offset
                           : log.first_damage(request.offset).value_or(request.offset);
  options_.on_damage(log.damage_at(first).hint(
      fmt::format("'tk replicate-sim {} --step \"scrub {}\"' builds the log anew from "
                  "another in-sync replica, if there is one",
                  partition_name, request.leader)));
}

void Cluster::tell_lost(const PartitionReplica& replica, Offset last, const Error& damage) {
  const PartitionReplica* leader = true_leader(replica.partition());
  if (leader == nullptr || leader->log().end() >= last || !options_.on_damage) return;
  Error lost(
      ErrorCode::corrupt_message,
      fmt::format("{}: broker {} leads {} now, up to offset {}, and no other replica has what follows",
                  damage.message(), leader->broker(), replica.partition(), leader->log().end().value()));
  options_.on_damage(damage.position() ? std::move(lost).at(damage.path(), *damage.position())
                                       : std::move(lost).at(damage.path()));
}

std::optional<FetchReply> Cluster::serve_before_damage(const FetchRequest& request,
                                                       std::string_view partition_name) {
  const auto of = brokers_.find(request.leader);
  if (of == brokers_.end() || !of->second.up) return std::nullopt;
  const auto found = of->second.slots.find(partition_name);
  if (found == of->second.slots.end() || !found->second.offline) return std::nullopt;
  ReplicaSlot& slot = found->second;
  if (!slot.good_end) slot.good_end = slot.replica->log().end_on_disk();
  return slot.replica->handle_damaged(request, *slot.good_end);
}

void Cluster::require_other_leader(const Broker& of, const PartitionReplica& replica, const Error& damage) {
  const PartitionRegistration& state = partition(replica.partition());
  if (state.leader != of.id && !replica.leads()) return;
  const TopicPartition name = split_topic_partition(replica.partition());
  if (controller_.survives(name.topic, name.partition.value(), of.id)) return;
  Error named(
      ErrorCode::corrupt_message,
      fmt::format("{}: broker {} leads {}, no other in-sync replica may lead, and its followers would "
                  "give up what it has lost: nothing is cut or sent",
                  damage.message(), of.id, replica.partition()));
  named = damage.position() ? std::move(named).at(damage.path(), *damage.position())
                            : std::move(named).at(damage.path());
  throw std::move(named).hint(fmt::format(
      "start another in-sync broker, or restore the files. With what is left: 'tk cluster stop {0}' and "
      "'start {0}' recover it as a broker does (what is cut is kept beside the segment); 'tk failover {1} "
      "--unclean' lets another lead",
      of.id, replica.partition()));
}

// As with a log directory that failed: the replica may have lost anything, and leads no more if another can.
void Cluster::give_up_seats(BrokerId id, std::string_view partition_name) {
  const TopicPartition name = split_topic_partition(partition_name);
  controller_.fail_replica(name.topic, name.partition.value(), id);
}

}  // namespace tk
