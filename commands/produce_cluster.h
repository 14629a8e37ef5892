// What `tk produce` does in a cluster beside appending: who may be appended to, and what the acks level asks
// for (cli.md §7).
#pragma once

#include <string>
#include <vector>

#include "commands/produce_options.h"
#include "core/cluster/replica.h"
#include "core/store/store.h"

namespace tk {

struct AppendedRange {
  std::int32_t partition = 0;
  Offset first;
  Offset last;
};

AckLevel ack_level(const ProduceOptions& options);

/// Throws leader_not_available, or not_enough_replicas: then nothing is written to the partition.
void check_acks(Store& store, const std::string& topic, std::int32_t partition, AckLevel level);

/// Takes in what was appended to the leaders' logs and, at level all, lets the live followers fetch, and
/// cluster time pass, until the high watermarks have passed the records. The cluster is saved. Throws
/// not_enough_replicas_after_append or request_timed_out: then the records are in the leaders' logs, and may
/// survive.
void replicate_appended(Store& store, const std::string& topic, const std::vector<AppendedRange>& ranges,
                        AckLevel level, std::int64_t timeout_ms);

/// What a command has written into the leaders' logs by itself, as end markers, or a new log start goes to
/// the live followers, and the cluster is saved. Nothing where there is no cluster.
void replicate_news(Store& store);

}  // namespace tk
