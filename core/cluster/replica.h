// One replica of a partition: leader or follower, with its high watermark (replication.md §2.1 to §2.5, §3).
//
// The leader's part is replica_leader.cpp, the follower's replica_follower.cpp. Both know the rest of the
// cluster only through messages and ReplicaHost, so commands and the simulator drive the same code.
// Single-threaded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/fetch.h"
#include "core/cluster/rules.h"

namespace tk {

class PartitionReplica;

/// How replicas of a partition behave.
struct ReplicaSettings {
  /// replica.lag.time.max.ms
  std::int64_t lag_ms = 30000;
  /// Of min.insync.replicas and the number of replicas the smaller.
  std::int32_t effective_min_isr = 1;
  bool strict_hw = true;
  Truncation truncation = Truncation::fetch;
  /// Every append is durable before it is answered (flush.messages=1).
  bool flush_each = false;
};

enum class AckLevel : std::uint8_t { none, leader, all };
/// "0", "1" or "all".
std::string_view ack_level_name(AckLevel level);

/// What a replica needs of its surroundings.
class ReplicaHost {
 public:
  virtual ~ReplicaHost() = default;
  [[nodiscard]] virtual std::int64_t now() const = 0;
  [[nodiscard]] virtual const Rules& rules() const = 0;
  [[nodiscard]] virtual const ReplicaSettings& settings(const PartitionReplica& replica) const = 0;
  /// True if the broker may be in an ISR: not fenced, not shutting down.
  [[nodiscard]] virtual bool active(BrokerId id) const = 0;
  /// Of the broker's last registration.
  [[nodiscard]] virtual std::int64_t broker_epoch(BrokerId id) const = 0;
  /// AlterPartition: proposes an ISR to the controller; what comes of it arrives by learn().
  virtual void propose_isr(PartitionReplica& leader, const BrokerIds& isr) = 0;
  /// Records [first, last] are answered with success (`error` none), or as told.
  virtual void answered(PartitionReplica& leader, AckLevel level, Offset first, Offset last,
                        LeaderEpoch epoch, ReplicaError error) = 0;
  virtual void high_watermark_moved(PartitionReplica& replica, Offset from) = 0;
  virtual void truncated(PartitionReplica& replica, Offset from, Offset to) = 0;
};

enum class ReplicaRole : std::uint8_t { none, leader, follower };

/// What a leader knows of a follower.
struct FollowerView {
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 2;
  Offset log_end{-1};
  /// The leader's own log end at the follower's last fetch; -1: no fetch yet.
  Offset leader_end{-1};
  std::int64_t fetched_ms = 0;
  std::int64_t caught_up_ms = kNever;
  std::int64_t broker_epoch = -1;
  /// Of the newest request served in that incarnation.
  std::int64_t number = 0;
};

/// Records that wait for the high watermark.
struct PendingAck {
  Offset first;
  Offset last;
  LeaderEpoch epoch;
};

/// What is lost with the process (the member `volatile` of tk-broker.json).
struct ReplicaMemory {
  ReplicaRole role = ReplicaRole::none;
  BrokerId leader = kNoBroker;
  LeaderEpoch leader_epoch = kNoLeaderEpoch;
  std::int32_t partition_epoch = -1;
  BrokerIds isr;
  Offset high_watermark{0};
  Offset epoch_start{0};
  /// Has to ask where its epoch ended before it fetches (kip101, kip279, kip320).
  bool asks_end_of_epoch = false;
  std::map<BrokerId, FollowerView> followers;
  std::vector<PendingAck> pending;
  /// Of the newest fetch that was sent, and whether its reply is still to come.
  std::int64_t fetch_number = 0;
  bool awaits_reply = false;
};

class PartitionReplica {
 public:
  PartitionReplica(ReplicaHost& host, BrokerId broker, std::string partition, std::int32_t number,
                   ReplicaLog log)
      : host_(host),
        broker_(broker),
        partition_(std::move(partition)),
        number_(number),
        log_(std::move(log)) {}

  [[nodiscard]] BrokerId broker() const { return broker_; }
  /// "orders-0"
  [[nodiscard]] const std::string& partition() const { return partition_; }
  [[nodiscard]] std::int32_t number() const { return number_; }
  [[nodiscard]] ReplicaLog& log() { return log_; }
  [[nodiscard]] const ReplicaLog& log() const { return log_; }
  [[nodiscard]] ReplicaMemory& memory() { return memory_; }
  [[nodiscard]] const ReplicaMemory& memory() const { return memory_; }
  [[nodiscard]] bool leads() const { return memory_.role == ReplicaRole::leader; }
  [[nodiscard]] Offset high_watermark() const { return memory_.high_watermark; }
  /// The first offset that read_committed does not see.
  [[nodiscard]] Offset last_stable_offset();

  /// The controller's state of the partition reaches the broker. What is older than what it knows is dropped.
  void learn(const PartitionRegistration& state);

  // Of a leader.
  struct Appended {
    ReplicaError error = ReplicaError::none;
    Offset first{-1};
    Offset last{-1};
    /// The records were there already.
    bool duplicate = false;
  };
  Appended append(const NewRecord& record, AckLevel level);
  /// An end marker of the transaction coordinator.
  Appended append_marker(const struct EndMarker& marker);
  /// Records that somebody else (the append pipeline) put into the log at [first, last] are taken in.
  void took(Offset first, Offset last, AckLevel level);
  FetchReply handle(const FetchRequest& request);
  /// The same of a leader whose closed log is damaged at or behind `end`: what is sound below it is sent, and
  /// otherwise CORRUPT_MESSAGE said. Nothing of the reply lets a follower cut its log, and the fetch counts
  /// for no ISR and no high watermark.
  FetchReply handle_damaged(const FetchRequest& request, Offset end);
  /// The shrinking half of the ISR check, and what follows from time that has passed.
  void check_isr();
  void advance_high_watermark();
  /// True if an append at this level would be refused for want of in-sync replicas.
  [[nodiscard]] bool refuses(AckLevel level) const;

  // Of a follower.
  /// Nothing if it has no leader to fetch from.
  std::optional<FetchRequest> next_fetch(std::int64_t max_records);
  /// Takes a reply in and says what came of it ("+2 hw=5", "diverging (0,3) truncated 2", ...).
  std::string take(FetchReply& reply);

  /// Lowers the high watermark to what the log holds, after the log was opened.
  void settle_high_watermark(Offset checkpointed);

 private:
  void become_leader(const PartitionRegistration& state, bool was_leader);
  void become_follower();
  void note_fetch(const FetchRequest& request);
  void maybe_expand_isr(const FetchRequest& request);
  void answer_pending();
  [[nodiscard]] std::int32_t min_isr() const;
  [[nodiscard]] bool counts(BrokerId id, const FollowerView& view) const;
  std::int64_t truncate(Offset to);
  std::string take_end(const FetchReply& reply);
  std::string take_out_of_range(const FetchReply& reply);
  void set_high_watermark(Offset to);

  ReplicaHost& host_;
  BrokerId broker_;
  std::string partition_;
  std::int32_t number_;
  ReplicaLog log_;
  ReplicaMemory memory_;
};

}  // namespace tk
