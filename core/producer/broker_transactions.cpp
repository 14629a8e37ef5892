#include "core/producer/broker_transactions.h"

#include <algorithm>
#include <iterator>

#include "core/format/internal_record.h"

namespace tk {

std::optional<std::string_view> broker_transaction_state(std::int64_t status) {
  constexpr std::string_view names[] = {"Empty",        "Ongoing",          "PrepareCommit",
                                        "PrepareAbort", "CompleteCommit",   "CompleteAbort",
                                        "Dead",         "PrepareEpochFence"};
  if (status < 0 || status >= static_cast<std::int64_t>(std::size(names))) return std::nullopt;
  return names[static_cast<std::size_t>(status)];
}

bool take_transaction_record(PartitionId partition, const std::optional<std::string_view>& key,
                             const std::optional<std::string_view>& value, BrokerTransactions& to) {
  InternalRecord k, v;
  if (decode_coordinator_key("transaction", key, k) || k.record == nullptr) return false;
  const std::string& id = k.value["transactional_id"].text();
  if (!value) {
    to.erase(id);
    return true;
  }
  if (decode_coordinator_value("transaction", k.type_id, value, v) || v.record == nullptr) return false;
  BrokerTransaction transaction;
  transaction.id = ProducerId(v.value["producer_id"].integer());
  transaction.epoch = static_cast<std::int16_t>(v.value["producer_epoch"].integer());
  const std::int64_t status = v.value["transaction_status"].integer();
  transaction.state = broker_transaction_state(status).value_or(std::to_string(status));
  transaction.timeout_ms = v.value["transaction_timeout_ms"].integer();
  transaction.started_ms = v.value["transaction_start_timestamp_ms"].integer();
  transaction.updated_ms = v.value["transaction_last_update_timestamp_ms"].integer();
  transaction.held_by = partition;
  const SchemaValue& topics = v.value["transaction_partitions"];
  if (topics.has_value()) {
    for (const SchemaValue& topic : topics.array()) {
      for (const std::int32_t number : topic["partition_ids"].int32s())
        transaction.partitions.push_back({topic["topic"].text(), PartitionId(number)});
    }
    std::sort(transaction.partitions.begin(), transaction.partitions.end());
  }
  to[id] = std::move(transaction);
  return true;
}

}  // namespace tk
