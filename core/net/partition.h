// One partition as the server has it: where its log begins and ends, which bytes of which file hold an
// offset, who waits for it to grow, and the one writer.
//
// Two sides. What a reader needs (segments, ends, places of offsets) lies under a mutex that is never held
// over anything slow, so the loop may ask at any time. Everything that may block runs in the partition's
// queue on a worker: opening, looking what other processes did, appends, forces. The writer holds the
// partition's turn only while it has something to do (serve.md §1.2).
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/format/topic_format.h"
#include "core/log/partition_log.h"
#include "core/net/force_group.h"
#include "core/net/loop.h"
#include "core/net/recent_batches.h"
#include "core/net/send.h"
#include "core/net/waiters.h"
#include "core/net/workers.h"
#include "core/store/store.h"

namespace tk::net {

class Partition;

/// What all partitions share. Owned by the server, which outlives them.
struct PartitionHost {
  FileSystem& fs;
  const Clock& clock;
  Loop& loop;
  /// Where the partitions' queues run: as many forces as there are threads go on at the same time.
  Workers& writers;
  bool read_only = false;
  /// acks=all is forced (--sync batch).
  bool forces = true;
  std::int64_t flush_ms = 1000;
  /// How long an append without a time of its own waits for the turn.
  std::int64_t lock_timeout_ms = 10000;
  /// Damaged batches are left out of what is sent (--on-damage skip).
  bool skips_damage = false;
  /// For any thread: the writer of a partition, and where its log begins by the directory's checkpoint.
  std::function<std::unique_ptr<PartitionLog>(const PartitionInfo&)> open_log = {};
  std::function<std::optional<Offset>(const PartitionInfo&)> checkpointed_start = {};
  /// A line for whoever runs the server. For any thread.
  std::function<void(const PartitionInfo*, const Error&)> warn = {};
  /// Called by the loop for a partition that was opened, so that it is watched for other writers.
  std::function<void(const std::shared_ptr<Partition>&)> opened = {};
  std::function<void(double seconds, std::size_t batches)> synced = {};
};

/// Where the log begins and ends for readers.
struct PartitionEdges {
  Offset start;
  Offset end;
  /// The last stable offset.
  Offset stable;
};

/// A place where a unit begins. It holds as long as the log has the shape that it had (compaction,
/// retention).
struct Place {
  Offset segment;
  std::uint64_t position = 0;
  std::uint64_t shape = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// What one append did. Made in the partition's queue, taken by the loop.
struct AppendResult {
  /// Nothing: done. Kafka's error code otherwise, with a text.
  std::int16_t error = 0;
  std::string message;
  Offset base{-1};
  Offset last{-1};
  std::int64_t log_append_time = -1;
  std::uint64_t bytes = 0;
  /// Numbers of records that were refused, and why (KIP-467).
  std::vector<std::pair<std::int32_t, std::string>> bad_records;
  std::string bad_records_reason;
  /// The batch was whole, and refused for what it holds or for what the log has: such answers say where the
  /// log begins.
  bool refused_by_log = false;
  /// A batch that was appended alone, so that nobody need read it back. The bytes need not live on.
  std::optional<UnitInfo> info;
  ByteView unit;
};

class Partition : public std::enable_shared_from_this<Partition> {
 public:
  Partition(PartitionHost& host, const PartitionInfo& info, TopicFormat format, Uuid topic_id);

  [[nodiscard]] const PartitionInfo& info() const { return info_; }
  [[nodiscard]] const Uuid& topic_id() const { return topic_id_; }
  /// What the first unit shows, else what the topic says.
  [[nodiscard]] TopicFormat format() const { return format_.load(); }
  /// Takes over changed configs with the next opening of the writer.
  void configs_changed();

  // ---- for any thread

  [[nodiscard]] bool is_open() const { return open_.load(); }
  [[nodiscard]] bool is_deleted() const { return deleted_.load(); }
  [[nodiscard]] PartitionEdges edges() const;
  [[nodiscard]] LeaderEpoch leader_epoch() const { return LeaderEpoch(leader_epoch_.load()); }
  [[nodiscard]] LeaderEpochs leader_epochs() const;
  /// Bytes of all segments.
  [[nodiscard]] std::uint64_t log_bytes() const;
  /// The aborted transactions that have data in [from, to), by first offset.
  [[nodiscard]] std::vector<TxnIndexEntry> aborted_between(Offset from, Offset to) const;
  /// What a client wrote last, and what is open: for DescribeProducers.
  [[nodiscard]] std::vector<std::pair<ProducerId, ProducerEntry>> known_producers() const;
  /// What of the partition cannot be read, if opening it failed.
  [[nodiscard]] std::optional<Error> open_error() const;

  // ---- for the loop

  /// Runs `then` on the loop once the partition is open (at once, if it is).
  void when_open(std::function<void()> then);
  /// Something happened in its directory. `listed`: files came or went.
  void noticed(bool listed);
  Waiters& waiters() { return waiters_; }
  /// The topic is gone: waiters are woken, files let go.
  void deleted();
  /// delete-records, ours or another's, moved the log start.
  void look_for_start();

