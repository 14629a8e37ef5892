// What the arguments of `dump-log`, `verify` and `recover` name: topics, partitions or paths (cli.md §1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"
#include "commands/context.h"

namespace tk {

struct Target {
  enum class Kind : std::uint8_t {
    file,
    partition,  // a directory with segments, or one with a partition's name
    data,       // a directory of partition directories
  };
  Kind kind = Kind::file;
  /// As given, or below the data directory as that was given.
  std::string path;
};

/// "orders-0" taken apart at the last dash.
struct TargetPartition {
  std::string topic;
  std::int32_t partition = 0;
};
/// Nothing unless `name` is a topic, a dash, and a number without superfluous zeros.
std::optional<TargetPartition> parse_partition_name(std::string_view name);

/// The partition directories of a data directory by topic and number: those named <topic>-<number>, so
/// neither deleted nor stray nor future ones. Throws if it cannot be listed.
std::vector<std::string> partition_directories(FileSystem& fs, const std::string& data_directory);

/// The targets in the order of their arguments, a topic as its partitions; without arguments the data
/// directory. What does not exist is reported through the diagnostics, and the rest is resolved.
std::vector<Target> resolve_targets(const Targets& targets, Context& context);

}  // namespace tk
