#include "core/producer/producers_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/catalog/state_json.h"
#include "core/catalog/topic_name.h"

namespace tk {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kVersion = 1;
constexpr std::uint64_t kLargestFile = 64U << 20;
constexpr std::size_t kLongestName = 4096;

constexpr std::array<std::string_view, 4> kStateNames = {"Empty", "Ongoing", "PrepareCommit", "PrepareAbort"};

std::string partition_name(const TopicPartition& partition) {
  return partition_directory_name(partition.topic, partition.partition);
}

/// Reads one file; every complaint bears its path.
class Reader {
 public:
  explicit Reader(const std::string& path)
      : state_(path,
               "repair the file, or move it away: then producers begin anew under other ids, and "
               "transactions that "
               "are open stay open") {}

  ProducersFile read(std::string_view text) {
    const Json root = state_.parse(text, kVersion);
    ProducersFile file;
    Json others = Json::object();
    for (const auto& [name, value] : root.items()) {
      if (name == "next_producer_id") {
        file.next_producer_id = number(value, "next_producer_id", 0, INT64_MAX);
      } else if (name == "producers") {
        each(value, "producers", [&](const std::string& id, const Json& entry) {
          file.producers[id] = read_producer(id, entry);
        });
      } else if (name == "transactions") {
        each(value, "transactions", [&](const std::string& id, const Json& entry) {
          file.transactions[id] = read_transaction(id, entry);
        });
      } else if (name != "format") {
        others[name] = value;
      }
    }
    file.others = kept_members(others);
    return file;
  }

 private:
  [[noreturn]] void refuse(std::string message) const { state_.refuse(std::move(message)); }

  template <class Take>
  void each(const Json& value, std::string_view what, Take take) const {
    if (!value.is_object()) refuse(fmt::format("\"{}\" is no object", what));
    for (const auto& [name, entry] : value.items()) take(name, entry);
  }

  std::int64_t number(const Json& value, std::string_view what, std::int64_t least, std::int64_t most) const {
    const auto wrong = [&] { refuse(fmt::format("\"{}\" is not from {} to {}", what, least, most)); };
    if (!value.is_number_integer()) wrong();
    // Unsigned numbers above the signed range must not wrap into the good one.
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
      wrong();
    const auto read = value.get<std::int64_t>();
    if (read < least || read > most) wrong();
    return read;
  }

  TopicPartition partition(const std::string& name) const {
    auto parsed = parse_partition_directory(name);
    if (!parsed || parsed->state != PartitionState::live || topic_name_fault(parsed->topic) != nullptr)
      refuse(fmt::format("'{}' is no partition's name", printable(name, 300)));
    return {std::move(parsed->topic), parsed->partition};
  }

  NamedProducer read_producer(const std::string& name, const Json& value) const {
    NamedProducer producer;
    Json others = Json::object();
    bool has_id = false;
    each(value, name, [&](const std::string& member, const Json& content) {
      if (member == "producer_id") {
        producer.id = ProducerId(number(content, member, 0, INT64_MAX));
        has_id = true;
      } else if (member == "epoch") {
        producer.epoch = static_cast<std::int16_t>(number(content, member, 0, INT16_MAX));
      } else if (member == "partitions") {
        each(content, member, [&](const std::string& topic, const Json& count) {
          producer.partitions[topic] = static_cast<std::int32_t>(number(count, topic, 1, INT32_MAX));
        });
      } else if (member == "counts") {
        each(content, member, [&](const std::string& place, const Json& count) {
          producer.counts[partition(place)] = number(count, place, 0, INT64_MAX);
        });
      } else {
        others[member] = content;
      }
    });
    if (!has_id) refuse(fmt::format("producer '{}' has no \"producer_id\"", printable(name)));
    producer.others = kept_members(others);
    return producer;
  }

  TransactionEntry read_transaction(const std::string& id, const Json& value) const {
    TransactionEntry entry;
    Json others = Json::object();
    bool has_id = false, has_state = false;
    each(value, id, [&](const std::string& member, const Json& content) {
      if (member == "producer_id") {
        entry.id = ProducerId(number(content, member, 0, INT64_MAX));
        has_id = true;
      } else if (member == "epoch") {
        entry.epoch = static_cast<std::int16_t>(number(content, member, 0, INT16_MAX));
      } else if (member == "state") {
        const auto at = content.is_string()
                            ? std::ranges::find(kStateNames, content.get_ref<const std::string&>())
                            : kStateNames.end();
        has_state = at != kStateNames.end();
        if (has_state) entry.state = static_cast<TransactionState>(at - kStateNames.begin());
      } else if (member == "partitions") {
        for (const std::string& name : strings(content, member)) entry.partitions.push_back(partition(name));
      } else if (member == "groups") {
        entry.groups = strings(content, member);
      } else if (member == "timeout_ms") {
        entry.timeout_ms = number(content, member, 1, INT64_MAX);
      } else if (member == "started_ms") {
        entry.started_ms = number(content, member, -1, INT64_MAX);
      } else if (member == "ended" && (content == "commit" || content == "abort")) {
        entry.committed = content == "commit";
      } else if (member == "previous_epoch") {
        entry.previous_epoch = static_cast<std::int16_t>(number(content, member, 0, INT16_MAX));
      } else {
        others[member] = content;
      }
    });
    if (!has_id) refuse(fmt::format("transaction '{}' has no \"producer_id\"", printable(id)));
    if (!has_state) refuse(fmt::format("transaction '{}' has no \"state\" that is known", printable(id)));
    std::ranges::sort(entry.partitions);
    entry.others = kept_members(others);
    return entry;
  }

