// Changes of the groups of a Kafka broker that is not running: records appended to the partition of
// `__consumer_offsets` that holds the group, such as its coordinator would write (kafka-on-disk.md §13.1).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/group/broker_groups.h"
#include "core/store/store.h"

namespace tk {

/// Whether a broker's group can be changed here. Throws non_empty_group where it has members, invalid_request
/// for a share or streams group, of which `__consumer_offsets` has only a part, storage_error if the
/// partition that holds the group is not in the directory.
void require_writable(const Store& store, const BrokerGroup& group);

class BrokerGroupWriter {
 public:
  /// Of a group as read_broker_groups() of this store has it. `store` was opened for writing, which a live
  /// broker does not allow; it and `group` must outlive the writer. `note` is told what opening the partition
  /// puts right. Throws what require_writable throws, and corrupt_message if the partition is damaged.
  BrokerGroupWriter(Store& store, const BrokerGroup& group, std::int64_t now_ms,
                    std::function<void(const std::string&)> note);

  /// The next offset to read of each partition, in the newest form that the partition's commits have.
  void commit(const std::vector<std::pair<TopicPartition, std::int64_t>>& offsets);
  /// Takes away the commits of these partitions.
  void delete_commits(const std::vector<TopicPartition>& partitions);
  /// Takes away all that there is of the group, in the order in which a coordinator takes it: commits first,
  /// then members, the group's own record last.
  void delete_group();

 private:
  /// A record's key as it is on disk, and the value.
  using Record = std::pair<std::string, std::optional<std::string>>;
  struct Held {
    int type_id = 0;
    std::optional<TopicPartition> commit_of;
    Offset at;
    bool live = false;
  };

  void read_keys();
  void append(const std::vector<Record>& records);

  Store& store_;
  const BrokerGroup& group_;
  std::int64_t now_ms_;
  std::function<void(const std::string&)> note_;
  const TopicInfo* topic_ = nullptr;
  const PartitionInfo* partition_ = nullptr;
  /// Of the group's records, by their keys.
  std::map<std::string, Held> keys_;
  /// Of the value of the newest commit of any group in the partition; nothing: there is none.
  std::optional<int> commit_version_;
};

}  // namespace tk
