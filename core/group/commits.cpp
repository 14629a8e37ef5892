#include "core/group/commits.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/json_writer.h"
#include "core/base/text.h"
#include "core/group/membership.h"
#include "core/group/protocols.h"

namespace tk {
namespace {

std::string label(const TopicPartition& partition) {
  return fmt::format("{}-{}", printable(partition.topic, 300), partition.partition.value());
}

void refuse_generation(const GroupState& group, const CommitRequest& request, std::int64_t now_at) {
  const bool epochs = group.protocol == GroupProtocol::consumer && !request.producer_id;
  throw Error(
      epochs ? ErrorCode::stale_member_epoch : ErrorCode::illegal_generation,
      fmt::format("'{}' commits in {} {}, and group '{}' has it in {}", printable(*request.member),
                  epochs ? "epoch" : "generation", request.generation, printable(group.group), now_at))
      .hint("what it read since its last commit will be read again by whoever has the partition now");
}

void check_no_member(const GroupTurn& turn, const CommitRequest& request) {
  const GroupState& group = turn.group;
  if (request.producer_id || group.members.empty()) return;
  throw Error(ErrorCode::unknown_member_id,
              fmt::format("group '{}' has members, and the commit names none", printable(group.group)))
      .hint("commit as one of them: --member ID --generation N, or wait until they have left");
}

// groups.md §7.3, row by row.
void require_committer(GroupTurn& turn, const CommitRequest& request) {
  GroupState& group = turn.group;
  if (!request.member) return check_no_member(turn, request);
  if (!turn.exists) {
    throw Error(request.producer_id ? ErrorCode::illegal_generation : ErrorCode::group_id_not_found,
                fmt::format("there is no group '{}'", printable(group.group)));
  }
  const GroupMember& member = require_member(group, *request.member, request.instance);
  const std::int64_t at = group.protocol == GroupProtocol::consumer ? member.epoch : group.generation;
  if (request.generation != at) refuse_generation(group, request, at);
  if (group.phase == GroupPhase::completing_rebalance && !request.producer_id) {
    throw Error(ErrorCode::rebalance_in_progress,
                fmt::format("group '{}' is between two generations", printable(group.group)))
        .hint("commit again when the member has its new assignment");
  }
}

// Who was refused is part of the group's history: what he has read will be read again.
void check_committer(GroupTurn& turn, const CommitRequest& request) {
  try {
    require_committer(turn, request);
  } catch (const Error& error) {
    TextBuffer detail;
    JsonLine(detail)
        .text("refused", "commit")
        .text("error", code_name(error.code()))
        .number("generation", request.generation)
        .end();
    turn.note("fenced", request.member.value_or(""), {detail.data(), detail.size() - 1});
    throw;
  }
}

LogEdges require_partition(const GroupTurn& turn, const TopicPartition& partition) {
  if (const auto edges = turn.topics.edges(partition)) return *edges;
  const auto count = turn.topics.partition_count(partition.topic);
  throw Error(ErrorCode::unknown_topic_or_partition,
              count ? fmt::format("topic '{}' has no partition {}, but {}", printable(partition.topic, 300),
                                  partition.partition.value(), *count)
                    : fmt::format("there is no topic '{}'", printable(partition.topic, 300)));
}

CommittedRow check_offset(const GroupTurn& turn, const OffsetCommit& commit, bool over_wire) {
  const LogEdges edges = require_partition(turn, commit.partition);
  if (!is_utf8(commit.metadata) || !is_utf8(commit.partition.topic)) {
    throw Error(ErrorCode::invalid_request,
                fmt::format("the commit of {} is not UTF-8", label(commit.partition)));
  }
  if (commit.metadata.size() > kMaxCommitMetadata) {
    throw Error(ErrorCode::offset_metadata_too_large,
                fmt::format("the metadata of {} have {} bytes, at most {} are taken", label(commit.partition),
                            commit.metadata.size(), kMaxCommitMetadata));
  }
  if (!over_wire && (commit.offset < edges.log_start.value() || commit.offset > edges.log_end.value())) {
    throw Error(
        ErrorCode::offset_out_of_range,
        fmt::format("{}: {} is not from {} to {}, where the log begins and ends", label(commit.partition),
                    commit.offset, edges.log_start.value(), edges.log_end.value()))
        .hint("a commit is the next offset to read");
  }
  CommittedRow row;
  row.partition = commit.partition;
  row.offset = commit.offset;
  row.above_high_watermark = commit.offset > edges.high_watermark.value();
  if (const auto* before = committed_offset(turn.group, turn.topics, commit.partition)) {
    row.previous = before->offset;
    row.went_back = commit.offset < before->offset;
  }
  return row;
}

std::int32_t epoch_of(const GroupTurn& turn, const OffsetCommit& commit) {
  if (commit.leader_epoch) return *commit.leader_epoch;
  if (commit.offset == 0) return -1;
  const auto epoch = turn.topics.leader_epochs(commit.partition).epoch_at(Offset(commit.offset - 1));
  return epoch ? epoch->value() : -1;
}

using NewOffsets = std::vector<std::pair<TopicPartition, std::int64_t>>;

// {"commit_seq":17,"offsets":{"t-0":40}}
std::string commit_json(const NewOffsets& offsets, std::int64_t seq) {
  TextBuffer list;
  list.push_back('{');
  for (const auto& [partition, offset] : offsets) {
    if (list.size() > 1) list.push_back(',');
    append_json_string(list, fmt::format("{}-{}", partition.topic, partition.partition.value()));
    list.push_back(':');
    append_number(list, offset);
  }
  list.push_back('}');
  TextBuffer out;
  JsonLine(out).number("commit_seq", seq).raw("offsets", {list.data(), list.size()}).end();
  return {out.data(), out.size() - 1};  // without the line feed
}

void store(GroupTurn& turn, const CommitRequest& request, const OffsetCommit& commit, std::int64_t seq) {
  CommittedOffset offset;
  offset.offset = commit.offset;
  offset.topic_id = turn.topics.topic_id(commit.partition.topic);
  offset.leader_epoch = epoch_of(turn, commit);
  offset.metadata = commit.metadata;
  offset.commit_ts_ms = turn.now_ms;
  offset.commit_seq = seq;
  offset.member = request.member.value_or("");
  offset.generation = request.generation;
  if (request.producer_id) {
    PendingTransaction& pending = turn.group.pending_txn[*request.producer_id];
    pending.epoch = std::max(request.producer_epoch, 0);
    pending.offsets[commit.partition] = std::move(offset);
    return;
  }
  turn.group.offsets[commit.partition] = std::move(offset);
}

}  // namespace

std::vector<CommittedRow> commit(GroupTurn& turn, const CommitRequest& request) {
  GroupState& group = turn.group;
  check_committer(turn, request);
  std::vector<CommittedRow> rows;
  for (const OffsetCommit& commit : request.offsets)
    rows.push_back(check_offset(turn, commit, request.over_wire));
  GroupMember* member = request.member ? &group.members.at(*request.member) : nullptr;
  for (CommittedRow& row : rows) {
    row.not_owner = member != nullptr && !holds(member->assignment, row.partition) &&
                    !holds(member->revoking, row.partition);
  }
  const std::int64_t seq = group.next_commit_seq++;
  NewOffsets stored;
  for (const OffsetCommit& commit : request.offsets) {
    store(turn, request, commit, seq);
    stored.emplace_back(commit.partition, commit.offset);
  }
  if (!request.producer_id) turn.note("commit", request.member.value_or(""), commit_json(stored, seq));
  if (member == nullptr) return rows;
  if (!member->awaiting_join && !member->poll_expired) renew_session(*member, turn.now_ms);
  if (group.protocol == GroupProtocol::immediate) immediate::acknowledge(turn, *member);
  return rows;
}

void complete_transaction(GroupTurn& turn, std::int64_t producer_id, bool committed) {
  GroupState& group = turn.group;
  const auto at = group.pending_txn.find(producer_id);
  if (at == group.pending_txn.end()) return;
  PendingTransaction pending = std::move(at->second);
  group.pending_txn.erase(at);
  if (!committed) return;
  for (auto& [partition, offset] : pending.offsets) {
    const auto current = group.offsets.find(partition);
    if (current != group.offsets.end() && current->second.commit_seq >= offset.commit_seq) continue;
    turn.note("commit", offset.member, commit_json({{partition, offset.offset}}, offset.commit_seq));
    group.offsets[partition] = std::move(offset);
  }
}

const CommittedOffset* committed_offset(const GroupState& group, const GroupTopics& topics,
                                        const TopicPartition& partition) {
  const auto at = group.offsets.find(partition);
  if (at == group.offsets.end()) return nullptr;
  const auto id = topics.topic_id(partition.topic);
  const bool another = id && at->second.topic_id && *id != *at->second.topic_id;
  return another ? nullptr : &at->second;
}

std::vector<TopicPartition> delete_offsets(GroupTurn& turn, const std::string& topic,
                                           std::optional<PartitionId> partition) {
  GroupState& group = turn.group;
  for (const auto& [id, member] : group.members) {
    if (!std::ranges::binary_search(member.topics, topic)) continue;
    throw Error(ErrorCode::group_subscribed_to_topic,
                fmt::format("member '{}' of group '{}' subscribes to '{}'", printable(id),
                            printable(group.group), printable(topic)))
        .hint("offsets of a topic can go when no member reads it any more");
  }
  std::vector<TopicPartition> deleted;
  std::erase_if(group.offsets, [&](const auto& entry) {
    if (entry.first.topic != topic || (partition && entry.first.partition != *partition)) return false;
    deleted.push_back(entry.first);
    return true;
  });
  return deleted;
}

void require_no_members(const GroupState& group, std::string_view what) {
  if (group.members.empty()) return;
  throw Error(ErrorCode::non_empty_group,
              fmt::format("group '{}' has {} member{}: {} needs a group without any", printable(group.group),
                          group.members.size(), group.members.size() == 1 ? "" : "s", what))
      .hint("let them leave first: tk rebalance GROUP --leave MEMBER");
}

void set_offsets(GroupTurn& turn, const std::vector<std::pair<TopicPartition, std::int64_t>>& offsets) {
  GroupState& group = turn.group;
  require_no_members(group, "a reset");
  if (offsets.empty()) return;
  const std::int64_t seq = group.next_commit_seq++;
  for (const auto& [partition, value] : offsets) {
    CommittedOffset offset;
    offset.offset = value;
    offset.topic_id = turn.topics.topic_id(partition.topic);
    offset.commit_ts_ms = turn.now_ms;
    offset.commit_seq = seq;
    group.offsets[partition] = std::move(offset);
  }
  turn.note("reset", "", commit_json(offsets, seq));
}

}  // namespace tk
