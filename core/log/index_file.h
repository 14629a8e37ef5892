// The sparse indexes beside a segment (kafka-on-disk.md §5), read without being trusted.
//
// Both are arrays of fixed-size big-endian entries without header or checksum. The index of an active or
// crashed segment may be preallocated, so its tail may be zeros or stale entries; any file may hold garbage.
// So an index only ever says where to begin looking: what it says is checked against the log before it is
// used (segment_lookup.h).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/ids.h"
#include "core/io/file_system.h"

namespace tk {

/// `.index`: everything before `position` has offsets below `offset`.
struct OffsetIndexEntry {
  static constexpr std::size_t kSize = 8;
  Offset offset;
  std::int64_t position = 0;
  static OffsetIndexEntry decode(const std::uint8_t* bytes, Offset base);
  void encode(std::uint8_t* bytes, Offset base) const;
  friend bool operator==(const OffsetIndexEntry&, const OffsetIndexEntry&) = default;
};

/// `.timeindex`: every record with a larger timestamp has an offset above `offset`.
struct TimeIndexEntry {
  static constexpr std::size_t kSize = 12;
  std::int64_t timestamp = kNoTimestamp;
  Offset offset;
  static TimeIndexEntry decode(const std::uint8_t* bytes, Offset base);
  void encode(std::uint8_t* bytes, Offset base) const;
  friend bool operator==(const TimeIndexEntry&, const TimeIndexEntry&) = default;
};

/// Reads entries of an index file by number.
template <class Entry>
class IndexFile {
 public:
  /// Opens the index at `path` of a segment with this base; an index that cannot be opened is empty.
  IndexFile(FileSystem& fs, const std::string& path, Offset base);

  /// False if the file could not be opened: it counts as empty.
  [[nodiscard]] bool is_open() const { return file_ != nullptr; }
  /// Entries up to the zeros of a preallocated tail (found by bisection: with garbage it may be any number up
  /// to what the file can hold).
  [[nodiscard]] std::size_t count() const { return count_; }
  /// Entry `i` below count(); zeros for one that is not there.
  [[nodiscard]] Entry at(std::size_t i) const;
  /// The last entry that `below_or_equal(entry)` holds for, given that it holds for a prefix; nothing if for
  /// none.
  template <class Predicate>
  [[nodiscard]] std::optional<std::size_t> last_where(Predicate&& below_or_equal) const {
    std::size_t low = 0, high = count_;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (below_or_equal(at(middle))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == 0) return std::nullopt;
    return low - 1;
  }

 private:
  std::unique_ptr<File> file_;
  Offset base_;
  std::size_t count_ = 0;
};

extern template class IndexFile<OffsetIndexEntry>;
extern template class IndexFile<TimeIndexEntry>;
using OffsetIndexFile = IndexFile<OffsetIndexEntry>;
using TimeIndexFile = IndexFile<TimeIndexEntry>;

/// Makes index entries as units are appended or scanned in order, by Kafka's accounting (§5.5): an entry
/// falls due when more than `interval` bytes went by since the last one, tested before the unit's own bytes
/// are counted; the first unit of a segment never gets one.
class IndexBuilder {
 public:
  IndexBuilder(Offset base, std::int64_t interval) : base_(base), interval_(interval) {}

  /// Takes in the unit at `position`; its last offset and the largest timestamp in it. True if an entry fell
  /// due.
  bool add(Offset last_offset, std::uint64_t position, std::uint64_t size, std::int64_t max_timestamp) {
    if (max_timestamp > largest_.timestamp) largest_ = {max_timestamp, last_offset};
    const bool due = bytes_since_entry_ > interval_;
    if (due) add_entry(last_offset, position);
    bytes_since_entry_ += static_cast<std::int64_t>(size);
    return due;
  }
  /// The time index's final entry, at a roll, a clean end, or the end of a recovery.
  void add_final_time_entry();

  /// Continues from what an index holds already: entries up to `last`, and the largest timestamp so far.
  void resume(const TimeIndexEntry& last_time_entry, const TimeIndexEntry& largest,
              std::int64_t bytes_since_entry);

  [[nodiscard]] Offset base() const { return base_; }
  [[nodiscard]] const TimeIndexEntry& largest() const { return largest_; }
  /// Encoded entries that have not been taken yet.
  [[nodiscard]] const Buffer& offset_entries() const { return offset_entries_; }
  [[nodiscard]] const Buffer& time_entries() const { return time_entries_; }
  void clear_entries() {
    offset_entries_.clear();
    time_entries_.clear();
  }

 private:
  void add_entry(Offset last_offset, std::uint64_t position);

  Offset base_;
  std::int64_t interval_;
  std::int64_t bytes_since_entry_ = 0;
  TimeIndexEntry largest_{kNoTimestamp, Offset(0)};
  std::int64_t last_time_ = kNoTimestamp;  // of the last time entry
  Buffer offset_entries_;
  Buffer time_entries_;
};

}  // namespace tk
