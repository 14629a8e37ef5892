// The control unit that ends a transaction in one partition, in both formats (kafka-on-disk.md §2.7).
#pragma once

#include "core/base/buffer.h"
#include "core/format/topic_format.h"
#include "core/format/unit.h"

namespace tk {

struct EndMarker {
  ProducerId producer;
  std::int16_t epoch = 0;
  bool commit = false;
  /// In ms.
  std::int64_t timestamp = kNoTimestamp;
  /// Of the coordinator; a json record has no place for it.
  std::int32_t coordinator_epoch = 0;
};

/// Appends the marker as the unit at `offset` and returns its header's facts.
UnitInfo encode_end_marker(Buffer& out, TopicFormat format, Offset offset, LeaderEpoch leader_epoch,
                           const EndMarker& marker);

}  // namespace tk
