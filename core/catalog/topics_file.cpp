#include "core/catalog/topics_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/catalog/state_json.h"
#include "core/catalog/topic_name.h"

namespace tk {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kVersion = 1;
constexpr std::uint64_t kLargestFile = 16U << 20;

/// Reads one file; every complaint bears its path.
class Reader {
 public:
  explicit Reader(const std::string& path)
      : state_(path,
               "repair the file, or move it away: partitions and their records are found without it, configs "
               "are "
               "not") {}

  TopicsFile read(std::string_view text) {
    const Json root = state_.parse(text, kVersion);
    TopicsFile file;
    Json others = Json::object();
    for (const auto& [name, value] : root.items()) {
      if (name == "topics") {
        read_topics(value, file);
      } else if (name != "format") {
        others[name] = value;
      }
    }
    file.others = kept_members(others);
    return file;
  }

 private:
  [[noreturn]] void refuse(std::string message) const { state_.refuse(std::move(message)); }

  void read_topics(const Json& topics, TopicsFile& file) const {
    if (!topics.is_object()) refuse("\"topics\" is no object");
    std::int64_t partitions = 0;
    for (const auto& [name, value] : topics.items()) {
      // A name becomes part of a path: it must not lead out of the directory.
      if (const char* fault = topic_name_fault(name))
        refuse(fmt::format("topic '{}': {}", printable(name), fault));
      const TopicEntry& entry = file.topics[name] = read_entry(name, value);
      partitions += entry.partitions;
      if (partitions > kMaxPartitionsInAll) {
        refuse(fmt::format("more than {} partitions in all", kMaxPartitionsInAll));
      }
    }
  }

  TopicEntry read_entry(const std::string& topic, const Json& value) const {
    if (!value.is_object()) refuse(fmt::format("topic '{}' is no object", topic));
    TopicEntry entry;
    Json others = Json::object();
    std::optional<Uuid> id;
    std::optional<std::int32_t> partitions;
    std::optional<TopicFormat> format;
    for (const auto& [name, member] : value.items()) {
      if (name == "id") {
        if (member.is_string()) id = Uuid::parse(member.get_ref<const std::string&>());
      } else if (name == "partitions") {
        partitions = read_partitions(member);
      } else if (name == "format") {
        if (member.is_string()) format = parse_topic_format(member.get_ref<const std::string&>());
      } else if (name == "configs") {
        entry.configs = read_configs(topic, member);
      } else if (name == "adopted" && member.is_boolean()) {
        entry.adopted = member.get<bool>();
      } else {
        others[name] = member;
      }
    }
    if (!id) refuse(fmt::format("topic '{}': \"id\" is not an id of 22 characters", topic));
    if (!partitions)
      refuse(fmt::format("topic '{}': \"partitions\" is not from 1 to {}", topic, kMaxPartitions));
    if (!format) refuse(fmt::format("topic '{}': \"format\" is neither \"json\" nor \"kafka\"", topic));
    entry.id = *id;
    entry.partitions = *partitions;
    entry.format = *format;
    entry.others = kept_members(others);
    return entry;
  }

  static std::optional<std::int32_t> read_partitions(const Json& member) {
    if (!member.is_number_integer()) return {};
    // Unsigned numbers above the signed range must not wrap into the good one.
    if (member.is_number_unsigned() && member.get<std::uint64_t>() > kMaxPartitions) return {};
    const auto number = member.get<std::int64_t>();
    if (number < 1 || number > kMaxPartitions) return {};
    return static_cast<std::int32_t>(number);
  }

  ConfigMap read_configs(const std::string& topic, const Json& configs) const {
    if (!configs.is_object()) refuse(fmt::format("topic '{}': \"configs\" is no object", topic));
    ConfigMap map;
    for (const auto& [key, value] : configs.items()) {
      // Whoever edits the file by hand may leave the quotes out.
      if (value.is_structured() || value.is_null()) {
        refuse(fmt::format("topic '{}': config '{}' has no value", topic, printable(key)));
      }
      map[key] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    return map;
  }

  StateJson state_;
};

Json to_json(const TopicEntry& entry) {
  Json json = Json::object();
  json["id"] = entry.id.text();
  json["partitions"] = entry.partitions;
  json["format"] = topic_format_name(entry.format);
  json["configs"] = Json::object();
  for (const auto& [key, value] : entry.configs) json["configs"][key] = value;
  if (entry.adopted) json["adopted"] = true;
  add_kept_members(json, entry.others);
  return json;
}

}  // namespace

TopicsFile parse_topics_file(std::string_view text, const std::string& path) {
  return Reader(path).read(text);
}

std::string format_topics_file(const TopicsFile& file) {
  // One line a topic, for people and for diff.
  std::string text = fmt::format("{{\"format\":{},\"topics\":{{", kVersion);
  const char* before = "\n";
  for (const auto& [name, entry] : file.topics) {
    text.append(before).append(Json(name).dump()).append(":").append(to_json(entry).dump());
    before = ",\n";
  }
  text += file.topics.empty() ? "}" : "\n}";
  // Kept as they were read: an object, of which the braces go.
  if (!file.others.empty()) text.append(",").append(file.others, 1, file.others.size() - 2);
  text += "}\n";
  return text;
}

TopicsFile read_topics_file(FileSystem& fs, const std::string& directory) {
  const std::string path = join_path(directory, kTopicsFile);
  if (!fs.stat(path)) return {};
  return parse_topics_file(read_whole(fs, path, kLargestFile), path);
}

std::unique_ptr<LockFile> lock_topics_file(FileSystem& fs, const std::string& directory,
                                           const LockWait& wait) {
  return lock_exclusive(fs, join_path(directory, kTopicsLockFile), wait);
}

void write_topics_file(FileSystem& fs, const std::string& directory, const TopicsFile& file) {
  replace_atomically(fs, join_path(directory, kTopicsFile), as_bytes(format_topics_file(file)));
}

}  // namespace tk
