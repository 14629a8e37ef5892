// The ordered part of `tk verify`: offsets from unit to unit and from segment to segment, damaged ranges with
// what follows them, and each segment's indexes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/log/index_check.h"
#include "core/log/verify_history.h"

namespace tk {

/// What is known of a partition from outside its directory.
struct VerifyScope {
  /// Checksums and headers only; the records inside good units are left alone.
  bool quick = false;
  /// The partition lies in a broker's log directory: what a broker always keeps must be there.
  bool in_broker_directory = false;
  /// The partition was compacted at some time, so offsets may be missing anywhere.
  bool compacted = false;
  /// The last segment of the listing is not the partition's last one.
  bool last_is_closed = false;
  /// Of log-start-offset-checkpoint and replication-offset-checkpoint.
  std::optional<Offset> log_start;
  std::optional<Offset> high_watermark;
  /// Of recovery-point- and cleaner-offset-checkpoint.
  std::optional<Offset> recovery_point;
  std::optional<Offset> first_dirty;
  /// Of a KRaft broker, which takes a partition without partition.metadata for a stray one.
  bool kraft = false;
  /// Asked of a producer whose transaction is open at the log's end: true if no coordinator will ever end it,
  /// false if one will, nothing where that cannot be told. Empty: there is nobody to ask.
  std::function<std::optional<bool>(ProducerId)> hangs;
};

/// Whether any producer with an id has written: into a segment before the last one, and at all.
struct ProducersSeen {
  bool before_last = false;
  bool any = false;
};

class OrderCheck {
 public:
  /// All arguments must outlive the check. `live`: a writer is at work on the partition.
  OrderCheck(FileSystem& fs, const PartitionFiles& files, const VerifyScope& scope, EpochCheck epochs,
             bool live, ProblemCounter& report);

  /// The chunks of a cursor in order; `segment` is one of files.segments.
  void add(const SegmentFile& segment, const ChunkFacts& facts);
  /// After the last chunk.
  void finish();

  /// The offset behind the last good unit; the last segment's base if that is empty.
  [[nodiscard]] Offset log_end() const;
  /// What is known of producers at the end.
  [[nodiscard]] ProducersSeen producers_seen() const {
    return {producers_before_last_, snapshots_.any_producer()};
  }

 private:
  /// Gaps named one by one.
  static constexpr std::size_t kNamedGaps = 20;
  /// Damaged ranges of a segment whose number of followers is waited for.
  static constexpr std::size_t kMostWaiting = 256;

  struct Waiting {
    UnitEvent event;
    Offset after;  // the last good offset before it
    std::optional<Offset> next_offset;
    std::uint64_t next_position = 0;
    std::uint64_t units_then = 0;  // of the segment, when it was met
  };
  struct Gap {
    std::size_t segment = 0;
    std::uint64_t position = 0;
    Offset from, to;
    bool between_segments = false;
  };
  /// A closed segment without index entries, and what it would need to be beyond doubt.
  struct Unindexed {
    std::size_t segment = 0;
    std::uint64_t bytes = 0;
    std::uint64_t largest_unit = 0;
  };

  void start_segment(std::size_t index);
  void finish_segment();
  void finish_indexes();
  void check_txn_index();
  void report_open_transactions();
  void take_unit(const UnitFacts& unit);
  void take_event(const UnitEvent& event);
  void take_tail(const UnitEvent& event);
  void check_offsets(const UnitFacts& unit);
  void report_waiting();
  void report_range(const Waiting& waiting);
  void report_index(const IndexVerdict& verdict, std::string_view kind, std::string path);
  void report_missing_index(const SegmentFile& segment, bool last);
  void report_gaps();
  void report_unindexed();
  [[nodiscard]] const SegmentFile& segment() const { return files_.segments[index_]; }
  [[nodiscard]] bool is_last() const { return index_ + 1 == files_.segments.size(); }
  /// Nothing is appended to the segment at hand any more.
  [[nodiscard]] bool is_closed() const { return !is_last() || scope_.last_is_closed; }

  FileSystem& fs_;
  const PartitionFiles& files_;
  const VerifyScope& scope_;
  EpochCheck epochs_;
  ProducerCheck producers_;
  SnapshotCheck snapshots_;
  bool live_;
  ProblemCounter& report_;
  bool any_index_ = false, any_time_index_ = false;

  // Of the partition.
  std::optional<Offset> last_;  // of the last good unit
  bool after_damage_ = false;   // since the last good unit
  bool compacted_;
  bool producers_before_last_ = false;
  std::vector<Gap> gaps_;
  std::uint64_t gap_count_ = 0;
  std::vector<Unindexed> unindexed_;
  std::optional<std::uint64_t> least_spacing_;

  // Of the segment at hand.
  bool started_ = false;
  std::size_t index_ = 0;
  std::uint64_t units_ = 0;
  std::uint64_t aborted_ = 0;  // transactions
  std::uint64_t largest_unit_ = 0;
  std::uint64_t last_position_ = 0;
  std::vector<Waiting> waiting_;
  std::size_t resolved_ = 0;  // waiting ranges before this one know what follows
  std::optional<OffsetIndexCheck> offset_index_;
  std::optional<TimeIndexCheck> time_index_;
};

}  // namespace tk
