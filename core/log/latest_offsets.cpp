#include "core/log/latest_offsets.h"

#include <bit>
#include <memory>

#include "core/base/ordered_workers.h"

namespace tk {

// Each map's offsets are noted apart: in words in common, each note would wait for the other processor's.
LatestOffsets::LatestOffsets(const KeyMaps& keys, Offset from, Offset last) : from_(from), end_(last + 1) {
  struct Part {
    std::size_t map = 0;
    Bits latest, tombstones;
  };
  const std::size_t words = (place(last) + 64) / 64;
  latest_.resize(words);
  tombstones_.resize(words);
  std::vector<std::unique_ptr<Part>> parts;
  for (std::size_t i = 0; i < keys.count(); ++i) parts.push_back(std::make_unique<Part>());
  std::size_t next = 0;
  run_ordered(
      parts,
      [&](Part& part) {
        part.map = next++;
        return part.map < keys.count();
      },
      [&](Part& part) {
        part.latest.assign(words, 0);
        part.tombstones.assign(words, 0);
        keys.each_of(part.map, [&](Offset offset, bool tombstone) {
          if (!covers(offset, offset)) return;
          const std::size_t at = place(offset);
          const std::uint64_t mask = std::uint64_t{1} << at % 64;
          part.latest[at / 64] |= mask;
          if (tombstone) part.tombstones[at / 64] |= mask;
        });
      },
      [&](Part& part) {
        for (std::size_t i = 0; i < words; ++i) {
          latest_[i] |= part.latest[i];
          tombstones_[i] |= part.tombstones[i];
        }
        return true;
      });
}

std::uint64_t LatestOffsets::bytes_for(const KeyMaps& keys, Offset from, Offset last) {
  const std::uint64_t words = (static_cast<std::uint64_t>(last - from) / 64 + 1) * 2;
  return words * sizeof(std::uint64_t) * (keys.count() + 1);
}

std::int64_t LatestOffsets::count(const Bits& bits, std::size_t first, std::size_t last) {
  const std::uint64_t low = ~std::uint64_t{0} << first % 64, high = ~std::uint64_t{0} >> (63 - last % 64);
  const std::size_t begin = first / 64, end = last / 64;
  if (begin == end) return std::popcount(bits[begin] & low & high);
  std::int64_t sum = std::popcount(bits[begin] & low) + std::popcount(bits[end] & high);
  for (std::size_t i = begin + 1; i < end; ++i) sum += std::popcount(bits[i]);
  return sum;
}

}  // namespace tk
