// What the arguments of `dump-log`, `verify` and `recover` name: topics, partitions or paths (cli.md §1).
#pragma once

#include <cstdint>
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

/// The partition directories of a data directory by topic and number: those named <topic>-<number>, so
/// neither deleted nor stray nor future ones. Throws if it cannot be listed.
std::vector<std::string> partition_directories(FileSystem& fs, const std::string& data_directory);

/// The directory itself; of a cluster those of its brokers, then those of its controllers.
std::vector<std::string> log_directories(FileSystem& fs, const std::string& directory);

/// Bytes of the .log files of a partition's directory; 0 if it cannot be listed.
std::uint64_t log_bytes(FileSystem& fs, const std::string& partition_directory);

/// The targets in the order of their arguments, a topic as its partitions; without arguments the data
/// directory. In a cluster's directory a name stands for all its replicas. What does not exist is reported
/// through the diagnostics, and the rest is resolved.
std::vector<Target> resolve_targets(const Targets& targets, Context& context);

}  // namespace tk
