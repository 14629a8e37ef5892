// The compression codecs of Kafka's formats (kafka-on-disk.md §4): one interface, contexts reused.
//
// Decompression is whole-buffer under a guard: a declared size is never trusted for allocation beyond what
// the guard and the codec's expansion bound allow. Objects are for one thread each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"

namespace tk {

enum class Codec : std::uint8_t { none = 0, gzip = 1, snappy = 2, lz4 = 3, zstd = 4 };

/// "none", "gzip" and so on.
std::string_view codec_name(Codec codec);
std::optional<Codec> parse_codec(std::string_view name);

/// True if `level` is one that Kafka takes for the codec: gzip -1 and 1-9, lz4 1-17, zstd -131072 to 22; none
/// and snappy have no levels.
bool codec_takes_level(Codec codec, int level);

/// A codec and its level; without a level Kafka's default for the codec (gzip -1, lz4 9, zstd 3, §16).
struct Compression {
  Codec codec = Codec::none;
  std::optional<int> level;
};

/// "zstd:3", "lz4", ...; nothing if the name is unknown or the level is not one of the codec's.
std::optional<Compression> parse_compression(std::string_view text);

/// The largest decompressed batch that is taken; a larger one is a fault of the batch.
inline constexpr std::size_t kMaxDecompressed = 256U << 20;

/// Zero bytes that lie behind whatever a Decompressor decoded, so that a reader may load whole words at its
/// end.
inline constexpr std::size_t kDecompressedSlack = 16;

class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(Compressor&&) noexcept;
  Compressor& operator=(Compressor&&) noexcept;

  /// Appends the compressed form of `in` to `out` as Kafka's Java client would have it framed: gzip with a
  /// plain header, snappy in xerial framing with 32 KiB blocks, lz4 frames of independent 64 KiB blocks
  /// without checksums (FLG 0x60, BD 0x40), zstd frames with their content size. Throws Error
  /// (invalid_config) on a level that codec_takes_level refuses.
  void compress(const Compression& how, ByteView in, std::vector<std::uint8_t>& out);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

/// Magic-0 lz4 wrappers carry a header checksum computed over the wrong bytes (§4.4): there any is taken.
enum class Lz4HeaderChecksum : std::uint8_t { verified, ignored };

struct Decompressed {
  /// The bytes, valid until the next call and followed by kDecompressedSlack zero bytes (for Codec::none the
  /// input itself, without slack). Empty on failure, unless all was decoded and only the checksum over all of
  /// it is wrong: Kafka does not look at that one.
  ByteView bytes;
  /// Null if it went well, else what is wrong, a literal that names the codec's part ("lz4 content checksum
  /// ...").
  const char* error = nullptr;
};

class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(Decompressor&&) noexcept;
  Decompressor& operator=(Decompressor&&) noexcept;

  /// Takes every form that §4 lists; an lz4 content or block checksum that is there must be right (stricter
  /// than Kafka, field case R44). Ignored as Kafka does: bytes behind an lz4 end mark, and behind a gzip
  /// trailer if they do not begin another member. An empty input is an error. More than `max_bytes` decoded
  /// bytes are an error, found without holding more than that (for lz4: and one block). Never throws on bad
  /// input.
  Decompressed decompress(Codec codec, ByteView in,
                          Lz4HeaderChecksum lz4_header = Lz4HeaderChecksum::verified,
                          std::size_t max_bytes = kMaxDecompressed);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

}  // namespace tk
