#include "core/format/codec_gzip.h"

#include <libdeflate.h>

#include <algorithm>
#include <new>

#include "core/format/codec.h"

namespace tk {

namespace {

constexpr int kDefaultLevel = 6;

/// A member is at least a header of 10 bytes and a trailer of 8.
constexpr std::size_t kLeastMember = 18;
constexpr std::size_t kExtraFlagsAt = 8;

/// Deflate cannot turn a byte into more than this many.
constexpr std::size_t kMaxExpansion = 1032;

bool begins_member(ByteView in) {
  return in.size() >= kLeastMember && in[0] == 0x1f && in[1] == 0x8b && in[2] == 8;
}

/// How much room to try first. The last four bytes hold the size if there is one member and nothing behind
/// it; they are a hint, and only one that the input could live up to.
std::size_t first_room(ByteView in) {
  const std::size_t hint = load_le<std::uint32_t>(in.data() + in.size() - 4);
  const std::size_t least = in.size() * 2;
  return hint <= in.size() * kMaxExpansion ? std::max(hint, least) : least;
}

}  // namespace

void GzipCompressor::Free::operator()(libdeflate_compressor* context) const {
  libdeflate_free_compressor(context);
}
void GzipDecompressor::Free::operator()(libdeflate_decompressor* context) const {
  libdeflate_free_decompressor(context);
}

void GzipCompressor::compress(int level, ByteView in, Buffer& scratch, std::vector<std::uint8_t>& out) {
  if (level == -1) level = kDefaultLevel;
  if (!context_ || level != level_) {
    context_.reset(libdeflate_alloc_compressor(level));
    if (!context_) throw std::bad_alloc();
    level_ = level;
  }
  const std::size_t bound = libdeflate_gzip_compress_bound(context_.get(), in.size());
  scratch.clear();
  std::uint8_t* to = scratch.room(bound);
  const std::size_t size = libdeflate_gzip_compress(context_.get(), in.data(), in.size(), to, bound);
  // libdeflate notes the level here; Kafka's writers leave it 0.
  to[kExtraFlagsAt] = 0;
  out.insert(out.end(), to, to + size);
}

const char* GzipDecompressor::decompress(ByteView in, std::size_t max_bytes, Buffer& out) {
  if (!begins_member(in)) return "gzip payload does not begin with a gzip header";
  if (!context_) context_.reset(libdeflate_alloc_decompressor());
  if (!context_) throw std::bad_alloc();
  do {
    std::size_t taken = 0;
    if (const char* error = decompress_member(in, max_bytes, out, taken)) return error;
    in = in.subspan(taken);
  } while (begins_member(in));
  return nullptr;
}

const char* GzipDecompressor::decompress_member(ByteView in, std::size_t max_bytes, Buffer& out,
                                                std::size_t& taken) {
  const std::size_t left = max_bytes - out.size();
  const std::size_t bound = std::min(left, in.size() * kMaxExpansion);
  std::size_t room = std::min(bound, std::max(first_room(in), out.capacity() - out.size()));
  while (true) {
    std::uint8_t* to = out.room(room + kDecompressedSlack);
    std::size_t size = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress_ex(context_.get(), in.data(), in.size(), to, room, &taken, &size);
    if (result == LIBDEFLATE_SUCCESS) {
      out.commit(size);
      return nullptr;
    }
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
      return "gzip data is damaged, cut, or its checksum or size is wrong";
    if (room == bound) return bound == left ? "gzip data is larger than the limit" : "gzip data is damaged";
    // The member is decoded anew: with steps of four that costs a third at most.
    room = std::min(bound, room * 4);
  }
}

}  // namespace tk
