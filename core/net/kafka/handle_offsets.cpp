// ListOffsets and OffsetForLeaderEpoch (serve.md §2.6).
#include <algorithm>
#include <map>

#include "core/log/offset_search.h"
#include "core/net/failure.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"
#include "core/net/kafka/unique.h"

namespace tk::kafka {
namespace {

using Asked = ListOffsetsRequest::Topic::Partition;
using Row = ListOffsetsResponse::Topic::Partition;

constexpr std::int64_t kLatest = -1, kEarliest = -2, kMaxTimestamp = -3, kEarliestLocal = -4,
                       kLatestTiered = -5, kEarliestPending = -6;

struct Question {
  std::shared_ptr<net::Partition> partition;
  std::size_t topic = 0;
  std::size_t row = 0;
  std::int64_t timestamp = 0;
};

std::int16_t judge_epoch(const net::Partition& partition, std::int32_t epoch) {
  if (epoch < 0 || epoch == partition.leader_epoch().value()) return kNone;
  return epoch > partition.leader_epoch().value() ? kUnknownLeaderEpoch : kFencedLeaderEpoch;
}

std::int32_t epoch_at(const net::Partition& partition, Offset offset) {
  return partition.leader_epochs().epoch_at(offset).value_or(partition.leader_epoch()).value();
}

/// What an open partition can say at once; false if its log must be searched.
bool answer_now(const net::Partition& partition, std::int64_t timestamp, bool committed, Row& row) {
  const net::PartitionEdges edges = partition.edges();
  const auto say = [&](Offset offset) {
    row.offset = offset.value();
    row.leader_epoch = epoch_at(partition, offset);
    return true;
  };
  switch (timestamp) {
    case kLatest:
      return say(committed ? edges.stable : edges.end);
    case kEarliest:
    case kEarliestLocal:
      return say(edges.start);
    case kLatestTiered:
    case kEarliestPending:
      return true;
    case kMaxTimestamp:
      return edges.start == edges.end;
    default:
      break;
  }
  if (timestamp < 0) row.error_code = kUnsupportedVersion;
  return timestamp < 0;
}

/// Searches the logs for what memory does not say. On a worker.
void search(net::Service& service, const std::vector<Question>& hard, bool committed,
            ListOffsetsResponse& answer) {
  for (const Question& question : hard) {
    Row& row = answer.topics[question.topic].partitions[question.row];
    const auto failed = net::failure_of([&] {
      const LogView view = question.partition->known_view();
      const auto found = question.timestamp == kMaxTimestamp
                             ? latest_record(service.fs(), view)
                             : record_at_time(service.fs(), view, question.timestamp);
      const net::PartitionEdges edges = question.partition->edges();
      if (!found || found->offset >= (committed ? edges.stable : edges.end)) return;
      row.offset = found->offset.value();
      row.timestamp = found->timestamp;
      row.leader_epoch = epoch_at(*question.partition, found->offset);
    });
    if (failed) row.error_code = append_error_of(*failed);
  }
}

}  // namespace

void handle_list_offsets(const CallPtr& call, ListOffsetsRequest request) {
  const auto catalog = call->service().catalog();
  const auto answer = std::make_shared<ListOffsetsResponse>();
  const auto questions = std::make_shared<std::vector<Question>>();
  std::vector<std::shared_ptr<net::Partition>> partitions;
  std::map<std::pair<std::string, std::int32_t>, int> times;
  for (const auto& topic : request.topics) {
    for (const Asked& asked : topic.partitions) ++times[{topic.name, asked.partition_index}];
  }
  for (auto& topic : request.topics) {
    keep_first(topic.partitions, [](const Asked& asked) { return asked.partition_index; });
    const auto found = catalog->find(topic.name);
    auto& rows = answer->topics.emplace_back();
    rows.name = topic.name;
    for (const Asked& asked : topic.partitions) {
      Row& row = rows.partitions.emplace_back();
      row.partition_index = asked.partition_index;
      const auto partition = found ? found->partition(asked.partition_index) : nullptr;
      if (times[{topic.name, asked.partition_index}] > 1) {
        row.error_code = kInvalidRequest;
      } else if (!partition) {
        row.error_code = kUnknownTopicOrPartition;
      } else {
        row.error_code = judge_epoch(*partition, asked.current_leader_epoch);
      }
      call->note_error(row.error_code);
      if (row.error_code != kNone) continue;
      questions->push_back(
          {partition, answer->topics.size() - 1, rows.partitions.size() - 1, asked.timestamp});
      partitions.push_back(partition);
    }
  }
  const bool committed = request.isolation_level == 1;
  when_all_open(partitions, [call, answer, questions, committed] {
    std::vector<Question> hard;
    for (const Question& question : *questions) {
      Row& row = answer->topics[question.topic].partitions[question.row];
      if (!question.partition->is_open()) {
        row.error_code = kStorageError;
      } else if (!answer_now(*question.partition, question.timestamp, committed, row)) {
        hard.push_back(question);
      }
      call->note_error(row.error_code);
    }
    if (hard.empty()) return call->answer(*answer);
    net::Service& service = call->service();
    service.workers().post([call, answer, hard = std::move(hard), committed, &service] {
      search(service, hard, committed, *answer);
      service.loop().post([call, answer] { call->answer(*answer); });
    });
  });
}

void handle_offset_for_leader_epoch(const CallPtr& call, OffsetForLeaderEpochRequest request) {
  const auto catalog = call->service().catalog();
  std::vector<std::shared_ptr<net::Partition>> partitions;
  for (const auto& topic : request.topics) {
    const auto found = catalog->find(topic.topic);
    for (const auto& asked : topic.partitions) {
      if (found && found->partition(asked.partition)) partitions.push_back(found->partition(asked.partition));
    }
  }
  when_all_open(partitions, [call, catalog, request = std::move(request)] {
    OffsetForLeaderEpochResponse answer;
    for (const auto& topic : request.topics) {
      const auto found = catalog->find(topic.topic);
      auto& rows = answer.topics.emplace_back();
      rows.topic = topic.topic;
      for (const auto& asked : topic.partitions) {
        auto& row = rows.partitions.emplace_back();
        row.partition = asked.partition;
        row.leader_epoch = -1;
        row.end_offset = -1;
        const auto partition = found ? found->partition(asked.partition) : nullptr;
        row.error_code =
            partition ? judge_epoch(*partition, asked.current_leader_epoch) : kUnknownTopicOrPartition;
        call->note_error(row.error_code);
        if (row.error_code != kNone) continue;
        LeaderEpochs epochs = partition->leader_epochs();
        if (epochs.empty()) epochs.assign(partition->leader_epoch(), partition->edges().start);
        if (asked.leader_epoch < 0 || asked.leader_epoch > partition->leader_epoch().value()) continue;
        const LeaderEpochs::End end =
            epochs.end_offset_for(LeaderEpoch(asked.leader_epoch), partition->edges().end);
        row.leader_epoch = end.epoch.value();
        row.end_offset = end.offset.value();
      }
    }
    call->answer(answer);
  });
}

}  // namespace tk::kafka
