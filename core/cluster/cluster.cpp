#include "core/cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/catalog/topic_name.h"
#include "core/format/end_marker.h"

namespace tk {
namespace {

ReplicaLog::Options metadata_options(const Cluster::Options& options) {
  ReplicaLog::Options made;
  made.sync = options.sync;
  made.lock_wait = options.lock_wait;
  made.note = options.note;
  return made;
}

Controller::Settings controller_settings(const ClusterSettings& settings) {
  Controller::Settings made;
  made.elr = settings.elr;
  made.unclean = settings.unclean;
  made.min_isr = settings.min_isr;
  made.rules = settings.rules;
  return made;
}

}  // namespace

Cluster::Cluster(FileSystem& fs, std::string directory, ClusterSettings settings, Options options)
    : fs_(fs),
      directory_(std::move(directory)),
      settings_(settings),
      options_(std::move(options)),
      quorum_(fs, directory_, settings_.rules, metadata_options(options_)),
      metadata_(fs, quorum_, [this] { return now_; }),
      controller_(metadata_, controller_settings(settings)) {
  controller_.on_change = [this](const std::string& topic, std::int32_t number,
                                 const PartitionRegistration& before, const PartitionRegistration& now,
                                 bool unclean) { partition_changed(topic, number, before, now, unclean); };
}

Cluster::~Cluster() = default;

Uuid Cluster::new_id() const {
  return options_.new_id ? options_.new_id() : Uuid::random();
}

std::string Cluster::broker_directory(BrokerId id) const {
  return join_path(directory_, fmt::format("broker-{}", id));
}

void Cluster::make(const ConfigMap& broker_configs) {
  cluster_id_ = new_id().text();
  quorum_.set_up(settings_.controllers, cluster_id_);
  quorum_.begin(now_);
  controller_.set_feature("metadata.version", 30);
  controller_.set_feature("eligible.leader.replicas.version", settings_.elr ? 1 : 0);
  std::map<std::string, std::optional<std::string>> configs(broker_configs.begin(), broker_configs.end());
  if (!configs.empty()) controller_.set_configs("", configs);
  for (BrokerId id = 1; id <= settings_.brokers; ++id) {
    Broker& made = brokers_[id];
    made.id = id;
    made.up = true;
    made.directory_id = new_id();
    made.heartbeat_ms = now_;
    fs_.make_directories(broker_directory(id));
    controller_.register_broker(id, new_id(), made.directory_id, true);
    controller_.unfence(id);
    made.broker_epoch = controller_.image().broker(id)->broker_epoch;
  }
}

Broker& Cluster::broker(BrokerId id) {
  const auto found = brokers_.find(id);
  if (found == brokers_.end()) {
    throw Error(ErrorCode::broker_not_available,
                fmt::format("there is no broker {}; the cluster has 1 to {}", id, brokers_.size()))
        .at(directory_);
  }
  return found->second;
}

const PartitionRegistration& Cluster::partition(const std::string& name) const {
  const TopicPartition split = split_topic_partition(name);
  if (const PartitionRegistration* state = image().partition(split.topic, split.partition.value()))
    return *state;
  throw Error(ErrorCode::unknown_topic_or_partition,
              fmt::format("there is no partition '{}' in the cluster", name))
      .at(directory_);
}

const ReplicaSettings& Cluster::settings(const PartitionReplica& replica) const {
  return replica_settings_.find(replica.partition())->second;
}

std::int64_t Cluster::broker_epoch(BrokerId id) const {
  const BrokerState* state = image().broker(id);
  return state == nullptr ? -1 : state->broker_epoch;
}

void Cluster::refresh_settings() {
  for (const auto& [name, topic] : image().topics) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      ReplicaSettings& settings = replica_settings_[fmt::format("{}-{}", name, i)];
      settings.lag_ms = settings_.lag_ms;
      settings.strict_hw = settings_.strict_hw && settings_.rules.strict_hw;
      settings.truncation = truncation_under(settings_.rules, settings_.truncation);
      settings.flush_each = settings_.flush_each;
      settings.effective_min_isr = controller_.effective_min_isr(topic, topic.partitions[i]);
    }
  }
}

// ---- topics

Counts Cluster::lost(std::string_view partition_name) {
  Counts counts{};
  const PartitionRegistration& state = partition(std::string(partition_name));
  if (state.leader == kNoBroker) return counts;
  PartitionReplica* leader = replica(state.leader, partition_name);
  if (leader == nullptr || !leader->log().is_open()) return counts;
  const auto missing = accounting_.missing(std::string(partition_name), leader->log().epochs(),
                                           leader->log().start(), leader->log().end());
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = count(missing[i]);
  return counts;
}

