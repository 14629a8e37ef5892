// The records of a served partition from an offset on, for people and HTTP: what `consume` would show.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/format/record.h"
#include "core/net/partition.h"

namespace tk::net {

struct ScanDamage {
  std::string path;
  std::uint64_t position = 0;
  Fault fault;
};

/// Calls `visit` for each record at or above `from` and below `below` in order until it returns false,
/// without control records and, with `committed`, without those of aborted transactions. Returns the offset
/// behind the last record or unit that was looked at. May block; for one worker.
Offset scan_records(Partition& partition, Offset from, Offset below, bool committed,
                    const std::function<bool(const RecordView&)>& visit,
                    const std::function<void(const ScanDamage&)>& damaged);

}  // namespace tk::net
