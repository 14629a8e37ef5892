#include "commands/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "commands/diagnostics.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/catalog/nearest_topic.h"
#include "core/catalog/topic_name.h"
#include "core/cluster/cluster.h"
#include "core/io/file_system.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

/// A directory's name taken apart; nothing for a deleted, stray or future partition.
std::optional<PartitionName> live_partition(std::string_view name) {
  auto parsed = parse_partition_directory(name);
  if (parsed && parsed->state != PartitionState::live) return std::nullopt;
  return parsed;
}

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name == "." || name == ".." || name == "-";
}

/// What the content of a directory tells: a broker's directory may bear a name like a partition's.
Target::Kind directory_kind(FileSystem& fs, const std::string& path) {
  bool segments = false;
  for (const DirEntry& entry : fs.list(path)) {
    if (entry.is_directory && live_partition(entry.name)) return Target::Kind::data;
    if (!entry.is_directory && parse_segment_file_name(entry.name)) segments = true;
  }
  std::string_view trimmed = path;
  while (trimmed.size() > 1 && trimmed.ends_with('/')) trimmed.remove_suffix(1);
  const bool named = live_partition(base_name(trimmed)).has_value();
  return segments || named ? Target::Kind::partition : Target::Kind::data;
}

std::optional<Target> path_target(FileSystem& fs, const std::string& path) {
  if (path == "-") return Target{Target::Kind::file, path};
  const auto found = fs.stat(path);
  if (!found) return std::nullopt;
  if (!found->is_directory) return Target{Target::Kind::file, path};
  return Target{directory_kind(fs, path), path};
}

class Resolver {
 public:
  explicit Resolver(Context& context) : context_(context) {}

  void add_name(const std::string& name) {
    if (is_path(name)) {
      if (!add_path(name)) throw Error(ErrorCode::storage_error, "no such file or directory").at(name);
    } else if (!add_topic(name) && !add_path(name)) {
      throw unknown(name, "no such topic, partition or path");
    }
  }
  void add_topic_or_throw(const std::string& name) {
    if (!add_topic(name)) throw unknown(name, "no such topic or partition");
  }
  void add_data_directory() {
    const auto found = context_.fs.stat(context_.directory);
    if (!found || !found->is_directory) {
      throw Error(ErrorCode::storage_error,
                  found ? "the data directory is a file" : "there is no such data directory")
          .at(context_.directory)
          .hint("name one with --dir or TK_DIR, or give the path of a log");
    }
    add_data(context_.directory);
  }

  std::vector<Target> targets;

 private:
  bool add_path(const std::string& path) {
    const auto target = path_target(context_.fs, path);
    if (target && target->kind == Target::Kind::data) {
      add_data(path);
    } else if (target) {
      targets.push_back(*target);
    }
    return target.has_value();
  }

  void add_data(const std::string& directory) {
    for (std::string& path : log_directories(context_.fs, directory))
      targets.push_back({Target::Kind::data, std::move(path)});
  }

  /// A topic that bears the whole name comes before a partition.
  bool add_topic(const std::string& name) {
    const std::size_t before = targets.size();
    for (const std::string& directory : partitions()) {
      const auto parsed = live_partition(base_name(directory));
      if (parsed && parsed->topic == name) targets.push_back({Target::Kind::partition, directory});
    }
    if (targets.size() > before) return true;
    for (const std::string& directory : partitions()) {
      if (base_name(directory) == name) targets.push_back({Target::Kind::partition, directory});
    }
    return targets.size() > before;
  }

  const std::vector<std::string>& partitions() {
    if (!partitions_) {
      partitions_.emplace();
      const auto found = context_.fs.stat(context_.directory);
      if (found && found->is_directory) {
        for (const std::string& directory : log_directories(context_.fs, context_.directory)) {
          const auto some = partition_directories(context_.fs, directory);
          partitions_->insert(partitions_->end(), some.begin(), some.end());
        }
      }
    }
    return *partitions_;
  }

  Error unknown(const std::string& name, std::string_view what) {
    std::set<std::string> topics;
    for (const std::string& directory : partitions()) {
      topics.insert(live_partition(base_name(directory))->topic);
    }
    Error error(ErrorCode::unknown_topic_or_partition, fmt::format("{}: '{}'", what, name));
    const auto nearest = nearest_topic(name, {topics.begin(), topics.end()});
    if (!nearest) return std::move(error).at(context_.directory);
    return std::move(error).at(context_.directory).hint(fmt::format("did you mean '{}'?", *nearest));
  }

  Context& context_;
  std::optional<std::vector<std::string>> partitions_;
};

}  // namespace

std::vector<std::string> partition_directories(FileSystem& fs, const std::string& data_directory) {
  std::vector<std::pair<PartitionName, std::string>> found;
  for (const DirEntry& entry : fs.list(data_directory)) {
    if (!entry.is_directory) continue;
    if (const auto name = live_partition(entry.name)) found.emplace_back(*name, entry.name);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.topic, a.first.partition) < std::tie(b.first.topic, b.first.partition);
  });
  std::vector<std::string> paths;
  for (const auto& [name, directory] : found) paths.push_back(join_path(data_directory, directory));
  return paths;
}

std::vector<std::string> log_directories(FileSystem& fs, const std::string& directory) {
  if (!is_cluster(fs, directory)) return {directory};
  std::vector<std::string> brokers, controllers;
  for (const DirEntry& entry : fs.list(directory)) {
    if (!entry.is_directory) continue;
    const std::string path = join_path(directory, entry.name);
    if (is_cluster_broker(fs, path)) brokers.push_back(path);
    if (fs.stat(join_path(path, kMetadataPartition))) controllers.push_back(path);
  }
  std::sort(brokers.begin(), brokers.end());
  std::sort(controllers.begin(), controllers.end());
  brokers.insert(brokers.end(), controllers.begin(), controllers.end());
  return brokers;
}

std::uint64_t log_bytes(FileSystem& fs, const std::string& partition_directory) {
  std::uint64_t bytes = 0;
  try {
    for (const DirEntry& entry : fs.list(partition_directory)) {
      const auto name = parse_segment_file_name(entry.name);
      if (entry.is_directory || !name || name->suffix != kLogSuffix) continue;
      if (const auto found = fs.stat(join_path(partition_directory, entry.name))) bytes += found->size;
    }
  } catch (const Error&) {
    return 0;
  }
  return bytes;
}

std::vector<Target> resolve_targets(const Targets& targets, Context& context) {
  Resolver resolver(context);
  const auto attempt = [&](auto&& step) {
    try {
      step();
    } catch (const Error& error) {
      context.diagnostics.error(error);
    }
  };
  for (const std::string& name : targets.names) attempt([&] { resolver.add_name(name); });
  for (const std::string& topic : targets.topics) attempt([&] { resolver.add_topic_or_throw(topic); });
  if (targets.names.empty() && targets.topics.empty()) attempt([&] { resolver.add_data_directory(); });
  return resolver.targets;
}

}  // namespace tk
