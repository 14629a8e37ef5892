#include "core/format/codec_zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>

#include "core/format/codec.h"

namespace tk {

namespace {

/// The least block that makes a whole one: three bytes of header and the byte that it repeats.
constexpr std::size_t kLeastBlock = 4;
/// Log texts shrink to a third or a tenth: for most frames of unknown size the first room does.
constexpr std::size_t kUsualExpansion = 8;

enum class FrameKind : std::uint8_t { data, skippable, other };

FrameKind frame_kind(ByteView in) {
  if (in.size() < sizeof(std::uint32_t)) return FrameKind::other;
  const auto magic = load_le<std::uint32_t>(in.data());
  if ((magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START) return FrameKind::skippable;
  // The library may know the formats of its earliest versions, too; Kafka has never had them.
  return magic == ZSTD_MAGICNUMBER ? FrameKind::data : FrameKind::other;
}

}  // namespace

void ZstdCompressor::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}
void ZstdDecompressor::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

void ZstdCompressor::compress(int level, ByteView in, Buffer& scratch, std::vector<std::uint8_t>& out) {
  if (!context_) context_.reset(ZSTD_createCCtx());
  if (!context_) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  const std::size_t bound = ZSTD_compressBound(in.size());
  scratch.clear();
  std::uint8_t* to = scratch.room(bound);
  const std::size_t size = ZSTD_compress2(context_.get(), to, bound, in.data(), in.size());
  // With room for the bound, want of memory is all that can go wrong.
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  out.insert(out.end(), to, to + size);
}

const char* ZstdDecompressor::decompress(ByteView in, std::size_t max_bytes, Buffer& out) {
  if (frame_kind(in) == FrameKind::other) return "zstd payload does not begin with a zstd frame";
  if (!context_) context_.reset(ZSTD_createDCtx());
  if (!context_) throw std::bad_alloc();
  while (!in.empty()) {
    const FrameKind kind = frame_kind(in);
    if (kind == FrameKind::other) return "zstd frame is followed by other bytes";
    const std::size_t size = ZSTD_findFrameCompressedSize(in.data(), in.size());
    if (ZSTD_isError(size) != 0) return "zstd frame is cut or damaged";
    if (kind == FrameKind::data) {
      if (const char* error = decompress_frame(in.first(size), max_bytes, out)) return error;
    }
    in = in.subspan(size);
  }
  return nullptr;
}

const char* ZstdDecompressor::decompress_frame(ByteView frame, std::size_t max_bytes, Buffer& out) {
  const std::size_t left = max_bytes - out.size();
  const std::size_t most = frame.size() / kLeastBlock * ZSTD_BLOCKSIZE_MAX;
  const std::size_t bound = std::min(left, most);
  const unsigned long long declared = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (declared == ZSTD_CONTENTSIZE_ERROR) return "zstd frame is damaged";
  const bool known = declared != ZSTD_CONTENTSIZE_UNKNOWN;
  if (known && declared > left) return "zstd data is larger than the limit";
  if (known && declared > most) return "zstd frame declares more than it can hold";
  std::size_t room =
      known ? static_cast<std::size_t>(declared)
            : std::min(bound, std::max(frame.size() * kUsualExpansion, out.capacity() - out.size()));
  while (true) {
    std::uint8_t* to = out.room(room + kDecompressedSlack);
    const std::size_t size = ZSTD_decompressDCtx(context_.get(), to, room, frame.data(), frame.size());
    if (ZSTD_isError(size) == 0) {
      out.commit(size);
      return nullptr;
    }
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(size);
    if (code == ZSTD_error_checksum_wrong) return "zstd content checksum does not match";
    if (code != ZSTD_error_dstSize_tooSmall || known) return "zstd frame is damaged";
    if (room == bound) return bound == left ? "zstd data is larger than the limit" : "zstd frame is damaged";
    // The frame is decoded anew: with steps of four that costs a third at most.
    room = std::min(bound, room * 4);
  }
}

}  // namespace tk