  std::vector<std::string> strings(const Json& value, std::string_view what) const {
    if (!value.is_array()) refuse(fmt::format("\"{}\" is no list", what));
    std::vector<std::string> list;
    for (const Json& entry : value) {
      if (!entry.is_string()) refuse(fmt::format("\"{}\" holds what is no string", what));
      list.push_back(entry.get<std::string>());
    }
    return list;
  }

  StateJson state_;
};

Json to_json(const NamedProducer& producer) {
  Json json = Json::object();
  json["producer_id"] = producer.id.value();
  json["epoch"] = producer.epoch;
  json["partitions"] = Json::object();
  for (const auto& [topic, count] : producer.partitions) json["partitions"][topic] = count;
  for (const auto& [partition, count] : producer.counts) json["counts"][partition_name(partition)] = count;
  add_kept_members(json, producer.others);
  return json;
}

Json to_json(const TransactionEntry& entry) {
  Json json = Json::object();
  json["producer_id"] = entry.id.value();
  json["epoch"] = entry.epoch;
  json["state"] = transaction_state_name(entry.state);
  json["partitions"] = Json::array();
  for (const TopicPartition& partition : entry.partitions)
    json["partitions"].push_back(partition_name(partition));
  json["groups"] = entry.groups;
  json["timeout_ms"] = entry.timeout_ms;
  json["started_ms"] = entry.started_ms;
  if (entry.committed) json["ended"] = *entry.committed ? "commit" : "abort";
  if (entry.previous_epoch) json["previous_epoch"] = *entry.previous_epoch;
  add_kept_members(json, entry.others);
  return json;
}

// One line an entry, for people and for diff.
template <class Entries>
void append_entries(std::string& text, std::string_view name, const Entries& entries) {
  text += fmt::format(",\n\"{}\":{{", name);
  const char* before = "\n";
  for (const auto& [id, entry] : entries) {
    text.append(before).append(Json(id).dump()).append(":").append(to_json(entry).dump());
    before = ",\n";
  }
  text += entries.empty() ? "}" : "\n}";
}

}  // namespace

std::string_view transaction_state_name(TransactionState state) {
  return kStateNames[static_cast<std::size_t>(state)];
}

bool ProducersFile::has_due(std::int64_t now_ms) const {
  return std::ranges::any_of(transactions, [&](const auto& entry) {
    return entry.second.decided() || entry.second.expired(now_ms);
  });
}

std::vector<ProducerId> ProducersFile::known_ids() const {
  std::vector<ProducerId> ids;
  for (const auto& [name, producer] : producers) ids.push_back(producer.id);
  for (const auto& [name, entry] : transactions) ids.push_back(entry.id);
  return ids;
}

ProducersFile parse_producers_file(std::string_view text, const std::string& path) {
  return Reader(path).read(text);
}

std::string format_producers_file(const ProducersFile& file) {
  std::string text = fmt::format("{{\"format\":{},\"next_producer_id\":{}", kVersion, file.next_producer_id);
  append_entries(text, "producers", file.producers);
  append_entries(text, "transactions", file.transactions);
  // Kept as they were read: an object, of which the braces go.
  if (!file.others.empty()) text.append(",").append(file.others, 1, file.others.size() - 2);
  text += "}\n";
  return text;
}

std::optional<ProducersFile> read_producers_file(FileSystem& fs, const std::string& directory) {
  const std::string path = join_path(directory, kProducersFile);
  if (!fs.stat(path)) return std::nullopt;
  return parse_producers_file(read_whole(fs, path, kLargestFile), path);
}

std::unique_ptr<LockFile> lock_producers_file(FileSystem& fs, const std::string& directory,
                                              const LockWait& wait) {
  return lock_exclusive(fs, join_path(directory, kProducersLockFile), wait);
}

void write_producers_file(FileSystem& fs, const std::string& directory, const ProducersFile& file) {
  replace_atomically(fs, join_path(directory, kProducersFile), as_bytes(format_producers_file(file)));
}

void check_producer_name(std::string_view name, std::string_view what) {
  if (!name.empty() && name.size() <= kLongestName && is_utf8(name)) return;
  throw Error(ErrorCode::invalid_request,
              name.empty() ? fmt::format("{} is empty", what)
                           : fmt::format("{} is not UTF-8, or longer than {} bytes", what, kLongestName));
}

}  // namespace tk
