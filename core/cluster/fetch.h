// What a follower and its leader say to each other (replication.md §2.2): one message there, one back.
#pragma once

#include <limits>

#include "core/cluster/partition_state.h"
#include "core/cluster/replica_log.h"

namespace tk {

/// Codes of the replication protocol, by Kafka's names.
enum class ReplicaError : std::uint8_t {
  none,
  not_leader_or_follower,
  fenced_leader_epoch,
  unknown_leader_epoch,
  stale_broker_epoch,
  offset_out_of_range,
  not_enough_replicas,
  corrupt_message,
  invalid_producer_epoch,
  out_of_order_sequence_number,
  transaction_coordinator_fenced,
  storage_error,
};
std::string_view replica_error_name(ReplicaError error);

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

struct FetchRequest {
  BrokerId follower = kNoBroker;
  BrokerId leader = kNoBroker;
  Offset offset;
  /// Of the follower's newest epoch entry; -1: it has none, or its mode does not send it.
  LeaderEpoch last_epoch = kNoLeaderEpoch;
  LeaderEpoch leader_epoch = kNoLeaderEpoch;
  /// Of the follower's registration.
  std::int64_t broker_epoch = -1;
  std::int64_t max_records = kNoLimit;
  /// Counts up in each incarnation: on a network that reorders or repeats, both sides ignore what is older
  /// than what they have seen (replication.md §7.4).
  std::int64_t number = 0;
  /// Asks where its last epoch ends instead (OffsetsForLeaderEpoch, before KIP-595).
  bool asks_end_of_epoch = false;
};

struct FetchReply {
  ReplicaError error = ReplicaError::none;
  /// What the request said, by which the follower knows whether the reply is still of use.
  FetchRequest request;
  /// The leader's answer where its history differs, or to asks_end_of_epoch: an epoch and where it ends
  /// there.
  bool has_end = false;
  /// The request is older than one that was served: nothing is answered.
  bool ignored = false;
  bool diverging = false;
  LeaderEpochs::End end;
  Offset high_watermark;
  Offset log_start;
  Offset log_end;
  StoredUnits units;
};

}  // namespace tk
