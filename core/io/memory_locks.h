// Byte-range locks of one file of the disk in memory, with the rules of open-file-description locks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/io/file_system.h"

namespace tk::memory {

/// Bytes first up to, but not with, end.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

/// The range of a start and a length as lock calls have them (length 0: without an end).
ByteRange range_of(std::uint64_t start, std::uint64_t length);

class RangeLocks {
 public:
  /// Takes the range for `holder`, converting what the holder has of it; false, and nothing changed, if
  /// another holder is in the way.
  bool take(std::uint64_t holder, LockKind kind, ByteRange range);
  /// Gives up what `holder` has of the range.
  void drop(std::uint64_t holder, ByteRange range);
  /// True if another holder keeps a lock of this kind away.
  [[nodiscard]] bool blocked(std::uint64_t holder, LockKind kind, ByteRange range) const;

 private:
  struct Held {
    std::uint64_t holder;
    LockKind kind;
    ByteRange range;
  };
  std::vector<Held> held_;
};

}  // namespace tk::memory
