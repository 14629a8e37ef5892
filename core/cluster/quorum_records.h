// What a quorum writes into its log by itself (kafka-on-disk.md §2.7).
#pragma once

#include <vector>

#include "core/base/buffer.h"
#include "core/format/unit.h"

namespace tk {

/// Appends the control batch that begins a leader's epoch and returns its header's facts.
UnitInfo encode_leader_change(Buffer& out, Offset offset, LeaderEpoch epoch, std::int32_t leader,
                              const std::vector<std::int32_t>& voters, std::int64_t now);

}  // namespace tk
