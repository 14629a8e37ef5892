#include "core/format/codec.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/format/codec_gzip.h"
#include "core/format/codec_lz4.h"
#include "core/format/codec_snappy.h"
#include "core/format/codec_zstd.h"

using namespace tk;

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kMiB = 1U << 20;
constexpr Codec kCodecs[] = {Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd};

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

Bytes log_text(std::size_t size) {
  std::mt19937 random(11);
  std::string text;
  while (text.size() < size) {
    text += "{\"order\":" + std::to_string(random() % 10000) + ",\"city\":\"Oslo\",\"state\":\"paid\"}\n";
  }
  text.resize(size);
  return bytes_of(text);
}

Bytes noise(std::size_t size) {
  std::mt19937 random(12);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

Bytes compressed(Compression how, ByteView in) {
  Compressor compressor;
  Bytes out;
  compressor.compress(how, in, out);
  return out;
}

Bytes copy_of(ByteView bytes) {
  return {bytes.begin(), bytes.end()};
}

bool begins(const char* text, std::string_view with) {
  return text != nullptr && std::string_view(text).find(with) == 0;
}

/// Decodes into a buffer whose capacity can be looked at.
const char* decode(Codec codec, ByteView in, std::size_t max_bytes, Buffer& out) {
  GzipDecompressor gzip;
  ZstdDecompressor zstd;
  switch (codec) {
    case Codec::gzip:
      return gzip.decompress(in, max_bytes, out);
    case Codec::snappy:
      return snappy_decompress(in, max_bytes, out);
    case Codec::lz4:
      return lz4_decompress(in, Lz4HeaderChecksum::verified, max_bytes, out);
    default:
      return zstd.decompress(in, max_bytes, out);
  }
}

/// A zstd frame of unknown size with a window of 2^(10+exponent) and `blocks` blocks that each repeat one
/// byte.
Bytes zstd_run(unsigned exponent, std::size_t blocks, std::uint32_t block_size) {
  Bytes frame = {0x28, 0xb5, 0x2f, 0xfd, 0x00, static_cast<std::uint8_t>(exponent << 3)};
  for (std::size_t block = 1; block <= blocks; ++block) {
    const std::uint32_t header = block_size << 3 | 1U << 1 | (block == blocks ? 1U : 0U);
    for (int shift = 0; shift < 24; shift += 8) frame.push_back(static_cast<std::uint8_t>(header >> shift));
    frame.push_back('r');
  }
  return frame;
}

}  // namespace

