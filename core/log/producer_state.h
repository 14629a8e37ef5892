// What a partition knows of the producers that wrote to it (kafka-on-disk.md §6): epochs, sequence numbers,
// open transactions; and the `.snapshot` file that keeps it.
//
// The state is a function of the log: feed it every unit in order and it says what a broker would know at
// that point. It judges nothing: what may be appended is admit()'s question (producer_admission.h).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <unordered_map>

#include "core/base/buffer.h"
#include "core/format/unit.h"
#include "core/io/file_system.h"

namespace tk {

/// A data batch of a producer, as far as telling duplicates needs it.
struct ProducedBatch {
  std::int32_t last_sequence = -1;
  Offset last_offset{-1};
  /// Last offset less first offset, which is the difference of the sequences, too.
  std::int32_t offset_delta = 0;
  std::int64_t timestamp = kNoTimestamp;

  /// -1 for a batch without sequences.
  [[nodiscard]] std::int32_t first_sequence() const;
  [[nodiscard]] Offset first_offset() const { return last_offset - offset_delta; }

  friend bool operator==(const ProducedBatch&, const ProducedBatch&) = default;
};

/// One producer. Its batches are those of the current epoch, the last kMostBatches of them.
class ProducerEntry {
 public:
  static constexpr std::size_t kMostBatches = 5;

  std::int16_t epoch = -1;
  /// Of the coordinator that wrote the last end marker; -1: none so far.
  std::int32_t coordinator_epoch = -1;
  /// Of the last batch or marker.
  std::int64_t last_timestamp = kNoTimestamp;
  /// Where the open transaction began.
  std::optional<Offset> transaction_first;

  /// Oldest first.
  [[nodiscard]] std::span<const ProducedBatch> batches() const { return {batches_.data(), count_}; }
  /// The newest one; null if none of the epoch is known.
  [[nodiscard]] const ProducedBatch* last_batch() const {
    return count_ == 0 ? nullptr : &batches_[count_ - 1];
  }
  void push(const ProducedBatch& batch);
  /// Batches of an older epoch say nothing about the next one.
  void set_epoch(std::int16_t next);

 private:
  std::array<ProducedBatch, kMostBatches> batches_;
  std::size_t count_ = 0;
};

/// A transaction that an end marker closed.
struct EndedTransaction {
  ProducerId producer;
  Offset first;
  /// Of the marker.
  Offset last;
  bool aborted = false;
};

/// For one thread.
class ProducerState {
 public:
  using Producers = std::unordered_map<ProducerId, ProducerEntry>;

  struct Step {
    std::optional<EndedTransaction> ended;
    /// What the unit does that no broker would have taken, a literal; null if nothing. The state follows it
    /// all the same, as it is in the log.
    const char* oddity = nullptr;
  };
  /// Takes in the next unit of the log, whose checksum was found good. One without producer id costs a look.
  /// Data batches count without records, too (a cleaner leaves them for this purpose); markers do not.
  Step add(ByteView unit, const UnitInfo& info);

  /// The same for data batches of one producer that are being appended, without their bytes. Refuses nothing.
  class Run;

  /// Null if nothing is known of the producer.
  [[nodiscard]] const ProducerEntry* find(ProducerId id) const;
  [[nodiscard]] const Producers& producers() const { return producers_; }
  [[nodiscard]] bool empty() const { return producers_.empty(); }
  void clear() { producers_.clear(); }

  /// Appends the content of a snapshot file; producers by id. Only the newest batch of each is kept.
  void encode_snapshot(Buffer& out) const;
  /// Replaces the state by a snapshot file's. A fault leaves the state empty and says which check failed:
  /// `bad_length` (too short, or not what its count asks for), `bad_magic` (the version), `bad_crc`.
  Fault decode_snapshot(ByteView file);

 private:
  Step add_data(const UnitInfo& info);
  Step add_marker(ByteView unit, const UnitInfo& info);

  Producers producers_;
};

/// What the batches of one append have in common; the sequence is that of its first record.
struct ProducerFields {
  ProducerId id;
  std::int16_t epoch = 0;
  std::int32_t base_sequence = 0;
  bool transactional = false;
};

class ProducerState::Run {
 public:
  /// `state` must outlive the run, and nothing else may change it meanwhile.
  Run(ProducerState& state, const ProducerFields& fields)
      : entry_(state.producers_[fields.id]), fields_(fields), next_(fields.base_sequence) {}
  /// The next batch; its records are `offsets` in number.
  void add(Offset first, std::int32_t offsets, std::int64_t max_timestamp);

 private:
  ProducerEntry& entry_;
  ProducerFields fields_;
  std::int32_t next_;
};

/// Replaces `directory`'s snapshot at `end` (the state covers every offset below) and makes it durable.
/// Returns its path.
/// With `durable` false it is left to the system when.
std::string write_producer_snapshot(FileSystem& fs, const std::string& directory, Offset end,
                                    const ProducerState& state, bool durable = true);

}  // namespace tk
