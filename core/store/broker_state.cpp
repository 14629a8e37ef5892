#include "core/store/broker_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/group/group_name.h"
#include "core/log/settled_records.h"

namespace tk {
namespace {

constexpr std::string_view kOffsetsTopic = "__consumer_offsets";
constexpr std::string_view kTransactionsTopic = "__transaction_state";
constexpr std::string_view kShareTopic = "__share_group_state";

/// Partitions that the topic has: by the metadata log, else by the directories.
std::int32_t partition_count(const Store& store, const TopicInfo& topic) {
  if (const BrokerMetadata* metadata = store.metadata()) {
    if (const BrokerMetadata::Topic* known = metadata->find(topic.name); known && !known->partitions.empty())
      return known->partitions.rbegin()->first + 1;
  }
  return topic.partitions.back().partition.value() + 1;
}

/// Replays every partition of a topic; `take(partition, record)` says whether it understood the record.
template <class Take>
const TopicInfo* replay(const Store& store, std::string_view name, const BrokerStateNotes& notes,
                        Take&& take) {
  const TopicInfo* const topic = store.find(name);
  if (topic == nullptr) return nullptr;
  std::uint64_t unknown = 0;
  for (const PartitionInfo& partition : topic->partitions) {
    try {
      walk_settled_records(
          store.file_system(), store.view(partition),
          [&](const SettledRecord& record) {
            if (!take(partition.partition, record)) ++unknown;
          },
          [&](const WalkDamage& damage) {
            notes.damage(
                Error(ErrorCode::corrupt_message, damage.fault.detail).at(damage.path, damage.position));
          });
    } catch (const Error& error) {
      notes.damage(error);
    }
  }
  if (unknown > 0) {
    notes.note(
        fmt::format("{}: {} record{} of an unknown type or version, or not to be decoded, stepped over", name,
                    unknown, unknown == 1 ? "" : "s"));
  }
  const std::int32_t count = partition_count(store, *topic);
  if (static_cast<std::int32_t>(topic->partitions.size()) < count) {
    notes.note(fmt::format("{} of the {} partitions of {} are in this directory: the others may hold more",
                           topic->partitions.size(), count, name));
  }
  return topic;
}

}  // namespace

BrokerGroups read_broker_groups(const Store& store, const BrokerStateNotes& notes) {
  BrokerGroups result;
  if (!store.is_broker()) return result;
  BrokerGroupReplay groups;
  std::set<PartitionId> here;
  const TopicInfo* const topic =
      replay(store, kOffsetsTopic, notes, [&](PartitionId partition, const SettledRecord& record) {
        return groups.take_offsets(partition, record.key_view(), record.value_view(), record.offset);
      });
  if (topic != nullptr) {
    result.offsets_partitions = partition_count(store, *topic);
    for (const PartitionInfo& partition : topic->partitions) here.insert(partition.partition);
  }
  replay(store, kShareTopic, notes, [&](PartitionId, const SettledRecord& record) {
    return groups.take_share_state(record.key_view(), record.value_view());
  });
  std::map<Uuid, std::string> names;
  for (const TopicInfo& known : store.topics()) {
    if (known.id) names[*known.id] = known.name;
  }
  const auto topic_name = [&](const Uuid& id) -> std::string {
    const auto local = names.find(id);
    if (local != names.end()) return local->second;
    return store.metadata() != nullptr ? store.metadata()->name_of(id) : "";
  };
  const auto held_here = [&](const std::string& group) {
    return result.offsets_partitions > 0 &&
           here.contains(PartitionId(offsets_partition_of(group, result.offsets_partitions)));
  };
  result.groups = groups.groups(topic_name, held_here);
  return result;
}

std::optional<bool> TransactionCoordinators::hangs(ProducerId producer, const TopicPartition& place) const {
  bool known = false;
  for (const auto& [id, entry] : transactions) {
    if (entry.id != producer) continue;
    known = true;
    if (entry.is_open() && std::binary_search(entry.partitions.begin(), entry.partitions.end(), place))
      return false;
  }
  // A producer id belongs to one transactional id: once that is found, no other partition says otherwise.
  return known || complete ? std::optional(true) : std::nullopt;
}

TransactionCoordinators read_transaction_coordinators(const Store& store, const BrokerStateNotes& notes) {
  TransactionCoordinators result;
  if (!store.is_broker()) return result;
  bool whole = true;
  const BrokerStateNotes watched{[&](const Error& error) {
                                   whole = false;
                                   notes.damage(error);
                                 },
                                 notes.note};
  const TopicInfo* const topic =
      replay(store, kTransactionsTopic, watched, [&](PartitionId partition, const SettledRecord& record) {
        const bool known =
            take_transaction_record(partition, record.key_view(), record.value_view(), result.transactions);
        whole = whole && known;
        return known;
      });
  result.complete = whole && topic != nullptr &&
                    static_cast<std::int32_t>(topic->partitions.size()) == partition_count(store, *topic);
  return result;
}

}  // namespace tk
