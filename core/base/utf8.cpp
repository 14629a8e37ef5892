#include "core/base/utf8.h"

#include <bit>

#include "core/base/chunk16.h"
#include "core/base/text.h"

namespace tk {

std::size_t ascii_prefix(std::string_view bytes) {
  std::size_t at = 0;
  const auto others = [&](std::size_t step) {
    return Chunk16::load(bytes.data() + at + step * Chunk16::kSize).non_ascii();
  };
  while (bytes.size() - at >= 4 * Chunk16::kSize && (others(0) | others(1) | others(2) | others(3)) == 0) {
    at += 4 * Chunk16::kSize;
  }
  for (; at < bytes.size(); at += Chunk16::kSize) {
    const std::uint32_t found = Chunk16::load_some(bytes.data() + at, bytes.size() - at).non_ascii();
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
  return bytes.size();
}

std::size_t utf8_prefix(std::string_view bytes) {
  std::size_t passed = 0;
  while (true) {
    passed += ascii_prefix(bytes.substr(passed));
    const char* const at = bytes.data() + passed;
    const char* const end = bytes.data() + bytes.size();
    const char* const behind = multibyte_end(at, end);
    passed += static_cast<std::size_t>(behind - at);
    if (behind == end || !is_ascii(*behind)) return passed;
  }
}

bool is_utf8(std::string_view bytes) {
  return utf8_prefix(bytes) == bytes.size();
}

}  // namespace tk
