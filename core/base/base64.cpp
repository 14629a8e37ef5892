#include <array>
#include <cstddef>

#include "core/base/text.h"

namespace tk {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> kDigits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return digits;
}();

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
}

}  // namespace

void append_base64(TextBuffer& to, std::string_view bytes) {
  const std::size_t start = to.size();
  to.resize(start + (bytes.size() + 2) / 3 * 4);
  char* out = to.data() + start;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t group = byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) *out++ = kAlphabet[(group >> shift) & 63];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  for (std::size_t i = 1; i <= padding; ++i) to[to.size() - i] = '=';
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::size_t digits = text.size() - padding;

  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::uint32_t digit = kDigits[static_cast<unsigned char>(text[i])];
    if (digit == kNoDigit) return std::nullopt;
    bits = bits << 6 | digit;
    if (i % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(bits >> shift & 0xff));
    bits = 0;
  }
  if (padding == 0) return bytes;
  // The last group has 4 surplus bits behind one byte, 2 behind two. They must be zero: one text for each
  // value.
  const std::uint32_t surplus = padding == 2 ? 4 : 2;
  if ((bits & ((1U << surplus) - 1)) != 0) return std::nullopt;
  bits >>= surplus;
  if (padding == 1) bytes.push_back(static_cast<char>(bits >> 8 & 0xff));
  bytes.push_back(static_cast<char>(bits & 0xff));
  return bytes;
}

}  // namespace tk
