#include "core/net/unit_heads.h"

#include <algorithm>

namespace tk::net {

std::optional<UnitHead> read_unit_head(ByteView bytes, std::uint64_t position, std::uint64_t remaining) {
  if (bytes.size() < kUnitPrefix) return std::nullopt;
  const auto length = load_be<std::int32_t>(bytes.data() + 8);
  UnitHead head;
  head.position = position;
  head.size = kUnitPrefix + static_cast<std::uint64_t>(static_cast<std::uint32_t>(length));
  if (length < 2 || head.size > remaining) return std::nullopt;
  head.base = head.last = Offset(load_be<std::int64_t>(bytes.data()));
  head.kind = UnitKind::json;
  if (length < kMinLegacyLength || bytes.size() <= kMagicPosition || bytes[kMagicPosition] > 2) return head;
  head.kind = bytes[kMagicPosition] == 2 ? UnitKind::batch : UnitKind::legacy;
  if (head.kind != UnitKind::batch) return head;
  if (bytes.size() < kBatchHeader || head.size < kBatchHeader) return std::nullopt;
  head.last = head.base + load_be<std::int32_t>(bytes.data() + batch_layout::kLastOffsetDelta);
  return head;
}

std::optional<UnitHead> UnitHeads::next() {
  if (position_ >= end_) return std::nullopt;
  const std::uint64_t remaining = end_ - position_;
  const auto needed = static_cast<std::size_t>(std::min<std::uint64_t>(remaining, kUnitHead));
  if (position_ < bytes_at_ || position_ + needed > bytes_at_ + bytes_.size()) {
    const auto asked = static_cast<std::size_t>(std::min<std::uint64_t>(remaining, window_));
    bytes_.clear();
    bytes_at_ = position_;
    bytes_.commit(file_.read_at(position_, {bytes_.room(asked), asked}));
  }
  const auto at = static_cast<std::size_t>(position_ - bytes_at_);
  const auto head = read_unit_head(bytes_.view().subspan(std::min(at, bytes_.size())), position_, remaining);
  if (head) position_ += head->size;
  return head;
}

}  // namespace tk::net
