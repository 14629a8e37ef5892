// The borders of the batches that idempotent producers appended to a json log, which does not keep them: so a
// batch that is sent again is answered with the offset that it has (serve.md §2.4). They are forgotten at the
// end of the server.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "core/log/producer_state.h"

namespace tk::net {

class RecentBatches {
 public:
  /// The copy of a batch that is among the last ones of its producer and epoch.
  [[nodiscard]] std::optional<ProducedBatch> find(const UnitInfo& info) const;
  /// A batch was appended at `first`.
  void note(const UnitInfo& info, Offset first, std::int64_t timestamp);

 private:
  /// Of so many producers they are kept.
  static constexpr std::size_t kMostProducers = 1000;
  struct Producer {
    std::int16_t epoch = -1;
    std::array<ProducedBatch, ProducerEntry::kMostBatches> batches;
    std::size_t next = 0;
  };
  std::map<ProducerId, Producer> producers_;
};

}  // namespace tk::net
