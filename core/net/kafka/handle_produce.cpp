// Produce (serve.md §2.4): each partition for itself; the answer when all are appended, and forced if asked.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/format/batch.h"
#include "core/net/kafka/batch_append.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"
#include "core/net/kafka/unique.h"
#include "core/net/transactions.h"

namespace tk::kafka {
namespace {

using PartitionData = ProduceRequest::TopicData::PartitionData;
using PartitionAnswer = ProduceResponse::Response::PartitionResponse;

struct Production {
  CallPtr call;
  std::int16_t acks = 0;
  ProduceResponse answer;
  std::size_t left = 1;
  bool failed = false;

  void finish_one() {
    if (--left > 0) return;
    if (acks != 0) return call->answer(answer);
    // Whoever asks for no answer learns of an error by the closed connection.
    failed ? call->close() : call->answer_nothing();
  }
};

using ProductionPtr = std::shared_ptr<Production>;

void refuse(Production& production, PartitionAnswer& row, std::int16_t code, const std::string& message) {
  row.error_code = code;
  row.base_offset = -1;
  row.log_start_offset = -1;
  if (!message.empty()) row.error_message = message;
  production.failed = true;
  production.call->note_error(code);
}

void take_result(Production& production, PartitionAnswer& row, const net::Partition& partition,
                 const net::AppendResult& result) {
  if (result.error != kNone) {
    refuse(production, row, result.error, result.message);
    if (result.refused_by_log) row.log_start_offset = partition.edges().start.value();
    for (const auto& [index, why] : result.bad_records) row.record_errors.push_back({index, why});
    return;
  }
  row.base_offset = result.base.value();
  row.log_append_time_ms = result.log_append_time;
  row.log_start_offset = partition.edges().start.value();
}

/// What concerns the request as a whole.
std::int16_t judge(const Call& call, const ProduceRequest& request) {
  if (request.acks < -1 || request.acks > 1) return kInvalidRequiredAcks;
  if (!request.transactional_id) {
    for (const auto& topic : request.topic_data) {
      for (const PartitionData& data : topic.partition_data) {
        if (!data.records.in || data.records.in->size() < kBatchHeader) continue;
        const std::uint8_t* const batch = data.records.in->data();
        const auto attributes = load_be<std::uint16_t>(batch + batch_layout::kAttributes);
        if (batch[kMagicPosition] == 2 && (attributes & kTransactionalBit) != 0)
          return kTransactionalIdAuthorizationFailed;
      }
    }
  }
  return call.service().options().read_only ? kPolicyViolation : kNone;
}

/// Whether the batch belongs to the open transaction of its producer, with the right to write the partition
/// held: the coordinator looks at the partition under the same lock after it has decided.
std::int16_t judge_transaction(net::Service& service, const std::string& id, const UnitInfo& batch,
                               const PartitionInfo& partition) {
  const auto file = service.part<net::ServedTransactions>().now();
  const TransactionEntry* const entry = net::ServedTransactions::find(*file, id);
  if (entry == nullptr || entry->id != batch.producer_id) return kInvalidProducerIdMapping;
  if (entry->epoch != batch.producer_epoch) return kInvalidProducerEpoch;
  const TopicPartition place{partition.topic, partition.partition};
  const bool in = std::ranges::binary_search(entry->partitions, place);
  return entry->state == TransactionState::ongoing && in ? kNone : kInvalidTxnState;
}

/// Appends one partition's records; its answer is row (topic, index) of the production.
void produce_one(const ProductionPtr& production, const ProduceRequest& request, const net::Topic& topic,
                 const PartitionData& data, std::size_t topic_index, std::size_t row_index) {
  const CallPtr& call = production->call;
  const auto row = [production, topic_index, row_index]() -> PartitionAnswer& {
    return production->answer.responses[topic_index].partition_responses[row_index];
  };
  const std::shared_ptr<net::Partition> partition = topic.partition(data.index);
  if (!partition) return refuse(*production, row(), kUnknownTopicOrPartition, "");
  if (topic.internal()) return refuse(*production, row(), kInvalidTopic, "an internal topic");
  if (!data.records.in) return refuse(*production, row(), kInvalidRecord, "no records");
  const AppendConfig config = append_config(topic.configs);
  if (request.acks == -1 && config.min_insync_replicas > 1)
    return refuse(*production, row(), kNotEnoughReplicas,
                  "the one replica is fewer than min.insync.replicas");

  const std::shared_ptr<Buffer> frame = call->frame();
  // The records lie in the frame, which this request owns.
  const auto at = static_cast<std::size_t>(data.records.in->data() - frame->data());
  BatchInput input{{frame->data() + at, data.records.in->size()}, call->version() >= 7};
  const Clock& clock = call->service().clock();
  net::Partition::Append append;
  append.forced = request.acks == -1;
  append.deadline_ms = monotonic_ms() + std::max(request.timeout_ms, 1);
  append.work = [input, config, frame, &clock, transactional_id = request.transactional_id.value_or(""),
                 weak = std::weak_ptr(partition), &service = call->service()](PartitionLog& log) mutable {
    const std::int64_t now_ms = clock.now_ms();
    UnitInfo info;
    net::AppendResult result = check_batch(input, config, now_ms, info);
    const auto to = weak.lock();
    if (result.error != kNone || !to) return result;
    if (info.transactional) result.error = judge_transaction(service, transactional_id, info, to->info());
    if (result.error != kNone) return result;
    result = append_batch(log, input, info, config, to->format(), now_ms, to->recent_batches());
    if (result.error == kNone) service.records_in += static_cast<std::uint64_t>(info.count);
    return result;
  };
  append.done = [production, row, partition](net::AppendResult& result) {
    take_result(*production, row(), *partition, result);
    production->finish_one();
  };
  ++production->left;
  partition->append(std::move(append));
}

}  // namespace

namespace {

/// Requests that wait for their partitions to be added, by transactional id: who comes behind one waits, too,
/// as appends of a producer keep their order.
struct WaitingProducers {
  explicit WaitingProducers(net::Service&) {}
  std::map<std::string, std::size_t> requests;
};

/// The producer of a request's transactional batches, and the partitions that they go to.
struct TransactionalPart {
  Coordinator::Holder holder;
  std::vector<TopicPartition> partitions;
};

std::optional<TransactionalPart> transactional_part(const CallPtr& call, const ProduceRequest& request) {
  if (!request.transactional_id) return std::nullopt;
  const auto catalog = call->service().catalog();
  TransactionalPart part;
  for (const auto& topic : request.topic_data) {
    const FoundTopic found = find_topic(*catalog, call->version() >= 13, topic.name, topic.topic_id);
    for (const PartitionData& data : topic.partition_data) {
      if (!found.topic || !found.topic->partition(data.index)) continue;
      if (!data.records.in || data.records.in->size() < kBatchHeader) continue;
      const UnitInfo info = read_batch_header(data.records.in->data());
      if (!info.transactional) continue;
      part.holder = {info.producer_id, info.producer_epoch};
      part.partitions.push_back({found.topic->name, PartitionId(data.index)});
    }
  }
  if (part.partitions.empty()) return std::nullopt;
  return part;
}

/// All of them are in the open transaction already.
bool all_in(net::Service& service, const std::string& id, const TransactionalPart& part) {
  try {
    const auto file = service.part<net::ServedTransactions>().now();
    const TransactionEntry* const entry = net::ServedTransactions::find(*file, id);
    return entry != nullptr && entry->id == part.holder.id && entry->epoch == part.holder.epoch &&
           entry->state == TransactionState::ongoing &&
           std::ranges::all_of(part.partitions, [&](const TopicPartition& partition) {
             return std::ranges::binary_search(entry->partitions, partition);
           });
  } catch (const Error&) {
    return false;
  }
}

/// The id is another holder's by now: what is appended will be refused for that.
bool is_fenced(net::Service& service, const std::string& id, const TransactionalPart& part) {
  const auto file = service.part<net::ServedTransactions>().now();
  const TransactionEntry* const entry = net::ServedTransactions::find(*file, id);
  return entry != nullptr && entry->id == part.holder.id && entry->epoch > part.holder.epoch;
}

void produce_all(const CallPtr& call, ProduceRequest request, std::int16_t refused);

}  // namespace

// From version 12 on a batch takes its partition into the transaction by itself (KIP-890); before, that must
// have been done.
void handle_produce(const CallPtr& call, ProduceRequest request) {
  // A partition that is named twice: the last one counts, as with a broker.
  for (auto& topic : request.topic_data) {
    std::ranges::reverse(topic.partition_data);
    keep_first(topic.partition_data, [](const PartitionData& data) { return data.index; });
    std::ranges::reverse(topic.partition_data);
  }
  const auto part = call->service().options().read_only ? std::nullopt : transactional_part(call, request);
  if (!part) return produce_all(call, std::move(request), kNone);
  auto& waiting = call->service().part<WaitingProducers>().requests;
  const bool in_line = call->version() >= 12 && waiting.contains(*request.transactional_id);
  if (!in_line && all_in(call->service(), *request.transactional_id, *part))
    return produce_all(call, std::move(request), kNone);
  if (call->version() < 12) {
    // Whoever was fenced is told so, not that its transaction may be begun anew.
    const bool abortable =
        call->version() == 11 && !is_fenced(call->service(), *request.transactional_id, *part);
    return produce_all(call, std::move(request), abortable ? kTransactionAbortable : kNone);
  }
  const auto kept = std::make_shared<ProduceRequest>(std::move(request));
  ++waiting[*kept->transactional_id];
  call->service().part<net::ServedTransactions>().run(
      [id = *kept->transactional_id, part](Coordinator& coordinator) {
        coordinator.add(id, part->holder, part->partitions, {});
      },
      [call, kept, &waiting](const Error* error) {
        const auto mine = waiting.find(*kept->transactional_id);
        if (--mine->second == 0) waiting.erase(mine);
        produce_all(call, std::move(*kept), error == nullptr ? kNone : append_error_of(*error));
      });
}

namespace {

void produce_all(const CallPtr& call, ProduceRequest request, std::int16_t refused) {
  const auto production = std::make_shared<Production>();
  production->call = call;
  production->acks = request.acks;
  const std::int16_t whole = refused != kNone ? refused : judge(*call, request);
  const auto catalog = call->service().catalog();
  for (const auto& topic : request.topic_data) {
    auto& rows = production->answer.responses.emplace_back();
    rows.name = topic.name;
    rows.topic_id = topic.topic_id;
    for (const PartitionData& data : topic.partition_data)
      rows.partition_responses.emplace_back().index = data.index;
  }
  for (std::size_t t = 0; t < request.topic_data.size(); ++t) {
    const auto& topic = request.topic_data[t];
    const FoundTopic found = find_topic(*catalog, call->version() >= 13, topic.name, topic.topic_id);
    for (std::size_t p = 0; p < topic.partition_data.size(); ++p) {
      PartitionAnswer& row = production->answer.responses[t].partition_responses[p];
      const bool internal = found.error != kNone && net::is_internal_topic(topic.name);
      const std::int16_t error = whole != kNone ? whole : internal ? kInvalidTopic : found.error;
      if (error != kNone) {
        refuse(*production, row, error, whole == kPolicyViolation ? "the server is read-only" : "");
      } else {
        produce_one(production, request, *found.topic, topic.partition_data[p], t, p);
      }
    }
  }
  production->finish_one();
}

}  // namespace

}  // namespace tk::kafka
