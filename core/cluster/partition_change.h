// Elections and what they do to ISR and ELR (replication.md §2.6, §2.7; KIP-966): one function from a
// partition's state to its next.
#pragma once

#include <functional>
#include <optional>

#include "core/cluster/partition_state.h"

namespace tk {

enum class ElectionKind : std::uint8_t {
  online,     // keep the leader while it may lead
  preferred,  // the first replica if it may lead
  unclean,    // any live replica rather than none
};

struct PartitionChangeRequest {
  /// Nothing: the ISR as it is.
  std::optional<BrokerIds> isr;
  ElectionKind election = ElectionKind::online;
  /// The candidate to try before all others (`failover --to`).
  BrokerId wanted = kNoBroker;
  /// Brokers that may have lost records: they do not enter the ELR.
  BrokerIds unclean_stops;
  /// Asked for by the leader: clears the recovery state.
  bool by_leader = false;
};

struct ElectionRules {
  /// Of min.insync.replicas and the number of replicas the smaller.
  std::int32_t effective_min_isr = 1;
  bool elr = true;
  /// unclean.leader.election.enable
  bool unclean = false;
  /// False: the rule "clean-election" is off.
  bool clean = true;
  std::function<bool(BrokerId)> active;
};

struct PartitionChange {
  PartitionRegistration state;
  bool changed = false;
  bool unclean = false;
};

PartitionChange change_partition(const PartitionRegistration& from, const PartitionChangeRequest& request,
                                 const ElectionRules& rules);

}  // namespace tk
