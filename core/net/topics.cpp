#include "core/net/topics.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/catalog/log_directory.h"
#include "core/format/meta_properties.h"
#include "core/store/topic_probe.h"

namespace tk::net {

bool matches_glob(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

void Catalog::add(std::shared_ptr<const Topic> topic) {
  partitions_ += topic->partitions.size();
  if (!topic->id.is_zero()) by_id_[topic->id] = topic;
  by_name_[topic->name] = std::move(topic);
}

std::shared_ptr<const Topic> Catalog::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second;
}

std::shared_ptr<const Topic> Catalog::find(const Uuid& id) const {
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : at->second;
}

namespace {

Store open(FileSystem& fs, const Topics::Options& options) {
  Store::Options how;
  how.lock_wait = options.lock_wait;
  if (options.read_only) return Store::open(fs, options.directory, how);
  return Store::open_for_writing(fs, options.directory, how);
}

}  // namespace

Topics::Topics(FileSystem& fs, Options options, PartitionHost& host)
    : fs_(fs),
      options_(std::move(options)),
      host_(host),
      store_(open(fs, options_)),
      catalog_(std::make_shared<Catalog>()) {
  is_broker_ = store_.is_broker();
  notes_ = store_.notes();
  if (store_.state_error()) notes_.push_back(store_.state_error()->message());
  const std::lock_guard lock(store_mutex_);
  rebuild();
}

std::shared_ptr<const Catalog> Topics::now() const {
  const std::lock_guard lock(mutex_);
  return catalog_;
}

bool Topics::serves(std::string_view name) const {
  if (options_.only.empty()) return true;
  for (const std::string& pattern : options_.only) {
    if (matches_glob(pattern, name)) return true;
  }
  return false;
}

// A topic that is the same keeps its partitions, and those keep what they know.
std::shared_ptr<const Topic> Topics::topic_of(const TopicInfo& info, const Catalog& before) {
  auto topic = std::make_shared<Topic>();
  topic->name = info.name;
  topic->format = info.format;
  topic->configs = info.configs;
  topic->tk_made = info.tk_made;
  std::optional<Uuid> id = info.id;
  const std::shared_ptr<const Topic> old = before.find(info.name);
  if (!id && old) id = old->id;
  // Only a topic that tk does not list must be asked for its id.
  if (!id) id = probe_topic_id(fs_, info.partitions.front().directory);
  // Without any, its name stands for it: clients need one, and it must stay the same.
  if (!id) {
    Uuid made;
    const auto hash = [&](std::size_t seed) {
      std::uint64_t sum = 14695981039346656037ULL ^ seed;
      for (const char c : info.name) sum = (sum ^ static_cast<std::uint8_t>(c)) * 1099511628211ULL;
      return sum;
    };
    store_be<std::uint64_t>(made.bytes.data(), hash(1));
    store_be<std::uint64_t>(made.bytes.data() + 8, hash(2));
    id = made;
  }
  topic->id = *id;
  const bool same = old && old->id == topic->id;
  for (const PartitionInfo& partition : info.partitions) {
    const std::int32_t number = partition.partition.value();
    if (number < 0 || number >= kMaxPartitions) continue;
    if (topic->partitions.size() <= static_cast<std::size_t>(number))
      topic->partitions.resize(static_cast<std::size_t>(number) + 1);
    std::shared_ptr<Partition> known = same ? old->partition(number) : nullptr;
    if (!known) known = std::make_shared<Partition>(host_, partition, info.format, topic->id);
    if (same && old->configs != topic->configs) known->configs_changed();
    topic->partitions[static_cast<std::size_t>(number)] = std::move(known);
  }
  return topic;
}

void Topics::rebuild() {
  const std::shared_ptr<const Catalog> before = now();
  const auto after = std::make_shared<Catalog>();
  for (const TopicInfo& info : store_.listed_topics()) {
    if (serves(info.name)) after->add(topic_of(info, *before));
  }
  {
    const std::lock_guard lock(mutex_);
    catalog_ = after;
  }
  for (const auto& [name, topic] : before->topics()) {
    const std::shared_ptr<const Topic> now = after->find(name);
    for (const std::shared_ptr<Partition>& partition : topic->partitions) {
      if (!partition) continue;
      if (now && now->partition(partition->info().partition.value()) == partition) continue;
      host_.loop.post([partition] { partition->deleted(); });
    }
  }
}

void Topics::reload() {
  const std::lock_guard lock(store_mutex_);
  store_.refresh();
  if (store_.state_error()) {
    host_.warn(nullptr, *store_.state_error());
    return;
  }
  rebuild();
}

void Topics::create(const NewTopic& topic) {
  const std::lock_guard lock(store_mutex_);
  store_.create_topic(topic);
  rebuild();
}

void Topics::alter(const std::string& name, std::optional<std::int32_t> partitions, const ConfigMap& set,
                   const std::vector<std::string>& unset) {
  const std::lock_guard lock(store_mutex_);
  store_.alter_topic(name, partitions, set, unset);
  rebuild();
}

void Topics::remove(const std::string& name) {
  const std::lock_guard lock(store_mutex_);
  store_.delete_topic(name);
  rebuild();
}

std::unique_ptr<PartitionLog> Topics::open_log(const PartitionInfo& partition) {
  const std::lock_guard lock(store_mutex_);
  const TopicInfo* topic = store_.find(partition.topic);
  if (topic == nullptr) {
    throw Error(ErrorCode::unknown_topic_or_partition,
                fmt::format("there is no topic '{}'", partition.topic));
  }
  return store_.open_for_append(*topic, partition.partition);
}

std::optional<Offset> Topics::checkpointed_start(const PartitionInfo& partition) {
  try {
    return read_checkpoint(fs_, options_.directory, kLogStartFile, partition.topic, partition.partition);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void Topics::with_own_store(const std::function<void(Store&)>& work) {
  Store store = open(fs_, options_);
  work(store);
}

std::string Topics::cluster_id() {
  const std::string properties = join_path(options_.directory, kMetaPropertiesFile);
  if (fs_.stat(properties)) {
    const std::string text = read_whole(fs_, properties);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = std::string_view(text).substr(at, end - at);
      if (line.starts_with("cluster.id=")) return std::string(line.substr(11, line.find('\r') - 11));
      at = end + 1;
    }
  }
  const auto known = [](const TopicsFile& file) -> std::string {
    if (file.others.empty()) return {};
    const auto others = nlohmann::ordered_json::parse(file.others, nullptr, false);
    const auto at = others.is_object() ? others.find("cluster_id") : others.end();
    return others.is_object() && at != others.end() && at->is_string() ? at->get<std::string>() : "";
  };
  try {
    const std::string id = known(read_topics_file(fs_, options_.directory));
    if (!id.empty()) return id;
  } catch (const Error&) {
    if (!options_.read_only) throw;
  }
  if (options_.read_only) {
    const FileStat stat = fs_.stat(options_.directory).value_or(FileStat{});
    Uuid made;
    store_be<std::uint64_t>(made.bytes.data(), stat.device);
    store_be<std::uint64_t>(made.bytes.data() + 8, stat.inode);
    return made.text();
  }
  const auto lock = lock_topics_file(fs_, options_.directory, options_.lock_wait);
  TopicsFile file = read_topics_file(fs_, options_.directory);
  if (std::string id = known(file); !id.empty()) return id;
  auto others =
      file.others.empty() ? nlohmann::ordered_json::object() : nlohmann::ordered_json::parse(file.others);
  const std::string id = Uuid::random().text();
  others["cluster_id"] = id;
  file.others = others.dump();
  write_topics_file(fs_, options_.directory, file);
  return id;
}

}  // namespace tk::net
