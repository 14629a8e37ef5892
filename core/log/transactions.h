// Which transactions of a partition were aborted and which are open, found in the log itself
// (kafka-on-disk.md §12).
//
// The .txnindex files would say it sooner, but a broker that finds one missing or short takes it as "nothing
// aborted" and hands out aborted records as committed; the markers in the log cannot be missed that way.
#pragma once

#include <vector>

#include "core/log/log_view.h"

namespace tk {

struct AbortedTransaction {
  ProducerId producer;
  /// Of its first record (the first one that is still there).
  Offset first;
  /// Of its ABORT marker.
  Offset last;
};

struct OpenTransaction {
  ProducerId producer;
  std::int16_t epoch = -1;
  Offset first;
  std::int64_t first_timestamp = kNoTimestamp;
  std::int64_t batches = 0;
};

class Transactions {
 public:
  /// Takes in the units of a log in order; units without a producer id cost a look.
  void add(ByteView unit, const UnitInfo& info);
  /// Sorts what add() collected; call once, before the questions.
  void finish();

  /// True if the unit holds data of an aborted transaction.
  [[nodiscard]] bool aborted(const UnitInfo& info) const;
  /// The last stable offset of a log that ends at `log_end` and is wholly replicated: the first offset of the
  /// oldest open transaction, else the end.
  [[nodiscard]] Offset last_stable(Offset log_end) const;
  [[nodiscard]] const std::vector<OpenTransaction>& open() const { return open_; }

 private:
  std::vector<AbortedTransaction> aborted_;  // by producer and first offset
  std::vector<OpenTransaction> open_;        // by first offset
};

/// True if the control unit is an ABORT marker (false for COMMIT and every other kind).
bool is_abort_marker(ByteView unit, const UnitInfo& info);
/// True if it is an ABORT or COMMIT marker.
bool is_end_marker(ByteView unit, const UnitInfo& info);

/// Reads the headers of the whole view. Damaged ranges are stepped over.
Transactions scan_transactions(FileSystem& fs, const LogView& view);

}  // namespace tk
