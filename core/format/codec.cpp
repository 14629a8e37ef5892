#include "core/format/codec.h"

#include <array>
#include <cstring>
#include <new>
#include <string>

#include "core/base/buffer.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/format/codec_gzip.h"
#include "core/format/codec_lz4.h"
#include "core/format/codec_snappy.h"
#include "core/format/codec_zstd.h"

namespace tk {

namespace {

constexpr std::array<std::string_view, 5> kNames = {"none", "gzip", "snappy", "lz4", "zstd"};

/// A larger output buffer is given back before the next batch, so that one huge batch does not cost its
/// memory for good.
constexpr std::size_t kKeptBuffer = 32U << 20;

int default_level(Codec codec) {
  switch (codec) {
    case Codec::gzip:
      return -1;
    case Codec::lz4:
      return kLz4FastLevel;
    case Codec::zstd:
      return 3;
    case Codec::none:
    case Codec::snappy:
      break;
  }
  return 0;
}

}  // namespace

std::string_view codec_name(Codec codec) {
  const auto number = static_cast<std::size_t>(codec);
  return number < kNames.size() ? kNames[number] : "unknown";
}

std::optional<Codec> parse_codec(std::string_view name) {
  for (std::size_t number = 0; number < kNames.size(); ++number) {
    if (kNames[number] == name) return static_cast<Codec>(number);
  }
  return std::nullopt;
}

bool codec_takes_level(Codec codec, int level) {
  switch (codec) {
    case Codec::gzip:
      return level == -1 || (level >= 1 && level <= 9);
    case Codec::lz4:
      return level >= 1 && level <= 17;
    case Codec::zstd:
      return level >= -131072 && level <= 22;
    case Codec::none:
    case Codec::snappy:
      break;
  }
  return false;
}

std::optional<Compression> parse_compression(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::optional<Codec> codec = parse_codec(text.substr(0, colon));
  if (!codec) return std::nullopt;
  if (colon == std::string_view::npos) return Compression{*codec, std::nullopt};
  const std::optional<std::int64_t> level = parse_int(text.substr(colon + 1));
  // The range first, so that the narrowing below loses nothing.
  if (!level || *level < -131072 || *level > 22) return std::nullopt;
  if (!codec_takes_level(*codec, static_cast<int>(*level))) return std::nullopt;
  return Compression{*codec, static_cast<int>(*level)};
}

struct Compressor::Contexts {
  GzipCompressor gzip;
  Lz4Compressor lz4;
  ZstdCompressor zstd;
  Buffer scratch;
};

Compressor::Compressor() : contexts_(std::make_unique<Contexts>()) {}
Compressor::~Compressor() = default;
Compressor::Compressor(Compressor&&) noexcept = default;
Compressor& Compressor::operator=(Compressor&&) noexcept = default;

void Compressor::compress(const Compression& how, ByteView in, std::vector<std::uint8_t>& out) {
  if (how.level && !codec_takes_level(how.codec, *how.level)) {
    throw Error(ErrorCode::invalid_config, std::string(codec_name(how.codec)) + " has no compression level " +
                                               std::to_string(*how.level));
  }
  const int level = how.level.value_or(default_level(how.codec));
  Contexts& use = *contexts_;
  switch (how.codec) {
    case Codec::none:
      out.insert(out.end(), in.begin(), in.end());
      return;
    case Codec::gzip:
      return use.gzip.compress(level, in, use.scratch, out);
    case Codec::snappy:
      return snappy_compress(in, use.scratch, out);
    case Codec::lz4:
      return use.lz4.compress(level, in, use.scratch, out);
    case Codec::zstd:
      return use.zstd.compress(level, in, use.scratch, out);
  }
  throw Error(ErrorCode::invalid_config, "unknown compression codec");
}

struct Decompressor::Contexts {
  GzipDecompressor gzip;
  ZstdDecompressor zstd;
  Buffer out;

  const char* decode(Codec codec, ByteView in, Lz4HeaderChecksum lz4_header, std::size_t max_bytes) {
    switch (codec) {
      case Codec::gzip:
        return gzip.decompress(in, max_bytes, out);
      case Codec::snappy:
        return snappy_decompress(in, max_bytes, out);
      case Codec::lz4:
        return lz4_decompress(in, lz4_header, max_bytes, out);
      case Codec::zstd:
        return zstd.decompress(in, max_bytes, out);
      case Codec::none:
        break;
    }
    return "unknown compression codec";
  }
};

Decompressor::Decompressor() : contexts_(std::make_unique<Contexts>()) {}
Decompressor::~Decompressor() = default;
Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;

Decompressed Decompressor::decompress(Codec codec, ByteView in, Lz4HeaderChecksum lz4_header,
                                      std::size_t max_bytes) {
  if (codec == Codec::none) {
    if (in.size() > max_bytes) return {{}, "data is larger than the limit"};
    return {in, nullptr};
  }
  Buffer& out = contexts_->out;
  out.clear();
  if (out.capacity() > kKeptBuffer) out = Buffer();
  try {
    const char* error = contexts_->decode(codec, in, lz4_header, max_bytes);
    if (error != nullptr && error != kLz4ContentMismatch) return {{}, error};
    std::memset(out.room(kDecompressedSlack), 0, kDecompressedSlack);
    return {out.view(), error};
  } catch (const std::bad_alloc&) {
    return {{}, "not enough memory to decompress"};
  }
}

}  // namespace tk
