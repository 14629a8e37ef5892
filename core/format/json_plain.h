// Records of the json format that are as nearly all are which tk wrote: a key or null, a value, a timestamp,
// a checksum, and no escapes. A reader that knows no other, and knows these at a glance.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tk {

/// A plain record whose checksum is good. The texts lie in the unit that it was read from.
struct PlainJsonRecord {
  std::int64_t offset;
  std::int64_t timestamp;
  const char* key;  // null: a null key
  const char* value;
  std::uint32_t key_size, value_size;
};

/// Reads plain records in blocks. For one thread.
class PlainJsonReader {
 public:
  /// Fills `block` from the units at `at`, moves behind them and says how many they are. Stops, and says
  /// nothing about it, before a unit that is anything else, or damaged, or not wholly before `end`.
  std::size_t read(const std::uint8_t*& at, const std::uint8_t* end, std::span<PlainJsonRecord> block);

 private:
  bool read_one(const std::uint8_t* unit, std::size_t left, std::size_t& size, PlainJsonRecord& record) const;
  bool learn_tail(const std::uint8_t* unit, std::size_t left);

  // What stands between the value and the crc, the timestamp in it and how long it is: records that follow
  // each other mostly share it. As words that overlap.
  std::array<std::uint64_t, 3> tail_{};
  std::size_t tail_size_ = 0;
  std::int64_t timestamp_ = 0;
};

}  // namespace tk
