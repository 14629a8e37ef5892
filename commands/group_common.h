// What the commands about groups share: opening them, names of partitions, and what is printed of members.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"
#include "core/base/text.h"
#include "core/group/group_store.h"
#include "core/store/group_logs.h"

namespace tk {

struct Context;

/// `context` must outlive it.
GroupStore open_groups(const Context& context, SyncMode sync = SyncMode::end);

/// The store for a command that changes a group of a directory that is there already.
Store open_store_for_groups(Context& context);

/// The group as it is at this moment. Throws group_id_not_found with the nearest name, and what
/// GroupStore::read() throws.
GroupState require_group(const GroupStore& groups, const std::string& group, const GroupTopics& topics);

/// Says what a change of a group had to tell besides.
void report_outcome(const GroupStore::Outcome& outcome, const std::string& group, Context& context);

/// "orders-0"
std::string partition_label(const TopicPartition& partition);
/// "orders-0,orders-1" or "-", for people.
std::string partitions_text(const PartitionList& partitions);
std::string names_text(const std::vector<std::string>& names);

/// What TOPIC, TOPIC-P or Kafka's TOPIC:P,Q names of a store. Throws unknown_topic_or_partition.
PartitionList resolve_scope(const Store& store, const std::string& name);
/// Exactly one partition, TOPIC-P or TOPIC:P.
TopicPartition resolve_partition(const Store& store, const std::string& name);

/// A number or "-".
std::string number_text(const std::optional<std::int64_t>& number);
/// Text that may be missing, as JSON takes it.
inline std::optional<std::string_view> text_if(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

}  // namespace tk
