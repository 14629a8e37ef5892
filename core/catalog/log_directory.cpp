#include "core/catalog/log_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/catalog/topics_file.h"
#include "core/format/checkpoint_file.h"

namespace tk {
namespace {

/// Foreign entries that are named one by one; a directory full of them is summed up.
constexpr std::size_t kNamedEntries = 20;

constexpr std::string_view kOffsetCheckpoints[] = {kLogStartFile, kRecoveryPointFile, kReplicationFile,
                                                   kCleanerFile};

/// Files of Kafka and of tk that belong beside the partitions.
bool is_known_file(std::string_view name) {
  // First: there may be thousands of these.
  if (name.starts_with("group-")) {
    const bool set_aside = name.find(".json.damaged-") != std::string_view::npos;
    return name.ends_with(".json") || name.ends_with(".lock") || name.ends_with(".events.ndjson") ||
           set_aside;
  }
  constexpr std::string_view known[] = {
      ".lock",         kMetaPropertiesFile, kCleanShutdownFile,  "bootstrap.checkpoint",
      kTopicsFile,     kTopicsLockFile,     "tk-producers.json", "tk-producers.lock",
      "tk-serve.lock", "tk-cluster.json",   "tk-cluster.lock",   "tk-broker.json",
  };
  if (std::ranges::find(known, name) != std::end(known)) return true;
  return std::ranges::find(kOffsetCheckpoints, name) != std::end(kOffsetCheckpoints);
}

/// An unfinished replacement of a known file.
bool is_temporary(std::string_view name) {
  return name.ends_with(".tmp") &&
         is_known_file(name.substr(0, name.size() - std::string_view(".tmp").size()));
}

bool is_known_directory(std::string_view name) {
  return name == "remote-log-index-cache";
}

void read_log_starts(FileSystem& fs, const std::string& path, LogDirectory& found) {
  try {
    const OffsetCheckpoint checkpoint = parse_offset_checkpoint(read_whole(fs, path));
    if (checkpoint.fault) {
      found.notes.push_back(fmt::format("{}: line {}: {}; logs are taken to begin with their first segments",
                                        path, checkpoint.fault->line, checkpoint.fault->reason));
      return;
    }
    for (const OffsetCheckpointEntry& entry : checkpoint.entries) {
      found.log_starts[partition_directory_name(entry.topic, entry.partition)] = entry.offset;
    }
  } catch (const Error& error) {
    found.notes.push_back(
        fmt::format("{}: {}; logs are taken to begin with their first segments", path, error.message()));
  }
}

void forget_in(FileSystem& fs, const std::string& path, std::string_view topic,
               std::optional<PartitionId> partition) {
  if (!fs.stat(path)) return;
  OffsetCheckpoint checkpoint = parse_offset_checkpoint(read_whole(fs, path));
  if (checkpoint.fault) return;
  const auto goes = [&](const OffsetCheckpointEntry& entry) {
    return entry.topic == topic && (!partition || entry.partition == *partition);
  };
  if (std::erase_if(checkpoint.entries, goes) == 0) return;
  replace_atomically(fs, path, as_bytes(format_offset_checkpoint(checkpoint.entries)));
}

}  // namespace

LogDirectory scan_log_directory(FileSystem& fs, const std::string& directory) {
  LogDirectory found;
  bool has_log_starts = false;
  std::vector<std::string> foreign;
  for (const DirEntry& entry : fs.list(directory)) {
    if (entry.is_directory) {
      if (auto name = parse_partition_directory(entry.name)) {
        found.partitions.push_back({*std::move(name), entry.name});
      } else if (!is_known_directory(entry.name)) {
        foreign.push_back(entry.name + "/");
      }
      continue;
    }
    found.is_broker |= entry.name == kMetaPropertiesFile || entry.name == kRecoveryPointFile ||
                       entry.name == kReplicationFile;
    found.has_clean_shutdown |= entry.name == kCleanShutdownFile;
    has_log_starts |= entry.name == kLogStartFile;
    if (!is_known_file(entry.name) && !is_temporary(entry.name)) foreign.push_back(entry.name);
  }
  std::ranges::sort(found.partitions, {}, [](const FoundPartition& partition) {
    return std::tie(partition.name.state, partition.name.topic, partition.name.partition,
                    partition.directory);
  });
  for (std::size_t i = 0; i < std::min(foreign.size(), kNamedEntries); ++i) {
    found.notes.push_back(
        fmt::format("{}: nothing of Kafka's or tk's, left alone", join_path(directory, foreign[i])));
  }
  if (foreign.size() > kNamedEntries) {
    found.notes.push_back(fmt::format("{}: {} more entries that are nothing of Kafka's or tk's, left alone",
                                      directory, foreign.size() - kNamedEntries));
  }
  if (has_log_starts) read_log_starts(fs, join_path(directory, kLogStartFile), found);
  return found;
}

namespace {

std::vector<OffsetCheckpointEntry> checkpoint_entries(FileSystem& fs, const std::string& path) {
  if (!fs.stat(path)) return {};
  OffsetCheckpoint checkpoint = parse_offset_checkpoint(read_whole(fs, path));
  if (!checkpoint.fault) return std::move(checkpoint.entries);
  throw Error(ErrorCode::corrupt_state,
              fmt::format("line {}: {}", checkpoint.fault->line, checkpoint.fault->reason))
      .at(path)
      .hint("set it aside; without it logs begin at their first segments, and are compacted from there");
}

}  // namespace

std::optional<Offset> read_checkpoint(FileSystem& fs, const std::string& directory, std::string_view file,
                                      std::string_view topic, PartitionId partition) {
  for (const OffsetCheckpointEntry& entry : checkpoint_entries(fs, join_path(directory, file))) {
    if (entry.topic == topic && entry.partition == partition) return entry.offset;
  }
  return std::nullopt;
}

void raise_in_checkpoint(FileSystem& fs, const std::string& directory, std::string_view file,
                         std::string_view topic, PartitionId partition, Offset offset) {
  const std::string path = join_path(directory, file);
  std::vector<OffsetCheckpointEntry> entries = checkpoint_entries(fs, path);
  const auto mine = std::ranges::find_if(entries, [&](const OffsetCheckpointEntry& entry) {
    return entry.topic == topic && entry.partition == partition;
  });
  if (mine == entries.end()) {
    entries.push_back({std::string(topic), partition, offset});
  } else if (mine->offset < offset) {
    mine->offset = offset;
  } else {
    return;
  }
  const std::string text = format_offset_checkpoint(entries);
  replace_atomically(fs, path, as_bytes(text));
}

void lower_in_checkpoints(FileSystem& fs, const std::string& directory, std::string_view topic,
                          PartitionId partition, Offset end) {
  for (const std::string_view name : {kRecoveryPointFile, kReplicationFile, kCleanerFile}) {
    const std::string path = join_path(directory, name);
    if (!fs.stat(path)) continue;
    OffsetCheckpoint checkpoint = parse_offset_checkpoint(read_whole(fs, path));
    bool changed = false;
    for (OffsetCheckpointEntry& entry : checkpoint.entries) {
      if (entry.topic != topic || entry.partition != partition || entry.offset <= end) continue;
      entry.offset = end;
      changed = true;
    }
    if (changed) replace_atomically(fs, path, as_bytes(format_offset_checkpoint(checkpoint.entries)));
  }
}

std::vector<std::pair<std::string_view, Offset>> false_ends(FileSystem& fs, const std::string& directory,
                                                            std::string_view topic, PartitionId partition,
                                                            Offset end) {
  std::vector<std::pair<std::string_view, Offset>> found;
  for (const std::string_view name : {kLogStartFile, kRecoveryPointFile, kCleanerFile}) {
    const std::string path = join_path(directory, name);
    if (!fs.stat(path)) continue;
    const OffsetCheckpoint checkpoint = parse_offset_checkpoint(read_whole(fs, path));
    if (checkpoint.fault) continue;  // made anew as a whole
    for (const OffsetCheckpointEntry& entry : checkpoint.entries) {
      if (entry.topic == topic && entry.partition == partition && entry.offset > end)
        found.emplace_back(name, entry.offset);
    }
  }
  return found;
}

void mend_false_end(FileSystem& fs, const std::string& directory, std::string_view file,
                    std::string_view topic, PartitionId partition, Offset end) {
  const std::string path = join_path(directory, file);
  OffsetCheckpoint checkpoint = parse_offset_checkpoint(read_whole(fs, path));
  if (checkpoint.fault) return;
  const auto is_false = [&](const OffsetCheckpointEntry& entry) {
    return entry.topic == topic && entry.partition == partition && entry.offset > end;
  };
  if (file == kRecoveryPointFile) {
    for (OffsetCheckpointEntry& entry : checkpoint.entries) {
      if (is_false(entry)) entry.offset = end;
    }
  } else {
    std::erase_if(checkpoint.entries, is_false);
  }
  replace_atomically(fs, path, as_bytes(format_offset_checkpoint(checkpoint.entries)));
}

void forget_in_checkpoints(FileSystem& fs, const std::string& directory, std::string_view topic,
                           std::optional<PartitionId> partition) {
  for (const std::string_view name : kOffsetCheckpoints)
    forget_in(fs, join_path(directory, name), topic, partition);
}

}  // namespace tk
