#include "core/cluster/metadata_image.h"

#include <charconv>

namespace tk {
namespace {

constexpr std::int64_t kTopicResource = 2;
constexpr std::int64_t kBrokerResource = 4;
/// PartitionChangeRecord says "unchanged" so.
constexpr std::int64_t kNoLeaderChange = -2;

Fault unknown(const char* what) {
  return {FaultKind::record, what};
}

/// A tagged array: absent or null is empty.
BrokerIds ids_or_empty(const SchemaValue* value) {
  if (value == nullptr || !value->has_value()) return {};
  return value->int32s();
}

}  // namespace

TopicPartition split_topic_partition(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  std::int32_t number = 0;
  if (dash != std::string_view::npos)
    std::from_chars(name.data() + dash + 1, name.data() + name.size(), number);
  return {std::string(name.substr(0, dash)), PartitionId(number)};
}

const TopicState* MetadataImage::topic(std::string_view name) const {
  const auto found = topics.find(name);
  return found == topics.end() ? nullptr : &found->second;
}

const PartitionRegistration* MetadataImage::partition(std::string_view topic_name,
                                                      std::int32_t number) const {
  const TopicState* of = topic(topic_name);
  if (of == nullptr || number < 0 || static_cast<std::size_t>(number) >= of->partitions.size())
    return nullptr;
  return &of->partitions[static_cast<std::size_t>(number)];
}

const BrokerState* MetadataImage::broker(BrokerId id) const {
  const auto found = brokers.find(id);
  return found == brokers.end() ? nullptr : &found->second;
}

TopicState* MetadataImage::by_id(const Uuid& id) {
  const auto name = names_.find(id.text());
  if (name == names_.end()) return nullptr;
  const auto found = topics.find(name->second);
  return found == topics.end() ? nullptr : &found->second;
}

Fault MetadataImage::apply(const InternalRecord& record, Offset offset) {
  if (record.record == nullptr) return {};
  const std::string_view name = record.record->name;
  const SchemaValue& value = record.value;
  const auto registered = [&](const SchemaValue& id) -> BrokerState* {
    const auto found = brokers.find(id.int32());
    return found == brokers.end() ? nullptr : &found->second;
  };
  if (name == "PartitionChangeRecord") return apply_partition_change(value);
  if (name == "PartitionRecord") return apply_partition(value);
  if (name == "RegisterBrokerRecord") {
    BrokerState& broker = brokers[value["broker_id"].int32()];
    broker.id = value["broker_id"].int32();
    broker.broker_epoch = value["broker_epoch"].integer();
    broker.incarnation = value["incarnation_id"].uuid();
    broker.fenced = value["fenced"].boolean();
    const SchemaValue* shutdown = value.find("in_controlled_shutdown");
    broker.in_controlled_shutdown = shutdown != nullptr && shutdown->boolean();
    const SchemaValue* directories = value.find("log_dirs");
    if (directories != nullptr && directories->has_value() && !directories->array().empty())
      broker.directory = directories->array().front().uuid();
  } else if (name == "BrokerRegistrationChangeRecord") {
    return apply_registration(value);
  } else if (name == "FenceBrokerRecord" || name == "UnfenceBrokerRecord") {
    BrokerState* broker = registered(value["id"]);
    if (broker == nullptr) return unknown("a fence of a broker that is not registered");
    broker->fenced = name == "FenceBrokerRecord";
  } else if (name == "UnregisterBrokerRecord") {
    brokers.erase(value["broker_id"].int32());
  } else if (name == "TopicRecord") {
    TopicState& topic = topics[value["name"].text()];
    topic.name = value["name"].text();
    topic.id = value["topic_id"].uuid();
    names_[topic.id.text()] = topic.name;
  } else if (name == "RemoveTopicRecord") {
    const TopicState* topic = by_id(value["topic_id"].uuid());
    if (topic == nullptr) return unknown("the removal of a topic that is not there");
    names_.erase(topic->id.text());
    topics.erase(std::string(topic->name));
  } else if (name == "ConfigRecord") {
    return apply_config(value);
  } else if (name == "FeatureLevelRecord") {
    features[value["name"].text()] = value["feature_level"].int32();
  } else if (name == "ClearElrRecord") {
    const std::string& of = value["topic_name"].text();
    for (auto& [topic_name, topic] : topics) {
      if (!of.empty() && topic_name != of) continue;
      for (PartitionRegistration& partition : topic.partitions) {
        partition.elr.clear();
        partition.last_known_leader = kNoBroker;
      }
    }
  }
  static_cast<void>(offset);
  return {};
}

Fault MetadataImage::apply_registration(const SchemaValue& value) {
  const auto found = brokers.find(value["broker_id"].int32());
  if (found == brokers.end()) return unknown("a change of a broker that is not registered");
  const SchemaValue& fenced = value["fenced"];
  if (fenced.has_value() && fenced.integer() != 0) found->second.fenced = fenced.integer() > 0;
  const SchemaValue* shutdown = value.find("in_controlled_shutdown");
  if (shutdown != nullptr && shutdown->has_value() && shutdown->integer() > 0)
    found->second.in_controlled_shutdown = true;
  return {};
}

Fault MetadataImage::apply_partition(const SchemaValue& value) {
  TopicState* topic = by_id(value["topic_id"].uuid());
  if (topic == nullptr) return unknown("a partition of a topic that is not there");
  const auto number = static_cast<std::size_t>(value["partition_id"].int32());
  // Numbers come in their order; a record may come again (a snapshot, then the log).
  if (number > topic->partitions.size()) return unknown("a partition's number leaves a gap");
  if (number == topic->partitions.size()) topic->partitions.emplace_back();
  PartitionRegistration& state = topic->partitions[number];
  state.replicas = value["replicas"].int32s();
  if (state.replicas.empty()) return unknown("a partition without replicas");
  state.isr = value["isr"].int32s();
  state.leader = value["leader"].int32();
  state.leader_epoch = value["leader_epoch"].int32();
  state.partition_epoch = value["partition_epoch"].int32();
  const SchemaValue& recovery = value["leader_recovery_state"];
  state.recovering = recovery.has_value() && recovery.integer() != 0;
  state.elr = ids_or_empty(value.find("eligible_leader_replicas"));
  const BrokerIds last = ids_or_empty(value.find("last_known_elr"));
  state.last_known_leader = last.empty() ? kNoBroker : last.front();
  return {};
}

Fault MetadataImage::apply_partition_change(const SchemaValue& value) {
  TopicState* topic = by_id(value["topic_id"].uuid());
  if (topic == nullptr) return unknown("a change of a topic that is not there");
  const auto number = static_cast<std::size_t>(value["partition_id"].int32());
  if (number >= topic->partitions.size()) return unknown("a change of a partition that is not there");
  PartitionRegistration& state = topic->partitions[number];
  if (value["isr"].has_value()) state.isr = value["isr"].int32s();
  if (value["replicas"].has_value() && !value["replicas"].array().empty())
    state.replicas = value["replicas"].int32s();
  const SchemaValue& leader = value["leader"];
  if (leader.has_value() && leader.integer() != kNoLeaderChange) {
    state.leader = leader.int32();
    ++state.leader_epoch;
  }
  const SchemaValue& recovery = value["leader_recovery_state"];
  if (recovery.has_value() && recovery.integer() >= 0) state.recovering = recovery.integer() != 0;
  const SchemaValue* elr = value.find("eligible_leader_replicas");
  if (elr != nullptr && elr->has_value()) state.elr = elr->int32s();
  const SchemaValue* last = value.find("last_known_elr");
  if (last != nullptr && last->has_value())
    state.last_known_leader = last->array().empty() ? kNoBroker : last->int32s().front();
  ++state.partition_epoch;
  return {};
}

Fault MetadataImage::apply_config(const SchemaValue& value) {
  const std::int64_t kind = value["resource_type"].integer();
  const std::string& resource = value["resource_name"].text();
  ConfigMap* configs = nullptr;
  if (kind == kTopicResource) {
    const auto topic = topics.find(resource);
    if (topic == topics.end()) return unknown("a config of a topic that is not there");
    configs = &topic->second.configs;
  } else if (kind == kBrokerResource && resource.empty()) {
    configs = &broker_configs;
  }
  if (configs == nullptr) return {};
  if (value["value"].is_null()) {
    configs->erase(value["name"].text());
  } else {
    (*configs)[value["name"].text()] = value["value"].text();
  }
  return {};
}

bool operator==(const MetadataImage& a, const MetadataImage& b) {
  const auto same_broker = [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.broker_epoch == y.second.broker_epoch &&
           x.second.fenced == y.second.fenced &&
           x.second.in_controlled_shutdown == y.second.in_controlled_shutdown;
  };
  const auto same_topic = [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.id == y.second.id && x.second.partitions == y.second.partitions &&
           x.second.configs == y.second.configs;
  };
  return std::equal(a.brokers.begin(), a.brokers.end(), b.brokers.begin(), b.brokers.end(), same_broker) &&
         std::equal(a.topics.begin(), a.topics.end(), b.topics.begin(), b.topics.end(), same_topic) &&
         a.broker_configs == b.broker_configs && a.features == b.features;
}

// ---- records

namespace {

SchemaValue fresh(std::string_view name, int version) {
  return SchemaValue::of(*internal_schemas().find(name, version));
}

}  // namespace

MetadataRecord register_broker_record(const BrokerState& broker, const Uuid& directory) {
  MetadataRecord record{"RegisterBrokerRecord", 3, fresh("RegisterBrokerRecord", 3)};
  record.value["broker_id"] = broker.id;
  record.value["incarnation_id"] = broker.incarnation;
  record.value["broker_epoch"] = broker.broker_epoch;
  record.value["fenced"] = broker.fenced;
  if (broker.in_controlled_shutdown) record.value["in_controlled_shutdown"] = true;
  record.value["log_dirs"] = SchemaValue::Array{directory};
  return record;
}

MetadataRecord fence_record(const BrokerState& broker, bool fenced) {
  MetadataRecord record{"BrokerRegistrationChangeRecord", 1, fresh("BrokerRegistrationChangeRecord", 1)};
  record.value["broker_id"] = broker.id;
  record.value["broker_epoch"] = broker.broker_epoch;
  record.value["fenced"] = fenced ? 1 : -1;
  return record;
}

MetadataRecord controlled_shutdown_record(const BrokerState& broker) {
  MetadataRecord record{"BrokerRegistrationChangeRecord", 1, fresh("BrokerRegistrationChangeRecord", 1)};
  record.value["broker_id"] = broker.id;
  record.value["broker_epoch"] = broker.broker_epoch;
  record.value["in_controlled_shutdown"] = 1;
  return record;
}

MetadataRecord topic_record(const std::string& name, const Uuid& id) {
  MetadataRecord record{"TopicRecord", 0, fresh("TopicRecord", 0)};
  record.value["name"] = name;
  record.value["topic_id"] = id;
  return record;
}

MetadataRecord remove_topic_record(const Uuid& id) {
  MetadataRecord record{"RemoveTopicRecord", 0, fresh("RemoveTopicRecord", 0)};
  record.value["topic_id"] = id;
  return record;
}

MetadataRecord partition_record(const Uuid& topic, std::int32_t number, const PartitionRegistration& state,
                                const std::vector<Uuid>& directories) {
  MetadataRecord record{"PartitionRecord", 2, fresh("PartitionRecord", 2)};
  record.value["partition_id"] = number;
  record.value["topic_id"] = topic;
  record.value["replicas"] = SchemaValue::integers(state.replicas);
  record.value["isr"] = SchemaValue::integers(state.isr);
  record.value["leader"] = state.leader;
  record.value["leader_epoch"] = state.leader_epoch;
  record.value["partition_epoch"] = state.partition_epoch;
  if (state.recovering) record.value["leader_recovery_state"] = 1;
  record.value["directories"] = SchemaValue::Array(directories.begin(), directories.end());
  if (!state.elr.empty()) record.value["eligible_leader_replicas"] = SchemaValue::integers(state.elr);
  if (state.last_known_leader != kNoBroker)
    record.value["last_known_elr"] = SchemaValue::integers({state.last_known_leader});
  return record;
}

MetadataRecord partition_change_record(const Uuid& topic, std::int32_t number,
                                       const PartitionRegistration& from, const PartitionRegistration& to) {
  MetadataRecord record{"PartitionChangeRecord", 2, fresh("PartitionChangeRecord", 2)};
  record.value["partition_id"] = number;
  record.value["topic_id"] = topic;
  if (from.isr != to.isr) record.value["isr"] = SchemaValue::integers(to.isr);
  if (from.leader_epoch != to.leader_epoch) record.value["leader"] = to.leader;
  if (from.recovering != to.recovering) record.value["leader_recovery_state"] = to.recovering ? 1 : 0;
  if (from.elr != to.elr) record.value["eligible_leader_replicas"] = SchemaValue::integers(to.elr);
  if (from.last_known_leader != to.last_known_leader) {
    record.value["last_known_elr"] = to.last_known_leader == kNoBroker
                                         ? SchemaValue::integers({})
                                         : SchemaValue::integers({to.last_known_leader});
  }
  return record;
}

MetadataRecord config_record(const std::string& topic, const std::string& key,
                             const std::optional<std::string>& value) {
  MetadataRecord record{"ConfigRecord", 0, fresh("ConfigRecord", 0)};
  record.value["resource_type"] = topic.empty() ? kBrokerResource : kTopicResource;
  record.value["resource_name"] = topic;
  record.value["name"] = key;
  record.value["value"] = value ? SchemaValue(*value) : SchemaValue(SchemaValue::Null{});
  return record;
}

MetadataRecord feature_record(const std::string& name, std::int32_t level) {
  MetadataRecord record{"FeatureLevelRecord", 0, fresh("FeatureLevelRecord", 0)};
  record.value["name"] = name;
  record.value["feature_level"] = level;
  return record;
}

}  // namespace tk
