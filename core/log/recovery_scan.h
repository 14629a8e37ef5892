// One segment read for a recovery: what is whole, what is not, and whether its indexes fit.
#pragma once

#include <optional>
#include <vector>

#include "core/format/leader_epochs.h"
#include "core/log/index_file.h"
#include "core/log/recovery.h"
#include "core/log/tail_scan.h"

namespace tk {

/// One segment scanned to its end, with everything that a plan needs.
struct Scanned {
  TailScan scan;
  IndexBuilder index;
  bool indexes_wrong = true;
  std::vector<ByteRange> good;             // in order, joined
  std::vector<std::int64_t> good_records;  // records in each of them
  std::vector<DamageRange> bad_records;    // good checksum, bad inside

  /// Records in ranges that begin in [from, to).
  [[nodiscard]] std::int64_t records_between(std::uint64_t from, std::uint64_t to) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < good.size(); ++i) {
      if (good[i].begin >= from && good[i].begin < to) sum += good_records[i];
    }
    return sum;
  }
};

struct RecoveryScanSettings {
  std::int64_t index_interval = 4096;
  RecoveryMode mode = RecoveryMode::refuse;
  /// Begin at the last index entry that the log bears out.
  bool trust_tail = false;
};

/// Scans segment `i` from its start (or its trusted tail) to its end; offsets must lie above `after`. The
/// records inside good units are looked at unless the mode is `refuse`. Leader epochs of the units are noted
/// in `epochs`.
Scanned scan_for_recovery(FileSystem& fs, const PartitionFiles& files, std::size_t i, Offset after,
                          const RecoveryScanSettings& settings, LeaderEpochs& epochs);

/// The least number of bytes that the indexes of a partition leave between two entries: what tells the
/// setting they were written with where nothing else does. An interval of one less makes the same entries
/// again.
std::optional<std::int64_t> spacing_of_indexes(FileSystem& fs, const PartitionFiles& files);

}  // namespace tk