void Cluster::create_topic(const NewClusterTopic& topic) {
  need_controller();
  ConfigMap configs = topic.configs;
  configs[std::string(kFormatConfig)] = std::string(topic_format_name(topic.format));
  std::vector<BrokerIds> replicas;
  for (std::int32_t i = 0; i < topic.partitions; ++i) {
    BrokerIds ids = i == 0 ? topic.assignment : BrokerIds{};
    for (std::int32_t k = 0; k < topic.replicas && (i > 0 || topic.assignment.empty()); ++k)
      ids.push_back((i + k) % static_cast<std::int32_t>(brokers_.size()) + 1);
    replicas.push_back(std::move(ids));
  }
  controller_.create_topic(topic.name, new_id(), replicas, configs,
                           [this](BrokerId id) { return broker(id).directory_id; });
}

void Cluster::alter_topic(const std::string& name, std::optional<std::int32_t> partitions,
                          const ConfigMap& set, const std::vector<std::string>& unset) {
  need_controller();
  std::map<std::string, std::optional<std::string>> settings;
  for (const auto& [key, value] : set) settings[key] = value;
  for (const std::string& key : unset) settings[key] = std::nullopt;
  if (!settings.empty()) controller_.set_configs(name, settings);
  const TopicState& topic = *image().topic(name);
  const auto have = static_cast<std::int32_t>(topic.partitions.size());
  const auto factor = static_cast<std::int32_t>(topic.partitions.front().replicas.size());
  std::vector<BrokerIds> replicas;
  for (std::int32_t i = have; i < partitions.value_or(have); ++i) {
    BrokerIds ids;
    for (std::int32_t k = 0; k < factor; ++k)
      ids.push_back((i + k) % static_cast<std::int32_t>(brokers_.size()) + 1);
    replicas.push_back(std::move(ids));
  }
  if (!replicas.empty())
    controller_.add_partitions(name, replicas, [this](BrokerId id) { return broker(id).directory_id; });
  refresh_settings();
}

std::vector<std::string> Cluster::delete_topic(const std::string& name) {
  need_controller();
  std::vector<std::string> removed;
  const TopicState topic = *image().topic(name);
  controller_.delete_topic(name);
  for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
    const std::string partition_name = fmt::format("{}-{}", name, i);
    accounting_.partitions().erase(partition_name);
    for (auto& [id, of] : brokers_) {
      of.slots.erase(partition_name);
      const std::string directory = join_path(broker_directory(id), partition_name);
      if (!fs_.stat(directory)) continue;
      for (const DirEntry& entry : fs_.list(directory)) fs_.remove(join_path(directory, entry.name));
      fs_.remove_directory(directory);
      removed.push_back(directory);
    }
  }
  return removed;
}

// ---- clients

PartitionReplica::Appended Cluster::append(std::string_view partition_name, const NewRecord& record,
                                           AckLevel level, BrokerId to) {
  const BrokerId target = to != kNoBroker ? to : partition(std::string(partition_name)).leader;
  if (target == kNoBroker || !broker(target).up) return {ReplicaError::not_leader_or_follower};
  PartitionReplica::Appended appended{ReplicaError::not_leader_or_follower};
  PartitionReplica* leader = nullptr;
  const bool written = on_disk_of(broker(target), [&] {
    leader = live_replica(target, partition_name);
    if (leader != nullptr) appended = leader->append(record, level);
  });
  if (!written) return {ReplicaError::storage_error};
  if (leader == nullptr) return appended;
  if (appended.error == ReplicaError::none && !appended.duplicate) {
    event({.kind = "append",
           .broker = target,
           .partition = std::string(partition_name),
           .from = appended.first.value(),
           .to = appended.last.value(),
           .level = ack_level_name(level)});
    if (settings_.flush_each) broker(target).slots.find(partition_name)->second.durable = leader->log().end();
  } else if (appended.error != ReplicaError::none) {
    event({.kind = "nack",
           .broker = target,
           .partition = std::string(partition_name),
           .detail = replica_error_name(appended.error)});
  }
  return appended;
}

PartitionReplica::Appended Cluster::append_marker(std::string_view partition_name, const EndMarker& marker,
                                                  BrokerId to) {
  const BrokerId target = to != kNoBroker ? to : partition(std::string(partition_name)).leader;
  if (target == kNoBroker || !broker(target).up) return {ReplicaError::not_leader_or_follower};
  PartitionReplica::Appended appended{ReplicaError::not_leader_or_follower};
  const bool written = on_disk_of(broker(target), [&] {
    PartitionReplica* leader = live_replica(target, partition_name);
    if (leader != nullptr) appended = leader->append_marker(marker);
  });
  return written ? appended : PartitionReplica::Appended{ReplicaError::storage_error};
}

