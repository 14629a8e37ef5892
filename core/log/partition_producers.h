// The writer's knowledge of a partition's producers, and the files that keep it: `.snapshot` files and the
// `.txnindex` of the active segment (kafka-on-disk.md §5.4, §6.3). PartitionLog owns one for a partition
// that has, or is about to get, batches with producer ids.
//
// Invariants: state() covers every offset below the log's end; a snapshot is on disk before the first unit
// with a producer id is, so that who finds none may take it that there are no producers; entries of the
// .txnindex are on disk before an index entry or a snapshot speaks of offsets behind them.
#pragma once

#include <string>

#include "core/base/buffer.h"
#include "core/log/producer_history.h"
#include "core/log/producer_state.h"

namespace tk {

class PartitionProducers {
 public:
  PartitionProducers(FileSystem& fs, std::string directory, std::uint64_t snapshot_bytes)
      : fs_(fs), directory_(std::move(directory)), snapshot_bytes_(snapshot_bytes) {}

  /// Brings the state up to the end of `view`, whose last segment is the active one; puts right what a crash
  /// left of its .txnindex, and makes the first snapshot if there is none.
  void load(const LogView& view);

  [[nodiscard]] const ProducerState& state() const { return state_; }
  /// Takes in the next unit of the log, ours or another writer's.
  void add(ByteView unit, const UnitInfo& info);
  /// Takes in batches that are being appended, without their bytes.
  [[nodiscard]] ProducerState::Run run(const ProducerFields& fields) { return {state_, fields}; }

  /// Writes the entries that wait for the .txnindex of `active`; those that another writer wrote meanwhile
  /// are left out.
  void write_txn_index(const SegmentFile& active, bool forced);
  /// The snapshot at the log's end, which may become a segment's base. One that lies in the middle of the
  /// active segment, which begins at `active_base`, makes way for it, unless it is not to be forced.
  void save(Offset end, Offset active_base, bool durable);
  /// True if so much was appended since the last snapshot, by positions in the active segment, that an
  /// opening after a crash should not have to read it.
  [[nodiscard]] bool wants_snapshot(std::uint64_t position) const {
    return position > saved_position_ + snapshot_bytes_;
  }
  void saved_at(std::uint64_t position) { saved_position_ = position; }

 private:
  void settle_txn_index(const SegmentFile& active, const ProducerHistory& history);

  FileSystem& fs_;
  std::string directory_;
  std::uint64_t snapshot_bytes_;
  ProducerState state_;
  std::vector<TxnIndexEntry> waiting_;  // for the .txnindex
  bool txn_index_unforced_ = false;
  std::optional<Offset> first_;       // the snapshot without producers that was made before the first of them
  std::optional<Offset> saved_;       // offset of the newest snapshot
  std::uint64_t saved_position_ = 0;  // in the active segment, about
};

/// Removes the snapshots that speak of more than the log holds: before anything is appended, or they would be
/// believed later. Where they are all there are, load() has made another one first.
void remove_snapshots_beyond(FileSystem& fs, const std::string& directory,
                             const std::vector<Offset>& snapshots, Offset log_end);

}  // namespace tk
