// The writer's side of one partition: appends whole units in order, rolls segments, keeps the indexes, and
// puts right what a crash left. Single-threaded; the pipelines above it call it in order.
//
// Rules it keeps (design.md §3):
//   - only appends; a segment is forced to disk before the next one is created, so only the last can be torn;
//   - an index entry is written only for data already forced; till then it waits in memory, and with
//     forced appends until there are some; an entry of the offset index, which is the recovery point, only
//     when the time entries up to it have been forced;
//   - opening scans from the last index entry that the log bears out (a partition that tk made) or from the
//   segment's
//     start (any other) to the end, never the whole log;
//   - one writer at a time, in turns: begin() takes the right to write and looks whether others wrote
//   meanwhile, yield()
//     gives it up;
//   - a partition that has producers keeps their state (partition_producers.h); one that has none pays
//   nothing.
//
// Invariants between calls while the turn is held: size_ is the active segment's size on disk; every offset
// below log_end() is in the log; log_end() - base fits 31 bits; pending index entries describe units in the
// active segment.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/format/leader_epochs.h"
#include "core/io/turn_lock.h"
#include "core/log/index_file.h"
#include "core/log/log_config.h"
#include "core/log/log_files.h"
#include "core/log/partition_producers.h"
#include "core/log/tail_scan.h"

namespace tk {

/// When appended data are forced to disk.
enum class SyncPolicy : std::uint8_t {
  at_end,     // by sync(), and before a roll
  by_append,  // before append() returns
  never,      // left to the system, but for rolls
};

/// One unit of an append: what the log must know of it beside its bytes.
struct AppendUnit {
  std::uint32_t size = 0;
  /// Records in it, by offsets: its last offset is its first plus this less one.
  std::int32_t offsets = 1;
  std::int64_t max_timestamp = kNoTimestamp;
};

class PartitionLog {
 public:
  struct Options {
    LogConfig config;
    SyncPolicy sync = SyncPolicy::at_end;
    LockWait lock_wait = 10000;
    /// The last index entry is the recovery point (a partition that tk made).
    bool trust_index = true;
    /// A broker's recovery point: what lies below it is not looked at when the log is opened, beyond where
    /// the last index entry leads.
    std::optional<Offset> recovery_point;
    /// The epoch of the leader that writes; nothing: the latest of the partition.
    std::optional<LeaderEpoch> leader_epoch;
    /// Where a partition without a segment begins (its log start offset).
    Offset start_if_empty{0};
    /// The producer state is saved after so many bytes, too: an opening after a crash reads no more for it.
    std::uint64_t producer_snapshot_bytes = 128U << 20;
    /// Says what was put right at opening, one line each.
    std::function<void(const std::string&)> note;
    /// Called after an append has closed a segment and begun the next, with the right to write held. What it
    /// throws is noted, and stops nothing. Returns where the log begins now, if it took segments out of it.
    std::function<std::optional<Offset>()> rolled;
  };

  PartitionLog(FileSystem& fs, std::string directory, Options options);
  ~PartitionLog();

  /// Takes the right to write and brings the state up to date: at the first call opens the partition (makes
  /// it if it is not there), later compares the active segment with what this writer left and scans only what
  /// others added. Cuts a torn tail; saves and cuts other damage behind which nothing whole follows; throws
  /// corrupt_message, naming `recover`, if whole records follow damage above the last trusted point, or
  /// log_dir_locked.
  void begin() { begin(options_.lock_wait); }
  /// The same with another time to wait for the turn.
  void begin(const LockWait& wait);
  /// Forces what is unforced unless the policy is `never`, writes pending index entries, and gives the right
  /// up.
  void yield();
  /// Gives the right up without forcing anything: for who keeps this object, and promises no more than that
  /// a later sync() will force what is unforced.
  void pause();
  /// As yield(), at the end of the work: the time index gets its final entry, as a clean shutdown of a broker
  /// leaves it.
  void close();
  /// After append() threw, with the turn still held: takes in what reached the file whole, cuts what is torn,
  /// and forces the rest, so that durable_end() is right. Throws if that fails, too. Where it was a force
  /// that failed, nothing is forced again: the system may have dropped what it could not write, and say yes.
  void settle();
  [[nodiscard]] bool has_turn() const { return lock_.held(); }
  /// True if another writer stands in line for this partition.
  [[nodiscard]] bool wanted_by_other() { return lock_.wanted_by_other(); }

  /// The offset that the next record gets. Valid while the turn is held.
  [[nodiscard]] Offset log_end() const { return log_end_; }
  /// The leader epoch that new batches bear: the latest of the partition, 0 in a new one.
  [[nodiscard]] LeaderEpoch leader_epoch() const { return leader_epoch_; }

  /// The active segment's base offset and size. Valid while the turn is held.
  [[nodiscard]] Offset active_base() const { return active_.base; }
  [[nodiscard]] std::uint64_t active_size() const { return size_; }

