// One consumer group between two commands: what DIR/group-<key>.json holds (groups.md §2.1, §5, §7, §13).
//
// Plain data. What may be done with it is in membership.h and commits.h, what must always hold in
// invariants.h, its text in group_file.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/uuid.h"
#include "core/group/assignor.h"
#include "core/group/rebalance_cost.h"

namespace tk {

/// How members share out partitions.
enum class GroupProtocol : std::uint8_t {
  immediate,  // every join and leave is a rebalance at once (groups.md §3)
  consumer,   // KIP-848: a partition changes hands when its owner has let it go (groups.md §5)
  classic,    // join and sync phases with deadlines (groups.md §2)
};

/// Kafka's group states. `assigning` and `reconciling` are the consumer protocol's, the two rebalance phases
/// the classic protocol's.
enum class GroupPhase : std::uint8_t {
  empty,
  preparing_rebalance,
  completing_rebalance,
  stable,
  assigning,
  reconciling,
};

/// Where a member of the consumer protocol stands (KIP-848).
enum class MemberPhase : std::uint8_t {
  stable,
  unrevoked,   // it has not said yet that it gave up what it was told to
  unreleased,  // it waits for partitions that others still hold
};

/// Epoch of a static member that has left for a while (KIP-848); it keeps what it was assigned.
inline constexpr std::int32_t kEpochAway = -2;

/// Sorted, without doubles.
using PartitionList = std::vector<TopicPartition>;

/// A committed offset: the next one to read (groups.md §7.1).
struct CommittedOffset {
  std::int64_t offset = 0;
  /// Of the topic at the time of the commit; nothing if it had none.
  std::optional<Uuid> topic_id;
  /// Of the last consumed record; -1: unknown.
  std::int32_t leader_epoch = -1;
  /// At most kMaxCommitMetadata bytes.
  std::string metadata;
  std::int64_t commit_ts_ms = 0;
  std::int64_t commit_seq = 0;
  /// Who committed; empty and -1 for a commit without a member.
  std::string member;
  std::int64_t generation = -1;
  /// An expiry of its own, as brokers before 2.1 wrote it, ms.
  std::optional<std::int64_t> expire_ts_ms;

  friend bool operator==(const CommittedOffset&, const CommittedOffset&) = default;
};
inline constexpr std::size_t kMaxCommitMetadata = 4096;

/// Offsets that become committed with a producer's transaction, or never (KIP-98, groups.md §7.5).
struct PendingTransaction {
  std::int32_t epoch = 0;
  /// Their commit_seq is that of the moment they were written; commit_ts_ms likewise.
  std::map<TopicPartition, CommittedOffset> offsets;

  friend bool operator==(const PendingTransaction&, const PendingTransaction&) = default;
};

/// A protocol that a member over the wire offers: its name, and the client's own bytes for it (serve.md
/// §2.7).
struct WireProtocol {
  std::string name;
  std::string metadata;

  friend bool operator==(const WireProtocol&, const WireProtocol&) = default;
};

struct GroupMember {
  /// It joined through `tk serve`: its client looks after max.poll.interval.ms by itself.
  bool over_wire = false;
  /// Of such a member of a classic group: what it offers, the preferred one first, and what the leader gave
  /// it.
  std::vector<WireProtocol> wire_protocols;
  std::string wire_assignment;
  /// The order of joining, from 0: a running process locks byte 1 + number of the lock file (groups.md §13).
  std::int64_t number = 0;
  std::optional<std::string> instance;
  std::string client;
  std::string host;
  /// Sorted, without doubles. They need not exist.
  std::vector<std::string> topics;
  /// Assignors that it can do with, the preferred one first (classic); the one it asks for, if any
  /// (consumer).
  std::vector<Assignor> assignors;

  /// ms; 0: it never expires.
  std::int64_t session_timeout_ms = 45000;
  /// max.poll.interval.ms, which is also how long the others wait for it in a rebalance (KIP-62). 0: never.
  std::int64_t rebalance_timeout_ms = 300000;
  /// Absolute, ms; nothing: none runs.
  std::optional<std::int64_t> session_deadline_ms;
  std::optional<std::int64_t> poll_deadline_ms;
  std::optional<std::int64_t> revoke_deadline_ms;
  /// A static member that passed its poll deadline: heartbeats renew its session no more.
  bool poll_expired = false;

  // Classic.
  bool awaiting_join = false;
  /// Has joined and not yet been through a whole join phase.
  bool is_new = false;

