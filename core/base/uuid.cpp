#include "core/base/uuid.h"

#include <sys/random.h>

#include <cerrno>

#include "core/base/error.h"

namespace tk {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::size_t kTextSize = 22;  // 128 bits in digits of 6; the last digit has 4 bits to spare

}  // namespace

std::string Uuid::text() const {
  std::string out;
  out.reserve(kTextSize);
  std::uint32_t bits = 0;
  int held = 0;
  for (const std::uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 6; held -= 6) out.push_back(kAlphabet[bits >> (held - 6) & 63]);
  }
  out.push_back(kAlphabet[bits << (6 - held) & 63]);
  return out;
}

std::string Uuid::hex() const {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    out.push_back(kHexDigits[byte >> 4]);
    out.push_back(kHexDigits[byte & 15]);
  }
  return out;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != kTextSize) return std::nullopt;
  Uuid id;
  std::size_t filled = 0;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    id.bytes[filled++] = static_cast<std::uint8_t>(bits >> held);
  }
  return id;  // the 4 bits to spare are dropped, as the broker's decoder does
}

Uuid Uuid::random() {
  Uuid id;
  do {
    while (getrandom(id.bytes.data(), id.bytes.size(), 0) != static_cast<ssize_t>(id.bytes.size())) {
      if (errno != EINTR) throw system_error("get random bytes", "", errno);
    }
    // Version 4, variant 1 (RFC 9562). With these bits set it is none of the reserved ids, which are small
    // numbers.
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x40);
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
  } while (id.text().starts_with('-'));  // such an id would look like an option on a command line
  return id;
}

}  // namespace tk