void Cluster::answered(PartitionReplica& leader, AckLevel level, Offset first, Offset last, LeaderEpoch epoch,
                       ReplicaError error) {
  if (error == ReplicaError::none) accounting_.acked(leader.partition(), level, epoch, first, last);
  event({.kind = error == ReplicaError::none ? "ack" : "nack",
         .broker = leader.broker(),
         .partition = leader.partition(),
         .from = first.value(),
         .to = last.value(),
         .level = ack_level_name(level),
         .detail = error == ReplicaError::none ? std::string_view() : replica_error_name(error)});
  if (on_answer) on_answer(leader, level, first, last, epoch, error);
}

// ---- replication

std::optional<FetchRequest> Cluster::make_fetch(BrokerId follower, std::string_view partition_name,
                                                std::int64_t max_records) {
  PartitionReplica* of = live_replica(follower, partition_name);
  return of == nullptr ? std::nullopt : of->next_fetch(max_records);
}

std::optional<FetchReply> Cluster::serve_fetch(const FetchRequest& request, std::string_view partition_name) {
  PartitionReplica* leader = live_replica(request.leader, partition_name);
  if (leader == nullptr) return serve_before_damage(request, partition_name);
  FetchReply reply = leader->handle(request);
  if (reply.ignored) return std::nullopt;
  return reply;
}

std::string Cluster::take_reply(FetchReply& reply, std::string_view partition_name) {
  Broker& of = broker(reply.request.follower);
  PartitionReplica* follower = live_replica(of.id, partition_name);
  if (follower == nullptr) return "dropped";
  // What was sent to an earlier incarnation is not for this one.
  if (rules().broker_epoch && reply.request.broker_epoch != broker_epoch(of.id)) return "dropped";
  if (reply.diverging) {
    event({.kind = "diverge",
           .broker = of.id,
           .partition = std::string(partition_name),
           .from = reply.end.epoch.value(),
           .to = reply.end.offset.value()});
  }
  std::string said;
  if (!on_disk_of(of, [&] { said = follower->take(reply); }))
    return std::string(replica_error_name(ReplicaError::storage_error));
  if (!reply.units.units.empty()) {
    event({.kind = "fetch",
           .broker = of.id,
           .partition = std::string(partition_name),
           .from = reply.units.units.front().base_offset.value(),
           .to = follower->log().end().value()});
    if (settings_.flush_each) {
      follower->log().force();
      of.slots.find(partition_name)->second.durable = follower->log().end();
    }
  }
  return said;
}

std::string Cluster::fetch(BrokerId follower, std::string_view partition_name, std::int64_t max_records,
                           Lose lose) {
  const std::optional<FetchRequest> request = make_fetch(follower, partition_name, max_records);
  if (!request) return "idle";
  if (!linked(follower, request->leader) || lose == Lose::request)
    return lose == Lose::request ? "request lost" : "unreachable";
  std::optional<FetchReply> reply = serve_fetch(*request, partition_name);
  if (!reply) return "unreachable";
  // A question about an epoch, and an answer that cuts, are no data to lose.
  if (lose == Lose::reply && !reply->has_end && reply->error == ReplicaError::none) return "reply lost";
  std::string said = take_reply(*reply, partition_name);
  if (said == replica_error_name(ReplicaError::corrupt_message)) tell_damage(*request, partition_name);
  return said;
}

void Cluster::round(std::string_view partition_name) {
  const BrokerIds replicas = partition(std::string(partition_name)).replicas;
  for (const BrokerId id : replicas) fetch(id, partition_name);
}

void Cluster::high_watermark_moved(PartitionReplica& replica, Offset from) {
  event({.kind = "hw",
         .broker = replica.broker(),
         .partition = replica.partition(),
         .from = from.value(),
         .to = replica.high_watermark().value()});
}

void Cluster::truncated(PartitionReplica& replica, Offset from, Offset to) {
  ReplicaSlot& slot = brokers_.at(replica.broker()).slots.find(replica.partition())->second;
  slot.durable = std::min(slot.durable, to);
  slot.checkpointed_hw = std::min(slot.checkpointed_hw, to);
  event({.kind = "truncate",
         .broker = replica.broker(),
         .partition = replica.partition(),
         .from = from.value(),
         .to = to.value(),
         .detail = to < replica.high_watermark() ? "below_hw" : ""});
}

// ---- controller

void Cluster::propose_isr(PartitionReplica& leader, const BrokerIds& isr) {
  if (!linked(leader.broker(), kControllerNode) || !metadata_.available()) return;
  const TopicPartition name = split_topic_partition(leader.partition());
  controller_.alter_partition(name.topic, name.partition.value(), leader.broker(),
                              leader.memory().leader_epoch, leader.memory().partition_epoch, isr);
  // The answer brings the leader what was decided, whoever else has heard of it.
  if (!propagate_) leader.learn(*image().partition(name.topic, name.partition.value()));
}

