// Which offsets of a range are the last of their key: what finished KeyMaps say, turned round, so that the
// second half of a compaction decides by offset, without reading a key again.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/log/key_map.h"

namespace tk {

/// Two bits an offset. Safe to read from several threads.
class LatestOffsets {
 public:
  /// Of the offsets `from` .. `last`; the keys of all records in that range are in the map.
  LatestOffsets(const KeyMaps& keys, Offset from, Offset last);

  /// The bytes that it takes for a range while it is made, which each map adds to.
  static std::uint64_t bytes_for(const KeyMaps& keys, Offset from, Offset last);

  /// True if it knows of every offset from `first` to `last`.
  [[nodiscard]] bool covers(Offset first, Offset last) const {
    return first >= from_ && first <= last && last < end_;
  }
  // Of what it covers:
  [[nodiscard]] bool is_latest(Offset offset) const { return bit(latest_, place(offset)); }
  [[nodiscard]] bool is_latest_tombstone(Offset offset) const { return bit(tombstones_, place(offset)); }
  /// How many in a range are the last of their keys.
  [[nodiscard]] std::int64_t count_latest(Offset first, Offset last) const {
    return count(latest_, place(first), place(last));
  }
  /// How many in a range are, and are tombstones.
  [[nodiscard]] std::int64_t count_tombstones(Offset first, Offset last) const {
    return count(tombstones_, place(first), place(last));
  }

 private:
  using Bits = std::vector<std::uint64_t>;

  [[nodiscard]] std::size_t place(Offset offset) const { return static_cast<std::size_t>(offset - from_); }
  [[nodiscard]] static bool bit(const Bits& bits, std::size_t at) {
    return (bits[at / 64] >> at % 64 & 1) != 0;
  }
  [[nodiscard]] static std::int64_t count(const Bits& bits, std::size_t first, std::size_t last);

  Offset from_, end_;
  Bits latest_, tombstones_;
};

}  // namespace tk
