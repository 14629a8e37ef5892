// The packed test data (tests/fixtures/*.tar.zst, tests/fuzz/corpus.tar.zst) in memory.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

#include "core/format/codec.h"
#include "core/io/file_system.h"
#include "tests/support/bytes.h"

namespace tk::test {

/// Regular files by their path in the archive.
using Archive = std::map<std::string, Bytes>;

namespace tar {

inline constexpr std::size_t kBlock = 512;

inline std::string text_field(const std::uint8_t* at, std::size_t size) {
  const char* const text = reinterpret_cast<const char*>(at);
  return {text, strnlen(text, size)};
}

/// Octal digits, with blanks or zeros around them.
inline std::size_t number_field(const std::uint8_t* at, std::size_t size) {
  return std::stoull(text_field(at, size), nullptr, 8);
}

}  // namespace tar

/// Takes a tar of the GNU form apart. Left out: sparse files (indexes that a broker preallocated), links,
/// directories.
inline Archive parse_tar(ByteView bytes) {
  Archive files;
  std::string long_name;
  std::size_t at = 0;
  while (at + tar::kBlock <= bytes.size() && bytes[at] != 0) {
    const std::uint8_t* const head = bytes.data() + at;
    const std::size_t size = tar::number_field(head + 124, 12);
    const std::uint8_t type = head[156];
    std::string name = long_name.empty() ? tar::text_field(head, 100) : long_name;
    long_name.clear();
    at += tar::kBlock;
    if (type == 'S') {
      // The map of a sparse file may go on in further blocks.
      for (bool more = head[482] != 0; more && at + tar::kBlock <= bytes.size(); at += tar::kBlock) {
        more = bytes[at + 504] != 0;
      }
    }
    if (size > bytes.size() - at) throw std::runtime_error("an archive is cut off");
    const ByteView content = bytes.subspan(at, size);
    if (type == 'L') long_name = tar::text_field(content.data(), content.size());
    if (type == '0' || type == 0)
      files[name.starts_with("./") ? name.substr(2) : name] = Bytes(content.begin(), content.end());
    at += (size + tar::kBlock - 1) / tar::kBlock * tar::kBlock;
  }
  return files;
}

inline Archive read_archive(const std::string& path) {
  const std::string packed = read_whole(posix_file_system(), path);
  Decompressor decompressor;
  const Decompressed tar = decompressor.decompress(Codec::zstd, as_bytes(packed));
  if (tar.error != nullptr) throw std::runtime_error(path + ": " + tar.error);
  return parse_tar(tar.bytes);
}

}  // namespace tk::test
