#include "core/log/leftovers.h"

#include <algorithm>
#include <optional>

#include "core/log/segment_names.h"

namespace tk {

namespace {

/// True for an index under a `.swap` name beside the log of a finished replacement.
bool belongs_to_swap(const PartitionFiles& files, const std::string& name) {
  const auto parsed = parse_segment_file_name(name);
  return parsed && std::ranges::any_of(files.segments, [&](const SegmentFile& segment) {
           return segment.base == parsed->base && segment.log_path.ends_with(kSwapSuffix);
         });
}

/// The name that a `.deleted` index gets back: the removal of its segment was interrupted before the log lost
/// its name, so the segment is there still. Nothing if the file is waste. (The index goes first and every
/// replacement has one, so a log without one is not a replacement.)
std::optional<std::string> index_to_restore(const PartitionFiles& files, const std::string& name) {
  const auto parsed = parse_segment_file_name(name);
  if (!parsed) return {};
  for (const std::string_view suffix : {kIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix}) {
    if (parsed->suffix != std::string(suffix) + std::string(kDeletedSuffix)) continue;
    const auto segment = std::ranges::find(files.segments, parsed->base, &SegmentFile::base);
    if (segment == files.segments.end() || segment->has_index || segment->log_path.ends_with(kSwapSuffix))
      return {};
    return segment->beside(suffix);
  }
  return {};
}

/// A finished replacement covers every segment that is not in `files` under its own name: all their files go.
void remove_covered(FileSystem& fs, const PartitionFiles& files, std::vector<RecoveryStep>& steps) {
  for (const DirEntry& entry : fs.list(files.directory)) {
    const auto name = parse_segment_file_name(entry.name);
    if (!name || name->suffix.ends_with(kSwapSuffix) || name->suffix.find(".cut-") != std::string::npos)
      continue;
    const bool is_segment = name->suffix == kLogSuffix;
    const bool covered =
        is_segment && std::none_of(files.segments.begin(), files.segments.end(), [&](const SegmentFile& s) {
          return s.base == name->base && !s.log_path.ends_with(kSwapSuffix);
        });
    if (!covered) continue;
    for (const std::string_view suffix :
         {kLogSuffix, kIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix, kSnapshotSuffix}) {
      const std::string file = join_path(files.directory, segment_file_name(name->base, suffix));
      if (fs.stat(file)) steps.push_back({RecoveryStep::Kind::remove, file, {}});
    }
  }
}

/// Then its own files take their names.
void rename_swaps(FileSystem& fs, PartitionFiles& files, std::vector<RecoveryStep>& steps) {
  for (SegmentFile& segment : files.segments) {
    if (!segment.log_path.ends_with(kSwapSuffix)) continue;
    // The log comes last, as long as it has its .swap name all of this can be done again.
    for (const std::string_view suffix : {kIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix, kLogSuffix}) {
      const std::string swap = segment.beside(suffix) + std::string(kSwapSuffix);
      if (fs.stat(swap)) steps.push_back({RecoveryStep::Kind::rename, swap, segment.beside(suffix)});
    }
    segment.has_index = segment.has_time_index = segment.has_txn_index = false;
  }
}

}  // namespace

std::vector<RecoveryStep> plan_leftovers(FileSystem& fs, PartitionFiles& files) {
  std::vector<RecoveryStep> steps;
  const auto path = [&](const std::string& name) { return join_path(files.directory, name); };
  bool swapped = false;
  std::vector<std::string> final_names;
  for (const SegmentFile& segment : files.segments) {
    if (!segment.log_path.ends_with(kSwapSuffix)) continue;
    swapped = true;
    final_names.push_back(base_name(segment.log_path));
  }
  for (const OtherFile& other : files.others) {
    if (other.is_directory) continue;
    const bool taken = std::find(final_names.begin(), final_names.end(), other.name) != final_names.end();
    switch (other.kind) {
      case OtherFile::Kind::deleted:
        if (const auto name = index_to_restore(files, other.name)) {
          steps.push_back({RecoveryStep::Kind::rename, path(other.name), *name});
        } else {
          steps.push_back({RecoveryStep::Kind::remove, path(other.name), {}});
        }
        break;
      case OtherFile::Kind::cleaned:
      case OtherFile::Kind::temporary:
        steps.push_back({RecoveryStep::Kind::remove, path(other.name), {}});
        break;
      case OtherFile::Kind::swap:
        // A finished replacement: the originals it covers go first, then it takes their name. An index whose
        // log has its final name already is dropped.
        if (!taken && !belongs_to_swap(files, other.name)) {
          const bool log = other.name.ends_with(".log.swap");
          steps.push_back(
              {log ? RecoveryStep::Kind::save : RecoveryStep::Kind::remove, path(other.name), {}});
        }
        break;
      default:
        break;
    }
  }
  if (!swapped) return steps;
  remove_covered(fs, files, steps);
  rename_swaps(fs, files, steps);
  return steps;
}
std::string free_path(FileSystem& fs, const std::string& wanted) {
  std::string path = wanted;
  for (int i = 2; fs.stat(path); ++i) path = wanted + "." + std::to_string(i);
  return path;
}

void perform(FileSystem& fs, const RecoveryStep& step) {
  switch (step.kind) {
    case RecoveryStep::Kind::remove:
      return fs.remove(step.path);
    case RecoveryStep::Kind::rename:
      return fs.rename(step.path, step.to);
    case RecoveryStep::Kind::save:
      return fs.rename(step.path, free_path(fs, step.path + ".cut-0"));
  }
}

void settle_leftovers(FileSystem& fs, const std::string& directory) {
  PartitionFiles files = list_partition(fs, directory);
  const std::vector<RecoveryStep> steps = plan_leftovers(fs, files);
  for (const RecoveryStep& step : steps) perform(fs, step);
  if (!steps.empty()) fs.sync_directory(directory);
}

}  // namespace tk
