// From a client's batch to what a log stores: the checks of serve.md §2.4, in their order, and the append.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/catalog/topic_config.h"
#include "core/net/partition.h"

namespace tk::kafka {

/// What a topic's configs say about appends.
struct AppendConfig {
  LogConfig log;
  std::optional<Compression> compression;  // nothing: the producer's is kept
  bool needs_keys = false;
  std::int64_t before_max_ms = INT64_MAX;
  std::int64_t after_max_ms = 3600000;
  std::int32_t min_insync_replicas = 1;
};
AppendConfig append_config(const ConfigMap& configs);

/// A batch as it came in. Its bytes are changed where the log's differ (offsets, epoch, timestamps).
struct BatchInput {
  MutableBytes bytes;
  /// False in versions that have no zstd.
  bool zstd_allowed = true;
};

/// Looks at everything that can be judged without the log. On success `bytes` is cut to the batch, and `info`
/// is its header.
net::AppendResult check_batch(BatchInput& input, const AppendConfig& config, std::int64_t now_ms,
                              UnitInfo& info);

/// Appends a checked batch to the log, whose turn is held: as it is, encoded anew, or as json records, whose
/// batches `recent` remembers.
net::AppendResult append_batch(PartitionLog& log, const BatchInput& input, const UnitInfo& info,
                               const AppendConfig& config, TopicFormat format, std::int64_t now_ms,
                               net::RecentBatches& recent);

}  // namespace tk::kafka
