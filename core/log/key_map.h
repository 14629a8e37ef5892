// Which offset each key was last written at: the map of a compaction (kafka-on-disk.md §11.2).
//
// Keys are kept as 128-bit hashes, as Kafka's cleaner keeps them (MD5 there). Two keys with one hash would
// cost a live record, so the hash has a seed of its own in every run: nobody can prepare such keys, and by
// chance they do not come about (2^-128 a pair).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/large_memory.h"

namespace tk {

struct KeyHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

KeyHash hash_key(std::string_view key, std::uint64_t seed);

/// For one writer, then for any number of readers.
class KeyMap {
 public:
  /// Takes at most `bytes` (at least kLeastBytes), while it grows, too.
  explicit KeyMap(std::size_t bytes, std::uint64_t seed);

  [[nodiscard]] KeyHash hash(std::string_view key) const { return hash_key(key, seed_); }
  /// Fetches what put() and find() of the hash will look at.
  void prefetch(const KeyHash& hash) const {
    const Slot* const slot = slots() + place_of(hash);
    __builtin_prefetch(slot);
    __builtin_prefetch(&slot->last);  // may lie in the next line of the cache
  }

  /// Notes that the key was written at `offset`, which is above all earlier ones. False if the map is full
  /// and does not have the key.
  bool put(const KeyHash& hash, Offset offset, bool tombstone = false);
  /// Calls `take(const KeyHash&, Offset last, bool tombstone)` for every key, about in the order of the
  /// hashes.
  template <class Take>
  void each(Take take) const {
    for (std::size_t i = 0; i < slot_count_; ++i) {
      const Slot& slot = slots()[i];
      if (slot.last != 0) take(KeyHash{slot.high, slot.low}, offset_of(slot), (slot.last & 1) != 0);
    }
  }
  /// The last offset of the key; nothing if it is not in the map.
  [[nodiscard]] std::optional<Offset> find(const KeyHash& hash) const;
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool full() const { return size_ >= most_ && slot_count_ == last_slot_count_; }
  /// Keys that it takes.
  [[nodiscard]] std::size_t capacity() const;

  static constexpr std::size_t kLeastBytes = 4096;

 private:
  struct Slot {
    std::uint64_t high, low;
    std::int64_t last;  // twice the offset, plus two, plus one for a tombstone; 0: empty
  };
  [[nodiscard]] static Offset offset_of(const Slot& slot) { return Offset(slot.last / 2 - 1); }

  // By the hash's upper bits, so that growing moves slots in the order they have.
  [[nodiscard]] std::size_t place_of(const KeyHash& hash) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(static_cast<Wide>(hash.high) * slot_count_ >> 64);
  }
  void allocate(std::size_t slots);
  void grow();

  [[nodiscard]] Slot* slots() const { return static_cast<Slot*>(memory_.data()); }

  ZeroedMemory memory_;
  std::size_t slot_count_ = 0;
  std::size_t first_slot_count_;
  std::size_t last_slot_count_;
  std::size_t size_ = 0;
  std::size_t most_ = 0;
  std::uint64_t seed_;
};

/// A map for each of several writers, which go side by side. With a map in common its memory would wander
/// from processor to processor with every key, and that is most of what putting a key costs.
class KeyMaps {
 public:
  /// One map, of all the memory.
  KeyMaps(std::size_t bytes, std::uint64_t seed) : bytes_(bytes), seed_(seed) { divide(1); }

  /// Forgets what there was; the memory is shared out among so many writers.
  void divide(unsigned writers);
  /// One writer's. Offsets that it puts must rise.
  [[nodiscard]] KeyMap& of_writer(unsigned writer) { return maps_[writer]; }
  [[nodiscard]] KeyHash hash(std::string_view key) const { return hash_key(key, seed_); }
  void prefetch(const KeyHash& hash) const {
    for (const KeyMap& map : maps_) map.prefetch(hash);
  }

  /// The last offset of the key in any map; nothing if it is in none.
  [[nodiscard]] std::optional<Offset> find(const KeyHash& hash) const;
  [[nodiscard]] std::size_t count() const { return maps_.size(); }
  /// Calls `take(Offset last, bool tombstone)` for every key whose last offset is in this map; over all maps,
  /// once for every key. Maps may be gone through side by side.
  template <class Take>
  void each_of(std::size_t map, Take take) const {
    maps_[map].each([&](const KeyHash& hash, Offset last, bool tombstone) {
      if (!later_elsewhere(map, hash, last)) take(last, tombstone);
    });
  }
  /// Keys that the first map takes.
  [[nodiscard]] std::size_t capacity() const { return maps_.front().capacity(); }

 private:
  [[nodiscard]] bool later_elsewhere(std::size_t map, const KeyHash& hash, Offset last) const;

  std::size_t bytes_;
  std::uint64_t seed_;
  std::vector<KeyMap> maps_;
};

}  // namespace tk