  /// What it may read. `owned_generation` is the generation in which it came to hold that.
  PartitionList assignment;
  std::int64_t owned_generation = -1;
  /// What it has to give up and may still be reading: nobody else gets it until it says so or is gone.
  PartitionList revoking;

  // Consumer protocol.
  std::int32_t epoch = 0;
  std::int32_t previous_epoch = 0;
  MemberPhase phase = MemberPhase::stable;

  friend bool operator==(const GroupMember&, const GroupMember&) = default;
};

/// The classic protocol's rebalance under way (groups.md §2.4, §2.5). Absolute times in ms.
struct RebalanceTimers {
  /// The join phase began in an empty group: it waits for others, and for their others.
  bool initial = false;
  std::optional<std::int64_t> join_deadline_ms;
  std::int64_t delay_ms = 0;
  std::int64_t remaining_ms = 0;
  bool new_member_added = false;
  std::optional<std::int64_t> sync_deadline_ms;
  /// Members that have not asked for their assignment yet.
  std::set<std::string> pending_sync;

  friend bool operator==(const RebalanceTimers&, const RebalanceTimers&) = default;
};

struct GroupState {
  std::string group;
  /// Writes of the file so far.
  std::int64_t seq = 0;
  /// The latest time that any command saw; a group's clock never goes back.
  std::int64_t last_now_ms = 0;

  GroupProtocol protocol = GroupProtocol::immediate;
  /// False for a group of commits alone ("simple"), which no member ever joined.
  bool had_members = false;
  GroupPhase phase = GroupPhase::empty;
  std::int64_t state_since_ms = 0;
  /// The generation; in the consumer protocol the group epoch.
  std::int64_t generation = 0;
  std::optional<Assignor> assignor;
  /// Of the classic protocol; empty: none.
  std::string leader;
  /// Of a classic group of members over the wire: the clients' kind ("consumer", "connect"), and the protocol
  /// that was chosen, which may be none of the assignors here.
  std::string wire_type;
  std::string wire_protocol;

  std::int64_t next_member_seq = 0;
  std::int64_t next_commit_seq = 0;
  /// By id.
  std::map<std::string, GroupMember> members;
  /// Instance id to member id; agrees with the members.
  std::map<std::string, std::string> static_members;
  /// Ids handed out to members that have not joined with them yet (KIP-394), and until when. tk hands out
  /// none.
  std::map<std::string, std::int64_t> pending_members;
  RebalanceTimers rebalance;
  /// How many partitions the subscribed topics had when partitions were last shared out.
  std::map<std::string, std::int32_t> partition_counts;

  // Consumer protocol.
  std::int64_t target_epoch = 0;
  std::map<std::string, PartitionList> target;

  std::map<TopicPartition, CommittedOffset> offsets;
  /// By producer id.
  std::map<std::int64_t, PendingTransaction> pending_txn;

  /// What the last rebalance cost.
  std::optional<RebalanceCost> cost;

  friend bool operator==(const GroupState&, const GroupState&) = default;
};

/// "immediate", "consumer", "classic"; and back.
std::string_view group_protocol_name(GroupProtocol protocol);
std::optional<GroupProtocol> parse_group_protocol(std::string_view name);
/// Kafka's: "Empty", "PreparingRebalance", ...; and back.
std::string_view group_phase_name(GroupPhase phase);
std::optional<GroupPhase> parse_group_phase(std::string_view name);
/// "STABLE", "UNREVOKED", "UNRELEASED"; and back.
std::string_view member_phase_name(MemberPhase phase);
std::optional<MemberPhase> parse_member_phase(std::string_view name);

/// True if its members joined over the wire with protocols of their own: their leader shares partitions out.
bool is_led_over_wire(const GroupState& group);
/// Every topic that some member subscribes to, sorted.
std::vector<std::string> subscribed_topics(const GroupState& group);
/// Who holds each partition, revoking ones included.
std::map<TopicPartition, std::string> holders(const GroupState& group);

/// Sorts a list of names or partitions and drops doubles.
template <class T>
void sort_and_unite(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// a without b; both; the part of both; all lists sorted.
PartitionList without(const PartitionList& a, const PartitionList& b);
PartitionList united(const PartitionList& a, const PartitionList& b);
PartitionList common(const PartitionList& a, const PartitionList& b);
bool holds(const PartitionList& list, const TopicPartition& partition);

}  // namespace tk
