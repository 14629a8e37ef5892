// The files of a partition beside its segments and their indexes: what belongs there must make sense, what
// does not is named.
#pragma once

#include <vector>

#include "core/format/leader_epochs.h"
#include "core/log/log_files.h"
#include "core/log/problem.h"
#include "core/log/verify_order.h"

namespace tk {

/// Names left-over and foreign files, and what an interrupted replacement means.
void check_other_files(const PartitionFiles& files, ProblemCounter& report);

/// Bytes of an entry in a .txnindex.
inline constexpr std::size_t kTxnIndexEntry = 34;

/// Reads leader-epoch-checkpoint and names what is wrong with it by itself. Its entries, or nothing if they
/// cannot be compared with the log; without a file there are none.
std::optional<std::vector<LeaderEpochEntry>> check_epoch_file(FileSystem& fs, const PartitionFiles& files,
                                                              ProblemCounter& report);

/// Reads partition.metadata; in a KRaft broker's directory it must be there.
void check_partition_metadata(FileSystem& fs, const PartitionFiles& files, const VerifyScope& scope,
                              ProblemCounter& report);

/// Version, checksum and size of each producer snapshot and transaction index; not what they say of the log.
void check_snapshots_and_txn_indexes(FileSystem& fs, const PartitionFiles& files, ProblemCounter& report);

/// What speaks of offsets beyond the log's ends: checkpoints, epochs (`entries` as check_epoch_file gave
/// them) and snapshots; or of segments where there are none left. `producers`: where snapshots are due.
void check_ends(FileSystem& fs, const PartitionFiles& files, const VerifyScope& scope,
                const std::optional<std::vector<LeaderEpochEntry>>& entries, Offset log_end,
                ProducersSeen producers, ProblemCounter& report);

}  // namespace tk
