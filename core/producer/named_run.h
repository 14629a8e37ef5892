// A run of a named producer (`produce --producer NAME`): the name's producer id, and the right to be the only
// run of that name (cli.md §9).
//
// How much of the input a partition holds is what its log says of the producer, never a state file: a run
// writes tk-producers.json when the name is new, or writes to a topic for the first time, and then only once
// in 2^30 records of a partition, so that a sequence, which wraps, stands for one number of records.
//
// While a run lasts it holds byte 1 + the producer id of tk-producers.lock; a second run of the same name
// waits for it. So nobody else appends under this id, and the epoch needs no raising.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/log/chunk_encoder.h"
#include "core/log/producer_state.h"
#include "core/log/stored_record.h"
#include "core/producer/producers_file.h"

namespace tk {

class NamedRun {
 public:
  struct Options {
    std::string name;
    std::string topic;
    /// How many partitions the topic has.
    std::int32_t partitions = 1;
    LockWait lock_wait = 10000;
    /// The first id to give away where there is no file yet; asked only then.
    std::function<std::int64_t()> first_id;
  };

  /// Registers what is new. Throws invalid_request for a name that cannot be one, log_dir_locked if another
  /// run goes on longer than the wait, out_of_order_sequence_number if the topic had another number of
  /// partitions when the producer began, corrupt_state, unsupported_version.
  NamedRun(FileSystem& fs, std::string directory, Options options);

  [[nodiscard]] ProducerId id() const { return id_; }
  [[nodiscard]] std::int16_t epoch() const { return epoch_; }

  /// How many records of the input a partition holds, by its producer state.
  std::int64_t held(PartitionId partition, const ProducerState& state);
  /// To be called when held() was asked for all partitions, with none of them held: what was noted of
  /// partitions that know nothing of the producer (any more) is forgotten.
  void forget_lost_counts();
  /// True if the number of records of a partition has grown so much that note_count() is due.
  [[nodiscard]] bool wants_note(PartitionId partition, std::int64_t records) const;
  /// Takes note that a partition holds so many records, all on disk. False if another holds the
  /// file: try again later. Waits for nobody, so partitions may be held meanwhile.
  bool note_count(PartitionId partition, std::int64_t records);

 private:
  void enter();

  FileSystem& fs_;
  std::string directory_;
  Options options_;
  ProducerId id_;
  std::int16_t epoch_ = 0;
  std::map<std::int32_t, std::int64_t> noted_;
  std::vector<PartitionId> lost_;
  std::unique_ptr<LockFile> running_;
};

/// The number of records that a last sequence stands for: the least one at or above `least` that ends in it.
std::int64_t records_of_sequence(std::int32_t last_sequence, std::int64_t least);

/// Throws out_of_order_sequence_number if the record of the input is not the one that the log has: `stored`
/// nothing means that it cannot be looked at any more, as after compaction.
void require_same_record(const std::optional<StoredRecord>& stored, const RecordFields& given,
                         const std::string& producer, std::int64_t number, const std::string& path);

/// Forgets a name; the log keeps what it wrote. Throws unknown_producer_id with the nearest name,
/// log_dir_locked while a run of it goes on.
void delete_named_producer(FileSystem& fs, const std::string& directory, const std::string& name,
                           const LockWait& wait);

}  // namespace tk
