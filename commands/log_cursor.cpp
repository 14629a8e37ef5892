#include "commands/log_cursor.h"

#include <algorithm>

namespace tk {
namespace {

constexpr std::size_t kWindow = 64U << 10;

}  // namespace

ByteView LogCursor::window_at(std::uint64_t position, std::size_t bytes) {
  const std::uint64_t window_end = window_position_ + window_.size();
  if (position < window_position_ || position + bytes > window_end) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(kWindow, size_ - position));
    window_.resize(wanted);
    window_.resize(file_->read_at(position, {window_.data(), wanted}));
    window_position_ = position;
  }
  const ByteView window = window_.view().subspan(position - window_position_);
  return window.first(std::min(window.size(), bytes));
}

std::optional<UnitHead> LogCursor::head_at(std::uint64_t position) {
  if (position >= size_) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kBatchHeader, size_ - position));
  const ByteView window = window_at(position, bytes);
  const Frame frame = frame_unit(window, size_ - position);
  if (frame.status != FrameStatus::whole && frame.status != FrameStatus::need_more) return std::nullopt;
  if (frame.kind == UnitKind::batch && window.size() < kBatchHeader) return std::nullopt;
  UnitHead head{position, frame.size, frame.kind, Offset(load_be<std::int64_t>(window.data()))};
  if (frame.kind == UnitKind::batch) head.last_offset = read_batch_header(window.data()).last_offset;
  return head;
}

std::optional<UnitHead> LogCursor::find(std::uint64_t position, Offset offset) {
  while (const auto head = head_at(position)) {
    if (head->last_offset >= offset) return head;
    position = head->end();
  }
  return std::nullopt;
}

std::int64_t LogCursor::max_timestamp(const UnitHead& head) {
  unit_.room(head.size + kDecompressedSlack);
  unit_.resize(head.size);
  if (file_->read_at(head.position, {unit_.data(), head.size}) < head.size) return kNoTimestamp;
  UnitInfo info;
  if (read_unit_info(unit_.view(), head.kind, info)) return kNoTimestamp;
  std::int64_t max = kNoTimestamp;
  const Fault fault = decoder_.decode(
      unit_.view(), info, [&max](const RecordView& record) { max = std::max(max, record.timestamp); });
  return fault ? info.max_timestamp : max;
}

}  // namespace tk
