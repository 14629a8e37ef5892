#include "commands/group_common.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "core/base/json_writer.h"

namespace tk {
namespace {

struct Named {
  std::string topic;
  std::vector<std::int64_t> partitions;
};

// Kafka's "t:0,2".
std::optional<Named> parse_colon(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  Named named{name.substr(0, colon), {}};
  std::size_t at = colon + 1;
  while (at <= name.size()) {
    const std::size_t end = std::min(name.find(',', at), name.size());
    const auto number = parse_int(std::string_view(name).substr(at, end - at));
    if (!number || *number < 0 || *number > INT32_MAX) return std::nullopt;
    named.partitions.push_back(*number);
    at = end + 1;
  }
  return named;
}

TopicPartition in_topic(const TopicInfo& topic, std::int64_t number) {
  const PartitionId partition(static_cast<std::int32_t>(number));
  if (std::ranges::binary_search(topic.partitions, partition, {}, &PartitionInfo::partition)) {
    return {topic.name, partition};
  }
  throw Error(ErrorCode::unknown_topic_or_partition,
              fmt::format("topic '{}' has no partition {}", printable(topic.name, 300), number));
}

}  // namespace

GroupStore open_groups(const Context& context, SyncMode sync) {
  return {context.fs,
          context.directory,
          context.clock,
          {.lock_wait = lock_wait(context), .durable = sync != SyncMode::none}};
}

Store open_store_for_groups(Context& context) {
  // A directory that is not there has no groups, and is not made for this.
  if (const auto found = context.fs.stat(context.directory); !found || !found->is_directory)
    static_cast<void>(Store::open(context.fs, context.directory, {}));  // throws, and says why
  Store store = open_store_for_writing(context);
  // Offsets of a transaction that is decided belong to the group before anything else is done to it.
  expire_due_transactions(store, context);
  return store;
}

GroupState require_group(const GroupStore& groups, const std::string& group, const GroupTopics& topics) {
  auto found = groups.at_this_moment(groups.read(group), topics);
  if (!found) throw groups.unknown_group(group);
  return std::move(*found);
}

void report_outcome(const GroupStore::Outcome& outcome, const std::string& group, Context& context) {
  if (outcome.clock_regressed) {
    context.diagnostics.warning(fmt::format(
        "the clock is behind what group '{}' has seen: the group's own time was taken", printable(group)));
  }
  if (outcome.history_error) {
    context.diagnostics.warning(fmt::format("the history of group '{}' was not written: {}", printable(group),
                                            outcome.history_error->message()));
  }
}

std::string partition_label(const TopicPartition& partition) {
  return partition_directory_name(partition.topic, partition.partition);
}

std::string partitions_text(const PartitionList& partitions) {
  std::vector<std::string> names;
  for (const TopicPartition& partition : partitions) names.push_back(partition_label(partition));
  return names_text(names);
}

std::string names_text(const std::vector<std::string>& names) {
  if (names.empty()) return "-";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

PartitionList resolve_scope(const Store& store, const std::string& name) {
  PartitionList scope;
  if (const auto named = parse_colon(name)) {
    const TopicInfo* topic = store.resolve(named->topic).topic;
    for (const std::int64_t number : named->partitions) scope.push_back(in_topic(*topic, number));
  } else {
    const Store::Selection selection = store.resolve(name);
    if (selection.partition) return {{selection.topic->name, *selection.partition}};
    for (const PartitionInfo& partition : selection.topic->partitions) {
      scope.push_back({partition.topic, partition.partition});
    }
  }
  sort_and_unite(scope);
  return scope;
}

TopicPartition resolve_partition(const Store& store, const std::string& name) {
  const PartitionList scope = resolve_scope(store, name);
  if (scope.size() == 1 && (name.find(':') != std::string::npos || !store.find(name))) return scope.front();
  throw Error(ErrorCode::invalid_request,
              fmt::format("'{}' is a topic; one of its partitions is wanted", printable(name, 300)))
      .hint(fmt::format("for example {}:0", printable(name, 300)));
}

std::string number_text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

}  // namespace tk
