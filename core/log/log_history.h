// What a cleaner has to know of a whole log before it takes anything out of it (kafka-on-disk.md §11.5,
// §11.6): which transactions were aborted, which of their markers have no data left, and which batches keep
// the sequence of a producer.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/format/txn_index.h"
#include "core/log/producer_state.h"
#include "core/log/transactions.h"

namespace tk {

class LogHistory {
 public:
  /// Takes in the units of a log in order.
  void add(ByteView unit, const UnitInfo& info);
  /// Sorts; call once, before the questions. Producers without an open transaction whose last timestamp lies
  /// `expiration_ms` or more before `now_ms` are no longer active, but for those in `known`, which never
  /// expire (cli.md §9).
  void finish(std::int64_t now_ms, std::int64_t expiration_ms, const std::vector<ProducerId>& known);

  [[nodiscard]] const Transactions& transactions() const { return transactions_; }
  /// True if the unit keeps the state of an active producer: its newest data batch, or, without one, a marker
  /// of its current epoch.
  [[nodiscard]] bool is_last_of_producer(const UnitInfo& info) const;
  /// True for an end marker whose transaction has no data in the log, and for an empty control batch.
  [[nodiscard]] bool is_bare_marker(const UnitInfo& info) const;
  /// Aborted transactions that have data in the log, by marker.
  [[nodiscard]] const std::vector<TxnIndexEntry>& aborted() const { return aborted_; }

 private:
  struct Last {
    Offset data{-1};
    std::int16_t epoch = -1;
  };

  ProducerState state_;
  Transactions transactions_;
  std::unordered_map<ProducerId, Last> active_;
  std::vector<Offset> full_markers_;    // those with data; rising
  std::vector<Offset> other_controls_;  // of another kind than an end marker; rising
  std::vector<TxnIndexEntry> aborted_;
};

/// Reads the headers of the whole view. Throws corrupt_message at the first damage: a log that cannot be read
/// is not cleaned.
LogHistory read_log_history(FileSystem& fs, const LogView& view);

/// What Kafka's producer.id.expiration.ms is by default.
inline constexpr std::int64_t kProducerExpirationMs = 86400000;

}  // namespace tk
