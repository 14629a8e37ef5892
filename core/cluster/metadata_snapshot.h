// Snapshots of the metadata log: `<end offset>-<epoch>.checkpoint`, Kafka's batches, offsets from 0 on,
// between a header and a footer (KIP-630; kafka-on-disk.md §13.4.3). What a snapshot says is the state below
// its offset; the log before it may go.
#pragma once

#include <optional>
#include <string>

#include "core/base/buffer.h"
#include "core/base/ids.h"
#include "core/cluster/metadata_image.h"
#include "core/io/file_system.h"

namespace tk {

struct SnapshotId {
  /// The offset that follows the last record taken in.
  Offset end;
  LeaderEpoch epoch;
  friend auto operator<=>(const SnapshotId&, const SnapshotId&) = default;
};

std::string snapshot_name(const SnapshotId& id);
/// The newest in a directory by its name; the one with offset 0 (Kafka's bootstrap) counts.
std::optional<SnapshotId> newest_snapshot(FileSystem& fs, const std::string& directory);
/// The bytes of a snapshot of this state.
Buffer encode_snapshot(const MetadataImage& image, const SnapshotId& id, std::int64_t now);
/// Applies a snapshot. Throws corrupt_state with file and position where it is damaged or has no footer.
void load_snapshot(FileSystem& fs, const std::string& path, MetadataImage& image);
/// Removes all snapshots before this one.
void remove_snapshots_before(FileSystem& fs, const std::string& directory, const SnapshotId& id);

}  // namespace tk
