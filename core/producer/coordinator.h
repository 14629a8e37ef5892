// The transaction coordinator of a data directory: begin, commit, abort from processes of their own, as
// Kafka's does it for the clients of a broker (cli.md §9, kafka-on-disk.md §12).
//
// A transaction's life is in tk-producers.json: Ongoing; then the decision, PrepareCommit or PrepareAbort,
// which is the point of no return; then a marker in every partition that has data of it, and what the groups
// hold of it becomes theirs or is dropped; then Empty. Every step can be done again, so whoever comes next
// finishes what a crash left (complete_due()).
//
// Fencing. The decision raises the epoch, and the markers bear the new one, as in Kafka's transaction
// protocol of version 2: data of epoch e end with a marker of e + 1, and the next transaction has e + 1. Who
// still holds e is refused by the partition's producer state where he had written, and everywhere by a look
// at the file that each writer takes after he got the right to write a partition (require_open()). A
// coordinator looks at a partition under the same lock after it has decided, so no record slips in between.
//
// Locks, in this order: the file's lock for the whole of each call, groups, partitions one at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/format/topic_format.h"
#include "core/group/commits.h"
#include "core/group/group_store.h"
#include "core/log/partition_log.h"
#include "core/producer/producers_file.h"

namespace tk {

/// The partitions of a data directory, as the coordinator needs them.
class TransactionLogs {
 public:
  virtual ~TransactionLogs() = default;
  /// Null if the partition is gone, or there is nothing in it.
  virtual std::unique_ptr<PartitionLog> open(const TopicPartition& partition) = 0;
  [[nodiscard]] virtual TopicFormat format(const TopicPartition& partition) const = 0;
  /// The first producer id to give away where there is no file yet.
  [[nodiscard]] virtual std::int64_t first_id() const = 0;
};

/// Offsets that become visible with a transaction.
struct TransactionOffsets {
  std::string group;
  /// producer_id is filled in.
  CommitRequest request;
};

class Coordinator {
 public:
  struct Options {
    LockWait lock_wait = 10000;
    /// Told of what could not be completed now, and of transactions that ran out of time.
    std::function<void(const std::string&)> note;
  };

  /// All must outlive it.
  Coordinator(FileSystem& fs, std::string directory, const Clock& clock, TransactionLogs& logs,
              GroupStore& groups, const GroupTopics& topics, Options options)
      : fs_(fs),
        directory_(std::move(directory)),
        clock_(clock),
        logs_(logs),
        groups_(groups),
        topics_(topics),
        options_(std::move(options)) {}

  /// Begins a transaction; an open one of the same id is aborted first. Returns what is in the file then.
  TransactionEntry begin(const std::string& id, std::int64_t timeout_ms);
  /// Ends the open transaction. Throws invalid_txn_state without one, invalid_producer_epoch if `epoch` is
  /// not its epoch, what commit() of groups throws (then the transaction stays open), and log_dir_locked or
  /// storage_error when a marker cannot be written: then the decision stands, and the next command completes
  /// it.
  void commit(const std::string& id, std::optional<std::int16_t> epoch, const TransactionOffsets* offsets);
  void abort(const std::string& id, std::optional<std::int16_t> epoch);
  /// Notes partitions that a run is about to write in the open transaction. Throws as commit() does.
  TransactionEntry join(const std::string& id, std::optional<std::int16_t> epoch,
                        const std::vector<TopicPartition>& partitions);
  // For clients over the wire (serve.md §2.8), whose transactions begin with what is added to them, and whose
  // epochs are raised at an end only where their protocol has it so (KIP-890, transaction version 2). All
  // throw unknown_producer_id for an id that there is not or that has another producer id, and
  // invalid_producer_epoch for another epoch.

  /// The producer id and epoch of a new holder: one that is known gets a higher epoch, and what it had open
  /// is aborted. `held`: what the holder says it has, if anything.
  struct Holder {
    ProducerId id;
    std::int16_t epoch = -1;
  };
  TransactionEntry init_holder(const std::string& id, std::int64_t timeout_ms, std::optional<Holder> held);
  /// Notes partitions and groups of a transaction, which begins if none is open.
  TransactionEntry add(const std::string& id, const Holder& holder,
                       const std::vector<TopicPartition>& partitions, const std::vector<std::string>& groups);
  /// Ends it, or finds that it was ended so; `raises`: the epoch is raised, and is the answer's.
  TransactionEntry end_by(const std::string& id, const Holder& holder, bool commits, bool raises);
  /// What is known of all ids; nothing if there is no file.
  [[nodiscard]] std::optional<ProducersFile> look() const { return read_producers_file(fs_, directory_); }

  /// Completes every transaction that was decided, and aborts those that are over their time; what fails is
  /// told to `note` and stays for the next one. Returns the ids that were aborted for their time.
  std::vector<std::string> complete_due();

 private:
  struct Session;

  Session open();
  std::vector<std::string> complete_due(Session& session);
  TransactionEntry& require_open(Session& session, const std::string& id, std::optional<std::int16_t> epoch);
  void end(Session& session, TransactionEntry& entry, bool commits, bool raises = true);
  TransactionEntry& require_holder(Session& session, const std::string& id, const Holder& holder);
  void complete(Session& session, TransactionEntry& entry);
  void write_markers(const TransactionEntry& entry, bool commits);
  void write(const Session& session);

  FileSystem& fs_;
  std::string directory_;
  const Clock& clock_;
  TransactionLogs& logs_;
  GroupStore& groups_;
  const GroupTopics& topics_;
  Options options_;
};

/// For a writer that has just got the right to write a partition: throws invalid_producer_epoch unless the
/// transaction is still open in that epoch. Takes no lock.
void require_open_transaction(FileSystem& fs, const std::string& directory, const std::string& id,
                              std::int16_t epoch);

}  // namespace tk
