#include "core/log/unit_search.h"

#include <algorithm>

#include "core/base/crc.h"
#include "core/format/batch.h"
#include "core/format/json_record.h"

namespace tk {
namespace {

/// Windows of a search begin small, because what is sought is mostly near, and double up to the largest.
constexpr std::size_t kFirstWindow = 4U << 10;
constexpr std::size_t kLargestWindow = 1U << 20;
/// A batch larger than this is summed in pieces.
constexpr std::uint64_t kLargeUnit = 8U << 20;

bool all_zero(ByteView bytes) {
  if (bytes.empty()) return true;
  return bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// Reads up to `size` bytes of [position, end) into `to`.
ByteView read_into(Buffer& to, File& file, std::uint64_t position, std::uint64_t size, std::uint64_t end) {
  to.resize(static_cast<std::size_t>(std::min(size, end - position)));
  to.cut(file.read_at(position, {to.data(), to.size()}));
  return to.view();
}

}  // namespace

bool UnitSearch::zeros_to_end(std::uint64_t from) {
  std::size_t window = kFirstWindow;
  while (from < end_) {
    const ByteView bytes = read_into(window_, file_, from, window, end_);
    if (!all_zero(bytes)) return false;
    if (bytes.empty()) break;
    from += bytes.size();
    window = std::min(window * 2, kLargestWindow);
  }
  return true;
}

bool UnitSearch::sum_in_pieces(std::uint64_t position, std::uint64_t size, std::uint32_t stored) {
  std::uint32_t sum = 0;
  for (std::uint64_t at = batch_layout::kAttributes; at < size;) {
    const ByteView piece = read_into(unit_, file_, position + at, kLargestWindow, position + size);
    if (piece.empty()) return false;
    sum = crc32c(piece, sum);
    at += piece.size();
  }
  return sum == stored;
}

bool UnitSearch::good_unit_at(std::uint64_t position, Offset after) {
  const std::uint64_t remaining = end_ - position;
  const ByteView head = read_into(unit_, file_, position, kBatchHeader, end_);
  const Frame frame = frame_unit(head, remaining);
  if (frame.status != FrameStatus::whole && frame.status != FrameStatus::need_more) return false;
  if (head.size() < kUnitPrefix || Offset(load_be<std::int64_t>(head.data())) <= after) return false;
  if (!affords(position, frame.size)) return false;
  bool good = false;
  if (frame.kind == UnitKind::batch && frame.size > kLargeUnit) {
    good = sum_in_pieces(position, frame.size, load_be<std::uint32_t>(head.data() + batch_layout::kCrc));
  } else {
    const ByteView unit = read_into(unit_, file_, position, frame.size, end_);
    good = frame_unit(unit, remaining).status == FrameStatus::whole && !check_unit(unit, frame.kind);
  }
  if (!good) waste(frame.size);
  return good;
}

bool UnitSearch::vouched(ByteView unit, UnitKind kind, std::uint64_t position) {
  if (kind != UnitKind::json) return true;
  UnitInfo info;
  if (read_json_info(unit, info)) return false;
  if (!info.unprotected || seen_json_) return true;
  if (seen_kafka_) return false;
  std::uint8_t bytes[kBatchHeader];
  const std::uint64_t next = position + unit.size();
  const std::uint64_t left = end_ - next;
  const ByteView head{bytes, file_.read_at(next, {bytes, std::min<std::uint64_t>(sizeof bytes, left)})};
  const Frame frame = frame_unit(head, left);
  return (frame.status == FrameStatus::whole || frame.status == FrameStatus::need_more) &&
         frame.kind == UnitKind::json && Offset(load_be<std::int64_t>(head.data())) > info.last_offset;
}

std::optional<std::uint64_t> UnitSearch::next_good(std::uint64_t from, Offset after, Offset limit) {
  std::size_t window = kFirstWindow;
  while (from + kUnitPrefix < end_) {
    const ByteView bytes = read_into(window_, file_, from, window + kBatchHeader, end_);
    // Of the places in the window those are looked at that have a whole head in it; the last bytes of the
    // file hold no more than a short json record.
    const bool last = from + bytes.size() >= end_ || bytes.size() <= kBatchHeader;
    const std::size_t places = last ? bytes.size() : bytes.size() - kBatchHeader;
    for (std::size_t i = 0; i < places; ++i) {
      const ByteView place = bytes.subspan(i);
      if (place.size() <= kUnitPrefix) break;
      const bool kafka = place.size() > kMagicPosition && place[kMagicPosition] <= 2;
      if (!kafka && place[kUnitPrefix] != '{') continue;
      const Offset offset(load_be<std::int64_t>(place.data()));
      if (offset <= after || offset > limit) continue;
      const Frame frame = frame_unit(place, end_ - (from + i));
      if (frame.status != FrameStatus::whole && frame.status != FrameStatus::need_more) continue;
      if (good_unit_at(from + i, after) && vouched(unit_.view(), frame.kind, from + i)) return from + i;
    }
    if (last) return std::nullopt;
    from += places;
    window = std::min(window * 2, kLargestWindow);
  }
  return std::nullopt;
}

}  // namespace tk
