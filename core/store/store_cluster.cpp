// A store over a cluster of tk's: topics are the metadata log's, a partition is read and written where its
// leader is.
#include <fmt/format.h>

#include <algorithm>

#include "core/cluster/cluster.h"
#include "core/cluster/interrupted.h"
#include "core/io/turn_lock.h"
#include "core/store/store.h"

namespace tk {
namespace {

constexpr std::int32_t kDefaultReplicas = 3;

TopicFormat format_of(const ConfigMap& configs) {
  const auto format = configs.find(std::string(kFormatConfig));
  return format != configs.end() && format->second == "kafka" ? TopicFormat::kafka : TopicFormat::json;
}

}  // namespace

void Store::load_cluster() {
  if (!cluster_) {
    Cluster::Options options;
    options.lock_wait = options_.lock_wait;
    options.waits_for_controllers = true;
    options.note = options_.warn;
    if (!options.note) options.note = [this](const std::string& line) { notes_.push_back(line); };
    cluster_ = std::make_shared<Cluster>(*fs_, directory_, ClusterSettings{}, std::move(options));
    cluster_->load(cluster_lock_ ? Cluster::LoadFor::changing : Cluster::LoadFor::looking);
    if (cluster_lock_) finish_interrupted(*cluster_);
  }
  list_cluster_topics();
}

void Store::list_cluster_topics() {
  live_ = {};
  for (const auto& [name, topic] : cluster_->image().topics) {
    TopicInfo info;
    info.name = name;
    info.format = format_of(topic.configs);
    info.id = topic.id;
    info.configs = topic.configs;
    info.configs.erase(std::string(kFormatConfig));
    info.tk_made = true;
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      const PartitionRegistration& state = topic.partitions[i];
      const std::string partition_name = fmt::format("{}-{}", name, i);
      PartitionInfo partition{
          name, PartitionId(static_cast<std::int32_t>(i)), PartitionState::live, {}, true};
      partition.in_cluster = true;
      const BrokerId at = state.leader != kNoBroker ? state.leader : state.replicas.front();
      partition.directory = join_path(cluster_->broker_directory(at), partition_name);
      const Broker& broker = cluster_->broker(at);
      const auto slot = broker.slots.find(partition_name);
      if (state.leader != kNoBroker && broker.up && slot != broker.slots.end()) {
        partition.high_watermark = slot->second.replica->high_watermark();
        partition.cluster_log_start = slot->second.replica->log().start();
      }
      info.partitions.push_back(std::move(partition));
    }
    if (!info.partitions.empty()) live_.add(std::move(info));
  }
  for (std::size_t i = 0; i < live_.settled.size(); ++i) live_.settled[i] = true;
}

void Store::save_cluster() {
  cluster_->save();
  list_cluster_topics();
}

const TopicInfo& Store::create_cluster_topic(const NewTopic& wanted) {
  if (find(wanted.name) != nullptr) {
    throw Error(ErrorCode::topic_already_exists, fmt::format("there is a topic '{}' already", wanted.name))
        .at(directory_);
  }
  const auto brokers = static_cast<std::int32_t>(cluster_->brokers().size());
  NewClusterTopic topic;
  topic.name = wanted.name;
  topic.partitions = wanted.partitions;
  topic.replicas = wanted.replicas.value_or(std::min(kDefaultReplicas, brokers));
  if (topic.replicas < 1 || topic.replicas > brokers) {
    throw Error(ErrorCode::invalid_request,
                fmt::format("{} replicas of a partition need as many brokers; the cluster has {}",
                            topic.replicas, brokers))
        .at(directory_);
  }
  topic.format = wanted.format.value_or(default_format());
  topic.configs = check_configs(wanted.configs);
  cluster_->create_topic(topic);
  save_cluster();
  return *find(wanted.name);
}

const TopicInfo& Store::alter_cluster_topic(std::string_view name, std::optional<std::int32_t> count,
                                            const ConfigMap& set, const std::vector<std::string>& unset) {
  const TopicInfo* topic = find(name);
  if (topic == nullptr) throw unknown_topic(name);
  const auto now = static_cast<std::int32_t>(topic->partitions.size());
  if (count && (*count < now || *count > kMaxPartitions)) {
    throw Error(ErrorCode::invalid_partitions,
                fmt::format("topic '{}' has {} partitions, and they can only become more, up to {}", name,
                            now, kMaxPartitions));
  }
  ConfigMap configs = topic->configs;
  for (const std::string& key : unset) configs.erase(key);
  for (const auto& [key, value] : set) configs[key] = value;
  check_config_relations(configs);
  cluster_->alter_topic(std::string(name), count, set, unset);
  save_cluster();
  return *find(name);
}

std::unique_ptr<PartitionLog> Store::open_cluster_log(const TopicInfo& topic, const PartitionInfo& partition,
                                                      PartitionLog::Options options) {
  const std::string name = fmt::format("{}-{}", topic.name, partition.partition.value());
  PartitionReplica& leader = cluster_->need_leader(name);
  options.leader_epoch = leader.memory().leader_epoch;
  leader.log().close();  // its lock is taken by the log that is handed out
  return std::make_unique<PartitionLog>(*fs_, leader.log().directory(), std::move(options));
}

}  // namespace tk
