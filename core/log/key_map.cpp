#include "core/log/key_map.h"

#include <algorithm>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tk {
namespace {

/// The map is at most so full, once it has all its memory; beyond it probes grow very long.
constexpr std::size_t kLoadPercent = 90;
/// Before, it grows when it is so full: a key is found at the first or second place.
constexpr std::size_t kGrowPercent = 55;
/// Small enough for a small log, large enough that growing costs little.
constexpr std::size_t kFirstSlots = 4096;

/// So large a table is in no cache, and moving it costs more than the memory for a larger one.
constexpr std::size_t kGrowByFarFrom = std::size_t{1} << 19;

}  // namespace

KeyHash hash_key(std::string_view key, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {hash.high64, hash.low64};
}

// While it grows, the old table and one of twice its size are there: together they must fit, so the last size
// is two thirds of the limit, and the others are that, halved.
KeyMap::KeyMap(std::size_t bytes, std::uint64_t seed) : seed_(seed) {
  first_slot_count_ = std::max(bytes, kLeastBytes) / sizeof(Slot) * 2 / 3;
  std::size_t doublings = 0;
  for (; first_slot_count_ / 2 >= kFirstSlots; first_slot_count_ /= 2) ++doublings;
  last_slot_count_ = first_slot_count_ << doublings;
  allocate(first_slot_count_);
}

void KeyMap::allocate(std::size_t slots) {
  memory_ = ZeroedMemory(slots * sizeof(Slot));
  slot_count_ = slots;
  most_ = slots * (slots == last_slot_count_ ? kLoadPercent : kGrowPercent) / 100;
}

std::size_t KeyMap::capacity() const {
  return last_slot_count_ * kLoadPercent / 100;
}

void KeyMap::grow() {
  const ZeroedMemory kept = std::move(memory_);
  const Slot* const old = static_cast<const Slot*>(kept.data());
  const std::size_t old_count = slot_count_;
  const bool by_far = old_count >= kGrowByFarFrom && last_slot_count_ / old_count >= 4;
  allocate(old_count * (by_far ? 4 : 2));
  for (std::size_t i = 0; i < old_count; ++i) {
    if (old[i].last == 0) continue;
    std::size_t at = place_of({old[i].high, old[i].low});
    while (slots()[at].last != 0) at = at + 1 == slot_count_ ? 0 : at + 1;
    slots()[at] = old[i];
  }
}

bool KeyMap::put(const KeyHash& hash, Offset offset, bool tombstone) {
  const std::int64_t last = (offset.value() + 1) * 2 + (tombstone ? 1 : 0);
  for (std::size_t at = place_of(hash);; at = at + 1 == slot_count_ ? 0 : at + 1) {
    Slot& slot = slots()[at];
    if (slot.last == 0) {
      if (size_ >= most_) {
        if (slot_count_ == last_slot_count_) return false;
        grow();
        return put(hash, offset, tombstone);
      }
      slot = {hash.high, hash.low, last};
      ++size_;
      return true;
    }
    if (slot.high == hash.high && slot.low == hash.low) {
      slot.last = last;
      return true;
    }
  }
}

std::optional<Offset> KeyMap::find(const KeyHash& hash) const {
  for (std::size_t at = place_of(hash);; at = at + 1 == slot_count_ ? 0 : at + 1) {
    const Slot& slot = slots()[at];
    if (slot.last == 0) return std::nullopt;
    if (slot.high == hash.high && slot.low == hash.low) return offset_of(slot);
  }
}

void KeyMaps::divide(unsigned writers) {
  maps_.clear();
  for (unsigned i = 0; i < writers; ++i) maps_.emplace_back(bytes_ / writers, seed_);
}

std::optional<Offset> KeyMaps::find(const KeyHash& hash) const {
  std::optional<Offset> last;
  for (const KeyMap& map : maps_) {
    const std::optional<Offset> found = map.find(hash);
    if (found && (!last || *found > *last)) last = found;
  }
  return last;
}

bool KeyMaps::later_elsewhere(std::size_t map, const KeyHash& hash, Offset last) const {
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    const std::optional<Offset> found = i == map ? std::nullopt : maps_[i].find(hash);
    if (found && *found > last) return true;
  }
  return false;
}

}  // namespace tk
