// tk-producers.json: named producers and transactions of a data directory (design.md §2).
//
//   {"format":1,"next_producer_id":4002,
//    "producers":{"p1":{"producer_id":4000,"epoch":0,"partitions":{"t":3}}},
//    "transactions":{"A":{"producer_id":4001,"epoch":2,"state":"Ongoing","partitions":["t-0"],"groups":["g"],
//                         "timeout_ms":60000,"started_ms":1700000000000}}}
//
// The file is replaced whole, by one writer at a time (byte 0 of tk-producers.lock). Members that this
// version does not know are kept; a file of another version, or a damaged one, is never written over.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/group/topic_partition.h"
#include "core/io/file_system.h"
#include "core/io/turn_lock.h"

namespace tk {

inline constexpr std::string_view kProducersFile = "tk-producers.json";
inline constexpr std::string_view kProducersLockFile = "tk-producers.lock";
/// The first id that is given away.
inline constexpr std::int64_t kFirstProducerId = 4000;
/// The same beside a broker, which counts from 0.
inline constexpr std::int64_t kFirstProducerIdInBroker = std::int64_t{1} << 40;

/// A producer that `produce --producer NAME` made.
struct NamedProducer {
  ProducerId id;
  std::int16_t epoch = 0;
  /// How many partitions each topic had when the producer first wrote to it: records without a key are spread
  /// by that number.
  std::map<std::string, std::int32_t> partitions;
  /// By partition, a number of records that it holds at least of this producer: noted every 2^30 of them, so
  /// that a sequence, which wraps, stands for one number of records only ("counts":{"t-0":1073741824}).
  std::map<TopicPartition, std::int64_t> counts;
  std::string others;
};

/// kafka-on-disk.md §13.2; what is complete there is `empty` here.
enum class TransactionState : std::uint8_t { empty, ongoing, prepare_commit, prepare_abort };
/// "Empty", "Ongoing", "PrepareCommit", "PrepareAbort".
std::string_view transaction_state_name(TransactionState state);

struct TransactionEntry {
  ProducerId id;
  /// Of the open transaction; while it is being ended, and behind it, one more than that: what its markers
  /// bear.
  std::int16_t epoch = 0;
  TransactionState state = TransactionState::empty;
  /// Sorted. A partition is noted before anything is appended to it.
  std::vector<TopicPartition> partitions;
  std::vector<std::string> groups;
  std::int64_t timeout_ms = 60000;
  /// -1: none was ever begun.
  std::int64_t started_ms = -1;
  /// How the last one ended ("ended":"commit" or "abort"); nothing: none has.
  std::optional<bool> committed;
  /// The epoch that the holder had before the present one ("previous_epoch"), where it raised it itself: it
  /// may ask again with that one, as the answer may have been lost. Nothing where another holder came.
  std::optional<std::int16_t> previous_epoch;
  std::string others;

  [[nodiscard]] bool decided() const {
    return state == TransactionState::prepare_commit || state == TransactionState::prepare_abort;
  }
  /// True if it is open and has lasted longer than its timeout.
  [[nodiscard]] bool expired(std::int64_t now_ms) const {
    return state == TransactionState::ongoing && now_ms - started_ms > timeout_ms;
  }
};

struct ProducersFile {
  std::int64_t next_producer_id = kFirstProducerId;
  std::map<std::string, NamedProducer, std::less<>> producers;
  std::map<std::string, TransactionEntry, std::less<>> transactions;
  std::string others;

  /// True if a transaction has been decided and not completed, or is over its time.
  [[nodiscard]] bool has_due(std::int64_t now_ms) const;
  /// The ids that belong to a name: they never expire.
  [[nodiscard]] std::vector<ProducerId> known_ids() const;
};

/// Throws Error(corrupt_state) with the position, or unsupported_version; `path` is for the message.
ProducersFile parse_producers_file(std::string_view text, const std::string& path);
std::string format_producers_file(const ProducersFile& file);

/// The file of a data directory; nothing if there is none. Throws as parse_producers_file does.
std::optional<ProducersFile> read_producers_file(FileSystem& fs, const std::string& directory);
/// Takes the right to change the file; it ends with the object. Throws log_dir_locked when the wait is over.
std::unique_ptr<LockFile> lock_producers_file(FileSystem& fs, const std::string& directory,
                                              const LockWait& wait);
/// Replaces the file atomically. The caller holds the lock.
void write_producers_file(FileSystem& fs, const std::string& directory, const ProducersFile& file);

/// A name of a producer or a transactional id: not empty, UTF-8, at most 4096 bytes. Throws invalid_request.
void check_producer_name(std::string_view name, std::string_view what);

}  // namespace tk
