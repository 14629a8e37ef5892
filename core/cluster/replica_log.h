// The log of one replica: the partition log of core/log, with what a replica needs around it: reading units
// as they are stored, giving up tails, restarting as a broker does (replication.md §2.9, §3).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/format/json_record.h"
#include "core/format/record_decoder.h"
#include "core/format/topic_format.h"
#include "core/log/partition_log.h"
#include "core/log/producer_admission.h"

namespace tk {

/// One record that a leader appends, and who sent it.
struct NewRecord {
  std::optional<std::string_view> key;
  std::string_view value;
  std::int64_t timestamp = 0;
  ProducerId producer = kNoProducerId;
  std::int16_t producer_epoch = -1;
  std::int32_t sequence = -1;
  bool transactional = false;
};

/// Whole units as they lie in a log, one behind the other, and their headers.
struct StoredUnits {
  Buffer bytes;
  std::vector<UnitInfo> units;
  std::int64_t records = 0;

  void clear() {
    bytes.clear();
    units.clear();
    records = 0;
  }
};

class ReplicaLog {
 public:
  struct Options {
    TopicFormat format = TopicFormat::json;
    LogConfig config;
    SyncPolicy sync = SyncPolicy::at_end;
    LockWait lock_wait = 10000;
    /// Below it nothing is looked at when the log is opened; nothing: the last index entry.
    std::optional<Offset> recovery_point;
    /// Where a log without segments begins.
    Offset start{0};
    std::function<void(const std::string&)> note;
  };

  ReplicaLog(FileSystem& fs, std::string directory, Options options);

  /// Opens the log as a broker does at its start: cuts everything from the first torn or damaged unit above
  /// the recovery point on.
  void open();
  /// Opens the log of a process that goes on: a torn end, which nobody was told of, is cut, and nothing else.
  /// Throws corrupt_message where readable records follow damage.
  void open_whole();
  /// Forces what is unforced (unless the policy is `never`) and lets go of the log.
  void close();
  /// Lets go of the log as a process that dies does: nothing is forced, no index entry written.
  void abandon();
  void set_recovery_point(std::optional<Offset> point) { options_.recovery_point = point; }
  void set_start(Offset start) { options_.start = start_ = known_start_ = start; }
  [[nodiscard]] bool is_open() const { return log_ != nullptr; }

  [[nodiscard]] Offset start() const { return start_; }
  /// Where the log begins by what was deleted on purpose: less than start() if its first segments are lost.
  [[nodiscard]] Offset known_start() const { return known_start_; }
  [[nodiscard]] Offset end() const { return log_->log_end(); }
  [[nodiscard]] const LeaderEpochs& epochs() const { return log_->epochs(); }
  [[nodiscard]] const ProducerState& producers() { return log_->producers(); }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] TopicFormat format() const { return options_.format; }
  /// The first offset that read_committed does not see: of the oldest open transaction, else end().
  [[nodiscard]] Offset first_unstable();

  void begin_epoch(LeaderEpoch epoch) { log_->begin_epoch(epoch); }
  /// Appends one record as a unit of its own and returns its offset.
  Offset append(const NewRecord& record, LeaderEpoch epoch);
  Offset append_marker(const struct EndMarker& marker, LeaderEpoch epoch);
  /// Appends a unit that was encoded for this end.
  void append_unit(const UnitInfo& info, ByteView unit) { log_->append_at(info, info.leader_epoch, unit); }
  void append_copied(const StoredUnits& units);
  /// Returns how many offsets went.
  std::int64_t truncate(Offset to);
  /// Deletes everything; the log begins at `at`.
  void restart_at(Offset at);
  /// Offsets below go, whole segments only (delete-records, retention).
  void start_at(Offset start);
  void force() { log_->sync(); }
  [[nodiscard]] bool forces() const { return options_.sync != SyncPolicy::never; }

  /// Reads whole units from the one that holds `from` on: at most `max_records` records and about
  /// `max_bytes`, but at least one unit if there is any. Nothing is decoded or summed. Throws corrupt_message
  /// where no unit is.
  void read(Offset from, std::int64_t max_records, std::size_t max_bytes, StoredUnits& out) {
    read_below(end(), from, max_records, max_bytes, out);
  }
  /// Of a log that is damaged, closed or not, and read below `end`: units that follow each other without a
  /// gap from the one that begins at `from` on, up to the first that is not what was appended (first_damage).
  /// There may be none. Nothing is thrown for damage.
  void read_sound(Offset end, Offset from, std::int64_t max_records, std::size_t max_bytes, StoredUnits& out);

  /// The first offset from which on something stands that was not appended so: every unit is read and its
  /// checksum, offsets and epoch are looked at.
  std::optional<Offset> first_damage() { return first_damage(start_); }
  /// The same from the unit that begins at `from` on.
  std::optional<Offset> first_damage(Offset from);
  /// CORRUPT_MESSAGE with the place of what stands at this offset.
  [[nodiscard]] Error damage_at(Offset offset);

  // What disks do to a log that is closed (replication.md §9).
  /// Cuts the last bytes off the last segment.
  void tear(std::uint64_t bytes);
  /// What a broker would do that does not look at its log's tail: a torn batch at the end is taken for whole.
  void take_torn_tail_for_whole();
  /// Overwrites a byte, by its place in the unit that holds `offset`; false if there is none.
  bool corrupt(Offset offset, std::size_t byte);
  /// The offset after the last whole unit in the files, whether open or not; start() if they are gone.
  [[nodiscard]] Offset end_on_disk();
  // Of a closed log that is damaged:
  /// leader-epoch-checkpoint as it lies there.
  [[nodiscard]] LeaderEpochs epochs_on_disk() const;
  /// The offset after the last good unit in the files, behind damage too.
  [[nodiscard]] Offset last_on_disk() const;

 private:
  struct Place {
    Offset next;  // of the unit that begins here
    Offset base;  // of its segment
    std::uint64_t position = 0;
  };
  void read_below(Offset end, Offset from, std::int64_t max_records, std::size_t max_bytes, StoredUnits& out);
  [[nodiscard]] TailScan scan_last(const SegmentFile& last) const;
  void keep_copy(const Error& damage, std::uint64_t from, std::uint64_t to);
  void open_partition();
  std::optional<Place> find_place(Offset from);
  [[nodiscard]] std::optional<Place> next_segment(Offset after) const;
  File& segment_file(Offset base);
  void forget_places();

  FileSystem& fs_;
  std::string directory_;
  Options options_;
  std::unique_ptr<PartitionLog> log_;
  Offset start_{0};
  Offset known_start_{0};
  // Where reads ended: the next of the same reader goes on there.
  std::vector<Place> places_;
  std::size_t next_place_ = 0;
  std::unique_ptr<File> file_;
  Offset file_base_{-1};
  BatchBuilder builder_;
  Compressor compressor_;
  Buffer encoded_;
  std::vector<AppendUnit> facts_;
};

/// leader-epoch-checkpoint of a log, open or not; without one, or from a damaged one, none.
LeaderEpochs read_leader_epochs(FileSystem& fs, const std::string& directory);

}  // namespace tk
