#include "core/io/delimiter.h"

#include <algorithm>
#include <cstring>

namespace tk {
namespace {

bool can_overlap(std::string_view text) {
  for (std::size_t length = 1; length < text.size(); ++length) {
    if (text.starts_with(text.substr(text.size() - length))) return true;
  }
  return false;
}

}  // namespace

Delimiter::Delimiter(std::string text) : text_(std::move(text)), overlaps_itself_(can_overlap(text_)) {}

std::size_t Delimiter::last_end(ByteView bytes, std::size_t boundary, std::size_t searched) const {
  if (text_.empty()) return boundary;
  // A delimiter may have begun in what was searched before.
  const std::size_t again = text_.size() - 1;
  const std::size_t from = std::max(boundary, searched > again ? searched - again : 0);
  return overlaps_itself_ ? last_forwards(bytes, from, boundary) : last_backwards(bytes, from, boundary);
}

std::size_t Delimiter::last_backwards(ByteView bytes, std::size_t from, std::size_t boundary) const {
  std::size_t end = bytes.size();
  while (end >= from + text_.size()) {
    const void* last = ::memrchr(bytes.data() + from, text_.back(), end - from);
    if (last == nullptr) break;
    const auto behind = static_cast<std::size_t>(static_cast<const std::uint8_t*>(last) - bytes.data()) + 1;
    if (behind < from + text_.size()) break;
    if (std::memcmp(bytes.data() + behind - text_.size(), text_.data(), text_.size()) == 0) return behind;
    end = behind - 1;
  }
  return boundary;
}

std::size_t Delimiter::last_forwards(ByteView bytes, std::size_t from, std::size_t boundary) const {
  while (from < bytes.size()) {
    const void* found = ::memmem(bytes.data() + from, bytes.size() - from, text_.data(), text_.size());
    if (found == nullptr) break;
    boundary =
        static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data()) + text_.size();
    from = boundary;
  }
  return boundary;
}

}  // namespace tk
