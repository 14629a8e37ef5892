// Which leader epoch wrote which offsets of a partition (kafka-on-disk.md §7.2; KIP-101, KIP-279).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/ids.h"

namespace tk {

/// The records from `start` up to the next entry's start were written under `epoch`.
struct LeaderEpochEntry {
  LeaderEpoch epoch;
  Offset start;

  friend bool operator==(const LeaderEpochEntry&, const LeaderEpochEntry&) = default;
};

/// The history of a partition's leader epochs: entries whose epochs and starts both rise strictly. Epoch 0 is
/// an epoch like any other; a negative one stands for "none".
class LeaderEpochs {
 public:
  LeaderEpochs() = default;
  /// What reading a checkpoint gives: its entries are assigned in order, so those that do not rise push out
  /// others.
  explicit LeaderEpochs(std::span<const LeaderEpochEntry> entries) {
    for (const LeaderEpochEntry& entry : entries) assign(entry.epoch, entry.start);
  }

  /// Notes that `epoch` begins at `start`, as every append of a batch and every change of leadership does.
  /// Entries from the end that contradict it (epoch or start not below) give way. Does nothing if `epoch` is
  /// negative, or the latest one and known to begin at or before `start`. True if the entries changed.
  bool assign(LeaderEpoch epoch, Offset start);

  /// Drops what begins at or after `end`, the new log end. True if entries were dropped.
  bool truncate_from_end(Offset end);
  /// Makes the history begin at `start`, the new log start: the epoch that was current there now begins
  /// there. True if the entries changed.
  bool truncate_from_start(Offset start);

  /// An epoch with the offset at which it ended; (-1, -1) when not known.
  struct End {
    LeaderEpoch epoch = kNoLeaderEpoch;
    Offset offset{-1};

    friend bool operator==(const End&, const End&) = default;
  };
  /// Where `epoch` ended, given that the log ends at `log_end`: for one that this partition did not see, the
  /// largest one below it that it saw, or, below all of them, the start of the first.
  [[nodiscard]] End end_offset_for(LeaderEpoch epoch, Offset log_end) const;

  [[nodiscard]] std::optional<LeaderEpoch> latest() const;
  /// The epoch that the record at `offset` was written under, as far as the history goes back.
  [[nodiscard]] std::optional<LeaderEpoch> epoch_at(Offset offset) const;
  [[nodiscard]] const std::vector<LeaderEpochEntry>& entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }

  friend bool operator==(const LeaderEpochs&, const LeaderEpochs&) = default;

 private:
  std::vector<LeaderEpochEntry> entries_;
};

}  // namespace tk