TEST_SUITE("format.codec") {
  TEST_CASE("names and levels") {
    CHECK(codec_name(Codec::zstd) == "zstd");
    CHECK(parse_codec("snappy") == Codec::snappy);
    CHECK_FALSE(parse_codec("LZ4"));
    CHECK_FALSE(parse_codec(""));

    for (const char* good : {"none", "gzip", "gzip:-1", "gzip:1", "gzip:9", "snappy", "lz4", "lz4:1",
                             "lz4:17", "zstd", "zstd:-131072", "zstd:0", "zstd:22"}) {
      CAPTURE(good);
      CHECK(parse_compression(good));
    }
    for (const char* bad : {"", ":", "gzip:", "gzip:0", "gzip:10", "gzip:-2", "snappy:1", "none:0", "lz4:0",
                            "lz4:18", "lz4:-1", "zstd:23", "zstd:-131073", "zstd:3x", "zstd: 3", "zstd:3:3",
                            "brotli", "zstd:99999999999999999999"}) {
      CAPTURE(bad);
      CHECK_FALSE(parse_compression(bad));
    }
    CHECK(parse_compression("zstd:-5")->codec == Codec::zstd);
    CHECK(parse_compression("zstd:-5")->level == -5);
    CHECK_FALSE(parse_compression("lz4")->level);
    Bytes out;
    CHECK_THROWS_AS(Compressor().compress({Codec::gzip, 0}, {}, out), Error);
    CHECK_THROWS_AS(Compressor().compress({Codec::snappy, 1}, {}, out), Error);
  }

  TEST_CASE("whatever is compressed comes back, at every size and level, with slack behind it") {
    const Bytes inputs[] = {{},
                            {'x'},
                            log_text(100 * 1000),
                            noise(100 * 1000),
                            log_text(32 * 1024),
                            log_text(64 * 1024),
                            log_text(64 * 1024 + 1),
                            Bytes(5 * 1000 * 1000, 'z'),
                            log_text(3 * kMiB)};
    Compressor compressor;
    Decompressor decompressor;
    for (const char* how : {"none", "gzip", "gzip:-1", "gzip:1", "gzip:9", "snappy", "lz4", "lz4:9", "lz4:1",
                            "lz4:17", "zstd", "zstd:-5", "zstd:1", "zstd:9"}) {
      const Compression compression = *parse_compression(how);
      for (const Bytes& in : inputs) {
        CAPTURE(how);
        CAPTURE(in.size());
        Bytes packed;
        compressor.compress(compression, in, packed);
        const Decompressed out = decompressor.decompress(compression.codec, packed);
        REQUIRE_MESSAGE(out.error == nullptr, out.error);
        REQUIRE(out.bytes.size() == in.size());
        CHECK(std::equal(in.begin(), in.end(), out.bytes.begin()));
        if (compression.codec == Codec::none) continue;
        const std::uint8_t* slack = out.bytes.data() + out.bytes.size();
        CHECK(std::all_of(slack, slack + kDecompressedSlack, [](std::uint8_t byte) { return byte == 0; }));
      }
    }
  }

  TEST_CASE("frames look as Kafka's client writes them") {
    const Bytes text = log_text(100 * 1000);
    const Bytes gzip = compressed({Codec::gzip, 1}, text);
    CHECK(Bytes(gzip.begin(), gzip.begin() + 9) == Bytes{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0});

    const Bytes snappy = compressed({Codec::snappy, {}}, text);
    // 100000 bytes are three blocks of 32 KiB and one of 1696; a block begins with its size as a varint.
    const std::uint32_t sizes[] = {32768, 32768, 32768, 1696};
    std::size_t at = 16;
    for (const std::uint32_t size : sizes) {
      std::uint32_t declared = 0;
      for (std::size_t byte = at + 4, shift = 0;; ++byte, shift += 7) {
        declared |= (snappy.at(byte) & 0x7fU) << shift;
        if (snappy.at(byte) < 0x80) break;
      }
      CHECK(declared == size);
      at += 4 + load_be<std::uint32_t>(snappy.data() + at);
    }
    CHECK(at == snappy.size());

    const Bytes lz4 = compressed({Codec::lz4, {}}, noise(100 * 1000));
    CHECK(Bytes(lz4.begin(), lz4.begin() + 7) == Bytes{0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82});
    // Noise does not shrink: two stored blocks (bit 31) of 64 KiB and the rest, then the end mark.
    CHECK(lz4.size() == 7 + 4 + 65536 + 4 + 34464 + 4);
    CHECK(load_le<std::uint32_t>(lz4.data() + 7) == (0x80000000U | 65536U));
    CHECK(load_le<std::uint32_t>(lz4.data() + 7 + 4 + 65536) == (0x80000000U | 34464U));
    // Other levels are the high-compression ones.
    CHECK(compressed({Codec::lz4, 12}, text).size() < compressed({Codec::lz4, 9}, text).size());
  }

  TEST_CASE("optional parts of foreign frames") {
    // Made with Python's lz4 and zlib: every optional header field, block and content checksums, content
    // size.
    Bytes lz4 = {0x04, 0x22, 0x4d, 0x18, 0x7c, 0x40, 0xf0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                 0x1c, 0x16, 0x00, 0x00, 0x00, 0xcf, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x2c, 0x20, 0x6c,
                 0x6f, 0x67, 0x2e, 0x20, 0x0c, 0x00, 0xcc, 0x50, 0x6c, 0x6f, 0x67, 0x2e, 0x20, 0xe3,
                 0xf2, 0xa4, 0x7e, 0x00, 0x00, 0x00, 0x00, 0x60, 0xc5, 0x6b, 0xa0};
    const Bytes gzip = {0x1f, 0x8b, 0x08, 0x1e, 0x00, 0xf1, 0x53, 0x65, 0x02, 0x03, 0x04, 0x00, 0x61, 0x62,
                        0x63, 0x64, 0x6e, 0x61, 0x6d, 0x65, 0x00, 0x63, 0x6f, 0x6d, 0x6d, 0x65, 0x6e, 0x74,
                        0x00, 0xa5, 0x42, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xd7, 0x51, 0xc8, 0xc9, 0x4f, 0xd7,
                        0x53, 0xc8, 0x18, 0x01, 0x6c, 0x00, 0x96, 0x29, 0xb7, 0x9b, 0xf0, 0x00, 0x00, 0x00};
    std::string expected;
    for (int times = 0; times < 20; ++times) expected += "hello, log. ";
    Decompressor decompressor;
    CHECK(as_text(decompressor.decompress(Codec::gzip, gzip).bytes) == expected);
    CHECK(as_text(decompressor.decompress(Codec::lz4, lz4).bytes) == expected);
    lz4.at(41) ^= 1;  // the block checksum's first byte
    CHECK(begins(decompressor.decompress(Codec::lz4, lz4).error, "lz4 block checksum"));
    lz4.at(41) ^= 1;
    lz4.back() ^= 1;
    CHECK(begins(decompressor.decompress(Codec::lz4, lz4).error, "lz4 content checksum"));
    lz4.pop_back();
    CHECK(begins(decompressor.decompress(Codec::lz4, lz4).error, "lz4"));
  }

  TEST_CASE("lz4 frames that Kafka's reader does not take") {
    Decompressor decompressor;
    const auto decode_frame = [&](unsigned flags, unsigned descriptor, std::size_t stored) {
      Bytes frame = {0x04, 0x22, 0x4d, 0x18, 0, 0, 0, 0, 0, 0, 0};
      frame[4] = static_cast<std::uint8_t>(flags);
      frame[5] = static_cast<std::uint8_t>(descriptor);
      store_le<std::uint32_t>(frame.data() + 7, static_cast<std::uint32_t>(stored | 0x80000000U));
      frame.insert(frame.end(), stored, std::uint8_t{'x'});
      frame.insert(frame.end(), 4, std::uint8_t{0});
      const Decompressed out = decompressor.decompress(Codec::lz4, frame, Lz4HeaderChecksum::ignored);
      if (out.error == nullptr) CHECK(out.bytes.size() == stored);
      return std::string_view(out.error == nullptr ? "" : out.error);
    };
    CHECK(decode_frame(0x60, 0x40, 65536).empty());
    CHECK(decode_frame(0x60, 0x40, 65537).find("lz4 block is longer") == 0);
    CHECK(decode_frame(0x60, 0x50, 65537).empty());
    CHECK(decode_frame(0x60, 0x70, 4 * kMiB).empty());
    CHECK(decode_frame(0x60, 0x70, 4 * kMiB + 1).find("lz4 block is longer") == 0);
    CHECK(decode_frame(0x40, 0x40, 5).find("lz4 frame has linked blocks") == 0);
    for (const unsigned flags : {0x61, 0x62})
      CHECK(decode_frame(flags, 0x40, 5).find("lz4 frame header") == 0);
    for (const unsigned flags : {0x20, 0xa0, 0xe0})
      CHECK(decode_frame(flags, 0x40, 5).find("lz4 frame ver") == 0);
    for (const unsigned descriptor : {0x00, 0x30, 0x41, 0x48, 0xc0}) {
      CAPTURE(descriptor);
      CHECK(decode_frame(0x60, descriptor, 5).find("lz4 frame block size") == 0);
    }
  }

  TEST_CASE("several gzip members, and what is behind the last") {
    Bytes members = compressed({Codec::gzip, {}}, as_bytes("one "));
    const Bytes rest = compressed({Codec::gzip, {}}, log_text(100 * 1000));
    members.insert(members.end(), rest.begin(), rest.end());
    const Bytes empty = compressed({Codec::gzip, {}}, {});
    members.insert(members.end(), empty.begin(), empty.end());
    members.insert(members.end(), 40, std::uint8_t{0xaa});
    Bytes expected = bytes_of("one ");
    const Bytes text = log_text(100 * 1000);
    expected.insert(expected.end(), text.begin(), text.end());
    Decompressor decompressor;
    CHECK(copy_of(decompressor.decompress(Codec::gzip, members).bytes) == expected);
    // A member that begins must be whole.
    members.resize(members.size() - 40 - empty.size() - 5);
    CHECK(begins(decompressor.decompress(Codec::gzip, members).error, "gzip"));
  }

  TEST_CASE("zstd windows beyond any memory cost none") {
    Buffer out;
    // Window 2^31, 300 bytes of content.
    REQUIRE(decode(Codec::zstd, zstd_run(21, 3, 100), kMaxDecompressed, out) == nullptr);
    CHECK(copy_of(out.view()) == Bytes(300, 'r'));
    CHECK(out.capacity() < kMiB);
    Buffer long_run;
    REQUIRE(decode(Codec::zstd, zstd_run(11, 64, 128 << 10), kMaxDecompressed, long_run) == nullptr);
    CHECK(copy_of(long_run.view()) == Bytes(8 * kMiB, 'r'));
    Decompressor decompressor;
    // A legacy magic (zstd 0.7) and a frame that wants a dictionary.
    CHECK(decompressor.decompress(Codec::zstd, Bytes{0x27, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0, 0}).error !=
          nullptr);
    CHECK(
        decompressor.decompress(Codec::zstd, Bytes{0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 1, 9, 0, 0, 'x'}).error !=
        nullptr);
  }

  TEST_CASE("an empty payload and an unknown codec are errors") {
    Decompressor decompressor;
    for (const Codec codec : kCodecs)
      CHECK(begins(decompressor.decompress(codec, {}).error, codec_name(codec)));
    CHECK(decompressor.decompress(static_cast<Codec>(7), noise(100)).error != nullptr);
  }

  TEST_CASE("more than the limit is refused and costs no more memory than it") {
    const Bytes zeros(64 * kMiB, 0);
    for (const Codec codec : kCodecs) {
      CAPTURE(codec_name(codec));
      const Bytes bomb = compressed({codec, {}}, zeros);
      Buffer out;
      const char* error = decode(codec, bomb, kMiB, out);
      CHECK(begins(error, codec_name(codec)));
      CHECK(std::string_view(error).find("larger than the limit") != std::string_view::npos);
      CHECK(out.capacity() <= 2 * kMiB);
      Buffer exact;
      CHECK(decode(codec, bomb, zeros.size(), exact) == nullptr);
      Buffer short_of_one;
      CHECK(decode(codec, bomb, zeros.size() - 1, short_of_one) != nullptr);
    }
    Buffer out;
    const char* error = decode(Codec::zstd, zstd_run(11, 1000, 128 << 10), kMiB, out);
    CHECK(begins(error, "zstd data is larger than the limit"));
    CHECK(out.capacity() <= 2 * kMiB);
  }

  TEST_CASE("a size that is only declared costs no memory") {
    // zstd: single segment, four bytes of size (200 MiB), one empty raw block.
    const Bytes zstd = {0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0x00, 0x00, 0x80, 0x0c, 0x01, 0x00, 0x00};
    // snappy: 200 MiB as a varint, one literal byte.
    const Bytes snappy = {0x80, 0x80, 0x80, 0x64, 0x00, 'x'};
    const Bytes snappy_4_gib = {0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 'x'};
    Bytes gzip = compressed({Codec::gzip, {}}, as_bytes("hello"));
    std::fill(gzip.end() - 4, gzip.end(), std::uint8_t{0x0c});
    // lz4: blocks of 4 MiB, one that holds a literal.
    const Bytes lz4 = {0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73, 0x02, 0, 0, 0, 0x10, 'x', 0, 0, 0, 0};
    struct Case {
      Codec codec;
      Bytes bytes;
    };
    for (const Case& one : {Case{Codec::zstd, zstd}, Case{Codec::snappy, snappy},
                            Case{Codec::snappy, snappy_4_gib}, Case{Codec::gzip, gzip}}) {
      CAPTURE(codec_name(one.codec));
      Buffer out;
      CHECK(decode(one.codec, one.bytes, kMaxDecompressed, out) != nullptr);
      CHECK(out.capacity() <= 8 << 10);
    }
    Buffer out;
    CHECK(decode(Codec::lz4, lz4, kMaxDecompressed, out) == nullptr);
    CHECK(as_text(out.view()) == "x");
    CHECK(out.capacity() < 64 << 10);
  }

  TEST_CASE("a payload that is cut anywhere is refused") {
    const Bytes text = log_text(700);
    Decompressor decompressor;
    for (const Codec codec : {Codec::gzip, Codec::lz4, Codec::zstd}) {
      const Bytes whole = compressed({codec, {}}, text);
      for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(codec_name(codec));
        CAPTURE(size);
        CHECK(decompressor.decompress(codec, ByteView(whole).first(size)).error != nullptr);
      }
    }
    // A snappy stream has no end of its own: a cut between chunks is a shorter stream.
    const Bytes whole = compressed({Codec::snappy, {}}, text);
    for (std::size_t size = 20; size < whole.size(); ++size) {
      CHECK(decompressor.decompress(Codec::snappy, ByteView(whole).first(size)).error != nullptr);
    }
  }

  TEST_CASE("snappy streams whose lengths lie") {
    const Bytes good = compressed({Codec::snappy, {}}, as_bytes("hello"));
    Decompressor decompressor;
    for (const std::uint32_t length : {0U, 0x80000000U, 0xffffffffU, 0x7fffffffU, 0x82534e41U, 8U}) {
      Bytes bad = good;
      store_be<std::uint32_t>(bad.data() + 16, length);
      CAPTURE(length);
      CHECK(begins(decompressor.decompress(Codec::snappy, bad).error, "snappy"));
    }
    Bytes many = good;
    for (int times = 0; times < 3; ++times) many.insert(many.end(), good.begin(), good.end());
    CHECK(as_text(decompressor.decompress(Codec::snappy, many).bytes) == "hellohellohellohello");
  }

  TEST_CASE("random damage never does worse than an error") {
    std::mt19937 random(13);
    Decompressor decompressor;
    for (const Codec codec : kCodecs) {
      CAPTURE(codec_name(codec));
      const Bytes text = log_text(3000);
      const Bytes whole = compressed({codec, {}}, text);
      int refused = 0;
      for (int round = 0; round < 4000; ++round) {
        Bytes bytes = whole;
        for (auto edits = 1 + random() % 3; edits > 0; --edits) {
          // Headers are short and hold the lengths: half of the edits go there.
          const std::size_t reach =
              random() % 2 == 0 ? std::min<std::size_t>(bytes.size(), 24) : bytes.size();
          const std::size_t at = random() % reach;
          const auto value = static_cast<std::uint8_t>(random());
          switch (random() % 4) {
            case 0:
              bytes[at] = value;
              break;
            case 1:
              bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 1U << random() % 8);
              break;
            case 2:
              bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), value);
              break;
            default:
              bytes.resize(std::max<std::size_t>(at, 1));
          }
        }
        const Decompressed out = decompressor.decompress(codec, bytes, Lz4HeaderChecksum::ignored, 10000);
        CHECK(out.bytes.size() <= 10000);
        if (out.error != nullptr) ++refused;
        // gzip has a checksum over everything that counts.
        if (codec == Codec::gzip && out.error == nullptr) CHECK(copy_of(out.bytes) == text);
      }
      CHECK(refused > 1000);
      CHECK(copy_of(decompressor.decompress(codec, whole).bytes) == text);
    }
  }
}
