#include "core/cluster/controller.h"

#include <algorithm>

#include "core/base/error.h"

namespace tk {
namespace {

constexpr std::string_view kMinIsr = "min.insync.replicas";
constexpr std::string_view kUnclean = "unclean.leader.election.enable";

}  // namespace

void Controller::write(const std::vector<MetadataRecord>& records) {
  if (records.empty()) return;
  const Offset first = log_.append(records);
  Offset at = first;
  for (const MetadataRecord& record : records) {
    InternalRecord applied;
    applied.record = internal_schemas().record(record.name);
    applied.version = record.version;
    applied.value = record.value;
    if (const Fault fault = image_.apply(applied, at))
      throw Error(ErrorCode::unknown_server_error, fault.detail);
    ++at;
  }
}

bool Controller::active(BrokerId id) const {
  const BrokerState* broker = image_.broker(id);
  return broker != nullptr && broker->active();
}

std::int32_t Controller::effective_min_isr(const TopicState& topic,
                                           const PartitionRegistration& partition) const {
  std::int32_t min_isr = settings_.min_isr;
  for (const ConfigMap* configs : {&image_.broker_configs, &topic.configs}) {
    const auto found = configs->find(std::string(kMinIsr));
    if (found != configs->end()) min_isr = std::max(1, std::atoi(found->second.c_str()));
  }
  return std::min(min_isr, static_cast<std::int32_t>(partition.replicas.size()));
}

ElectionRules Controller::rules_of(const TopicState& topic, const PartitionRegistration& partition) const {
  ElectionRules rules;
  rules.effective_min_isr = effective_min_isr(topic, partition);
  rules.elr = settings_.elr && settings_.rules.elr;
  rules.unclean = settings_.unclean;
  for (const ConfigMap* configs : {&image_.broker_configs, &topic.configs}) {
    const auto found = configs->find(std::string(kUnclean));
    if (found != configs->end()) rules.unclean = found->second == "true";
  }
  rules.clean = settings_.rules.clean_election;
  rules.active = [this](BrokerId id) { return active(id); };
  return rules;
}

PartitionChange Controller::preview(const std::string& topic, std::int32_t number,
                                    const PartitionChangeRequest& request) const {
  const PartitionRegistration& from = *image_.partition(topic, number);
  return change_partition(from, request, rules_of(*image_.topic(topic), from));
}

bool Controller::change(const std::string& topic, std::int32_t number,
                        const PartitionChangeRequest& request) {
  const PartitionRegistration before = *image_.partition(topic, number);
  const PartitionChange change = preview(topic, number, request);
  if (!change.changed) return false;
  write({partition_change_record(image_.topic(topic)->id, number, before, change.state)});
  if (on_change) on_change(topic, number, before, change.state, change.unclean);
  return true;
}

void Controller::leave_isrs(BrokerId id, bool unclean_stop) {
  for (const auto& [name, topic] : image_.topics) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      const PartitionRegistration& partition = topic.partitions[i];
      if (!holds(partition.isr, id) && !holds(partition.elr, id) && partition.leader != id) continue;
      PartitionChangeRequest request;
      request.isr = partition.isr;
      std::erase(*request.isr, id);
      if (unclean_stop) request.unclean_stops = {id};
      change(name, static_cast<std::int32_t>(i), request);
    }
  }
}

void Controller::try_leaderless() {
  for (const auto& [name, topic] : image_.topics) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      if (topic.partitions[i].leader == kNoBroker) change(name, static_cast<std::int32_t>(i), {});
    }
  }
}

void Controller::register_broker(BrokerId id, const Uuid& incarnation, const Uuid& directory,
                                 bool clean_stop) {
  const BrokerState* known = image_.broker(id);
  // The seats of the old incarnation are cleaned before the new one has any.
  if (known != nullptr && known->active()) fence(id);
  BrokerState broker;
  broker.id = id;
  broker.broker_epoch = log_.end().value();
  broker.incarnation = incarnation;
  broker.fenced = true;
  write({register_broker_record(broker, directory)});
  const bool loses_seats =
      !clean_stop && settings_.elr && settings_.rules.elr && settings_.rules.unclean_stop_leaves_isr;
  if (known != nullptr && loses_seats) leave_isrs(id, true);
}

void Controller::fence(BrokerId id) {
  const BrokerState* broker = image_.broker(id);
  if (broker == nullptr) return;
  if (!broker->fenced) write({fence_record(*broker, true)});
  leave_isrs(id, false);
}

void Controller::unfence(BrokerId id) {
  const BrokerState* broker = image_.broker(id);
  if (broker == nullptr) return;
  if (broker->in_controlled_shutdown) {
    // Only a new registration ends a shutdown.
    BrokerState again = *broker;
    again.in_controlled_shutdown = false;
    again.fenced = true;
    again.broker_epoch = log_.end().value();
    write({register_broker_record(again, again.directory)});
    broker = image_.broker(id);
  }
  if (broker->fenced) write({fence_record(*broker, false)});
  try_leaderless();
}

void Controller::begin_controlled_shutdown(BrokerId id) {
  const BrokerState* broker = image_.broker(id);
  if (broker == nullptr || broker->in_controlled_shutdown) return;
  write({controlled_shutdown_record(*broker)});
  leave_isrs(id, false);
}

