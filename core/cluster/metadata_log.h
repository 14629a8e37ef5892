// The log of every change to a cluster: a partition like any other, `__cluster_metadata-0`, in Kafka's own
// records (kafka-on-disk.md §13.4). Replaying it gives the cluster's state.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cluster/metadata_image.h"
#include "core/cluster/replica_log.h"

namespace tk {

inline constexpr std::string_view kMetadataPartition = "__cluster_metadata-0";

class MetadataLog {
 public:
  struct Options {
    SyncPolicy sync = SyncPolicy::at_end;
    LockWait lock_wait = 10000;
    std::function<void(const std::string&)> note;
  };

  /// `directory`: of the partition.
  MetadataLog(FileSystem& fs, std::string directory, Options options);

  /// Replays what is there, from the newest snapshot on, without taking a lock. Damage before the end throws
  /// corrupt_state with file and position: nothing is guessed.
  void replay(MetadataImage& image);
  /// Opens the log for appending; a torn tail is cut.
  void open();
  void close();
  [[nodiscard]] bool is_open() const { return log_ != nullptr; }

  /// Appends the records as one batch, so that all or none of them count, and says the offset of the first.
  Offset append(const std::vector<MetadataRecord>& records, std::int64_t now);
  /// The control record that begins a leader's epoch.
  void append_leader_change(std::int32_t leader, const std::vector<std::int32_t>& voters, std::int64_t now);
  void begin_epoch(LeaderEpoch epoch) { log_->begin_epoch(epoch); }
  [[nodiscard]] LeaderEpoch epoch() const { return log_->leader_epoch(); }
  [[nodiscard]] Offset end() {
    if (!is_open()) open();
    return log_->log_end();
  }
  void force() { log_->sync(); }
  /// The end offset that the last replay() came to.
  [[nodiscard]] Offset replayed_end() const { return replayed_; }
  [[nodiscard]] LeaderEpoch replayed_epoch() const { return replayed_epoch_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  Offset append_batch(std::uint16_t attributes, std::int64_t now);

  FileSystem& fs_;
  std::string directory_;
  Options options_;
  std::unique_ptr<PartitionLog> log_;
  Offset replayed_{0};
  LeaderEpoch replayed_epoch_{0};
  BatchBuilder builder_;
  Compressor compressor_;
  Buffer batch_;
  Buffer value_;
};

/// Replays one segment or snapshot's batches that lie in `bytes`; what the sink is told, see replay().
Fault replay_units(ByteView bytes, MetadataImage& image, std::uint64_t& position);

}  // namespace tk
