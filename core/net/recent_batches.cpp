#include "core/net/recent_batches.h"

namespace tk::net {

std::optional<ProducedBatch> RecentBatches::find(const UnitInfo& info) const {
  const auto at = producers_.find(info.producer_id);
  if (at == producers_.end() || at->second.epoch != info.producer_epoch) return std::nullopt;
  for (const ProducedBatch& batch : at->second.batches) {
    const bool same = batch.last_offset.value() >= 0 && batch.last_sequence == info.last_sequence() &&
                      batch.offset_delta == info.count - 1;
    if (same) return batch;
  }
  return std::nullopt;
}

void RecentBatches::note(const UnitInfo& info, Offset first, std::int64_t timestamp) {
  if (producers_.size() >= kMostProducers && !producers_.contains(info.producer_id)) producers_.clear();
  Producer& producer = producers_[info.producer_id];
  if (producer.epoch != info.producer_epoch) producer = {};
  producer.epoch = info.producer_epoch;
  ProducedBatch& batch = producer.batches[producer.next++ % producer.batches.size()];
  batch.last_sequence = info.last_sequence();
  batch.offset_delta = info.count - 1;
  batch.last_offset = first + batch.offset_delta;
  batch.timestamp = timestamp;
}

}  // namespace tk::net
