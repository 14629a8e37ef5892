// What transactions and producers there are, and markers by hand (`kafka-transactions abort`): serve.md §2.8.
#include <algorithm>
#include <array>

#include "core/format/end_marker.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"
#include "core/net/kafka/unique.h"
#include "core/net/transactions.h"

namespace tk::kafka {
namespace {

/// Kafka's names; what has ended is complete there, and empty in the file.
std::string_view state_of(const TransactionEntry& entry) {
  if (entry.state == TransactionState::empty && entry.committed)
    return *entry.committed ? "CompleteCommit" : "CompleteAbort";
  return transaction_state_name(entry.state);
}

bool is_state(std::string_view name) {
  constexpr std::array<std::string_view, 8> known = {
      "Empty",          "Ongoing",       "PrepareCommit",     "PrepareAbort",
      "CompleteCommit", "CompleteAbort", "PrepareEpochFence", "Dead"};
  return std::ranges::find(known, name) != known.end();
}

/// The file, or an empty one where it cannot be read: then `error` is set.
std::shared_ptr<const ProducersFile> look(const CallPtr& call, std::int16_t& error) {
  try {
    return call->service().part<net::ServedTransactions>().now();
  } catch (const Error& failed) {
    error = group_error_of(failed);
    return std::make_shared<ProducersFile>();
  }
}

/// A pattern of KIP-1152: a plain name, or one with ".*" at its end.
bool matches(const std::optional<std::string>& pattern, const std::string& id) {
  if (!pattern || pattern->empty()) return true;
  if (pattern->ends_with(".*")) return id.starts_with(pattern->substr(0, pattern->size() - 2));
  return id == *pattern;
}

}  // namespace

void handle_describe_transactions(const CallPtr& call, DescribeTransactionsRequest request) {
  DescribeTransactionsResponse answer;
  keep_first(request.transactional_ids);
  std::int16_t error = kNone;
  const auto file = look(call, error);
  for (const std::string& id : request.transactional_ids) {
    auto& row = answer.transaction_states.emplace_back();
    row.transactional_id = id;
    const TransactionEntry* const entry = net::ServedTransactions::find(*file, id);
    row.error_code = error != kNone ? error : entry == nullptr ? kTransactionalIdNotFound : kNone;
    call->note_error(row.error_code);
    if (row.error_code != kNone) row.producer_id = row.producer_epoch = 0;
    if (row.error_code != kNone) continue;
    row.transaction_state = state_of(*entry);
    row.transaction_timeout_ms =
        static_cast<std::int32_t>(std::min<std::int64_t>(entry->timeout_ms, INT32_MAX));
    row.transaction_start_time_ms = entry->state == TransactionState::ongoing ? entry->started_ms : -1;
    row.producer_id = entry->id.value();
    row.producer_epoch = entry->epoch;
    for (const TopicPartition& partition : entry->partitions) {
      if (row.topics.empty() || row.topics.back().topic != partition.topic)
        row.topics.emplace_back().topic = partition.topic;
      row.topics.back().partitions.push_back(partition.partition.value());
    }
  }
  call->answer(answer);
}

void handle_list_transactions(const CallPtr& call, ListTransactionsRequest request) {
  ListTransactionsResponse answer;
  const auto file = look(call, answer.error_code);
  for (const std::string& state : request.state_filters) {
    if (!is_state(state)) answer.unknown_state_filters.push_back(state);
  }
  const std::int64_t now_ms = call->service().clock().now_ms();
  for (const auto& [id, entry] : file->transactions) {
    const auto in = [](const auto& list, const auto& value) {
      return list.empty() || std::ranges::find(list, value) != list.end();
    };
    if (!in(request.state_filters, std::string(state_of(entry))) ||
        !in(request.producer_id_filters, entry.id.value()))
      continue;
    if (request.duration_filter >= 0 &&
        (entry.state != TransactionState::ongoing || now_ms - entry.started_ms <= request.duration_filter))
      continue;
    if (!matches(request.transactional_id_pattern, id)) continue;
    auto& row = answer.transaction_states.emplace_back();
    row.transactional_id = id;
    row.producer_id = entry.id.value();
    row.transaction_state = state_of(entry);
  }
  call->answer(answer);
}

void handle_describe_producers(const CallPtr& call, DescribeProducersRequest request) {
  const auto catalog = call->service().catalog();
  std::vector<std::shared_ptr<net::Partition>> partitions;
  keep_first(request.topics, [](const auto& topic) { return topic.name; });
  for (auto& topic : request.topics) {
    keep_first(topic.partition_indexes, [](std::int32_t number) { return number; });
    const auto found = catalog->find(topic.name);
    for (const std::int32_t number : topic.partition_indexes) {
      if (found && found->partition(number)) partitions.push_back(found->partition(number));
    }
  }
  when_all_open(partitions, [call, catalog, request = std::move(request)] {
    DescribeProducersResponse answer;
    for (const auto& topic : request.topics) {
      auto& rows = answer.topics.emplace_back();
      rows.name = topic.name;
      const auto found = catalog->find(topic.name);
      for (const std::int32_t number : topic.partition_indexes) {
        auto& row = rows.partitions.emplace_back();
        row.partition_index = number;
        const auto partition = found ? found->partition(number) : nullptr;
        if (!partition) {
          row.error_code = kUnknownTopicOrPartition;
          call->note_error(row.error_code);
          continue;
        }
        for (const auto& [id, entry] : partition->known_producers()) {
          auto& producer = row.active_producers.emplace_back();
          producer.producer_id = id.value();
          producer.producer_epoch = entry.epoch;
          const ProducedBatch* const last = entry.last_batch();
          producer.last_sequence = last == nullptr ? -1 : last->last_sequence;
          producer.last_timestamp = entry.last_timestamp;
          producer.coordinator_epoch = std::max(entry.coordinator_epoch, 0);
          producer.current_txn_start_offset = entry.transaction_first ? entry.transaction_first->value() : -1;
        }
      }
    }
    call->answer(answer);
  });
}

namespace {

/// Appends an end marker for a producer that has a transaction open in the partition.
net::AppendResult append_marker(PartitionLog& log, TopicFormat format, const EndMarker& marker) {
  net::AppendResult result;
  const ProducerEntry* const known = log.producers().find(marker.producer);
  const auto refuse = [&](std::int16_t code) {
    result.error = code;
    return result;
  };
  if (known != nullptr && marker.epoch < known->epoch) return refuse(kInvalidProducerEpoch);
  if (known != nullptr && marker.coordinator_epoch < known->coordinator_epoch)
    return refuse(kTransactionCoordinatorFenced);
  if (known == nullptr || !known->transaction_first) return result;
  Buffer unit;
  const UnitInfo info = encode_end_marker(unit, format, log.log_end(), log.leader_epoch(), marker);
  log.append_at(info, log.leader_epoch(), unit.view());
  return result;
}

}  // namespace

void handle_write_txn_markers(const CallPtr& call, WriteTxnMarkersRequest request) {
  const auto catalog = call->service().catalog();
  const auto answer = std::make_shared<WriteTxnMarkersResponse>();
  const auto left = std::make_shared<std::size_t>(1);
  const auto count_down = [call, answer, left] {
    if (--*left == 0) call->answer(*answer);
  };
  for (const auto& marker : request.markers) {
    auto& rows = answer->markers.emplace_back();
    rows.producer_id = marker.producer_id;
    for (const auto& topic : marker.topics) {
      auto& list = rows.topics.emplace_back();
      list.name = topic.name;
      for (const std::int32_t number : topic.partition_indexes)
        list.partitions.emplace_back().partition_index = number;
    }
  }
  for (std::size_t m = 0; m < request.markers.size(); ++m) {
    const auto& marker = request.markers[m];
    EndMarker end{ProducerId(marker.producer_id), marker.producer_epoch, marker.transaction_result,
                  call->service().clock().now_ms(), std::max(marker.coordinator_epoch, 0)};
    for (std::size_t t = 0; t < marker.topics.size(); ++t) {
      const auto found = catalog->find(marker.topics[t].name);
      for (std::size_t p = 0; p < marker.topics[t].partition_indexes.size(); ++p) {
        const auto row = [ answer, m, t, p ]() -> auto& {
          return answer->markers[m].topics[t].partitions[p];
        };
        const auto partition = found ? found->partition(marker.topics[t].partition_indexes[p]) : nullptr;
        if (!partition || call->service().options().read_only) {
          row().error_code = partition ? kPolicyViolation : kUnknownTopicOrPartition;
          call->note_error(row().error_code);
          continue;
        }
        ++*left;
        net::Partition::Append append;
        append.forced = true;
        append.work = [end, weak = std::weak_ptr(partition)](PartitionLog& log) {
          const auto to = weak.lock();
          return append_marker(log, to ? to->format() : TopicFormat::kafka, end);
        };
        append.done = [call, row, count_down](net::AppendResult& result) {
          row().error_code = result.error;
          call->note_error(result.error);
          count_down();
        };
        partition->append(std::move(append));
      }
    }
  }
  count_down();
}

}  // namespace tk::kafka
