// New segments in the place of old ones, and segments that go, so that a crash at any point leaves the one or
// the other (kafka-on-disk.md §10, §11.7, §9.3). All of it needs the right to write to the partition.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/log/index_file.h"
#include "core/log/log_files.h"
#include "core/log/log_history.h"
#include "core/log/unit_filter.h"

namespace tk {

/// A segment being written under `.cleaned` names. Not finished, it is removed.
class CleanedSegment {
 public:
  CleanedSegment(FileSystem& fs, std::string directory, Offset base, std::int64_t index_interval);
  ~CleanedSegment();
  CleanedSegment(const CleanedSegment&) = delete;
  CleanedSegment& operator=(const CleanedSegment&) = delete;

  /// Units that lie one behind the other in `bytes`; those of size 0 are left out.
  void append(ByteView bytes, const std::vector<FilteredUnit>& units);
  /// Entries for the .txnindex, by marker.
  void set_aborted(const std::vector<TxnIndexEntry>& entries);
  /// Writes the indexes, gives the log file its modification time, and forces all to disk.
  void finish(std::int64_t mtime_ms);

  [[nodiscard]] Offset base() const { return base_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  [[nodiscard]] std::string path(std::string_view suffix) const;
  void write_beside(std::string_view suffix, ByteView content);
  void remove();

  FileSystem& fs_;
  std::string directory_;
  Offset base_;
  IndexBuilder index_;
  std::vector<TxnIndexEntry> aborted_;
  std::unique_ptr<File> file_;
  std::uint64_t size_ = 0;
  bool finished_ = false;
};

/// Puts finished segments with these bases, rising, in the place of `old`. The producer snapshots of bases
/// that disappear go with them. Gives the large ones of the removed log files, still open: closing them is
/// what gives their bytes back, which takes the system so long that it is better done beside other work.
[[nodiscard]] std::vector<std::unique_ptr<File>> replace_segments(FileSystem& fs,
                                                                  const std::string& directory,
                                                                  const std::vector<SegmentFile>& old,
                                                                  const std::vector<Offset>& fresh);

/// Removes segments with all that belongs to them.
void remove_segments(FileSystem& fs, const std::string& directory, const std::vector<SegmentFile>& segments);

}  // namespace tk
