#include "core/io/memory_locks.h"

namespace tk::memory {
namespace {

bool overlap(ByteRange a, ByteRange b) {
  return a.first < b.end && b.first < a.end;
}

}  // namespace

ByteRange range_of(std::uint64_t start, std::uint64_t length) {
  return {start, length == 0 || length > UINT64_MAX - start ? UINT64_MAX : start + length};
}

bool RangeLocks::take(std::uint64_t holder, LockKind kind, ByteRange range) {
  if (blocked(holder, kind, range)) return false;
  drop(holder, range);
  held_.push_back({holder, kind, range});
  return true;
}

void RangeLocks::drop(std::uint64_t holder, ByteRange range) {
  std::vector<Held> kept;
  for (const Held& held : held_) {
    if (held.holder != holder || !overlap(held.range, range)) {
      kept.push_back(held);
      continue;
    }
    // What sticks out on either side stays.
    if (held.range.first < range.first) kept.push_back({holder, held.kind, {held.range.first, range.first}});
    if (held.range.end > range.end) kept.push_back({holder, held.kind, {range.end, held.range.end}});
  }
  held_ = std::move(kept);
}

bool RangeLocks::blocked(std::uint64_t holder, LockKind kind, ByteRange range) const {
  for (const Held& held : held_) {
    const bool both_shared = kind == LockKind::shared && held.kind == LockKind::shared;
    if (held.holder != holder && !both_shared && overlap(held.range, range)) return true;
  }
  return false;
}

}  // namespace tk::memory
