// What a Kafka broker's own topics say, read through a store of its directory: groups with their members and
// committed offsets, transactions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/group/broker_groups.h"
#include "core/producer/broker_transactions.h"
#include "core/store/store.h"

namespace tk {

/// Where something could not be read, and how many records were not understood.
struct BrokerStateNotes {
  std::function<void(const Error&)> damage;
  std::function<void(const std::string&)> note;
};

struct BrokerGroups {
  std::map<std::string, BrokerGroup> groups;
  /// How many partitions `__consumer_offsets` has; 0 without the topic.
  std::int32_t offsets_partitions = 0;
};

/// Replays `__consumer_offsets` and `__share_group_state` as far as they lie in the directory; a directory
/// that is no broker's has none.
BrokerGroups read_broker_groups(const Store& store, const BrokerStateNotes& notes);

/// What the coordinators of transactions have written down.
struct TransactionCoordinators {
  BrokerTransactions transactions;
  /// Every partition of `__transaction_state` lies in the directory, and nothing of them was damaged or not
  /// understood: who is not among `transactions` is known to nobody.
  bool complete = false;

  /// Of a transaction that a producer has open in a partition's log: true if no coordinator will ever end it
  /// (it hangs), false if one will, nothing where that cannot be told from this directory.
  [[nodiscard]] std::optional<bool> hangs(ProducerId producer, const TopicPartition& place) const;
};

/// Replays `__transaction_state`.
TransactionCoordinators read_transaction_coordinators(const Store& store, const BrokerStateNotes& notes);

}  // namespace tk
