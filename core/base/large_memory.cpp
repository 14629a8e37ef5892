#include "core/base/large_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace tk {
namespace {

constexpr std::size_t kHugePage = 2U << 20;

}  // namespace

std::size_t large_size(std::size_t bytes) {
  return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

#if defined(__SANITIZE_ADDRESS__)

// The sanitizer watches over the heap only.
void* take_large(std::size_t bytes) {
  void* const memory = std::calloc(1, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_large(void* memory, std::size_t) noexcept {
  std::free(memory);
}

#else

// A mapping need not begin where a huge page can: what lies before and behind the aligned part goes back.
void* take_large(std::size_t bytes) {
  void* const mapped =
      mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<char*>(mapped);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) munmap(begin, before);
  if (before < kHugePage) munmap(begin + before + bytes, kHugePage - before);
  // Advice only: without huge pages the memory is as good, and slower to come.
  static_cast<void>(madvise(begin + before, bytes, MADV_HUGEPAGE));
  return begin + before;
}

void give_large(void* memory, std::size_t bytes) noexcept {
  munmap(memory, bytes);
}

#endif

ZeroedMemory::ZeroedMemory(std::size_t bytes) {
  if (bytes >= kLargeFrom) {
    size_ = large_size(bytes);
    data_ = take_large(size_);
    return;
  }
  data_ = std::calloc(1, bytes);
  if (data_ == nullptr) throw std::bad_alloc();
}

ZeroedMemory::~ZeroedMemory() {
  if (size_ > 0) {
    give_large(data_, size_);
  } else {
    std::free(data_);
  }
}

}  // namespace tk
