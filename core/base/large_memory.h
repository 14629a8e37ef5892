// Memory in huge pages, for what is large and touched all over: the system takes longer to give a small page
// than a program takes to fill it.
#pragma once

#include <cstddef>
#include <utility>

namespace tk {

/// From here on memory comes in huge pages, in multiples of one.
inline constexpr std::size_t kLargeFrom = 512U << 10;

/// What `bytes` are rounded up to: huge pages from kLargeFrom on.
std::size_t large_size(std::size_t bytes);
/// `bytes` of zeros; a multiple that large_size() gives. Throws std::bad_alloc.
void* take_large(std::size_t bytes);
void give_large(void* memory, std::size_t bytes) noexcept;

/// Zeros, for a table.
class ZeroedMemory {
 public:
  ZeroedMemory() = default;
  /// Throws std::bad_alloc.
  explicit ZeroedMemory(std::size_t bytes);
  ~ZeroedMemory();
  ZeroedMemory(ZeroedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ZeroedMemory& operator=(ZeroedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  /// Aligned for any type.
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tk
