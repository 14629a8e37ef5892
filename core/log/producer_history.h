// The producer state at the end of a log: the newest good snapshot, and what the log says behind it
// (kafka-on-disk.md §6.4). For the writer of a partition, for the log cleaner, and for reports.
#pragma once

#include <vector>

#include "core/format/txn_index.h"
#include "core/log/log_view.h"
#include "core/log/producer_state.h"

namespace tk {

struct ProducerHistory {
  /// Covers every offset below the view's end.
  ProducerState state;
  /// Where the log was read from: the place of the snapshot, else the start of the log.
  Offset from;
  /// The transactions that were aborted at or above `from`, by marker.
  std::vector<TxnIndexEntry> aborted;
};

/// Reads the newest snapshot at or below the view's end that is whole, and the log from there on. Damage is
/// stepped over. With `from_start` no snapshot is trusted but one at the first segment's base.
ProducerHistory read_producer_history(FileSystem& fs, const LogView& view, bool from_start = false);

/// What is known at the first segment's base, of producers whose records before it are gone.
ProducerState producer_state_at_start(FileSystem& fs, const LogView& view);

/// The .txnindex entry of a transaction that has just been taken off `state`, nothing for a commit.
std::optional<TxnIndexEntry> txn_index_entry(const ProducerState& state, const ProducerState::Step& step);

}  // namespace tk