void Cluster::partition_changed(const std::string& topic, std::int32_t number,
                                const PartitionRegistration& before, const PartitionRegistration& now,
                                bool unclean) {
  const std::string name = fmt::format("{}-{}", topic, number);
  if (before.replicas.empty()) {
    refresh_settings();
    for (const BrokerId id : now.replicas) make_slot(broker(id), name, *image().topic(topic));
  }
  if (before.isr != now.isr)
    event({.kind = "isr", .partition = name, .from_set = before.isr, .to_set = now.isr});
  if (before.elr != now.elr)
    event({.kind = "elr", .partition = name, .from_set = before.elr, .to_set = now.elr});
  if (before.leader != now.leader || before.replicas.empty()) {
    event({.kind = "leader",
           .broker = now.leader,
           .partition = name,
           .from = before.leader,
           .to = now.leader,
           .detail = unclean ? "unclean" : ""});
    event({.kind = "epoch", .partition = name, .from = before.leader_epoch, .to = now.leader_epoch});
  }
  if (!propagate_) return;
  for (const BrokerId id : now.replicas) learn(broker(id), name, now);
}

void Cluster::learn(Broker& of, const std::string& partition_name, const PartitionRegistration& state) {
  if (!of.up || !linked(of.id, kControllerNode)) return;
  const auto slot = of.slots.find(partition_name);
  if (slot == of.slots.end() || state.partition_epoch < slot->second.replica->memory().partition_epoch)
    return;
  on_disk_of(of, [&] {
    if (open_slot(of, slot->second)) slot->second.replica->learn(state);
  });
}

void Cluster::learn(BrokerId id) {
  Broker& of = broker(id);
  for (const auto& [name, topic] : image().topics) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      if (holds(topic.partitions[i].replicas, id))
        learn(of, fmt::format("{}-{}", name, i), topic.partitions[i]);
    }
  }
}

void Cluster::propagate(bool on) {
  propagate_ = on;
  if (!on) return;
  for (const auto& [id, of] : brokers_) learn(id);
}

void Cluster::fence(BrokerId id) {
  static_cast<void>(broker(id));
  need_controller();
  if (active(id)) event({.kind = "fence", .broker = id});
  controller_.fence(id);
}

void Cluster::unfence(BrokerId id) {
  static_cast<void>(broker(id));
  need_controller();
  event({.kind = "unfence", .broker = id});
  controller_.unfence(id);
  if (propagate_) learn(id);
}

ElectionOutcome Cluster::elect(const std::string& partition_name, ElectionKind kind, BrokerId wanted) {
  static_cast<void>(partition(partition_name));
  need_controller();
  const TopicPartition name = split_topic_partition(partition_name);
  return controller_.elect(name.topic, name.partition.value(), kind, wanted);
}

// ---- time

// Brokers whose session has run out are fenced; one that is heard of again comes back by itself.
void Cluster::fence_expired() {
  if (!settings_.auto_fence || !metadata_.available()) return;
  for (auto& [id, of] : brokers_) {
    if (now_ - of.heartbeat_ms >= settings_.session_ms && active(id)) fence(id);
    const BrokerState* state = image().broker(id);
    if (of.up && linked(id, kControllerNode) && state != nullptr && state->fenced &&
        !state->in_controlled_shutdown)
      unfence(id);
  }
}

void Cluster::tick(std::int64_t ms) {
  now_ += ms;
  quorum_.tick(now_);
  for (auto& [id, of] : brokers_) {
    if (of.up && linked(id, kControllerNode)) of.heartbeat_ms = now_;
  }
  fence_expired();
  for (auto& [id, of] : brokers_) {
    if (!of.up) continue;
    for (auto& [name, slot] : of.slots) {
      if (!slot.replica->leads()) continue;
      if (open_slot(of, slot) && slot.replica->leads()) slot.replica->check_isr();
    }
  }
}

// An election takes a fetch timeout to begin, and more where votes are split.
void Cluster::need_controller() {
  constexpr std::int64_t step = 500, most = 60000;
  std::int64_t waited = 0;
  while (!metadata_.available() && options_.waits_for_controllers && quorum_.can_elect() && waited < most) {
    tick(step);
    waited += step;
  }
  if (metadata_.available()) return;
  std::size_t up = 0;
  for (const auto& [id, voter] : quorum_.voters()) up += voter->up() ? 1 : 0;
  throw Error(ErrorCode::leader_not_available,
              fmt::format("the controllers have no leader ({} of {} are up): nothing can be decided", up,
                          quorum_.voters().size()))
      .at(directory_)
      .hint("'tk cluster status' shows them; 'tk cluster start --controller C' starts one");
}

}  // namespace tk
