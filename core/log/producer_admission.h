// What a leader says to a batch that a producer wants to append (kafka-on-disk.md §6.1): take it, it is there
// already, or no.
//
// Needs the batch's header only, so it serves whoever appends: `tk produce`, a server with a client's batch,
// a simulated leader. Batches that come by replication or recovery are never judged: they are in the log.
#pragma once

#include "core/base/error.h"
#include "core/log/producer_state.h"

namespace tk {

struct Admission {
  enum class Verdict : std::uint8_t {
    append,
    duplicate,            // in the log already; `copy` is where
    old_epoch,            // a newer holder of the producer id fences this one
    out_of_order,         // a gap, or a repetition that is not remembered any more
    outside_transaction,  // not transactional, while the producer has a transaction open
  };
  Verdict verdict = Verdict::append;
  /// Of a duplicate: the batch in the log, whose offsets are the answer to the producer.
  ProducedBatch copy;
  /// Of the others: what is known of the producer.
  std::int16_t known_epoch = -1;
  std::int32_t expected_sequence = -1;
};

/// A batch as its header describes it: producer id and epoch, first and last sequence.
struct AdmissionQuestion {
  ProducerId producer;
  std::int16_t epoch = -1;
  std::int32_t first_sequence = -1;
  std::int32_t last_sequence = -1;
  bool transactional = false;
};

/// Judges a client's data batch; one without producer id is always taken.
Admission admit(const ProducerState& state, const AdmissionQuestion& batch);
Admission admit(const ProducerState& state, const UnitInfo& batch);

/// The sequence that the producer's next record must have in its epoch: 0 in an epoch that is new. Nothing
/// where any is taken, as nothing is known of the producer.
std::optional<std::int32_t> next_sequence(const ProducerState& state, ProducerId producer,
                                          std::int16_t epoch);

/// The Error of a batch that is neither appended nor a duplicate: invalid_producer_epoch,
/// out_of_order_sequence_number or invalid_txn_state.
Error admission_error(const Admission& admission, const AdmissionQuestion& batch);

}  // namespace tk
