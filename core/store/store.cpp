#include "core/store/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/catalog/log_directory.h"
#include "core/catalog/nearest_topic.h"
#include "core/cluster/cluster.h"
#include "core/io/turn_lock.h"
#include "core/store/topic_probe.h"

namespace tk {
namespace {

using Topics = std::map<std::string, TopicInfo>;

void add_partition(TopicInfo& topic, PartitionId partition, std::string directory, bool tk_made) {
  topic.partitions.push_back({topic.name, partition, topic.state, std::move(directory), tk_made});
}

TopicInfo topic_of(const std::string& name, const TopicEntry& entry) {
  TopicInfo topic;
  topic.name = name;
  topic.format = entry.format;
  topic.format_settled = true;
  topic.id = entry.id;
  topic.configs = entry.configs;
  topic.tk_made = !entry.adopted;
  return topic;
}

/// The store's own words for which partitions there are: "0", "0 to 2", "0, 2, 5".
std::string numbers_of(const TopicInfo& topic) {
  const auto& partitions = topic.partitions;
  const std::int64_t first = partitions.front().partition.value(), last = partitions.back().partition.value();
  if (first == last) return std::to_string(first);
  if (last - first + 1 == static_cast<std::int64_t>(partitions.size()))
    return fmt::format("{} to {}", first, last);
  constexpr std::size_t named = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(named, partitions.size()); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", partitions[i].partition.value());
  }
  return partitions.size() > named ? text + ", ..." : text;
}

}  // namespace

Store::Store(FileSystem& fs, std::string directory, Options options)
    : fs_(&fs), directory_(std::move(directory)), options_(options) {}

Store Store::open(FileSystem& fs, const std::string& directory, const Options& options) {
  const auto found = fs.stat(directory);
  if (!found || !found->is_directory) {
    throw Error(ErrorCode::storage_error,
                found ? "the data directory is a file" : "there is no such data directory")
        .at(directory)
        .hint("name another one with -d DIR or TK_DIR; the first command that writes makes it");
  }
  Store store(fs, directory, options);
  store.load();
  return store;
}

Store Store::open_for_writing(FileSystem& fs, const std::string& directory, const Options& options) {
  fs.make_directories(directory);
  Store store(fs, directory, options);
  if (is_cluster_broker(fs, directory)) {
    throw Error(
        ErrorCode::not_leader_or_follower,
        "this is one broker's directory of a cluster: writing to it alone would part it from its replicas")
        .at(directory)
        .hint("name the cluster's directory, above it, with -d");
  }
  store.lock_ = lock_directory_shared(fs, directory);
  if (is_cluster(fs, directory))
    store.cluster_lock_ = lock_exclusive(fs, join_path(directory, kClusterLockFile), options.lock_wait);
  store.load();
  if (store.state_error_) throw *store.state_error_;
  return store;
}

TopicFormat Store::default_format() const {
  return options_.default_format.value_or(is_broker_ ? TopicFormat::kafka : TopicFormat::json);
}

void Store::Slot::add(TopicInfo topic) {
  std::ranges::sort(topic.partitions, {},
                    [](const PartitionInfo& p) { return std::tie(p.partition, p.directory); });
  topics.push_back(std::move(topic));
  settled.push_back(false);
}

// The listing is read before tk-topics.json: a topic that is being made is in the file first (create_topic),
// so its directories are never seen without its entry.
void Store::load() {
  if (is_cluster(*fs_, directory_)) return load_cluster();
  LogDirectory found = scan_log_directory(*fs_, directory_);
  is_broker_ = found.is_broker;
  has_clean_shutdown_ = found.has_clean_shutdown;
  notes_ = std::move(found.notes);
  log_starts_ = std::move(found.log_starts);
  state_error_.reset();
  TopicsFile file;
  try {
    file = read_topics_file(*fs_, directory_);
  } catch (const Error& error) {
    state_error_ = error;
  }

  Topics live;
  std::map<std::pair<PartitionState, std::string>, TopicInfo> aside;
  for (const auto& [name, entry] : file.topics) {
    TopicInfo& topic = live[name] = topic_of(name, entry);
    if (entry.adopted) continue;  // has the partitions that are there
    for (std::int32_t i = 0; i < entry.partitions; ++i) {
      add_partition(topic, PartitionId(i),
                    join_path(directory_, partition_directory_name(name, PartitionId(i))), !is_broker_);
    }
  }
  for (FoundPartition& partition : found.partitions) {
    const bool is_live = partition.name.state == PartitionState::live;
    TopicInfo& topic =
        is_live ? live[partition.name.topic] : aside[{partition.name.state, partition.name.topic}];
    if (topic.name.empty()) {
      topic.name = partition.name.topic;
      topic.state = partition.name.state;
      topic.format = default_format();
      topic.format_settled = false;
    }
    const auto entry = is_live ? file.topics.find(topic.name) : file.topics.end();
    const bool listed = entry != file.topics.end() && !entry->second.adopted &&
                        partition.name.partition.value() < entry->second.partitions;
    if (!listed)
      add_partition(topic, partition.name.partition, join_path(directory_, partition.directory), false);
  }
  live_ = {};
  set_aside_ = {};
  // An adopted topic whose directories have all gone is none any more.
  for (auto& [name, topic] : live) {
    if (!topic.partitions.empty()) live_.add(std::move(topic));
  }
  for (auto& [key, topic] : aside) set_aside_.add(std::move(topic));
}

