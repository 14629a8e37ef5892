// What a partition holds at one moment, for readers: a listing, the first and the next offset, and how far
// the last segment counts. Nothing is locked and nothing changed; a writer may go on appending behind it.
#pragma once

#include "core/log/log_files.h"
#include "core/log/tail_scan.h"

namespace tk {

struct LogView {
  PartitionFiles files;
  /// The first readable offset; may lie inside a segment or a batch (delete-records).
  Offset log_start;
  /// The offset that the next record gets.
  Offset log_end;
  /// Bytes of the last segment that hold whole units (or damage before them); what follows is a tail.
  std::uint64_t last_segment_end = 0;
  /// How the scan of the last segment's end stopped.
  TailScan::Stop end_state = TailScan::Stop::clean;
  Fault tail;

  [[nodiscard]] bool empty() const { return files.segments.empty(); }
  /// Bytes of all segments as listed.
  [[nodiscard]] std::uint64_t bytes() const;
};

/// Looks at a partition directory: lists it and scans the last segment from its last trusted index entry on.
/// `checkpointed_start` is the directory's log-start-offset-checkpoint for it; one beyond the log end is
/// ignored.
LogView open_log_view(FileSystem& fs, const std::string& directory,
                      std::optional<Offset> checkpointed_start = {});

}  // namespace tk
