// A growing block of bytes that is not zeroed on growth and keeps its memory when emptied.
#pragma once

#include <utility>

#include "core/base/bytes.h"

namespace tk {

class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { release(); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::uint8_t* data() { return data_; }
  [[nodiscard]] const std::uint8_t* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] ByteView view() const { return {data_, size_}; }

  /// Makes room for `bytes` behind the content and gives the place; `commit` then takes them in.
  std::uint8_t* room(std::size_t bytes) {
    if (capacity_ - size_ < bytes) grow(size_ + bytes);
    return data_ + size_;
  }
  void commit(std::size_t bytes) { size_ += bytes; }
  /// Takes in everything up to `end`, a place within the room.
  void commit_to(const std::uint8_t* end) { size_ = static_cast<std::size_t>(end - data_); }

  void append(ByteView bytes) {
    std::uint8_t* to = room(bytes.size());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    commit(bytes.size());
  }
  void append(std::string_view text) { append(as_bytes(text)); }

  void clear() { size_ = 0; }
  /// Cuts to `size`, which is at most the present one.
  void cut(std::size_t size) { size_ = size; }
  /// Sets the size; new bytes are undefined.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
  }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void grow(std::size_t least);
  void release() noexcept;

  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace tk
