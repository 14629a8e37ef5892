#include "core/log/segment_replacement.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

// The log comes last: an index never lies beside a log that it is not of.
constexpr std::array kSegmentSuffixes{kIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix, kLogSuffix};

/// From so many bytes on, removing a file takes milliseconds.
constexpr std::uint64_t kSlowToRemove = 8U << 20;

std::string with(std::string_view suffix, std::string_view state) {
  return std::string(suffix) + std::string(state);
}

void rename_segment(FileSystem& fs, const std::string& directory, Offset base, std::string_view from,
                    std::string_view to) {
  for (const std::string_view suffix : kSegmentSuffixes) {
    const std::string path = join_path(directory, segment_file_name(base, with(suffix, from)));
    if (fs.stat(path)) fs.rename(path, join_path(directory, segment_file_name(base, with(suffix, to))));
  }
}

/// Takes segments out of the log; their files keep `.deleted` names till the names in the directory are
/// durable.
void set_aside(FileSystem& fs, const std::string& directory, const std::vector<SegmentFile>& segments) {
  for (const SegmentFile& segment : segments) rename_segment(fs, directory, segment.base, "", kDeletedSuffix);
}

void remove_set_aside(FileSystem& fs, const std::string& directory,
                      const std::vector<SegmentFile>& segments) {
  for (const SegmentFile& segment : segments) {
    for (const std::string_view suffix : kSegmentSuffixes)
      fs.remove(join_path(directory, segment_file_name(segment.base, with(suffix, kDeletedSuffix))));
  }
}

}  // namespace

CleanedSegment::CleanedSegment(FileSystem& fs, std::string directory, Offset base,
                               std::int64_t index_interval)
    : fs_(fs), directory_(std::move(directory)), base_(base), index_(base, index_interval) {
  file_ = fs_.open(path(kLogSuffix), OpenMode::create_new);
}

CleanedSegment::~CleanedSegment() {
  if (!finished_) remove();
}

void CleanedSegment::remove() {
  try {
    for (const std::string_view suffix : kSegmentSuffixes) fs_.remove(path(suffix));
  } catch (const Error&) {
    // The next compaction, or a recovery, removes it.
  }
}

std::string CleanedSegment::path(std::string_view suffix) const {
  return join_path(directory_, segment_file_name(base_, with(suffix, kCleanedSuffix)));
}

void CleanedSegment::append(ByteView bytes, const std::vector<FilteredUnit>& units) {
  if (bytes.empty()) return;
  file_->write_at(size_, bytes);
  for (const FilteredUnit& unit : units) {
    if (unit.size == 0) continue;
    index_.add(unit.last_offset, size_, unit.size, unit.max_timestamp);
    size_ += unit.size;
  }
}

void CleanedSegment::set_aborted(const std::vector<TxnIndexEntry>& entries) {
  aborted_ = entries;
}

void CleanedSegment::write_beside(std::string_view suffix, ByteView content) {
  const auto file = fs_.open(path(suffix), OpenMode::create_new);
  file->write_at(0, content);
  file->sync();
}

void CleanedSegment::finish(std::int64_t mtime_ms) {
  index_.add_final_time_entry();
  write_beside(kIndexSuffix, index_.offset_entries().view());
  write_beside(kTimeIndexSuffix, index_.time_entries().view());
  if (!aborted_.empty()) {
    Buffer entries;
    for (const TxnIndexEntry& entry : aborted_) entry.append_to(entries);
    write_beside(kTxnIndexSuffix, entries.view());
  }
  fs_.set_mtime(path(kLogSuffix), mtime_ms);
  file_->sync();
  finished_ = true;
}

// Every step is on disk before the next begins. With `.cleaned` files about, `.swap` files from the least of
// them on count for nothing; without, they count and the old segments do not.
std::vector<std::unique_ptr<File>> replace_segments(FileSystem& fs, const std::string& directory,
                                                    const std::vector<SegmentFile>& old,
                                                    const std::vector<Offset>& fresh) {
  fs.sync_directory(directory);
  for (auto base = fresh.rbegin(); base != fresh.rend(); ++base)
    rename_segment(fs, directory, *base, kCleanedSuffix, kSwapSuffix);
  fs.sync_directory(directory);
  set_aside(fs, directory, old);
  fs.sync_directory(directory);
  for (const Offset base : fresh) rename_segment(fs, directory, base, kSwapSuffix, "");
  fs.sync_directory(directory);
  std::vector<std::unique_ptr<File>> removed;
  for (const SegmentFile& segment : old) {
    if (segment.size < kSlowToRemove) continue;
    const std::string name = segment_file_name(segment.base, with(kLogSuffix, kDeletedSuffix));
    removed.push_back(fs.open(join_path(directory, name), OpenMode::read));
  }
  remove_set_aside(fs, directory, old);
  for (const SegmentFile& segment : old) {
    if (std::ranges::find(fresh, segment.base) == fresh.end()) fs.remove(segment.beside(kSnapshotSuffix));
  }
  return removed;
}

// From the oldest on: a crash in between leaves a log that begins later.
void remove_segments(FileSystem& fs, const std::string& directory, const std::vector<SegmentFile>& segments) {
  set_aside(fs, directory, segments);
  fs.sync_directory(directory);
  remove_set_aside(fs, directory, segments);
  for (const SegmentFile& segment : segments) fs.remove(segment.beside(kSnapshotSuffix));
  fs.sync_directory(directory);
}

}  // namespace tk
