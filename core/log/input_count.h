// How far the input of a named producer has come in each partition, against what the log holds of it already.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/log/chunk_encoder.h"

namespace tk {

class InputCount {
 public:
  /// `held`: by partition, how many records of the input its log holds.
  explicit InputCount(std::vector<std::int64_t> held) : held_(std::move(held)), counted_(held_.size()) {
    for (const std::int64_t records : held_) unchecked_ += records > 0 ? 1 : 0;
  }

  /// Counts a chunk that was routed, and says for each of its outputs how many records are to be skipped and
  /// which sequence the next one has. Chunks come in the order of the input.
  void take(EncodedChunk& chunk);
  /// Counts records that were split off the input: the number of the first of them.
  std::uint64_t number(std::size_t records);

  [[nodiscard]] std::int64_t held(std::int32_t partition) const { return held_[index(partition)]; }
  [[nodiscard]] std::int64_t counted(std::int32_t partition) const { return counted_[index(partition)]; }
  /// Records of the input that were in the log before.
  [[nodiscard]] std::int64_t duplicates(std::int32_t partition) const {
    return std::min(held(partition), counted(partition));
  }
  [[nodiscard]] std::int32_t partitions() const { return static_cast<std::int32_t>(held_.size()); }
  /// Partitions whose last held record the input has not brought yet.
  [[nodiscard]] std::int64_t unchecked() const { return unchecked_; }
  /// True if the last record that this output of a chunk just taken skips is the last that the log holds.
  [[nodiscard]] bool ends_in(const EncodedChunk& chunk, std::int32_t partition) const {
    const PartitionOutput& output = chunk.outputs[index(partition)];
    return output.skip > 0 && output.last_skipped + 1 == held(partition);
  }

 private:
  static std::size_t index(std::int32_t partition) { return static_cast<std::size_t>(partition); }

  std::vector<std::int64_t> held_;
  std::vector<std::int64_t> counted_;
  std::uint64_t records_ = 0;
  std::int64_t unchecked_ = 0;
};

/// Called with a skipped record: its partition, its number among the partition's records of the input (from
/// 0), and what it would be appended with. Throws if the log has another one there.
using SkippedRecord = std::function<void(std::int32_t partition, std::int64_t number, const RecordFields&)>;

/// Shows `sink` the last record that is skipped in each output of the chunk for which `wanted` is true.
void show_last_skipped(const ChunkEncoder& encoder, EncodedChunk& chunk,
                       const std::function<bool(std::int32_t partition)>& wanted, const SkippedRecord& sink);

}  // namespace tk
