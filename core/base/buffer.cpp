#include "core/base/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "core/base/large_memory.h"

namespace tk {

// Small content lies on the heap, large content in huge pages; the capacity tells which.
void Buffer::grow(std::size_t least) {
  const std::size_t wanted = std::max(least, capacity_ + capacity_ / 2);
  if (wanted < kLargeFrom) {
    const std::size_t capacity = std::min((wanted + 4095) & ~std::size_t{4095}, kLargeFrom - 1);
    void* const data = std::realloc(data_, capacity);
    if (data == nullptr) throw std::bad_alloc();
    data_ = static_cast<std::uint8_t*>(data);
    capacity_ = capacity;
    return;
  }
  const std::size_t capacity = large_size(wanted);
  auto* const data = static_cast<std::uint8_t*>(take_large(capacity));
  if (size_ > 0) std::memcpy(data, data_, size_);
  release();
  data_ = data;
  capacity_ = capacity;
}

void Buffer::release() noexcept {
  if (capacity_ >= kLargeFrom) {
    give_large(data_, capacity_);
  } else {
    std::free(data_);
  }
}

}  // namespace tk
