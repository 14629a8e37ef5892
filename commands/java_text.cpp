#include "commands/java_text.h"

#include <cstring>

#include "core/base/chunk16.h"
#include "core/base/utf8.h"

namespace tk {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Bytes that one U+FFFD stands for at `at`, where a sequence breaks off after `step` bytes.
std::size_t replaced(const char* at, const char* end, std::size_t step) {
  const auto byte = [at](std::size_t i) { return static_cast<unsigned char>(at[i]); };
  if (byte(0) != 0xED || end - at < 2 || byte(1) < 0xA0 || byte(1) > 0xBF) return step;
  return end - at > 2 && is_continuation(at[2]) ? 3 : 2;
}

/// Copies `text` and says whether all of it is ASCII.
inline bool copy_ascii(char* to, std::string_view text) {
  constexpr std::size_t step = Chunk16::kSize;
  const char* const from = text.data();
  if (text.size() < step) {
    if (!text.empty()) std::memcpy(to, from, text.size());
    return Chunk16::load_part(from, text.size()).non_ascii() == 0;
  }
  // The last step goes back over what is copied already.
  Chunk16 all = Chunk16::load(from + text.size() - step);
  all.store(to + text.size() - step);
  for (std::size_t at = 0; at + step < text.size(); at += step) {
    const Chunk16 chunk = Chunk16::load(from + at);
    chunk.store(to + at);
    all = all | chunk;
  }
  return all.non_ascii() == 0;
}

}  // namespace

char* put_java_text(char* to, std::string_view bytes) {
  if (copy_ascii(to, bytes)) return to + bytes.size();
  while (true) {
    const std::size_t good = utf8_prefix(bytes);
    if (good > 0) std::memcpy(to, bytes.data(), good);
    to += good;
    if (good == bytes.size()) return to;
    bytes.remove_prefix(good);
    const char* const end = bytes.data() + bytes.size();
    bytes.remove_prefix(replaced(bytes.data(), end, utf8_step(bytes.data(), end).length));
    std::memcpy(to, kReplacement.data(), kReplacement.size());
    to += kReplacement.size();
  }
}

}  // namespace tk
