// What happened to a cluster, a JSON object a step (replication.md §9), and the file that keeps it.
#pragma once

#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/cluster/cluster.h"

namespace tk {

/// One event as a member of a step's "events".
std::string event_json(const ClusterEvent& event);

struct StepReport {
  std::int64_t step = 0;
  std::string op;
  std::vector<std::string> args;
  std::string reply;
  /// As event_json() has them.
  std::vector<std::string> events;
  /// The partition whose replicas are shown.
  std::string partition;
};

/// The line of a step, keys sorted, with the state after it and a line feed.
void append_step_line(TextBuffer& to, Cluster& cluster, const StepReport& report);
/// A 64-bit hash over the state of every partition and replica, and the clock.
std::uint64_t state_hash(Cluster& cluster);

/// Appends lines to events.ndjson; beyond 16 MiB the older half is dropped. Not forced.
void append_to_event_log(FileSystem& fs, const std::string& directory, std::string_view lines);

inline constexpr std::string_view kEventsFile = "events.ndjson";

}  // namespace tk
