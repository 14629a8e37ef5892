// The log of every change to a cluster: a partition like any other, `__cluster_metadata-0`, in Kafka's own
// records (kafka-on-disk.md §13.4). Its replicas are the voters of the controllers' quorum; what they have
// committed, replayed, is the cluster's state.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/cluster/controller_quorum.h"
#include "core/cluster/metadata_image.h"

namespace tk {

class MetadataLog {
 public:
  /// `now`: of the records, in ms.
  MetadataLog(FileSystem& fs, ControllerQuorum& quorum, std::function<std::int64_t()> now)
      : fs_(fs), quorum_(quorum), now_(std::move(now)) {}

  /// Replays what is committed, from the newest snapshot on, without opening or locking anything. Damage
  /// before the end throws corrupt_state with file and position: nothing is guessed.
  void replay(MetadataImage& image);

  /// True if the controllers have a leader that can commit.
  [[nodiscard]] bool available() { return quorum_.leader() != nullptr; }
  /// Appends the records as one batch, so that all or none of them count, has the voters take it, and says
  /// the offset of the first. Throws leader_not_available where no majority does.
  Offset append(const std::vector<MetadataRecord>& records);
  /// Of the leader's log. There is a leader.
  [[nodiscard]] Offset end();

  /// Where the log has become long, the state takes the place of its beginning, on each voter that is up.
  void shorten(const MetadataImage& image);
  /// A log is long that has grown by this since its snapshot.
  std::uint64_t longest = 1U << 20;

  /// The end offset and the epoch that the last replay() came to.
  [[nodiscard]] Offset replayed_end() const { return replayed_; }
  [[nodiscard]] LeaderEpoch replayed_epoch() const { return replayed_epoch_; }

 private:
  QuorumVoter& leader();
  void replay_log(const std::string& directory, Offset from, Offset limit, MetadataImage& image);

  FileSystem& fs_;
  ControllerQuorum& quorum_;
  std::function<std::int64_t()> now_;
  Offset replayed_{0};
  LeaderEpoch replayed_epoch_{0};
  BatchBuilder builder_;
  Compressor compressor_;
  Buffer batch_;
  Buffer value_;
};

/// Replays the batches that lie in `bytes`. The fault that stopped it, and its position; no fault: none.
Fault replay_units(ByteView bytes, MetadataImage& image, std::uint64_t& position);

}  // namespace tk
