// From records to appended units, in parallel: the engine of `tk produce`.
//
// Input comes in chunks. Each worker takes the next one (in order), lets the source split it into records,
// chooses partitions and encodes; then, in the order of the input again, offsets are reserved, and the result
// is appended. A v2 batch is encoded before its offset is known, for that lies outside its checksum; a json
// record's lies inside, so its chunk is only split and counted before, and encoded behind the reservation.
//
// The right to write a partition is taken when the first chunk needs it and given up when the input pauses,
// or once a second if another writer stands in line; both happen only when every chunk taken so far has been
// appended.
//
// Where a topic has more partitions than may be open at once, everything but the splitting (and the encoding
// of v2 batches) is done in the order of the input, for a few partitions of a chunk at a time, which are
// closed before the next are opened.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/ordered_workers.h"
#include "core/io/line_input.h"
#include "core/log/chunk_encoder.h"
#include "core/log/input_count.h"
#include "core/log/partition_log.h"

namespace tk {

/// Where records come from.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /// Fills the chunk with the next input; called by one thread at a time. As ChunkReader::next, and `name` is
  /// set to what messages call the input, with `restart` true at the first chunk of a file.
  virtual Got take(InputChunk& chunk, std::int64_t wait_ms, std::string& name, bool& restart) = 0;
  /// Splits a chunk; called by several threads for different chunks.
  virtual void parse(const InputChunk& chunk, ParsedChunk& out) const = 0;
};

/// One appended batch (of a json topic: the records that closed together).
struct AppendedBatch {
  std::int32_t partition = 0;
  Offset base_offset;
  Offset last_offset;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

/// What went into one partition.
struct PartitionTally {
  std::optional<Offset> base_offset;
  Offset last_offset;
  std::int64_t count = 0;
  std::int64_t durable = 0;  // of count, as durable as the policy promises
  std::int64_t bytes = 0;
};

class AppendPipeline {
 public:
  struct Options : EncodeOptions {
    /// What messages call a record of the input: "line" or "record".
    std::string record_word = "line";
    /// How many partitions may be open at once, at least 1; a producer's are not counted.
    std::int64_t most_open = INT64_MAX;
    /// True ends the run as if the input had ended (a signal).
    std::function<bool()> interrupted;
    /// Called in order for batches that have become durable, if it is set.
    std::function<void(const AppendedBatch&)> on_batch;
    /// Called after one or more calls of on_batch.
    std::function<void()> on_reported;

    // With a producer:

    /// What the log holds of the input already; null: nothing is skipped, the sequences go on where the log
    /// has them (a transaction, which several runs may feed). Must outlive the pipeline.
    InputCount* count = nullptr;
    /// Called with the last record that is skipped in a partition.
    SkippedRecord check;
    /// Called whenever the right to write a partition was taken: throws if the producer has lost its right.
    std::function<void()> on_turn;
    /// Called after records were appended, with how many records of the input the partition holds now.
    std::function<void(std::int32_t partition, PartitionLog& log, std::int64_t records)> on_held;
    /// Records of the first file before those that the source hands out, for messages.
    std::uint64_t records_before = 0;
    /// Records of the run that earlier pipelines appended; what `count` has is counted there.
    std::uint64_t numbered_before = 0;
  };

  /// `logs` are the topic's partitions by number; opened by the pipeline as they are needed through
  /// `open_log`.
  AppendPipeline(RecordSource& source, std::int32_t partitions,
                 std::function<std::unique_ptr<PartitionLog>(std::int32_t)> open_log, const Clock& clock,
                 Options options);
  ~AppendPipeline();

  /// Appends all of the input. On a failure what was appended before is settled, so that tallies() tells how
  /// many records are durable, and the Error is thrown on.
  void run();
  [[nodiscard]] const std::vector<PartitionTally>& tallies() const { return tallies_; }
  /// Records of the file at hand so far, for the pipeline that goes on with it (Options::records_before).
  [[nodiscard]] std::uint64_t records_of_file() const { return records_before_; }

 private:
  struct Job;
  struct Pending;

  bool take(Job& job);
  void work(Job& job);
  bool give(Job& job);
  void append_job(Job& job);
  void append_in_groups(Job& job);
  void append_outputs(Job& job);
  void wait_until_idle();
  void yield_all();
  void close_all();
  void settle_all();
  void reserve(Job& job);
  void work_for_producer(Job& job);
  void reserve_for_producer(Job& job);
  void take_turn_for_producer(std::int32_t partition, const PartitionOutput& output);
  static void assign_offsets(Job& job);
  void make_room(std::size_t partitions);
  PartitionLog& log(std::int32_t partition);
  void note_durable(std::int32_t partition);
  [[noreturn]] void refuse(const Job& job) const;

  RecordSource& source_;
  std::function<std::unique_ptr<PartitionLog>(std::int32_t)> open_log_;
  const Clock& clock_;
  Options options_;
  ChunkEncoder encoder_;
  std::vector<std::unique_ptr<PartitionLog>> logs_;
  bool few_open_ = false;             // there are more partitions than may be open
  std::int64_t open_ = 0;             // of logs_
  std::vector<Offset> next_offsets_;  // reserved so far; valid while the turn is held
  std::vector<PartitionTally> tallies_;
  std::vector<std::vector<Pending>> pending_;  // appended, not yet durable
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> given_{0};
  std::atomic<bool> failed_{false};  // a job could not be given: nobody waits for those behind it
  TurnGate reserve_gate_;
  TurnGate number_gate_;                     // of a producer: records are numbered in order
  InputCount own_count_;                     // where the options have none
  std::vector<std::int32_t> next_sequence_;  // of a producer, reserved so far; valid while the turn is held
  std::int64_t last_look_ms_ = 0;            // when somebody in line was last looked for
  std::uint64_t records_before_ = 0;         // of the file at hand
};

}  // namespace tk