  struct Slice {
    std::vector<Piece> pieces;
    std::uint64_t bytes = 0;
    /// The offset behind the last whole unit, if it is known.
    std::optional<Offset> next;
  };
  struct Want {
    Offset offset;
    /// Only units that begin below this one: log end or last stable offset.
    Offset below;
    std::uint64_t max_bytes = 0;
    /// One unit at least, however large.
    bool whole_first = false;
    /// Where that is, if a worker has found it.
    std::optional<Place> place;
    std::optional<Place> end_place;
  };
  /// The stored bytes from the unit that holds an offset on; nothing if a worker must look first (locate, or
  /// warm), because it would read the disk. Kafka format only.
  std::optional<Slice> slice(const Want& want);

  // ---- for workers

  /// The unit that holds `offset`, or the first one above it. Nothing at the log's end. May block.
  std::optional<Place> locate(Offset offset);
  /// Reads a range into the page cache. May block.
  void warm(const Place& place, std::uint64_t bytes);
  /// A view of the log as it is now, for what the core does with views (times, lookups). May block.
  [[nodiscard]] LogView view() const;
  /// The same from memory, of a partition that is open: nothing is read for it.
  [[nodiscard]] LogView known_view() const;
  FileSystem& file_system() { return host_.fs; }
  /// Brings the readers' side up to date with the disk. In the queue only.
  void look_again(bool listed);
  SerialQueue& queue() { return queue_; }
  /// In the queue only.
  RecentBatches& recent_batches() { return recent_batches_; }

  // ---- appending (any thread)

  struct Append {
    /// Does it; called in the queue with the turn held. May throw an Error.
    std::function<AppendResult(PartitionLog&)> work;
    /// Answered when a force has covered it.
    bool forced = false;
    /// By the monotonic clock: not begun by then, it is not begun at all (REQUEST_TIMED_OUT).
    std::int64_t deadline_ms = INT64_MAX;
    /// Called by the loop.
    std::function<void(AppendResult&)> done;
  };
  void append(Append append);
  /// At the end of the server: forces everything and gives the writer up. In the queue.
  void close_writer();

 private:
  struct Segment {
    SegmentFile file;
    std::shared_ptr<File> open;
  };
  struct Known {
    Offset offset{-1};
    Place place;
  };

  void open_in_queue();
  void load(const LogView& view);
  void load_transactions(const LogView& view);
  void take_in(ByteView unit, const UnitInfo& info);  // with mutex_ held
  void take_in_tail(SegmentFile active, std::uint64_t size);
  /// Nothing if it is another file by now. With mutex_ held.
  [[nodiscard]] std::optional<std::uint64_t> size_on_disk(const Segment& segment) const;
  void drain();
  void gather();
  /// False: the turn is another writer's, and it is tried again later.
  bool drain_round(std::vector<Append>& batch);
  enum class Turn : std::uint8_t { ours, refused, later };
  Turn begin_turn(std::vector<Append>& batch);
  void refuse_late(std::vector<Append>& batch);
  void try_later(std::vector<Append>& batch);
  void refuse(std::vector<Append>& batch, const Error& error);
  AppendResult append_one(Append& append);
  void publish();
  void after_failure();
  void answer(Append& append, AppendResult result);
  using Answers = std::vector<std::pair<Append, AppendResult>>;
  void answer_all(Answers done);
  void force_and_answer(Answers waiting, const std::optional<Error>& failed);
  void flush_later();
  void flush();
  void changed();
  [[nodiscard]] Offset stable_now() const;  // with mutex_ held
  Segment* segment_at(Offset base);         // with mutex_ held
  std::shared_ptr<File> file_of(Segment& segment);
  void remember(Offset offset, const Place& place);
  std::optional<Place> recall(Offset offset) const;
  void walk_on(const std::shared_ptr<File>& file, const Place& from, std::uint64_t to, Slice& slice);

  PartitionHost& host_;
  PartitionInfo info_;
  Uuid topic_id_;
  std::atomic<TopicFormat> format_;
  std::atomic<bool> open_{false};
  std::atomic<bool> deleted_{false};
  std::atomic<std::int32_t> leader_epoch_{0};
  SerialQueue queue_;
  Waiters waiters_;

  mutable std::mutex mutex_;
  std::vector<Segment> segments_;
  Offset start_;
  Offset end_;
  LeaderEpochs epochs_;
  ProducerState producers_;
  std::map<ProducerId, Offset> open_transactions_;
  std::vector<TxnIndexEntry> aborted_;
  std::array<Known, 128> known_;
  std::uint64_t shape_ = 0;  // counts the loads
  std::shared_ptr<File> recent_;
  std::optional<Error> open_error_;
  std::vector<std::function<void()>> when_open_;
  bool opening_ = false;

  // The writer's side, in the queue.
  std::unique_ptr<PartitionLog> log_;
  RecentBatches recent_batches_;
  bool unforced_ = false;
  std::int64_t turn_since_ms_ = 0;

  ForceGroup force_group_;

  std::mutex append_mutex_;
  std::condition_variable append_came_;
  std::vector<Append> appends_;
  bool draining_ = false;
  std::atomic<bool> wake_pending_{false};
  std::atomic<bool> look_pending_{false};
  std::atomic<bool> listing_pending_{false};
  std::atomic<bool> flush_pending_{false};
  std::atomic<bool> writer_stale_{false};
};

}  // namespace tk::net
