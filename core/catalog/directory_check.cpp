#include "core/catalog/directory_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/catalog/log_directory.h"
#include "core/format/checkpoint_file.h"
#include "core/format/meta_properties.h"

namespace tk {
namespace {

class Reader {
 public:
  Reader(FileSystem& fs, const std::string& directory, ProblemCounter& report)
      : fs_(fs), directory_(directory), report_(report) {}

  DirectoryFacts read() {
    const LogDirectory found = scan_log_directory(fs_, directory_);
    facts_.is_broker = found.is_broker;
    report_notes(found);
    facts_.log_starts = read_checkpoint(kLogStartFile);
    facts_.high_watermarks = read_checkpoint(kReplicationFile);
    facts_.recovery_points = read_checkpoint(kRecoveryPointFile);
    facts_.first_dirty = read_checkpoint(kCleanerFile);
    report_absent(found);
    check_meta_properties();
    return std::move(facts_);
  }

 private:
  void report_notes(const LogDirectory& found) {
    const std::string log_starts = join_path(directory_, kLogStartFile);
    for (const std::string& note : found.notes) {
      if (note.starts_with(log_starts)) continue;  // read_checkpoint says it more exactly
      // "PATH: what it is"
      const std::size_t colon = std::min(note.rfind(": "), note.size());
      report_({.severity = Severity::note,
               .kind = "foreign",
               .file = note.substr(0, colon),
               .message = note.substr(std::min(colon + 2, note.size()))});
    }
    for (const FoundPartition& partition : found.partitions) {
      if (partition.name.state == PartitionState::live) continue;
      report_({.severity = Severity::note,
               .kind = "leftover",
               .file = join_path(directory_, partition.directory),
               .message = fmt::format("set aside ({}), checked only when named by its path",
                                      partition_state_name(partition.name.state))});
    }
  }

  /// Partitions that the high watermarks speak of and that are not there (any more).
  void report_absent(const LogDirectory& found) {
    std::set<std::string> there;
    for (const FoundPartition& partition : found.partitions)
      there.insert(partition_directory_name(partition.name.topic, partition.name.partition));
    for (const auto& [name, offset] : facts_.high_watermarks) {
      if (there.contains(name)) continue;
      report_({.severity = Severity::note,
               .kind = "offset_checkpoint",
               .file = join_path(directory_, kReplicationFile),
               .offset = offset,
               .message = fmt::format("speaks of {}, which is not in this directory", name)});
    }
  }

  void wrong(std::string path, std::string_view kind, const TextFault& fault) {
    Problem problem{
        .severity = Severity::derived, .kind = kind, .file = std::move(path), .message = fault.reason};
    if (fault.line > 0) problem.position = fault.line;
    report_(problem);
  }

  /// The text of a file, if there is one.
  std::optional<std::string> text_of(const std::string& path, std::string_view kind) {
    try {
      if (!fs_.stat(path)) return std::nullopt;
      return read_whole(fs_, path);
    } catch (const Error& error) {
      wrong(path, kind, {0, error.message()});
      return std::nullopt;
    }
  }

  std::map<std::string, Offset> read_checkpoint(std::string_view name) {
    std::map<std::string, Offset> offsets;
    const std::string path = join_path(directory_, name);
    const auto text = text_of(path, "offset_checkpoint");
    if (!text) return offsets;
    const OffsetCheckpoint checkpoint = parse_offset_checkpoint(*text);
    if (checkpoint.fault) wrong(path, "offset_checkpoint", *checkpoint.fault);
    for (const OffsetCheckpointEntry& entry : checkpoint.entries) {
      offsets[partition_directory_name(entry.topic, entry.partition)] = entry.offset;
    }
    return offsets;
  }

  void check_meta_properties() {
    const std::string path = join_path(directory_, kMetaPropertiesFile);
    const auto text = text_of(path, "meta_properties");
    if (!text) return;
    const MetaProperties properties = parse_meta_properties(*text);
    if (properties.fault) return wrong(path, "meta_properties", *properties.fault);
    facts_.kraft = properties.version == 1;
    facts_.cluster_id = properties.cluster_id;
    facts_.node_id = properties.node_id;
    facts_.directory_id = properties.directory_id;
  }

  FileSystem& fs_;
  const std::string& directory_;
  ProblemCounter& report_;
  DirectoryFacts facts_;
};

std::optional<Offset> offset_in(const std::map<std::string, Offset>& offsets, const std::string& partition) {
  const auto found = offsets.find(partition);
  return found == offsets.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

VerifyScope DirectoryFacts::scope_of(const std::string& partition_directory, bool quick) const {
  const std::string name = base_name(partition_directory);
  VerifyScope scope;
  scope.quick = quick;
  scope.in_broker_directory = is_broker;
  scope.first_dirty = offset_in(first_dirty, name);
  scope.compacted = scope.first_dirty.has_value();
  scope.recovery_point = offset_in(recovery_points, name);
  scope.kraft = kraft && name != "__cluster_metadata-0";
  scope.log_start = offset_in(log_starts, name);
  scope.high_watermark = offset_in(high_watermarks, name);
  return scope;
}

DirectoryFacts check_log_directory(FileSystem& fs, const std::string& directory, ProblemCounter& report) {
  return Reader(fs, directory, report).read();
}

DirectoryFacts read_log_directory(FileSystem& fs, const std::string& directory) {
  const ProblemSink nowhere = [](const Problem&) {};
  VerifyTotals uncounted;
  ProblemCounter silent(nowhere, uncounted);
  try {
    return check_log_directory(fs, directory, silent);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace tk
