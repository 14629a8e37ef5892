// What OffsetCommit and TxnOffsetCommit share: what can be judged of each partition without the group, and
// where its answer goes.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/group/commits.h"
#include "core/net/kafka/call.h"
#include "core/net/kafka/topic_lookup.h"

namespace tk::kafka {

template <class Request, class Response>
struct CommitCall {
  Request request;
  Response answer;
  /// For the group: what was not refused at once.
  CommitRequest commit;
  /// The answers of what is committed, by topic and partition of the request.
  std::vector<std::pair<std::size_t, std::size_t>> rows;

  /// The code of a partition of `found` that cannot be committed, whatever the group says.
  template <class Partition>
  static std::int16_t judge(const FoundTopic& found, const Partition& partition,
                            const std::string& metadata) {
    if (!found.topic) return found.error;
    if (!found.topic->partition(partition.partition_index)) return kUnknownTopicOrPartition;
    if (metadata.size() > kMaxCommitMetadata) return kOffsetMetadataTooLarge;
    return is_utf8(metadata) ? kNone : kInvalidRequest;
  }

  /// Fills everything from the request. `by_id`: its version names topics by their ids.
  void sort_out(const net::Catalog& catalog, bool by_id) {
    for (const auto& topic : request.topics) {
      auto& answers = answer.topics.emplace_back();
      answers.name = topic.name;
      answers.topic_id = topic.topic_id;
      const FoundTopic found = find_topic(catalog, by_id, topic.name, topic.topic_id);
      for (const auto& partition : topic.partitions) {
        auto& row = answers.partitions.emplace_back();
        row.partition_index = partition.partition_index;
        std::string metadata = partition.committed_metadata.value_or("");
        row.error_code = judge(found, partition, metadata);
        if (row.error_code != kNone) continue;
        rows.emplace_back(answer.topics.size() - 1, answers.partitions.size() - 1);
        commit.offsets.push_back({{found.topic->name, PartitionId(partition.partition_index)},
                                  partition.committed_offset,
                                  partition.committed_leader_epoch,
                                  std::move(metadata)});
      }
    }
    commit.over_wire = true;
    commit.generation = request.generation_id_or_member_epoch;
    if (!request.member_id.empty() || commit.generation >= 0) commit.member = request.member_id;
    commit.instance = request.group_instance_id;
  }

  /// Answers: what was to be committed with `error`, the rest with its own.
  void finish(const CallPtr& call, std::int16_t error) {
    for (const auto& [topic, row] : rows) answer.topics[topic].partitions[row].error_code = error;
    for (const auto& topic : answer.topics) {
      for (const auto& row : topic.partitions) call->note_error(row.error_code);
    }
    call->answer(answer);
  }
};

}  // namespace tk::kafka
