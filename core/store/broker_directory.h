// A broker's log directory as its start would take it: what holds for all partitions, and the settings of
// each (kafka-on-disk.md §1, §9; `tk recover --as-broker`).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/catalog/broker_metadata.h"
#include "core/io/file_system.h"
#include "core/log/broker_start.h"

namespace tk {

struct BrokerDirectory {
  bool is_broker = false;
  /// Its meta.properties are a KRaft broker's (version 1).
  bool kraft = true;
  bool has_marker = false;
  /// What keeps a broker from starting on the directory, whatever is in the partitions.
  std::optional<std::string> refusal;
  /// By the names of the partitions' directories.
  std::map<std::string, Offset> recovery_points;
  std::map<std::string, Offset> log_starts;
  std::optional<std::int32_t> node_id;
  /// Of the metadata log, where it is there.
  std::optional<BrokerMetadata> metadata;
};

/// Throws storage_error if the directory cannot be listed.
BrokerDirectory read_broker_directory(FileSystem& fs, const std::string& directory);

/// What a start would go by for the partition at `partition_directory`, with the marker or without it.
BrokerStartSettings broker_start_settings(FileSystem& fs, const BrokerDirectory& directory,
                                          const std::string& partition_directory, bool clean);

}  // namespace tk
