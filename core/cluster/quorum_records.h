// What a quorum writes into its log by itself (kafka-on-disk.md §2.7).
#pragma once

#include <vector>

#include "core/base/buffer.h"
#include "core/format/unit.h"

namespace tk {

/// Appends the control batch that begins a leader's epoch and returns its header's facts.
UnitInfo encode_leader_change(Buffer& out, Offset offset, LeaderEpoch epoch, std::int32_t leader,
                              const std::vector<std::int32_t>& voters, std::int64_t now);

/// The control batches that stand first and last in a snapshot (kafka-on-disk.md §13.4.3).
UnitInfo encode_snapshot_header(Buffer& out, Offset offset, LeaderEpoch epoch, std::int64_t now);
UnitInfo encode_snapshot_footer(Buffer& out, Offset offset, LeaderEpoch epoch, std::int64_t now);

}  // namespace tk
