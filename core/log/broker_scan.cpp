#include "core/log/broker_scan.h"

#include <algorithm>

#include "core/base/crc.h"
#include "core/format/batch.h"

namespace tk {
namespace {

/// Kafka reads this much of an entry before anything else; exactly as much left counts as too little.
constexpr std::uint64_t kBrokerHeader = 17;
constexpr std::size_t kWindow = 1U << 20;

/// Large reads over a file, with the bytes at any position at hand.
class Window {
 public:
  Window(File& file, std::uint64_t end) : file_(file), end_(end) {}

  /// `size` bytes at `position`; fewer if the file ends.
  ByteView at(std::uint64_t position, std::uint64_t size) {
    if (position < start_ || position + size > start_ + bytes_.size()) {
      start_ = position;
      bytes_.resize(static_cast<std::size_t>(
          std::min<std::uint64_t>(end_ - position, std::max<std::uint64_t>(size, kWindow))));
      bytes_.cut(file_.read_at(position, {bytes_.data(), bytes_.size()}));
    }
    const std::size_t from = static_cast<std::size_t>(position - start_);
    return bytes_.view().subspan(from,
                                 std::min<std::size_t>(static_cast<std::size_t>(size), bytes_.size() - from));
  }

 private:
  File& file_;
  std::uint64_t end_;
  std::uint64_t start_ = 0;
  Buffer bytes_;
};

/// What a broker makes of the unit at the head of `window`: its size, or why it would cut there.
struct Step {
  std::uint64_t size = 0;
  Fault fault;
};

Step step_over(Window& window, std::uint64_t position, std::uint64_t end) {
  const std::uint64_t remaining = end - position;
  const ByteView head = window.at(position, kBrokerHeader + 1);
  if (remaining < kUnitPrefix) return {0, {FaultKind::torn_tail, "the file ends inside a unit", 0, 0}};
  const auto length = load_be<std::int32_t>(head.data() + 8);
  const bool json = length >= 2 && head.size() > kUnitPrefix && head[kUnitPrefix] == '{' &&
                    (length < kMinLegacyLength || (head.size() > kMagicPosition && head[kMagicPosition] > 2));
  if (!json && remaining <= kBrokerHeader)
    return {0, {FaultKind::torn_tail, "the file ends inside a unit", 0, 0}};
  if (!json && length < kMinLegacyLength)
    return {0, {FaultKind::bad_length, "length below the smallest message", length, kMinLegacyLength}};
  const std::uint64_t size = kUnitPrefix + static_cast<std::uint64_t>(length);
  if (size > remaining)
    return {
        0,
        {FaultKind::torn_tail, "the file ends inside a unit", length, static_cast<std::int64_t>(remaining)}};
  const ByteView unit = window.at(position, size);
  if (unit.size() < size) return {0, {FaultKind::torn_tail, "the file ends inside a unit", 0, 0}};
  if (json) return {size, check_unit(unit, UnitKind::json)};
  // A magic of 2 and above is taken as a v2 batch, everything below (negative included) as an old message.
  const bool batch = static_cast<std::int8_t>(unit[kMagicPosition]) >= 2;
  if (batch && size < kBatchHeader)
    return {0, {FaultKind::bad_length, "length below the smallest batch", length, kMinBatchLength}};
  return {size, check_unit(unit, batch ? UnitKind::batch : UnitKind::legacy)};
}

Fault regressed(const char* detail, Offset found, Offset expected) {
  return {FaultKind::offset_regression, detail, found.value(), expected.value()};
}

BrokerScan emptied(const SegmentFile& segment, Offset found, Offset above) {
  return {0,
          regressed("offset does not rise where an index entry is due: the broker empties the segment", found,
                    above),
          segment.base};
}

}  // namespace

BrokerScan scan_as_broker(FileSystem& fs, const SegmentFile& segment, std::int64_t index_interval) {
  BrokerScan result;
  result.next_offset = segment.base;
  if (segment.size == 0) return result;
  const auto file = fs.open(segment.log_path, OpenMode::read);
  Window window(*file, segment.size);
  std::uint64_t last_entry = 0;
  Offset indexed = segment.base;
  bool any_entry = false;
  std::int64_t largest = kNoTimestamp, last_time = kNoTimestamp;
  Offset largest_at = segment.base, last_time_at = segment.base;
  std::uint64_t position = 0;
  while (position < segment.size) {
    const Step step = step_over(window, position, segment.size);
    if (step.fault) {
      result.fault = step.fault;
      break;
    }
    const ByteView unit = window.at(position, step.size);
    const bool batch = unit[kMagicPosition < unit.size() ? kMagicPosition : 0] >= 2 &&
                       framed_kind(unit) != UnitKind::legacy && unit[kUnitPrefix] != '{';
    UnitInfo info;
    if (batch) {
      info = read_batch_header(unit.data());
    } else if (read_unit_info(unit, framed_kind(unit), info)) {
      info.last_offset = Offset(load_be<std::int64_t>(unit.data()));
    }
    if (info.last_offset < segment.base) {
      result.fault = regressed("offset below the segment's base", info.last_offset, segment.base);
      break;
    }
    if (info.max_timestamp > largest) {
      largest = info.max_timestamp;
      largest_at = info.last_offset;
    }
    if (static_cast<std::int64_t>(position - last_entry) > index_interval) {
      const bool offset_back = any_entry && info.last_offset <= indexed;
      const bool time_back = largest > last_time && largest_at < last_time_at;
      if (offset_back || time_back) {
        return emptied(segment, info.last_offset, indexed);
      }
      indexed = info.last_offset;
      any_entry = true;
      last_entry = position;
      if (largest > last_time) {
        last_time = largest;
        last_time_at = largest_at;
      }
    }
    position += step.size;
    result.next_offset = info.last_offset + 1;
  }
  // The time index gets a final entry when the scan is through.
  if (largest > last_time && largest_at < last_time_at) return emptied(segment, largest_at, last_time_at);
  result.valid_bytes = std::min(position, segment.size);
  return result;
}

}  // namespace tk
