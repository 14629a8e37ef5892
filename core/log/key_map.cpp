#include "core/log/key_map.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tk {
namespace {

/// The map is at most so full; beyond it probes grow long.
constexpr std::size_t kLoadPercent = 90;
/// Small enough for a small log, large enough that growing costs little.
constexpr std::size_t kFirstSlots = 4096;

}  // namespace

KeyHash hash_key(std::string_view key, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {hash.high64, hash.low64};
}

void KeyMap::Free::operator()(Slot* slots) const {
  std::free(slots);
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
  auto* const memory = static_cast<Slot*>(std::calloc(slots, sizeof(Slot)));
  if (memory == nullptr) throw std::bad_alloc();
  slots_.reset(memory);
  slot_count_ = slots;
  most_ = slots * kLoadPercent / 100;
}

std::size_t KeyMap::capacity() const {
  return last_slot_count_ * kLoadPercent / 100;
}

void KeyMap::clear() {
  slots_.reset();
  allocate(first_slot_count_);
  size_ = 0;
}

void KeyMap::grow() {
  const std::unique_ptr<Slot[], Free> old = std::move(slots_);
  const std::size_t old_count = slot_count_;
  allocate(slot_count_ * 2);
  for (std::size_t i = 0; i < old_count; ++i) {
    if (old[i].last == 0) continue;
    std::size_t at = place_of({old[i].high, old[i].low});
    while (slots_[at].last != 0) at = at + 1 == slot_count_ ? 0 : at + 1;
    slots_[at] = old[i];
  }
}

bool KeyMap::put(const KeyHash& hash, Offset offset, bool tombstone) {
  const std::int64_t last = (offset.value() + 1) * 2 + (tombstone ? 1 : 0);
  for (std::size_t at = place_of(hash);; at = at + 1 == slot_count_ ? 0 : at + 1) {
    Slot& slot = slots_[at];
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
    const Slot& slot = slots_[at];
    if (slot.last == 0) return std::nullopt;
    if (slot.high == hash.high && slot.low == hash.low) return offset_of(slot);
  }
}

}  // namespace tk
