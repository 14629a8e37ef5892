#include "core/log/producer_admission.h"

#include <fmt/format.h>

#include <algorithm>

namespace tk {

std::optional<std::int32_t> next_sequence(const ProducerState& state, ProducerId producer,
                                          std::int16_t epoch) {
  const ProducerEntry* const entry = state.find(producer);
  if (entry == nullptr || entry->epoch < 0) return std::nullopt;
  // After a marker alone nothing is known of the epoch's sequences: they begin at 0, as in Kafka.
  if (entry->epoch != epoch || entry->last_batch() == nullptr) return 0;
  return sequence_after(entry->last_batch()->last_sequence, 1);
}

Admission admit(const ProducerState& state, const AdmissionQuestion& batch) {
  Admission admission;
  const ProducerEntry* const entry = state.find(batch.producer);
  if (batch.producer.value() < 0 || entry == nullptr) return admission;
  admission.known_epoch = entry->epoch;
  if (batch.epoch == entry->epoch) {
    const auto copy = std::ranges::find_if(entry->batches(), [&](const ProducedBatch& known) {
      return known.first_sequence() == batch.first_sequence && known.last_sequence == batch.last_sequence;
    });
    if (copy != entry->batches().end()) {
      admission.verdict = Admission::Verdict::duplicate;
      admission.copy = *copy;
      return admission;
    }
  }
  const auto expected = next_sequence(state, batch.producer, batch.epoch);
  admission.expected_sequence = expected.value_or(-1);
  if (batch.epoch < entry->epoch) {
    admission.verdict = Admission::Verdict::old_epoch;
  } else if (expected && batch.first_sequence != *expected) {
    admission.verdict = Admission::Verdict::out_of_order;
  } else if (entry->transaction_first && !batch.transactional) {
    admission.verdict = Admission::Verdict::outside_transaction;
  }
  return admission;
}

Admission admit(const ProducerState& state, const UnitInfo& batch) {
  return admit(state, AdmissionQuestion{batch.producer_id, batch.producer_epoch, batch.base_sequence,
                                        batch.last_sequence(), batch.transactional});
}

Error admission_error(const Admission& admission, const AdmissionQuestion& batch) {
  switch (admission.verdict) {
    case Admission::Verdict::old_epoch:
      return Error(ErrorCode::invalid_producer_epoch,
                   fmt::format("producer {} writes in epoch {}, and the log has it in {}",
                               batch.producer.value(), batch.epoch, admission.known_epoch))
          .hint("a newer holder has taken over; this one must stop");
    case Admission::Verdict::outside_transaction:
      return {
          ErrorCode::invalid_txn_state,
          fmt::format("producer {} has a transaction open and writes outside of it", batch.producer.value())};
    default:
      return {ErrorCode::out_of_order_sequence_number,
              fmt::format("producer {} writes sequence {}, and the log expects {}", batch.producer.value(),
                          batch.first_sequence, admission.expected_sequence)};
  }
}

}  // namespace tk
