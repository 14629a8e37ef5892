#include "core/format/codec_snappy.h"

#include <snappy.h>

#include <algorithm>

#include "core/format/codec.h"

namespace tk {

namespace {

constexpr std::uint8_t kMagic[8] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
constexpr std::size_t kHeader = 16;
constexpr std::uint8_t kVersions[kHeader - sizeof kMagic] = {0, 0, 0, 1, 0, 0, 0, 1};
/// The magic's first four bytes where a chunk length is due: another stream begins.
constexpr std::uint32_t kMagicWord = 0x82534e41;

constexpr std::size_t kBlock = 32U << 10;

/// The densest element is a copy of three bytes that makes 64.
constexpr std::size_t kMaxExpansion = 22;

const char* as_chars(ByteView bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

bool begins_stream(ByteView in) {
  return in.size() >= kHeader && std::equal(std::begin(kMagic), std::end(kMagic), in.begin());
}

const char* decompress_block(ByteView block, std::size_t max_bytes, Buffer& out) {
  std::size_t size = 0;
  if (!snappy::GetUncompressedLength(as_chars(block), block.size(), &size))
    return "snappy block has no length";
  if (size > max_bytes - out.size()) return "snappy data is larger than the limit";
  if (size > block.size() * kMaxExpansion) return "snappy block declares more than it can hold";
  char* to = reinterpret_cast<char*>(out.room(size + kDecompressedSlack));
  if (!snappy::RawUncompress(as_chars(block), block.size(), to)) return "snappy block is damaged";
  out.commit(size);
  return nullptr;
}

const char* decompress_streams(ByteView in, std::size_t max_bytes, Buffer& out) {
  in = in.subspan(kHeader);
  // Fewer bytes than a chunk length end the stream for Java's reader, too.
  while (in.size() >= sizeof kMagicWord) {
    const auto length = load_be<std::uint32_t>(in.data());
    if (length == kMagicWord) {
      if (!begins_stream(in)) return "snappy stream header is damaged";
      in = in.subspan(kHeader);
      continue;
    }
    in = in.subspan(sizeof length);
    if (length > in.size()) return "snappy chunk length is beyond the end";
    if (const char* error = decompress_block(in.first(length), max_bytes, out)) return error;
    in = in.subspan(length);
  }
  return nullptr;
}

}  // namespace

void snappy_compress(ByteView in, Buffer& scratch, std::vector<std::uint8_t>& out) {
  out.insert(out.end(), std::begin(kMagic), std::end(kMagic));
  out.insert(out.end(), std::begin(kVersions), std::end(kVersions));
  scratch.clear();
  std::uint8_t* chunk = scratch.room(sizeof(std::uint32_t) + snappy::MaxCompressedLength(kBlock));
  std::uint8_t* block = chunk + sizeof(std::uint32_t);
  while (!in.empty()) {
    const ByteView part = in.first(std::min(in.size(), kBlock));
    std::size_t size = 0;
    snappy::RawCompress(as_chars(part), part.size(), reinterpret_cast<char*>(block), &size);
    store_be<std::uint32_t>(chunk, static_cast<std::uint32_t>(size));
    out.insert(out.end(), chunk, block + size);
    in = in.subspan(part.size());
  }
}

const char* snappy_decompress(ByteView in, std::size_t max_bytes, Buffer& out) {
  if (begins_stream(in)) return decompress_streams(in, max_bytes, out);
  return decompress_block(in, max_bytes, out);
}

}  // namespace tk
