// Transactions of clients: InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, EndTxn
// (serve.md §2.8). Deciding and marking are one step here, so nobody is told CONCURRENT_TRANSACTIONS.
#include <algorithm>

#include "core/base/text.h"
#include "core/group/commits.h"
#include "core/group/group_name.h"
#include "core/net/groups.h"
#include "core/net/kafka/commit_call.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"
#include "core/net/producer_ids.h"
#include "core/net/transactions.h"

namespace tk::kafka {
namespace {

constexpr std::int32_t kLongestTransaction = 900000;

net::ServedTransactions& transactions_of(const CallPtr& call) {
  return call->service().part<net::ServedTransactions>();
}

/// `knows_fencing`: the version has PRODUCER_FENCED.
std::int16_t transaction_error(const Error& error, bool knows_fencing) {
  if (error.code() == ErrorCode::invalid_producer_epoch)
    return knows_fencing ? kProducerFenced : kInvalidProducerEpoch;
  if (error.code() == ErrorCode::invalid_txn_state || error.code() == ErrorCode::unknown_producer_id)
    return error_of(error);
  return group_error_of(error);
}

bool is_wrong_group(const std::string& group) {
  try {
    check_group_id(group);
    return false;
  } catch (const Error&) {
    return true;
  }
}

void init_idempotent(const CallPtr& call) {
  call->service().part<net::ProducerIds>().next([call](std::int64_t id, const Error* error) {
    InitProducerIdResponse answer;
    answer.producer_id = id;
    answer.producer_epoch = error == nullptr ? 0 : -1;
    answer.error_code = error == nullptr ? kNone : kCoordinatorNotAvailable;
    call->note_error(answer.error_code);
    call->answer(answer);
  });
}

}  // namespace

void handle_init_producer_id(const CallPtr& call, InitProducerIdRequest request) {
  const auto answer = std::make_shared<InitProducerIdResponse>();
  const auto refuse = [call, answer](std::int16_t error) {
    answer->error_code = error;
    answer->producer_id = -1;
    answer->producer_epoch = -1;
    call->note_error(error);
    call->answer(*answer);
  };
  const bool one_of_two = (request.producer_id >= 0) != (request.producer_epoch >= 0);
  if (call->service().options().read_only) return refuse(kPolicyViolation);
  if (one_of_two) return refuse(kInvalidRequest);
  // One that asks again begins anew: its epoch is of no use without the sequences.
  if (!request.transactional_id) return init_idempotent(call);
  if (request.transactional_id->empty() || !is_utf8(*request.transactional_id))
    return refuse(kInvalidRequest);
  if (request.transaction_timeout_ms <= 0 || request.transaction_timeout_ms > kLongestTransaction)
    return refuse(kInvalidTransactionTimeout);
  const std::string id = *request.transactional_id;
  std::optional<Coordinator::Holder> held;
  if (request.producer_id >= 0)
    held = Coordinator::Holder{ProducerId(request.producer_id), request.producer_epoch};
  std::vector<TopicPartition> open;
  try {
    const auto file = transactions_of(call).now();
    if (const TransactionEntry* const entry = net::ServedTransactions::find(*file, id))
      open = entry->partitions;
  } catch (const Error&) {
    // The coordinator will say so.
  }
  transactions_of(call).end(
      [id, held, answer, timeout = request.transaction_timeout_ms](Coordinator& coordinator) {
        const TransactionEntry entry = coordinator.init_holder(id, timeout, held);
        answer->producer_id = entry.id.value();
        answer->producer_epoch = entry.epoch;
      },
      open,
      [call, answer, refuse](const Error* error) {
        if (error != nullptr) return refuse(transaction_error(*error, call->version() >= 4));
        call->answer(*answer);
      });
}

void handle_add_partitions_to_txn(const CallPtr& call, AddPartitionsToTxnRequest request) {
  const auto answer = std::make_shared<AddPartitionsToTxnResponse>();
  const auto catalog = call->service().catalog();
  std::vector<TopicPartition> partitions;
  bool unknown = false;
  for (const auto& topic : request.topics) {
    auto& rows = answer->results.emplace_back();
    rows.name = topic.name;
    const auto found = catalog->find(topic.name);
    for (const std::int32_t number : topic.partitions) {
      auto& row = rows.results_by_partition.emplace_back();
      row.partition_index = number;
      if (!found || !found->partition(number)) {
        row.partition_error_code = kUnknownTopicOrPartition;
        unknown = true;
      }
      partitions.push_back({topic.name, PartitionId(number)});
    }
  }
  const auto finish = [call, answer](std::int16_t error) {
    for (auto& topic : answer->results) {
      for (auto& row : topic.results_by_partition) {
        if (row.partition_error_code == kNone) row.partition_error_code = error;
        call->note_error(row.partition_error_code);
      }
    }
    call->answer(*answer);
  };
  if (call->service().options().read_only) return finish(kPolicyViolation);
  if (unknown) return finish(kOperationNotAttempted);
  transactions_of(call).run(
      [request = std::move(request), partitions](Coordinator& coordinator) {
        coordinator.add(request.transactional_id, {ProducerId(request.producer_id), request.producer_epoch},
                        partitions, {});
      },
      [call, finish](const Error* error) {
        finish(error == nullptr ? kNone : transaction_error(*error, call->version() >= 2));
      });
}

void handle_add_offsets_to_txn(const CallPtr& call, AddOffsetsToTxnRequest request) {
  const auto finish = [call](std::int16_t error) {
    AddOffsetsToTxnResponse answer;
    answer.error_code = error;
    call->note_error(error);
    call->answer(answer);
  };
  if (call->service().options().read_only) return finish(kPolicyViolation);
  if (is_wrong_group(request.group_id)) return finish(kInvalidGroupId);
  transactions_of(call).run(
      [request = std::move(request)](Coordinator& coordinator) {
        coordinator.add(request.transactional_id, {ProducerId(request.producer_id), request.producer_epoch},
                        {}, {request.group_id});
      },
      [call, finish](const Error* error) {
        finish(error == nullptr ? kNone : transaction_error(*error, call->version() >= 2));
      });
}

void handle_txn_offset_commit(const CallPtr& call, TxnOffsetCommitRequest request) {
  const auto commit = std::make_shared<CommitCall<TxnOffsetCommitRequest, TxnOffsetCommitResponse>>();
  commit->request = std::move(request);
  commit->sort_out(*call->service().catalog(), call->version() >= 6);
  commit->commit.producer_id = commit->request.producer_id;
  commit->commit.producer_epoch = commit->request.producer_epoch;
  const TxnOffsetCommitRequest& asked = commit->request;
  const auto finish = [call, commit](std::int16_t error) { commit->finish(call, error); };
  if (call->service().options().read_only) return finish(kPolicyViolation);
  if (is_wrong_group(asked.group_id)) return finish(kInvalidGroupId);
  if (commit->rows.empty()) return finish(kNone);
  const auto error_for = [](const Error& error) -> std::int16_t {
    if (error.code() == ErrorCode::group_id_not_found) return kIllegalGeneration;
    if (error.code() == ErrorCode::stale_member_epoch) return kIllegalGeneration;
    return transaction_error(error, false);
  };
  // From version 5 on the group is part of the transaction by this alone.
  const bool adds = call->version() >= 5;
  transactions_of(call).run(
      [commit, adds](Coordinator& coordinator) {
        const TxnOffsetCommitRequest& r = commit->request;
        const Coordinator::Holder holder{ProducerId(r.producer_id), r.producer_epoch};
        if (adds) {
          coordinator.add(r.transactional_id, holder, {}, {r.group_id});
          return;
        }
        const auto file = coordinator.look();
        const TransactionEntry* const entry =
            file ? net::ServedTransactions::find(*file, r.transactional_id) : nullptr;
        if (entry == nullptr || entry->id != holder.id)
          throw Error(ErrorCode::unknown_producer_id, "the transactional id has another producer id");
        if (entry->epoch != holder.epoch) throw Error(ErrorCode::invalid_producer_epoch, "another epoch");
        const bool in = std::ranges::find(entry->groups, r.group_id) != entry->groups.end();
        if (!in || entry->state != TransactionState::ongoing)
          throw Error(ErrorCode::invalid_txn_state, "the group is not part of an open transaction");
      },
      [call, commit, finish, error_for](const Error* error) {
        if (error != nullptr) return finish(error_for(*error));
        call->service().part<net::Groups>().change(
            commit->request.group_id, [commit](GroupTurn& turn) { tk::commit(turn, commit->commit); },
            [finish, error_for](const Error* failed) {
              finish(failed == nullptr ? kNone : error_for(*failed));
            });
      });
}

void handle_end_txn(const CallPtr& call, EndTxnRequest request) {
  const auto answer = std::make_shared<EndTxnResponse>();
  const auto refuse = [call, answer](std::int16_t error) {
    answer->error_code = error;
    call->note_error(error);
    call->answer(*answer);
  };
  if (call->service().options().read_only) return refuse(kPolicyViolation);
  const bool raises = call->version() >= 5;
  std::vector<TopicPartition> partitions;
  try {
    const auto file = transactions_of(call).now();
    const TransactionEntry* const entry = net::ServedTransactions::find(*file, request.transactional_id);
    if (entry != nullptr) partitions = entry->partitions;
  } catch (const Error&) {
    // The coordinator will say so.
  }
  transactions_of(call).end(
      [request = std::move(request), answer, raises](Coordinator& coordinator) {
        const TransactionEntry entry = coordinator.end_by(
            request.transactional_id, {ProducerId(request.producer_id), request.producer_epoch},
            request.committed, raises);
        if (!raises) return;
        answer->producer_id = entry.id.value();
        answer->producer_epoch = entry.epoch;
      },
      partitions,
      [call, answer, refuse](const Error* error) {
        if (error != nullptr) return refuse(transaction_error(*error, call->version() >= 2));
        call->answer(*answer);
      });
}

}  // namespace tk::kafka
