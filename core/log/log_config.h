// The settings of a topic that its log obeys (kafka-on-disk.md §16).
#pragma once

#include <cstdint>

#include "core/format/record.h"

namespace tk {

struct LogConfig {
  /// A segment holds at most so many bytes (a single larger unit gets one to itself).
  std::int64_t segment_bytes = 1073741824;
  /// A segment whose first unit is older than this, by the timestamps of the units, is closed.
  std::int64_t segment_ms = 604800000;
  /// Bytes of log between two index entries.
  std::int64_t index_interval_bytes = 4096;
  /// Bytes that an index may grow to; a segment with a full index is closed.
  std::int64_t segment_index_bytes = 10485760;
  /// The largest batch (kafka format, with its prefix) or record (json format) that is taken.
  std::int64_t max_message_bytes = 1048588;
  /// Whose time a record bears.
  TimestampType timestamp_type = TimestampType::create_time;
};

}  // namespace tk
