// One running member of a group, for a process that reads as one (`consume -g`).
//
//   GroupSession session(groups, topics, {.group = "g", .topics = {"orders"}});
//   Membership now = session.join();
//   loop:
//     for each of now.added:     begin to read it at session.position(session.group(), ...)
//     read and print some of now.reading; when the output has taken it: session.commit({next offsets to
//     read}) for each of now.revoking:  read no further, commit what was printed of it; then now =
//     session.release() for each of now.lost:      read no further; it belongs to others: what was printed
//     and not committed is
//                                read again by them
//     if now.expelled:           as if all were lost; now = session.join()
//     every heartbeat interval:  now = session.poll(), or session.heartbeat() while no records are asked for
//   session.close()
//
// The three protocols look alike from here. In a consumer group partitions come and go one by one, and
// `revoking` ones stay this member's until release(). In an immediate group with an eager assignor they are
// `lost` at once. In a classic group all are `revoking` when a rebalance begins, and release() joins it; then
// poll() until `settled`.
//
// Between calls nothing is held but a byte of the lock file that says the member runs: a second process with
// its id is refused. Every call is one change of the group's file. For one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/group/commits.h"
#include "core/group/group_store.h"
#include "core/group/membership.h"
#include "core/group/position.h"

namespace tk {

/// How a member stands after a call. Lists are sorted and have no partition in common, but that `added` is
/// part of `reading`.
struct Membership {
  std::string member;
  /// MemberReply::status.
  std::string status;
  /// What the member's commits carry: the generation, in a consumer group its epoch.
  std::int64_t generation = 0;
  /// The group's generation; in a consumer group the group epoch.
  std::int64_t group_generation = 0;

  PartitionList reading;
  PartitionList added;
  PartitionList revoking;
  PartitionList lost;

  /// The member was removed from the group: its deadline passed, or somebody took it out.
  bool expelled = false;
  /// False while a classic group rebalances, or others still hold what this member is to get.
  bool settled = true;
  /// The clock is behind what the group has seen.
  bool clock_regressed = false;
  /// Topics of the subscription have changed and the group has not rebalanced (KIP-345).
  bool subscription_changed_without_rebalance = false;
  /// The group's history could not be written.
  std::optional<Error> history_error;
};

class GroupSession {
 public:
  struct Options {
    std::string group;
    /// Empty: the group gives an id, or an instance's member is taken up again.
    std::string member;
    std::optional<std::string> instance;
    /// Empty: what the group reads.
    std::vector<std::string> topics;
    std::int64_t session_timeout_ms = 45000;
    std::int64_t max_poll_interval_ms = 300000;
    /// Of a group that has no members yet, and is new or has only commits.
    GroupProtocol protocol_if_new = GroupProtocol::consumer;
    std::optional<Assignor> assignor;
    std::string client = "tk";
    std::string host = "localhost";
  };

  /// `store` and `topics` must outlive it.
  GroupSession(GroupStore& store, GroupTopics& topics, Options options)
      : store_(store), topics_(topics), options_(std::move(options)) {}

  /// Joins, or goes on as the member that it is already. Throws log_dir_locked if another process runs as
  /// this member, unreleased_instance_id if one holds the instance, and what tk::join() throws.
  Membership join();
  /// Renews both deadlines, and hears what has changed.
  Membership poll() { return beat(true); }
  /// Renews the session alone: the process lives, and asks for no records.
  Membership heartbeat() { return beat(false); }
  /// What was `revoking` is read no more, and committed as far as it will be.
  Membership release();
  /// As tk::commit(). A refusal says in its hint what becomes of the records; poll() then tells how the
  /// member stands.
  std::vector<CommittedRow> commit(const std::vector<OffsetCommit>& offsets);
  /// The group as it is now, to ask position() about many partitions.
  [[nodiscard]] std::optional<GroupState> group() const { return store_.read(options_.group); }
  /// Where to begin with a partition, by what `group` has committed.
  [[nodiscard]] Position position(const std::optional<GroupState>& group, const TopicPartition& partition,
                                  const ResetPolicy& policy, bool read_committed) const;
  /// The end of the process: a member without a name leaves; a static one goes away for a while (consumer
  /// protocol) or just stays, as does one that was named.
  void close();
  /// Leaves whatever its name. Not an error if it is no member any more.
  void leave();

  [[nodiscard]] const std::string& member() const { return member_; }
  [[nodiscard]] std::int64_t generation() const { return generation_; }

 private:
  Membership beat(bool polls);
  MemberReply beat_once(GroupTurn& turn, bool polls);
  MemberReply beat_classic(GroupTurn& turn, bool polls);
  [[nodiscard]] std::string id_to_join(const GroupState& group) const;
  void claim(const GroupState& group, const std::string& id);
  [[nodiscard]] bool runs(const GroupMember& member) const;
  Membership membership(const GroupState& group, const MemberReply& reply);
  Membership expelled();

  GroupStore& store_;
  GroupTopics& topics_;
  Options options_;
  std::string member_;
  std::int64_t generation_ = -1;
  /// What the caller has: reading and revoking.
  PartitionList owned_;
  bool awaiting_ = false;
  std::unique_ptr<LockFile> lock_;
  std::optional<std::uint64_t> locked_byte_;
};

}  // namespace tk
