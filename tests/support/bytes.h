// Bytes of tests: hex and base64, files, and the kinds of damage that disks do to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/io/file_system.h"

namespace tk::test {

using Bytes = std::vector<std::uint8_t>;

/// The bytes that hex digits stand for; blanks and line ends between them are skipped.
inline Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  int high = -1;
  for (const char c : hex) {
    const auto at = std::string_view("0123456789abcdef").find(c);
    if (at == std::string_view::npos) continue;
    if (high < 0) {
      high = static_cast<int>(at);
    } else {
      bytes.push_back(static_cast<std::uint8_t>(high * 16 + static_cast<int>(at)));
      high = -1;
    }
  }
  return bytes;
}

inline Bytes from_base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Bytes bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    bits = (bits << 6 | static_cast<unsigned>(kAlphabet.find(letter))) & 0xffffff;
    count += 6;
    if (count >= 8) bytes.push_back(static_cast<std::uint8_t>(bits >> (count -= 8)));
  }
  return bytes;
}

inline Bytes to_bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

inline Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// Makes `path` (and its directory) hold exactly these bytes.
inline void write_file(FileSystem& fs, const std::string& path, ByteView bytes) {
  fs.make_directories(parent_path(path));
  const auto file = fs.open(path, OpenMode::create);
  file->truncate(0);
  file->write_at(0, bytes);
}

inline Bytes flip(Bytes bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
  return bytes;
}
inline Bytes cut(Bytes bytes, std::size_t size) {
  bytes.resize(size);
  return bytes;
}
inline Bytes zero(Bytes bytes, std::size_t from, std::size_t to) {
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from),
            bytes.begin() + static_cast<std::ptrdiff_t>(to), std::uint8_t{0});
  return bytes;
}
inline Bytes insert(Bytes bytes, std::size_t at, const Bytes& what) {
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), what.begin(), what.end());
  return bytes;
}
inline Bytes part(const Bytes& bytes, std::size_t from, std::size_t size) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

/// The unit with another base offset, and nothing else changed.
inline Bytes at_offset(Bytes unit, std::int64_t offset) {
  store_be<std::int64_t>(unit.data(), offset);
  return unit;
}

/// Numbers that look random and are the same in every run (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Below `limit`.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  Bytes bytes(std::size_t size) {
    Bytes bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(next());
    return bytes;
  }

 private:
  std::uint64_t state_;
};

}  // namespace tk::test
