// Bytes as Java's UTF-8 decoder shows them: what it cannot read becomes U+FFFD (kafka-on-disk.md §15.2).
#pragma once

#include <cstddef>
#include <string_view>

namespace tk {

/// Bytes that `size` bytes take at most: every one of them may become a U+FFFD of three.
constexpr std::size_t java_text_bound(std::size_t size) {
  return 3 * size;
}

/// Writes `bytes` at `to`, which has room for java_text_bound() of them, and returns the place behind. Each
/// longest well-formed start of a broken sequence becomes one U+FFFD, as most decoders have it, but an
/// encoded surrogate is one as a whole, where they have three.
char* put_java_text(char* to, std::string_view bytes);

}  // namespace tk
