#include "core/format/codec_lz4.h"

#include <lz4.h>
#include <lz4hc.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace tk {

namespace {

constexpr std::uint32_t kMagic = 0x184D2204;
/// Magic, FLG, BD and header checksum of the frames that are written: independent blocks of 64 KiB, no
/// checksums.
constexpr std::uint8_t kWrittenHeader[] = {0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82};
constexpr std::size_t kWrittenBlock = 64U << 10;

constexpr unsigned kVersionMask = 0xc0;
constexpr unsigned kVersion1 = 0x40;
constexpr unsigned kIndependentBlocks = 0x20;
constexpr unsigned kBlockChecksums = 0x10;
constexpr unsigned kContentSize = 0x08;
constexpr unsigned kContentChecksum = 0x04;
constexpr unsigned kReserved = 0x03;

/// Set in a block's length word if the block is stored as it is.
constexpr std::uint32_t kStored = 0x80000000;
constexpr std::size_t kWord = 4;

/// An lz4 block cannot turn a byte into more than this many.
constexpr std::size_t kMaxExpansion = 255;

struct Frame {
  bool block_checksums = false;
  bool content_checksum = false;
  std::size_t block_max = 0;
};

std::uint32_t xxh32(ByteView bytes) {
  return XXH32(bytes.data(), bytes.size(), 0);
}

/// Reads the frame header and leaves `in` at the first block.
const char* read_header(ByteReader& in, Lz4HeaderChecksum header_checksum, Frame& frame) {
  const ByteView magic = in.take(kWord);
  if (!in.ok() || load_le<std::uint32_t>(magic.data()) != kMagic) return "lz4 frame magic is wrong";
  ByteReader rest = in;
  const unsigned flags = in.be<std::uint8_t>();
  const unsigned block_descriptor = in.be<std::uint8_t>();
  if (!in.ok()) return "lz4 frame header is cut";
  if ((flags & kVersionMask) != kVersion1) return "lz4 frame version is unknown";
  if ((flags & kReserved) != 0) return "lz4 frame header has reserved flags or a dictionary";
  if ((flags & kIndependentBlocks) == 0) return "lz4 frame has linked blocks";
  // Bits 4-6 hold the size code, 4 to 7 for 64 KiB to 4 MiB; the others are reserved.
  if ((block_descriptor & 0x8f) != 0 || block_descriptor < 0x40) return "lz4 frame block size is unknown";
  frame.block_max = std::size_t{1} << (8 + 2 * (block_descriptor >> 4));
  frame.block_checksums = (flags & kBlockChecksums) != 0;
  frame.content_checksum = (flags & kContentChecksum) != 0;
  // Kafka does not look at the content size, and the frame is complete without it.
  if ((flags & kContentSize) != 0) in.take(sizeof(std::uint64_t));
  const ByteView descriptor = rest.take(in.position() - kWord);
  const unsigned stored = in.be<std::uint8_t>();
  if (!in.ok()) return "lz4 frame header is cut";
  if (header_checksum == Lz4HeaderChecksum::verified && stored != ((xxh32(descriptor) >> 8) & 0xff)) {
    return "lz4 header checksum does not match";
  }
  return nullptr;
}

/// Compares the checksum word that `in` is at with that of `content`.
const char* check_word(ByteReader& in, ByteView content, const char* mismatch) {
  const ByteView word = in.take(kWord);
  if (!in.ok()) return "lz4 frame is cut";
  return load_le<std::uint32_t>(word.data()) == xxh32(content) ? nullptr : mismatch;
}

const char* decompress_block(ByteView block, bool stored, const Frame& frame, Buffer& out) {
  if (stored) {
    std::copy(block.begin(), block.end(), out.room(block.size() + kDecompressedSlack));
    out.commit(block.size());
    return nullptr;
  }
  const std::size_t room = std::min(frame.block_max, block.size() * kMaxExpansion);
  char* to = reinterpret_cast<char*>(out.room(room + kDecompressedSlack));
  const int size = LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()), to,
                                       static_cast<int>(block.size()), static_cast<int>(room));
  if (size < 0) return "lz4 block is damaged";
  out.commit(static_cast<std::size_t>(size));
  return nullptr;
}

}  // namespace

void Lz4Compressor::compress(int level, ByteView in, Buffer& scratch, std::vector<std::uint8_t>& out) {
  const bool fast = level == kLz4FastLevel;
  std::unique_ptr<char[]>& state = fast ? fast_state_ : high_state_;
  if (!state) state.reset(new char[static_cast<std::size_t>(fast ? LZ4_sizeofState() : LZ4_sizeofStateHC())]);
  out.insert(out.end(), std::begin(kWrittenHeader), std::end(kWrittenHeader));
  constexpr int kBound = LZ4_COMPRESSBOUND(static_cast<int>(kWrittenBlock));
  scratch.clear();
  std::uint8_t* word = scratch.room(kWord + kBound);
  std::uint8_t* block = word + kWord;
  while (!in.empty()) {
    const ByteView part = in.first(std::min(in.size(), kWrittenBlock));
    const char* from = reinterpret_cast<const char*>(part.data());
    char* to = reinterpret_cast<char*>(block);
    const int from_size = static_cast<int>(part.size());
    const int size = fast ? LZ4_compress_fast_extState(state.get(), from, to, from_size, kBound, 1)
                          : LZ4_compress_HC_extStateHC(state.get(), from, to, from_size, kBound, level);
    if (size > 0 && size < from_size) {
      store_le<std::uint32_t>(word, static_cast<std::uint32_t>(size));
      out.insert(out.end(), word, block + size);
    } else {
      store_le<std::uint32_t>(word, static_cast<std::uint32_t>(part.size()) | kStored);
      out.insert(out.end(), word, block);
      out.insert(out.end(), part.begin(), part.end());
    }
    in = in.subspan(part.size());
  }
  out.insert(out.end(), kWord, std::uint8_t{0});
}

const char* lz4_decompress(ByteView bytes, Lz4HeaderChecksum header_checksum, std::size_t max_bytes,
                           Buffer& out) {
  ByteReader in(bytes);
  Frame frame;
  if (const char* error = read_header(in, header_checksum, frame)) return error;
  while (true) {
    const ByteView word = in.take(kWord);
    if (!in.ok()) return "lz4 frame ends without an end mark";
    const auto header = load_le<std::uint32_t>(word.data());
    const std::size_t length = header & ~kStored;
    if (length == 0) break;
    if (length > frame.block_max) return "lz4 block is longer than the frame's block size";
    const ByteView block = in.take(length);
    if (!in.ok()) return "lz4 block length is beyond the end";
    if (frame.block_checksums) {
      if (const char* error = check_word(in, block, "lz4 block checksum does not match")) return error;
    }
    if (const char* error = decompress_block(block, (header & kStored) != 0, frame, out)) return error;
    if (out.size() > max_bytes) return "lz4 data is larger than the limit";
  }
  if (!frame.content_checksum) return nullptr;
  return check_word(in, out.view(), kLz4ContentMismatch);
}

}  // namespace tk
