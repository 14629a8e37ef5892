// What the controller knows of partitions and brokers (replication.md §1): the state that the metadata log is
// replayed to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/uuid.h"

namespace tk {

using BrokerId = std::int32_t;
inline constexpr BrokerId kNoBroker = -1;
using BrokerIds = std::vector<BrokerId>;

inline bool holds(const BrokerIds& ids, BrokerId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

struct PartitionRegistration {
  /// In the order of preference.
  BrokerIds replicas;
  BrokerIds isr;
  /// Eligible leader replicas (KIP-966), by rising id.
  BrokerIds elr;
  /// The leader before the ISR became empty; kNoBroker: none.
  BrokerId last_known_leader = kNoBroker;
  BrokerId leader = kNoBroker;
  /// Grows with every change of the leader, also to none.
  std::int32_t leader_epoch = 0;
  /// Grows with every change of this state.
  std::int32_t partition_epoch = 0;
  /// After an unclean election, till the leader's next change of the ISR.
  bool recovering = false;

  friend bool operator==(const PartitionRegistration&, const PartitionRegistration&) = default;
};

struct BrokerState {
  BrokerId id = kNoBroker;
  /// Of the registration: the offset of its record in the metadata log.
  std::int64_t broker_epoch = -1;
  Uuid incarnation;
  /// Of its log directory.
  Uuid directory;
  bool fenced = true;
  bool in_controlled_shutdown = false;

  /// May lead and be in an ISR.
  [[nodiscard]] bool active() const { return !fenced && !in_controlled_shutdown; }
};

}  // namespace tk
