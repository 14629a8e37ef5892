// Options of `tk retain`, `compact`, `delete-records` and `get-offsets` (cli.md §8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"

namespace tk {

struct RetainOptions {
  /// Topics or partitions; none: all of the directory.
  std::vector<std::string> names;
  /// For this run, over those of the topic.
  std::vector<ConfigSetting> configs;
  bool dry_run = false;
  SyncMode sync = SyncMode::end;
};

struct CompactOptions {
  /// Topics or partitions; none: all topics that are compacted.
  std::vector<std::string> names;
  std::vector<ConfigSetting> configs;
  bool dry_run = false;
  SyncMode sync = SyncMode::end;
  bool force = false;
  /// Close the active segment first, so that it is compacted, too.
  bool roll = false;
  std::int64_t map_bytes = 128 << 20;
};

struct DeleteRecordsOptions {
  struct Place {
    /// TOPIC-P, or a topic with one partition.
    std::string partition;
    /// -1: the high watermark.
    std::int64_t before = 0;
  };
  std::vector<Place> places;
  bool dry_run = false;
  SyncMode sync = SyncMode::end;
};

struct GetOffsetsOptions {
  enum class Kind : std::uint8_t { earliest, latest, max_timestamp, at_time };
  std::vector<std::string> names;
  Kind kind = Kind::latest;
  /// Of `at_time`, in ms.
  std::int64_t time = 0;
  Isolation isolation = Isolation::read_uncommitted;
};

}  // namespace tk