void Controller::create_topic(const std::string& name, const Uuid& id, const std::vector<BrokerIds>& replicas,
                              const ConfigMap& configs, const std::function<Uuid(BrokerId)>& directory) {
  std::vector<MetadataRecord> records{topic_record(name, id)};
  for (const auto& [key, value] : configs) records.push_back(config_record(name, key, value));
  write(records);
  add_partitions(name, replicas, directory);
}

void Controller::add_partitions(const std::string& name, const std::vector<BrokerIds>& replicas,
                                const std::function<Uuid(BrokerId)>& directory) {
  const TopicState& topic = *image_.topic(name);
  const std::size_t first = topic.partitions.size();
  std::vector<MetadataRecord> records;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    PartitionRegistration state;
    state.replicas = replicas[i];
    for (const BrokerId replica : replicas[i]) {
      if (active(replica)) state.isr.push_back(replica);
    }
    state.leader = state.isr.empty() ? kNoBroker : state.isr.front();
    std::vector<Uuid> directories;
    for (const BrokerId replica : replicas[i]) directories.push_back(directory(replica));
    records.push_back(partition_record(topic.id, static_cast<std::int32_t>(first + i), state, directories));
  }
  write(records);
  for (std::size_t i = first; on_change && i < image_.topic(name)->partitions.size(); ++i) {
    on_change(name, static_cast<std::int32_t>(i), {}, image_.topic(name)->partitions[i], false);
  }
}

void Controller::delete_topic(const std::string& name) {
  write({remove_topic_record(image_.topic(name)->id)});
}

void Controller::set_configs(const std::string& topic,
                             const std::map<std::string, std::optional<std::string>>& settings) {
  std::vector<MetadataRecord> records;
  bool clears_elr = false;
  for (const auto& [key, value] : settings) {
    records.push_back(config_record(topic, key, value));
    clears_elr |= key == kMinIsr;
  }
  if (clears_elr) {
    MetadataRecord clear{"ClearElrRecord", 0, SchemaValue::of(*internal_schemas().find("ClearElrRecord", 0))};
    clear.value["topic_name"] = topic;
    records.push_back(std::move(clear));
  }
  write(records);
}

void Controller::set_feature(const std::string& name, std::int32_t level) {
  write({feature_record(name, level)});
}

std::string_view Controller::alter_partition(const std::string& topic, std::int32_t number, BrokerId leader,
                                             LeaderEpoch leader_epoch, std::int32_t partition_epoch,
                                             const BrokerIds& isr) {
  const PartitionRegistration* state = image_.partition(topic, number);
  if (state == nullptr) return "UNKNOWN_TOPIC_OR_PARTITION";
  if (leader_epoch < LeaderEpoch(state->leader_epoch) || state->leader != leader)
    return "FENCED_LEADER_EPOCH";
  if (leader_epoch > LeaderEpoch(state->leader_epoch) || partition_epoch > state->partition_epoch)
    return "NOT_CONTROLLER";
  if (partition_epoch < state->partition_epoch) return "INVALID_UPDATE_VERSION";
  if (!holds(isr, leader)) return "INVALID_REQUEST";
  for (const BrokerId id : isr) {
    if (!holds(state->replicas, id)) return "INVALID_REQUEST";
  }
  for (const BrokerId id : isr) {
    if (!active(id)) return "INELIGIBLE_REPLICA";
  }
  PartitionChangeRequest request;
  request.by_leader = true;
  // By rising id, as brokers send it (4.4: stories of real clusters, whatever the order of the replicas).
  request.isr = isr;
  std::sort(request.isr->begin(), request.isr->end());
  change(topic, number, request);
  return "NONE";
}

PartitionChangeRequest Controller::failure_of(const std::string& topic, std::int32_t number,
                                              BrokerId id) const {
  PartitionChangeRequest request;
  request.isr = image_.partition(topic, number)->isr;
  std::erase(*request.isr, id);
  request.unclean_stops = {id};
  return request;
}

void Controller::fail_replica(const std::string& topic, std::int32_t number, BrokerId id) {
  change(topic, number, failure_of(topic, number, id));
}

bool Controller::survives(const std::string& topic, std::int32_t number, BrokerId id) const {
  const PartitionChange after = preview(topic, number, failure_of(topic, number, id));
  return after.state.leader != kNoBroker && after.state.leader != id && !after.unclean;
}

ElectionOutcome Controller::elect(const std::string& topic, std::int32_t number, ElectionKind kind,
                                  BrokerId wanted) {
  const PartitionRegistration before = *image_.partition(topic, number);
  if (wanted == kNoBroker) {
    if (kind == ElectionKind::preferred && before.leader == before.replicas.front())
      return ElectionOutcome::not_needed;
    if (kind == ElectionKind::unclean && before.leader != kNoBroker) return ElectionOutcome::not_needed;
  }
  PartitionChangeRequest request;
  request.election = kind;
  request.wanted = wanted;
  change(topic, number, request);
  const BrokerId leader = image_.partition(topic, number)->leader;
  if (leader != before.leader && leader != kNoBroker) return ElectionOutcome::done;
  if (kind == ElectionKind::preferred) return ElectionOutcome::preferred_not_available;
  return leader == kNoBroker ? ElectionOutcome::none_eligible : ElectionOutcome::not_needed;
}

}  // namespace tk
