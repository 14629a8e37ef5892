// Committed offsets: who may commit, what a commit does, and what is left of one (groups.md §7).
//
// Pure functions over a turn; the caller has caught up with the deadlines first. A refusal is thrown as an
// Error, and nothing was changed (G8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/group/group_turn.h"

namespace tk {

struct OffsetCommit {
  TopicPartition partition;
  /// The next offset to read.
  std::int64_t offset = 0;
  /// Of the last consumed record; nothing: what the log's history says of it, if anything.
  std::optional<std::int32_t> leader_epoch;
  std::string metadata;
};

struct CommitRequest {
  std::vector<OffsetCommit> offsets;
  /// Nothing: a commit of nobody's, which a group with members refuses.
  std::optional<std::string> member;
  std::optional<std::string> instance;
  /// The member's generation, or its member epoch in a consumer group.
  std::int64_t generation = -1;
  /// The transaction that it belongs to: the commit waits for complete_transaction().
  std::optional<std::int64_t> producer_id;
  std::int32_t producer_epoch = -1;
  /// By a client over the wire: offsets are not held against the log, as by a broker (serve.md §2.7).
  bool over_wire = false;
};

struct CommittedRow {
  TopicPartition partition;
  std::int64_t offset = 0;
  /// What was committed before.
  std::optional<std::int64_t> previous;
  bool went_back = false;
  /// Nobody can read there yet.
  bool above_high_watermark = false;
  /// The member is not the partition's reader.
  bool not_owner = false;
};

/// Commits all of the offsets or none. It renews the member's session. Throws what groups.md §7.3 has, and
/// unknown_topic_or_partition, offset_out_of_range for an offset outside of the log,
/// offset_metadata_too_large.
std::vector<CommittedRow> commit(GroupTurn& turn, const CommitRequest& request);

/// A producer's transaction has ended: what it holds becomes committed, each unless something later was
/// committed meanwhile, or is forgotten. Doing it again changes nothing.
void complete_transaction(GroupTurn& turn, std::int64_t producer_id, bool committed);

/// What is committed for a partition; null without a commit, and for one of another topic that had the same
/// name.
const CommittedOffset* committed_offset(const GroupState& group, const GroupTopics& topics,
                                        const TopicPartition& partition);

/// Forgets commits of a topic, or of one of its partitions; returns which. Throws group_subscribed_to_topic
/// if a member reads the topic.
std::vector<TopicPartition> delete_offsets(GroupTurn& turn, const std::string& topic,
                                           std::optional<PartitionId> partition);

/// Sets offsets as an administrator does (reset-offsets): no range is checked, metadata and epoch are empty.
/// Throws non_empty_group.
void set_offsets(GroupTurn& turn, const std::vector<std::pair<TopicPartition, std::int64_t>>& offsets);

/// Throws non_empty_group if the group has members; `what` is what needs it to have none.
void require_no_members(const GroupState& group, std::string_view what);

}  // namespace tk
