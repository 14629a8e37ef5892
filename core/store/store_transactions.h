// The transactions of a store: the coordinator with the store's partitions and groups.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/producer/coordinator.h"
#include "core/store/group_logs.h"
#include "core/store/store.h"

namespace tk {

class StoreTransactions final : private TransactionLogs {
 public:
  using Note = std::function<void(const std::string&)>;

  /// `store` is one for writing; it and `clock` must outlive this.
  StoreTransactions(Store& store, const Clock& clock, Note note = {});

  [[nodiscard]] Coordinator& coordinator() { return coordinator_; }
  /// Above every producer id that a log of the store knows.
  [[nodiscard]] std::int64_t first_id() const override;

 private:
  std::unique_ptr<PartitionLog> open(const TopicPartition& partition) override;
  [[nodiscard]] TopicFormat format(const TopicPartition& partition) const override;
  [[nodiscard]] const PartitionInfo* find(const TopicPartition& partition);
  [[nodiscard]] Store& store() { return fresh_ ? *fresh_ : store_; }

  Store& store_;
  Note note_;
  std::optional<Store> fresh_;
  GroupLogs topics_;
  GroupStore groups_;
  Coordinator coordinator_;
};

/// True if tk-producers.json has a transaction that was decided and not completed, or is over its time.
bool has_due_transactions(FileSystem& fs, const std::string& directory, std::int64_t now_ms);

/// Completes transactions that were decided and aborts those that are over their time, as every `txn`,
/// `produce`, `retain` and `compact` does first. Costs a look at one file where there is nothing to do. What
/// cannot be completed is told to `note` and left to the next one.
void expire_transactions(Store& store, const Clock& clock, const StoreTransactions::Note& note);

/// The producer ids that belong to a name or a transactional id of the directory.
std::vector<ProducerId> known_producers(FileSystem& fs, const std::string& directory);

}  // namespace tk
