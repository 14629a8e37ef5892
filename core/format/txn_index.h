// Entries of a .txnindex: the aborted transactions whose marker lies in the segment (kafka-on-disk.md §5.4).
//
//   0 version i16 (0) | 2 producerId i64 | 10 firstOffset i64 | 18 lastOffset i64 | 26 lastStableOffset i64
#pragma once

#include "core/base/buffer.h"
#include "core/base/bytes.h"
#include "core/base/ids.h"

namespace tk {

struct TxnIndexEntry {
  static constexpr std::size_t kSize = 34;

  ProducerId producer;
  /// Of the transaction's first record in the partition; may lie in an earlier segment.
  Offset first;
  /// Of the ABORT marker.
  Offset last;
  /// The last stable offset when the marker had been appended: where the oldest other transaction then open
  /// begins, else `last` + 1.
  Offset last_stable;

  void append_to(Buffer& out) const {
    std::uint8_t* const to = out.room(kSize);
    store_be<std::int16_t>(to, 0);
    store_be<std::int64_t>(to + 2, producer.value());
    store_be<std::int64_t>(to + 10, first.value());
    store_be<std::int64_t>(to + 18, last.value());
    store_be<std::int64_t>(to + 26, last_stable.value());
    out.commit(kSize);
  }
  friend bool operator==(const TxnIndexEntry&, const TxnIndexEntry&) = default;
};

}  // namespace tk
