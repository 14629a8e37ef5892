#include "core/log/read_ahead.h"

#include <algorithm>

namespace tk {

void ReadAhead::read(Buffer& bytes, AheadBytes& ahead) {
  ahead.of.reset();
  {
    const std::scoped_lock lock(mutex_);
    ahead.position = next_;
    next_ = std::min<std::uint64_t>(next_ + piece_, end_);
  }
  if (ahead.position >= end_) return;
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>(piece_ + overlap_, end_ - ahead.position));
  bytes.clear();
  std::uint8_t* const to = bytes.room(size + 64);
  bytes.commit(file_->read_at(ahead.position, {to, size}));
  ahead.of = shared_from_this();
}

void ReadAhead::passed(std::uint64_t position) {
  const std::scoped_lock lock(mutex_);
  next_ = std::max(next_, position);
}

}  // namespace tk
