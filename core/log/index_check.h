// Whether the indexes beside a segment agree with it (kafka-on-disk.md §5.1 to §5.3).
//
// Releases differ in what they index: per batch or per append, by the last offset or (0.8, 0.10) the first,
// with the time index at batch or at record level. All forms that are safe for lookups are accepted. The
// checks are fed the segment's units in file order and read the index alongside, so neither is ever held as a
// whole.
#pragma once

#include <memory>
#include <optional>

#include "core/format/unit.h"
#include "core/log/index_file.h"
#include "core/log/log_files.h"

namespace tk {

/// A unit of the segment, as far as an index tells of it.
struct IndexedUnit {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  /// The least offset that may stand for the unit: its first, or for a legacy one the offset after the unit
  /// before.
  Offset first;
  Offset last;
  /// The largest timestamp in it; kNoTimestamp if it has none.
  std::int64_t max_timestamp = kNoTimestamp;
  UnitKind kind = UnitKind::batch;
  /// False for magic 0, whose messages some releases indexed by times that were not stored.
  bool has_timestamp = true;
};

enum class IndexState : std::uint8_t {
  good,
  /// Safe to use, but not what a rebuild would make: `reason` says what a running or killed writer has left
  /// (the zeros of a preallocated file, stale entries behind the end) or an unusual writer.
  usable,
  /// Not to be trusted: `reason` says why.
  wrong,
};

struct IndexVerdict {
  IndexState state = IndexState::good;
  /// A literal, empty for a good index.
  const char* reason = "";
  /// The byte in the index file where the trouble is.
  std::uint64_t position = 0;
  /// The offset that the entry there names, if it is about one.
  std::optional<Offset> offset;
  std::optional<std::int64_t> found;
  std::optional<std::int64_t> expected;
};

/// Reads an index from its first entry to its last, block by block.
template <class Entry>
class IndexEntryReader {
 public:
  /// Throws what opening the file throws.
  IndexEntryReader(FileSystem& fs, const std::string& path, Offset base);

  /// The entry at hand; nothing behind the last one.
  [[nodiscard]] const Entry* peek() const { return number_ < count_ ? &entry_ : nullptr; }
  /// Goes on to the next entry.
  void advance();
  /// The place of the entry at hand in the file.
  [[nodiscard]] std::uint64_t position() const { return number_ * Entry::kSize; }
  /// Entries before the zeros that end the file, whatever they hold.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t file_size() const { return file_size_; }
  /// True if the file ends in zero entries.
  [[nodiscard]] bool preallocated() const { return file_size_ / Entry::kSize > count_; }

 private:
  void find_count();
  void load();

  std::unique_ptr<File> file_;
  Offset base_;
  std::uint64_t file_size_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t number_ = 0;
  Buffer block_;
  std::uint64_t block_first_ = 0;  // number of the block's first entry
  Entry entry_;
};

/// What both checks share: the verdict, and the end of the index.
template <class Entry>
class IndexCheck {
 public:
  /// The state after finish().
  [[nodiscard]] const IndexVerdict& verdict() const { return verdict_; }
  [[nodiscard]] std::uint64_t entries() const { return reader_.count(); }

 protected:
  IndexCheck(FileSystem& fs, const SegmentFile& segment, std::string_view suffix, bool is_last);

  void fail(const char* reason, std::optional<std::int64_t> found = {},
            std::optional<std::int64_t> expected = {});
  /// True while an entry is at hand; false when the index is through or found wrong.
  [[nodiscard]] bool entry_at_hand() const { return !ended_ && reader_.peek() != nullptr; }
  /// Ends the check at an entry that is not above the one before: stale, in the file of an active segment.
  void end_or_fail(const char* reason, std::int64_t found, std::int64_t expected);
  /// Settles entries left over behind the last unit, whose position is at least `position`.
  void settle_rest(const char* reason, std::uint64_t position);

  FileSystem& fs_;
  const SegmentFile& segment_;
  bool is_last_;
  IndexEntryReader<Entry> reader_;
  IndexVerdict verdict_;
  bool ended_ = false;
};

/// For `.index`. An entry is accepted if a unit begins at its position, and its offset lies between that
/// unit's first and the last one before the next entry's position.
class OffsetIndexCheck : public IndexCheck<OffsetIndexEntry> {
 public:
  /// `is_last`: the segment is the partition's last one, whose index may be preallocated. Throws what opening
  /// throws.
  OffsetIndexCheck(FileSystem& fs, const SegmentFile& segment, bool is_last);

  void add(const IndexedUnit& unit);
  /// Bytes in which no unit can be read: entries that point there can be neither refuted nor borne out.
  void skip(std::uint64_t position, std::uint64_t size);
  /// After the last unit.
  void finish();

  /// The smallest number of bytes between two entries; nothing with fewer than two.
  [[nodiscard]] std::optional<std::uint64_t> least_spacing() const { return least_spacing_; }

 private:
  void load_entry();
  void close_pending();

  // The entry whose unit was met, until the next entry's unit is.
  std::optional<OffsetIndexEntry> pending_;
  std::uint64_t pending_position_ = 0;
  bool pending_exact_ = false;
  std::optional<OffsetIndexEntry> before_;
  std::optional<std::uint64_t> least_spacing_;
  Offset last_;
};

/// For `.timeindex`. An entry (T, O) is accepted if T is the largest timestamp of the unit that holds O and
/// of all before it. The index of a closed segment must reach the segment's largest timestamp.
class TimeIndexCheck : public IndexCheck<TimeIndexEntry> {
 public:
  TimeIndexCheck(FileSystem& fs, const SegmentFile& segment, bool is_last);

  void add(const IndexedUnit& unit);
  void skip() { uncertain_ = true; }
  void finish();

 private:
  void load_entry();

  std::optional<TimeIndexEntry> before_;
  std::int64_t largest_ = kNoTimestamp;  // of the units so far
  std::uint64_t end_ = 0;                // of the units so far, in the log
  bool uncertain_ = false;               // damage may hide what an entry speaks of
};

}  // namespace tk
