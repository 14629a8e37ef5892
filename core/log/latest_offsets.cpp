#include "core/log/latest_offsets.h"

#include <atomic>
#include <bit>
#include <memory>

#include "core/base/ordered_workers.h"

namespace tk {

LatestOffsets::LatestOffsets(const KeyMaps& keys, Offset from, Offset last) : from_(from), end_(last + 1) {
  const std::size_t words = (place(last) + 64) / 64;
  latest_.resize(words);
  tombstones_.resize(words);
  // Offsets of one word may be in several maps.
  const auto set = [](std::uint64_t& word, std::uint64_t mask) {
    std::atomic_ref(word).fetch_or(mask, std::memory_order_relaxed);
  };
  const auto mark = [&](Offset offset, bool tombstone) {
    if (!covers(offset, offset)) return;
    const std::size_t at = place(offset);
    const std::uint64_t mask = std::uint64_t{1} << at % 64;
    set(latest_[at / 64], mask);
    if (tombstone) set(tombstones_[at / 64], mask);
  };
  std::vector<std::unique_ptr<std::size_t>> jobs;
  for (std::size_t i = 0; i < keys.count(); ++i) jobs.push_back(std::make_unique<std::size_t>());
  std::size_t next = 0;
  run_ordered(
      jobs,
      [&](std::size_t& map) {
        map = next++;
        return map < keys.count();
      },
      [&](const std::size_t& map) { keys.each_of(map, mark); }, [](std::size_t&) { return true; });
}

std::uint64_t LatestOffsets::bytes_for(Offset from, Offset last) {
  return (static_cast<std::uint64_t>(last - from) / 64 + 1) * 2 * sizeof(std::uint64_t);
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