  /// Appends units that lie one behind the other in `bytes`, the first at log_end(); their offsets are in
  /// them already. Rolls where a unit does not fit. Large writes: one a segment touched. When it throws,
  /// log_end() is after the last unit that is whole on disk, and what was torn is cut away by the next
  /// begin(). With `producer` the units are its batches, their fields in them already, the sequences one
  /// after the other; it throws, and appends nothing, if admit() has anything but `append` for the first.
  void append(ByteView bytes, const std::vector<AppendUnit>& units, const ProducerFields* producer = nullptr);
  /// Appends one unit at any offset at or above log_end() (an import keeps gaps and leader epochs; a marker
  /// ends a transaction). What its header says of a producer is taken as it is.
  void append_at(const UnitInfo& info, std::optional<LeaderEpoch> epoch, ByteView unit);

  // What a replica of a partition does besides (partition_log_replica.cpp), with the turn held:

  /// The history of leader epochs, as leader-epoch-checkpoint has it.
  [[nodiscard]] const LeaderEpochs& epochs() const { return epochs_; }
  /// A new leader's epoch begins at log_end(), whether it will write or not (KIP-101); new batches bear it.
  void begin_epoch(LeaderEpoch epoch);
  /// Appends units that another replica has, as they are: offsets, epochs, producers and markers are theirs.
  /// `units` are their headers, in order, the first at or above log_end(), the last offsets rising.
  void append_copied(ByteView bytes, std::span<const UnitInfo> units);
  /// Cuts what begins at or above `end`, whole units only: one that reaches over it goes as a whole. Epochs,
  /// indexes and producers follow. An `end` at or above log_end() takes only epochs that wrote nothing. What
  /// is cut is not saved: the leader has another history.
  void truncate_to(Offset end);

  /// What is known of the partition's producers, while the turn is held; see producer_admission.h. A
  /// partition that tk made, and that has none, is not read for it.
  [[nodiscard]] const ProducerState& producers();

  /// Closes the active segment, if it holds anything, and begins one at log_end().
  void close_active_segment();
  /// The log begins at `start` now: what leader-epoch-checkpoint has from before goes.
  void begins_at(Offset start);

  /// Forces everything appended to disk and writes the index entries that waited for it.
  void sync();
  /// Offsets below this one are as durable as the policy promises. After an opening it may be less than what
  /// is so, as nobody knows how much of what another writer left was forced.
  [[nodiscard]] Offset durable_end() const { return durable_end_; }

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const LogConfig& config() const { return options_.config; }

 private:
  void open();
  void create_first_segment();
  void open_active(const SegmentFile& segment);
  void forget_wrong_indexes();
  void take_in_tail();
  void settle_damage(const SegmentFile& segment, const TailScan& scan);
  void forget_active();
  void start_segment(Offset base);
  bool still_active();
  void roll(Offset base);
  void after_roll();
  [[nodiscard]] bool must_roll(std::uint64_t size, const AppendUnit& unit, Offset last) const;
  [[nodiscard]] bool has_full_index() const;
  void write_out(ByteView bytes);
  void refuse_unsettled() const;
  /// Work that leaves memory and disk apart if it fails: then the log is opened anew before anything else.
  template <class Work>
  void change(Work work) {
    refuse_unsettled();
    opened_ = false;
    work();
    opened_ = true;
  }
  void append_units(ByteView bytes, const std::vector<AppendUnit>& units, const ProducerFields* producer);
  void after_append();
  void force_file();
  void force();
  void write_index_entries(bool forced);
  void save_leader_epochs();
  PartitionProducers& load_producers();
  void save_producers();
  void take_in_producer(ByteView unit, const UnitInfo& info);
  void note(const std::string& line) const;

  FileSystem& fs_;
  std::string directory_;
  Options options_;
  TurnLock lock_;
  bool opened_ = false;        // what is in memory is what is on disk
  bool force_failed_ = false;  // of the active segment, in this turn

  // The active segment.
  SegmentFile active_;
  std::unique_ptr<File> file_;
  FileStat identity_;  // of the file as it was opened
  std::uint64_t size_ = 0;
  std::uint64_t forced_size_ = 0;
  std::int64_t first_timestamp_ = kNoTimestamp;  // the largest timestamp of its first unit, for time rolls
  std::optional<IndexBuilder> index_;
  std::uint64_t index_bytes_ = 0;       // of .index on disk
  std::uint64_t time_index_bytes_ = 0;  // of .timeindex on disk
  bool indexes_untrimmed_ = false;      // the files may be longer than that

  Offset log_end_;
  Offset durable_end_;
  LeaderEpoch leader_epoch_{0};
  LeaderEpochs epochs_;
  std::optional<PartitionProducers> producers_;  // nothing: not loaded, or there are none
  bool may_have_producers_ = true;               // false: the log has no unit with a producer id
};

}  // namespace tk
