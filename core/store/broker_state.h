// What a Kafka broker's own topics say, read through a store of its directory: groups with their members and
// committed offsets, transactions.
#pragma once

#include <functional>
#include <map>
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

/// Replays `__transaction_state`.
BrokerTransactions read_broker_transactions(const Store& store, const BrokerStateNotes& notes);

}  // namespace tk
