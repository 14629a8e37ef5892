// The state of a cluster as its metadata log gives it: brokers, topics, partitions, configs (kafka-on-disk.md
// §13.4.2).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/catalog/topic_config.h"
#include "core/cluster/partition_state.h"
#include "core/format/fault.h"
#include "core/format/internal_record.h"
#include "core/group/topic_partition.h"

namespace tk {

/// What tk keeps of a topic as one of its configs: its record format, which Kafka does not know.
inline constexpr std::string_view kFormatConfig = "tk.format";

struct TopicState {
  std::string name;
  Uuid id;
  std::vector<PartitionRegistration> partitions;
  ConfigMap configs;
};

class MetadataImage {
 public:
  std::map<BrokerId, BrokerState> brokers;
  /// By name.
  std::map<std::string, TopicState, std::less<>> topics;
  /// Of all brokers (the resource without a name).
  ConfigMap broker_configs;
  /// Feature levels by name.
  std::map<std::string, std::int32_t> features;

  /// Takes the next record in. Records that say nothing about the state above are stepped over; one that
  /// speaks of a topic, partition or broker that is not there is a fault of kind `record`, and changes
  /// nothing. Fences of brokers that are fenced already are taken.
  Fault apply(const InternalRecord& record, Offset offset);

  [[nodiscard]] const TopicState* topic(std::string_view name) const;
  [[nodiscard]] const PartitionRegistration* partition(std::string_view topic, std::int32_t number) const;
  [[nodiscard]] const BrokerState* broker(BrokerId id) const;

  friend bool operator==(const MetadataImage& a, const MetadataImage& b);

 private:
  TopicState* by_id(const Uuid& id);
  Fault apply_partition(const SchemaValue& value);
  Fault apply_partition_change(const SchemaValue& value);
  Fault apply_registration(const SchemaValue& value);
  Fault apply_config(const SchemaValue& value);

  std::map<std::string, std::string> names_;  // by an id's text
};

/// Splits "orders-0". The name is known to be one.
TopicPartition split_topic_partition(std::string_view name);

/// One record for the metadata log.
struct MetadataRecord {
  std::string_view name;
  int version = 0;
  SchemaValue value;
};

MetadataRecord register_broker_record(const BrokerState& broker, const Uuid& directory);
MetadataRecord fence_record(const BrokerState& broker, bool fenced);
MetadataRecord controlled_shutdown_record(const BrokerState& broker);
MetadataRecord topic_record(const std::string& name, const Uuid& id);
MetadataRecord remove_topic_record(const Uuid& id);
MetadataRecord partition_record(const Uuid& topic, std::int32_t number, const PartitionRegistration& state,
                                const std::vector<Uuid>& directories);
/// Only what differs.
MetadataRecord partition_change_record(const Uuid& topic, std::int32_t number,
                                       const PartitionRegistration& from, const PartitionRegistration& to);
/// Of a topic, or of all brokers if `topic` is empty; no value removes it.
MetadataRecord config_record(const std::string& topic, const std::string& key,
                             const std::optional<std::string>& value);
MetadataRecord feature_record(const std::string& name, std::int32_t level);

}  // namespace tk