// Finds out what the segments say; what cannot be read says nothing here, and is reported by whoever reads
// the partition.
void Store::settle(Slot& slot, std::size_t index) const {
  if (slot.settled[index]) return;
  slot.settled[index] = true;
  TopicInfo& topic = slot.topics[index];
  bool has_format = false;
  for (const PartitionInfo& partition : topic.partitions) {
    if (has_format && topic.id) break;
    try {
      if (!topic.id) topic.id = probe_topic_id(*fs_, partition.directory);
      const auto format = has_format ? std::nullopt : probe_format(*fs_, partition.directory);
      if (format) {
        topic.format = *format;
        topic.format_settled = true;
      }
      has_format |= format.has_value();
    } catch (const Error&) {
    }
  }
  if (topic.state != PartitionState::live || !is_broker_ || metadata() == nullptr) return;
  const BrokerMetadata::Topic* const known = metadata_->find(topic.name);
  // Another topic that had the same name has other settings.
  if (known == nullptr || (topic.id && *topic.id != known->id)) return;
  if (!topic.id) topic.id = known->id;
  for (const auto& [key, value] : known->configs) topic.configs.try_emplace(key, value);
}

const BrokerMetadata* Store::metadata() const {
  if (!metadata_read_ && is_broker_) {
    try {
      metadata_ = read_broker_metadata(*fs_, directory_, MetadataDetail::topics);
    } catch (const Error&) {
      // Its partition is named by whoever reads it.
    }
  }
  metadata_read_ = true;
  return metadata_ ? &*metadata_ : nullptr;
}

void Store::settle_all(Slot& slot) const {
  for (std::size_t i = 0; i < slot.topics.size(); ++i) settle(slot, i);
}

const std::vector<TopicInfo>& Store::topics() const {
  settle_all(live_);
  return live_.topics;
}

const std::vector<TopicInfo>& Store::set_aside() const {
  settle_all(set_aside_);
  return set_aside_.topics;
}

std::size_t Store::index_of(std::string_view topic) const {
  const auto& topics = live_.topics;
  const auto at = std::ranges::lower_bound(topics, topic, {},
                                           [](const TopicInfo& t) { return std::string_view(t.name); });
  const bool there = at != topics.end() && at->name == topic;
  return there ? static_cast<std::size_t>(at - topics.begin()) : topics.size();
}

const TopicInfo* Store::find(std::string_view topic) const {
  const std::size_t index = index_of(topic);
  if (index == live_.topics.size()) return nullptr;
  settle(live_, index);
  return &live_.topics[index];
}

Error Store::unknown_topic(std::string_view name) const {
  Error error = Error(ErrorCode::unknown_topic_or_partition,
                      fmt::format("there is no topic '{}'", printable(name, 300)))
                    .at(directory_);
  for (const TopicInfo& topic : set_aside_.topics) {
    if (topic.name != name) continue;
    return std::move(error).hint(fmt::format("its {} directories can be read by their paths, as {}",
                                             partition_state_name(topic.state),
                                             topic.partitions.front().directory));
  }
  std::vector<std::string> names;
  for (const TopicInfo& topic : live_.topics) names.push_back(topic.name);
  if (const auto nearest = nearest_topic(name, names)) {
    return std::move(error).hint(fmt::format("did you mean '{}'?", *nearest));
  }
  return error;
}

Store::Selection Store::resolve(std::string_view name) const {
  if (const TopicInfo* topic = find(name)) return {topic, {}};
  const auto parsed = parse_partition_directory(name);
  if (!parsed || parsed->state != PartitionState::live) throw unknown_topic(name);
  const TopicInfo* topic = find(parsed->topic);
  if (topic == nullptr) throw unknown_topic(name);
  const bool there =
      std::ranges::binary_search(topic->partitions, parsed->partition, {}, &PartitionInfo::partition);
  if (there) return {topic, parsed->partition};
  throw Error(ErrorCode::unknown_topic_or_partition,
              fmt::format("topic '{}' has no partition {}, but {}", topic->name, parsed->partition.value(),
                          numbers_of(*topic)))
      .at(directory_);
}

}  // namespace tk
