#include "core/log/input_count.h"

#include <algorithm>

namespace tk {

std::uint64_t InputCount::number(std::size_t records) {
  const std::uint64_t first = records_;
  records_ += records;
  return first;
}

void InputCount::take(EncodedChunk& chunk) {
  for (const std::int32_t partition : chunk.touched) {
    PartitionOutput& output = chunk.outputs[index(partition)];
    std::int64_t& counted = counted_[index(partition)];
    output.skip = std::clamp<std::int64_t>(held(partition) - counted, 0, output.offsets);
    output.last_skipped = counted + output.skip - 1;
    output.base_sequence = static_cast<std::int32_t>((counted + output.skip) & INT32_MAX);
    counted += output.offsets;
    if (ends_in(chunk, partition)) --unchecked_;
  }
}

void show_last_skipped(const ChunkEncoder& encoder, EncodedChunk& chunk,
                       const std::function<bool(std::int32_t partition)>& wanted, const SkippedRecord& sink) {
  std::vector<std::int64_t> left(chunk.outputs.size(), -1);
  std::size_t open = 0;
  for (const std::int32_t partition : chunk.touched) {
    const auto p = static_cast<std::size_t>(partition);
    if (chunk.outputs[p].skip == 0 || !wanted(partition)) continue;
    left[p] = chunk.outputs[p].skip;
    ++open;
  }
  const auto& records = chunk.parsed.records;
  for (std::size_t i = 0; open > 0 && i < records.size(); ++i) {
    const std::int32_t partition = chunk.partition_of.empty() ? chunk.single : chunk.partition_of[i];
    const auto p = static_cast<std::size_t>(partition);
    if (left[p] <= 0 || --left[p] > 0) continue;
    --open;
    sink(partition, chunk.outputs[p].last_skipped, encoder.fields(chunk, records[i]));
  }
}

}  // namespace tk
