// The transactions of a Kafka broker: what replaying the records of `__transaction_state` gives
// (kafka-on-disk.md §13.2). Only read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/group/topic_partition.h"

namespace tk {

struct BrokerTransaction {
  ProducerId id;
  std::int16_t epoch = -1;
  /// Kafka's name: "Empty", "Ongoing", "PrepareCommit", "CompleteAbort" ...; a number that has none as text.
  std::string state;
  std::int64_t timeout_ms = 0;
  /// -1: none.
  std::int64_t started_ms = -1;
  std::int64_t updated_ms = -1;
  /// Sorted.
  std::vector<TopicPartition> partitions;
  /// The partition of `__transaction_state` that its records lie in.
  PartitionId held_by;

  [[nodiscard]] bool is_open() const {
    return state == "Ongoing" || state == "PrepareCommit" || state == "PrepareAbort" ||
           state == "PrepareEpochFence";
  }
};

/// "Ongoing" and so on for the number on disk; nothing for one that has no name.
std::optional<std::string_view> broker_transaction_state(std::int64_t status);

/// By transactional id.
using BrokerTransactions = std::map<std::string, BrokerTransaction>;

/// Takes in a record, in the order of the log. False if it is not known here, or cannot be decoded: it is
/// stepped over.
bool take_transaction_record(PartitionId partition, const std::optional<std::string_view>& key,
                             const std::optional<std::string_view>& value, BrokerTransactions& to);

}  // namespace tk
