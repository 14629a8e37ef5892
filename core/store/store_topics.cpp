// Making, changing and deleting the topics of a store.
//
// In each the order of the steps is such that a crash between any two leaves a directory that reads well, and
// the same command run again, or the next one, finishes the work.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/catalog/log_directory.h"
#include "core/cluster/cluster.h"
#include "core/format/checkpoint_file.h"
#include "core/log/segment_names.h"
#include "core/store/store.h"

namespace tk {
namespace {

/// What file systems take as a name: names of directories that wait for deletion are cut to it.
constexpr std::size_t kMaxFileName = 255;

void check_partition_count(std::int64_t count) {
  if (count >= 1 && count <= kMaxPartitions) return;
  throw Error(ErrorCode::invalid_partitions,
              fmt::format("{} is not a number of partitions, 1 to {}", count, kMaxPartitions));
}

void check_partitions_in_all(const TopicsFile& file) {
  std::int64_t sum = 0;
  for (const auto& [name, entry] : file.topics) sum += entry.partitions;
  if (sum <= kMaxPartitionsInAll) return;
  throw Error(
      ErrorCode::invalid_partitions,
      fmt::format("the directory would have {} partitions, at most {} are taken", sum, kMaxPartitionsInAll));
}

/// Removes a directory with all that is in it. A symbolic link goes, what it leads to stays.
void remove_tree(FileSystem& fs, const std::string& path) {
  for (const DirEntry& entry : fs.list(path)) {
    const std::string inside = join_path(path, entry.name);
    if (!entry.is_directory) {
      fs.remove(inside);
      continue;
    }
    try {
      fs.remove(inside);  // fails for a directory, not for a link to one
    } catch (const Error&) {
      remove_tree(fs, inside);
    }
  }
  fs.remove_directory(path);
}

void remove_partition_directory(FileSystem& fs, const std::string& path) {
  try {
    fs.remove(path);  // as above
  } catch (const Error&) {
    remove_tree(fs, path);
  }
}

}  // namespace

void check_new_topic(const NewTopic& topic) {
  if (const char* fault = topic_name_fault(topic.name)) {
    throw Error(ErrorCode::invalid_topic,
                fmt::format("'{}' cannot be a topic: {}", printable(topic.name, 300), fault));
  }
  check_partition_count(topic.partitions);
  check_configs(topic.configs);
}

// tk-topics.json comes first. A crash behind it leaves a topic some of whose directories are missing: they
// count as empty and are made when somebody appends, so the topic is whole. The other way round a crash would
// leave directories without an entry, a topic with too few partitions, another format and no configs, which
// could not be made again either.
const TopicInfo& Store::create_topic(const NewTopic& wanted) {
  check_new_topic(wanted);
  if (cluster_) return create_cluster_topic(wanted);
  if (wanted.replicas.value_or(1) > 1) {
    throw Error(ErrorCode::invalid_request, "more than one replica needs a cluster")
        .at(directory_)
        .hint("'tk cluster init' makes one of an empty directory");
  }
  const auto lock = lock_topics_file(*fs_, directory_, options_.lock_wait);
  load();
  TopicsFile file = read_topics_file(*fs_, directory_);
  if (index_of(wanted.name) < live_.topics.size()) {
    throw Error(ErrorCode::topic_already_exists, fmt::format("there is a topic '{}' already", wanted.name))
        .at(directory_);
  }
  for (const TopicInfo& topic : live_.topics) {
    if (!topic_names_collide(topic.name, wanted.name)) continue;
    throw Error(
        ErrorCode::invalid_topic,
        fmt::format("'{}' collides with the topic '{}': '.' and '_' are the same in the names of metrics",
                    wanted.name, topic.name));
  }
  TopicEntry entry;
  entry.id = Uuid::random();
  entry.partitions = wanted.partitions;
  entry.format = wanted.format.value_or(default_format());
  entry.configs = check_configs(wanted.configs);
  // An entry may still be there: that of an adopted topic whose directories have gone.
  file.topics[wanted.name] = entry;
  check_partitions_in_all(file);
  write_topics_file(*fs_, directory_, file);
  make_partitions(wanted.name, entry);
  load();
  return *find(wanted.name);
}

void Store::make_partitions(std::string_view topic, const TopicEntry& entry) {
  for (std::int32_t i = 0; i < entry.partitions; ++i) {
    const PartitionId partition(i);
    const std::string directory = join_path(directory_, partition_directory_name(topic, partition));
    if (!fs_->stat(directory)) make_partition(topic, partition, directory, entry.id);
  }
}

void Store::make_partition(std::string_view topic, PartitionId partition, const std::string& directory,
                           const Uuid& id) {
  forget_in_checkpoints(*fs_, directory_, topic, partition);
  fs_->make_directories(directory);
  if (id.is_zero()) return;
  const std::string metadata = join_path(directory, kPartitionMetadataFile);
  replace_atomically(*fs_, metadata, as_bytes(format_partition_metadata(id)));
}

TopicEntry Store::entry_of(const TopicInfo& topic, const TopicsFile& file) const {
  const auto at = file.topics.find(topic.name);
  if (at != file.topics.end()) return at->second;
  TopicEntry entry;
  entry.id = topic.id ? *topic.id : Uuid::random();
  entry.partitions = std::min(topic.partitions.back().partition.value(), kMaxPartitions - 1) + 1;
  entry.format = topic.format;
  entry.adopted = true;
  return entry;
}

const TopicInfo& Store::alter_topic(std::string_view name, std::optional<std::int32_t> count,
                                    const ConfigMap& set, const std::vector<std::string>& unset) {
  const ConfigMap checked = check_configs(set);
  for (const std::string& key : unset) check_config_key(key);
  if (cluster_) return alter_cluster_topic(name, count, checked, unset);
  const auto lock = lock_topics_file(*fs_, directory_, options_.lock_wait);
  load();
  TopicsFile file = read_topics_file(*fs_, directory_);
  const TopicInfo* topic = find(name);
  if (topic == nullptr) throw unknown_topic(name);
  if (const char* fault = topic_name_fault(name)) {
    throw Error(ErrorCode::invalid_topic,
                fmt::format("'{}' cannot be changed: {}", printable(name, 300), fault));
  }

  TopicEntry entry = entry_of(*topic, file);
  if (count) {
    check_partition_count(*count);
    const std::int64_t now = std::int64_t{topic->partitions.back().partition.value()} + 1;
    if (*count < now) {
      throw Error(ErrorCode::invalid_partitions,
                  fmt::format("topic '{}' has {} partitions, and they can only become more", name, now));
    }
    // A partition that came from elsewhere must not count as one of tk's because the number has grown past
    // it.
    const bool all_tk_made = std::ranges::all_of(topic->partitions, &PartitionInfo::tk_made);
    if (!all_tk_made && !is_broker_) entry.adopted = true;
    entry.partitions = *count;
  }
  for (const std::string& key : unset) entry.configs.erase(key);
  for (const auto& [key, value] : checked) entry.configs[key] = value;
  check_config_relations(entry.configs);
  file.topics[std::string(name)] = entry;
  check_partitions_in_all(file);

  // As in create_topic, but that an adopted topic has the partitions whose directories are there: those come
  // first.
  if (count && entry.adopted) make_partitions(name, entry);
  write_topics_file(*fs_, directory_, file);
  if (count && !entry.adopted) make_partitions(name, entry);
  load();
  return *find(name);
}

/// True for a -delete directory that was the topic's, as far as its name tells: it may be cut.
bool Store::is_leftover_of(const PartitionInfo& partition, std::string_view topic) const {
  if (partition.state != PartitionState::deleting) return false;
  if (partition.topic == topic) return true;
  return base_name(partition.directory).size() == kMaxFileName && topic.starts_with(partition.topic);
}

std::vector<std::string> Store::leftovers(std::string_view topic) const {
  std::vector<std::string> directories;
  for (const TopicInfo& aside : set_aside_.topics) {
    for (const PartitionInfo& partition : aside.partitions) {
      const bool any = partition.state == PartitionState::deleting && !is_broker_;
      if (any || is_leftover_of(partition, topic)) directories.push_back(partition.directory);
    }
  }
  return directories;
}

std::vector<std::string> Store::would_delete(std::string_view name) const {
  std::vector<std::string> directories;
  const std::size_t index = index_of(name);
  const bool there = index < live_.topics.size();
  if (there) {
    for (const PartitionInfo& partition : live_.topics[index].partitions) {
      if (fs_->stat(partition.directory)) directories.push_back(partition.directory);
    }
  }
  const bool left = std::ranges::any_of(set_aside_.topics, [&](const TopicInfo& topic) {
    return std::ranges::any_of(topic.partitions,
                               [&](const PartitionInfo& p) { return is_leftover_of(p, name); });
  });
  if (!there && !left) throw unknown_topic(name);
  for (std::string& directory : leftovers(name)) directories.push_back(std::move(directory));
  return directories;
}

/// Waits for the partition's writer. The lock ends with the renaming: who waits for it finds the directory
/// gone.
void Store::set_aside_for_deletion(const PartitionInfo& partition, std::vector<std::string>& renamed) {
  if (!fs_->stat(partition.directory)) return;
  TurnLock turn(*fs_, join_path(partition.directory, kPartitionLockFile));
  turn.acquire(options_.lock_wait);
  const std::string to =
      join_path(directory_, deletion_directory_name(partition.topic, partition.partition, Uuid::random()));
  fs_->rename(partition.directory, to);
  renamed.push_back(to);
}

// From the first renaming on the deletion is under way: a crash leaves directories that no longer count as a
// topic, and a topic of the partitions that are left, both of which the next delete removes. The entry goes
// only when the renaming is on disk, else a power cut could bring the directories back as a topic without its
// configs.
std::vector<std::string> Store::delete_topic(std::string_view name) {
  if (cluster_) {
    if (find(name) == nullptr) throw unknown_topic(name);
    std::vector<std::string> removed = cluster_->delete_topic(std::string(name));
    save_cluster();
    return removed;
  }
  const auto lock = lock_topics_file(*fs_, directory_, options_.lock_wait);
  load();
  TopicsFile file = read_topics_file(*fs_, directory_);
  std::vector<std::string> named = would_delete(name);
  std::vector<std::string> renamed;
  const std::size_t index = index_of(name);
  if (index < live_.topics.size()) {
    for (const PartitionInfo& partition : live_.topics[index].partitions)
      set_aside_for_deletion(partition, renamed);
    fs_->sync_directory(directory_);
    forget_in_checkpoints(*fs_, directory_, name);
  }
  if (const auto entry = file.topics.find(name); entry != file.topics.end()) {
    file.topics.erase(entry);
    write_topics_file(*fs_, directory_, file);
  }
  for (std::string& directory : leftovers(name)) renamed.push_back(std::move(directory));
  for (const std::string& directory : renamed) remove_partition_directory(*fs_, directory);
  fs_->sync_directory(directory_);
  load();
  return named;
}

}  // namespace tk
