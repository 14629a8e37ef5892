// Committed offsets of groups: OffsetCommit, OffsetFetch, OffsetDelete (serve.md §2.7).
#include <algorithm>

#include "core/base/text.h"
#include "core/group/commits.h"
#include "core/group/group_name.h"
#include "core/net/groups.h"
#include "core/net/kafka/commit_call.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"
#include "core/net/kafka/unique.h"

namespace tk::kafka {
namespace {

net::Groups& groups_of(const CallPtr& call) {
  return call->service().part<net::Groups>();
}

std::int16_t commit_error(const Error& error, std::int16_t version) {
  // Codes that older clients do not know.
  if (error.code() == ErrorCode::group_id_not_found)
    return version >= 9 ? kGroupIdNotFound : kIllegalGeneration;
  if (error.code() == ErrorCode::stale_member_epoch)
    return version >= 9 ? kStaleMemberEpoch : kUnsupportedVersion;
  return group_error_of(error);
}

}  // namespace

void handle_offset_commit(const CallPtr& call, OffsetCommitRequest request) {
  const auto commit = std::make_shared<CommitCall<OffsetCommitRequest, OffsetCommitResponse>>();
  commit->request = std::move(request);
  commit->sort_out(*call->service().catalog(), call->version() >= 10);
  const auto finish = [call, commit](std::int16_t error) { commit->finish(call, error); };
  if (commit->request.group_id.empty()) return finish(kInvalidGroupId);
  if (commit->rows.empty()) return finish(kNone);
  groups_of(call).change(
      commit->request.group_id, [commit](GroupTurn& turn) { tk::commit(turn, commit->commit); },
      [call, finish](const Error* error) {
        finish(error == nullptr ? kNone : commit_error(*error, call->version()));
      });
}

namespace {

using FetchedGroup = OffsetFetchResponse::Group;
using FetchedTopic = FetchedGroup::Topic;

void fill_row(const GroupState* state, const GroupTopics& topics, const TopicPartition& partition,
              bool stable, FetchedTopic::Partition& row) {
  row.partition_index = partition.partition.value();
  row.committed_offset = -1;
  row.metadata = "";
  if (state == nullptr) return;
  if (stable) {
    for (const auto& [producer, pending] : state->pending_txn) {
      if (!pending.offsets.contains(partition)) continue;
      row.error_code = kUnstableOffsetCommit;
      return;
    }
  }
  const CommittedOffset* const offset = committed_offset(*state, topics, partition);
  if (offset == nullptr) return;
  row.committed_offset = offset->offset;
  row.committed_leader_epoch = offset->leader_epoch;
  row.metadata = offset->metadata;
}

std::int16_t judge_member(const GroupState* state, const OffsetFetchRequest::Group& asked) {
  if (!asked.member_id || asked.member_id->empty() || state == nullptr) return kNone;
  if (state->protocol != GroupProtocol::consumer) return kNone;
  const auto member = state->members.find(*asked.member_id);
  if (member == state->members.end()) return kUnknownMemberId;
  return member->second.epoch == asked.member_epoch ? kNone : kStaleMemberEpoch;
}

void fetch_group(const GroupState* state, const GroupTopics& topics, const net::Catalog& catalog,
                 const OffsetFetchRequest::Group& asked, bool by_id, bool stable, FetchedGroup& out) {
  out.error_code = judge_member(state, asked);
  if (out.error_code != kNone) return;
  if (asked.topics) {
    for (const auto& topic : *asked.topics) {
      FetchedTopic& rows = out.topics.emplace_back();
      rows.topic_id = topic.topic_id;
      const auto found = by_id ? catalog.find(topic.topic_id) : nullptr;
      rows.name = by_id ? (found ? found->name : "") : topic.name;
      for (const std::int32_t number : topic.partition_indexes) {
        auto& row = rows.partitions.emplace_back();
        fill_row(by_id && !found ? nullptr : state, topics, {rows.name, PartitionId(number)}, stable, row);
        if (by_id && !found) row.error_code = kUnknownTopicId;
      }
    }
    return;
  }
  if (state == nullptr) return;
  for (const auto& [partition, offset] : state->offsets) {
    if (committed_offset(*state, topics, partition) == nullptr) continue;
    const auto found = catalog.find(partition.topic);
    if (by_id && !found) continue;
    if (out.topics.empty() || out.topics.back().name != partition.topic) {
      out.topics.emplace_back().name = partition.topic;
      if (found) out.topics.back().topic_id = found->id;
    }
    fill_row(state, topics, partition, stable, out.topics.back().partitions.emplace_back());
  }
}

}  // namespace

void handle_offset_fetch(const CallPtr& call, OffsetFetchRequest request) {
  if (call->version() < 8) {
    OffsetFetchRequest::Group& group = request.groups.emplace_back();
    group.group_id = request.group_id;
    if (request.topics) {
      group.topics.emplace();
      for (const auto& topic : *request.topics)
        group.topics->push_back({Uuid{}, topic.name, topic.partition_indexes});
    }
  }
  keep_first(request.groups, [](const OffsetFetchRequest::Group& group) { return group.group_id; });
  const auto answer = std::make_shared<OffsetFetchResponse>();
  answer->groups.resize(request.groups.size());
  const auto left = std::make_shared<std::size_t>(request.groups.size() + 1);
  const auto finish = [call, answer, left] {
    if (--*left > 0) return;
    for (const FetchedGroup& group : answer->groups) call->note_error(group.error_code);
    if (call->version() < 8 && !answer->groups.empty()) {
      FetchedGroup& only = answer->groups.front();
      answer->error_code = only.error_code;
      for (FetchedTopic& topic : only.topics) {
        auto& rows = answer->topics.emplace_back();
        rows.name = topic.name;
        for (auto& row : topic.partitions) {
          auto& to = rows.partitions.emplace_back();
          to.partition_index = row.partition_index;
          to.committed_offset = row.committed_offset;
          to.committed_leader_epoch = row.committed_leader_epoch;
          to.metadata = row.metadata;
          to.error_code = row.error_code;
        }
      }
    }
    call->answer(*answer);
  };
  const bool stable = request.require_stable;
  const bool by_id = call->version() >= 10;
  for (std::size_t i = 0; i < request.groups.size(); ++i) {
    answer->groups[i].group_id = request.groups[i].group_id;
    const auto catalog = call->service().catalog();
    groups_of(call).look(
        request.groups[i].group_id,
        [answer, i, asked = request.groups[i], catalog, by_id, stable](const GroupState* state,
                                                                       const GroupTopics& topics) {
          fetch_group(state, topics, *catalog, asked, by_id, stable, answer->groups[i]);
        },
        [answer, i, finish](const Error* error) {
          if (error != nullptr) answer->groups[i].error_code = group_error_of(*error);
          finish();
        });
  }
  finish();
}

void handle_offset_delete(const CallPtr& call, OffsetDeleteRequest request) {
  const auto shared = std::make_shared<OffsetDeleteRequest>(std::move(request));
  const auto answer = std::make_shared<OffsetDeleteResponse>();
  const auto catalog = call->service().catalog();
  groups_of(call).change(
      shared->group_id,
      [shared, answer, catalog](GroupTurn& turn) {
        if (!turn.exists) throw Error(ErrorCode::group_id_not_found, "there is no such group");
        answer->topics.clear();
        for (const auto& topic : shared->topics) {
          auto& rows = answer->topics.emplace_back();
          rows.name = topic.name;
          const auto found = catalog->find(topic.name);
          for (const auto& partition : topic.partitions) {
            auto& row = rows.partitions.emplace_back();
            row.partition_index = partition.partition_index;
            if (!found || !found->partition(partition.partition_index)) {
              row.error_code = kUnknownTopicOrPartition;
              continue;
            }
            try {
              delete_offsets(turn, topic.name, PartitionId(partition.partition_index));
            } catch (const Error& error) {
              row.error_code = group_error_of(error);
            }
          }
        }
      },
      [call, answer](const Error* error) {
        if (error != nullptr) answer->error_code = group_error_of(*error);
        call->note_error(answer->error_code);
        call->answer(*answer);
      });
}

}  // namespace tk::kafka
