// Batches that Kafka's own writers made and its own reader judged: what the codecs must take and what they
// must refuse.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/format/codec.h"

using namespace tk;
using nlohmann::json;

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kMagicAt = 16;
constexpr std::size_t kBatchHeaderBytes = 61;

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16)));
  }
  return bytes;
}

/// The compressed part of a batch, or the value of a legacy wrapper (null key).
struct Payload {
  Codec codec = Codec::none;
  Lz4HeaderChecksum lz4_header = Lz4HeaderChecksum::verified;
  Bytes bytes;
};

Payload payload_of(const Bytes& unit) {
  Payload payload;
  const int magic = unit.at(kMagicAt);
  const auto codec_at = magic == 2 ? std::size_t{22} : std::size_t{17};
  payload.codec = static_cast<Codec>(unit.at(codec_at) & 7);
  if (magic == 0) payload.lz4_header = Lz4HeaderChecksum::ignored;
  // Offset, size, CRC, magic, attributes, (magic 1) timestamp, key length, value length.
  const std::size_t skip = magic == 2 ? kBatchHeaderBytes : magic == 1 ? 34U : 26U;
  payload.bytes.assign(unit.begin() + static_cast<std::ptrdiff_t>(skip), unit.end());
  return payload;
}

Decompressed decode(Decompressor& decompressor, const Payload& payload) {
  return decompressor.decompress(payload.codec, payload.bytes, payload.lz4_header);
}

Bytes from_base64(const std::string& text) {
  static const std::string kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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

void put_varint(Bytes& to, std::int64_t number) {
  auto zigzag = static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
  for (; zigzag > 0x7f; zigzag >>= 7) to.push_back(static_cast<std::uint8_t>(zigzag | 0x80));
  to.push_back(static_cast<std::uint8_t>(zigzag));
}

void put_field(Bytes& to, const json& base64) {
  if (base64.is_null()) return put_varint(to, -1);
  const Bytes bytes = from_base64(base64.get<std::string>());
  put_varint(to, static_cast<std::int64_t>(bytes.size()));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// The records of a vector in the layout of §2.3.
Bytes encode_records(const json& vector) {
  Bytes all;
  for (const json& record : vector["records"]) {
    Bytes body = {0};
    put_varint(body, record["ts"].get<std::int64_t>() - vector["batch"]["base_ts"].get<std::int64_t>());
    put_varint(body,
               record["offset"].get<std::int64_t>() - vector["batch"]["base_offset"].get<std::int64_t>());
    put_field(body, record["key_b64"]);
    put_field(body, record["value_b64"]);
    put_varint(body, static_cast<std::int64_t>(record["headers"].size()));
    for (const json& header : record["headers"]) {
      const auto name = header[0].get<std::string>();
      put_varint(body, static_cast<std::int64_t>(name.size()));
      body.insert(body.end(), name.begin(), name.end());
      put_field(body, header[1]);
    }
    put_varint(all, static_cast<std::int64_t>(body.size()));
    all.insert(all.end(), body.begin(), body.end());
  }
  return all;
}

template <class Visit>
void for_each_vector(Visit visit) {
  std::ifstream in(TK_FIXTURES "/vectors/batches.ndjson");
  REQUIRE(in);
  for (std::string line; std::getline(in, line);) visit(json::parse(line));
}

/// Entries of a legacy message set if their sizes chain exactly, else -1.
int count_entries(ByteView set) {
  ByteReader in(set);
  int entries = 0;
  while (in.remaining() > 0) {
    in.be<std::int64_t>();
    in.take(static_cast<std::size_t>(in.be<std::uint32_t>()));
    if (!in.ok()) return -1;
    ++entries;
  }
  return entries;
}

}  // namespace

TEST_SUITE("format.codec") {
  TEST_CASE("every compressed batch that Kafka reads decodes to its records") {
    Decompressor decompressor;
    int exact = 0;
    for_each_vector([&](const json& vector) {
      if (vector["magic"] != 2 || !vector["error"].is_null() || !vector.contains("batch")) return;
      const Bytes unit = from_hex(vector["hex"].get<std::string>());
      if (unit.size() <= kBatchHeaderBytes) return;
      const Payload payload = payload_of(unit);
      if (payload.codec == Codec::none || payload.codec > Codec::zstd) return;
      const auto name = vector["name"].get<std::string>();
      CAPTURE(name);
      const Decompressed out = decode(decompressor, payload);
      // Kafka does not look at this checksum (R44); it is wrong.
      if (name == "odd-lz4-content-checksum-flag-wrong-checksum-crcfixed") {
        REQUIRE(out.error != nullptr);
        CHECK(std::string_view(out.error).find("lz4 content checksum") == 0);
        return;
      }
      REQUIRE_MESSAGE(out.error == nullptr, out.error);
      // Elsewhere the record timestamps do not follow from the stored ones.
      if (vector["batch"]["ts_type"] != "CreateTime" || !vector["batch"]["delete_horizon_ms"].is_null())
        return;
      CHECK(Bytes(out.bytes.begin(), out.bytes.end()) == encode_records(vector));
      ++exact;
    });
    CHECK(exact >= 50);
  }

  TEST_CASE("every legacy wrapper that Kafka reads decodes to its message set") {
    Decompressor decompressor;
    int wrappers = 0;
    for_each_vector([&](const json& vector) {
      const auto name = vector["name"].get<std::string>();
      if (vector["magic"] == 2 || !vector["error"].is_null() || vector.contains("batches")) return;
      const Bytes unit = from_hex(vector["hex"].get<std::string>());
      const Payload payload = payload_of(unit);
      if (payload.codec == Codec::none || name.find("torn-inner") != std::string::npos) return;
      CAPTURE(name);
      const Decompressed out = decode(decompressor, payload);
      REQUIRE_MESSAGE(out.error == nullptr, out.error);
      CHECK(count_entries(out.bytes) == static_cast<int>(vector["records"].size()));
      ++wrappers;
    });
    CHECK(wrappers >= 20);
  }

  TEST_CASE("what Kafka's codecs refuse is refused, with the codec named") {
    std::set<std::string> due = {
        "bad-gzip-payload-garbage-crcfixed",
        "bad-gzip-trailer-crc-crcfixed",
        "bad-gzip-isize-crcfixed",
        "bad-gzip-cut-crcfixed",
        "bad-snappy-payload-garbage-crcfixed",
        "bad-snappy-xerial-chunk-past-end-crcfixed",
        "bad-lz4-payload-garbage-crcfixed",
        "bad-lz4-header-checksum-crcfixed",
        "bad-lz4-magic-0-header-checksum-in-magic-2-crcfixed",
        "bad-lz4-linked-blocks-flag-crcfixed",
        "bad-lz4-cut-end-mark-crcfixed",
        "bad-client-samsa-lz4-block-with-size-prefix",
        "bad-zstd-payload-garbage-crcfixed",
        "bad-zstd-cut-crcfixed",
        "bad-zstd-bytes-after-crcfixed",
        "bad-zstd-checksum-wrong-crcfixed",
        "bad-m1-gzip-flag-on-plain-value-crcfixed",
    };
    Decompressor decompressor;
    for_each_vector([&](const json& vector) {
      const auto name = vector["name"].get<std::string>();
      if (due.erase(name) == 0) return;
      CAPTURE(name);
      const Payload payload = payload_of(from_hex(vector["hex"].get<std::string>()));
      const Decompressed out = decode(decompressor, payload);
      REQUIRE(out.error != nullptr);
      CHECK(std::string_view(out.error).find(codec_name(payload.codec)) == 0);
      CHECK(out.bytes.empty());
    });
    CHECK(due.empty());
  }

  TEST_CASE("a second lz4 frame is not read, as Kafka does not") {
    Decompressor decompressor;
    int seen = 0;
    for_each_vector([&](const json& vector) {
      if (vector["name"] != "bad-lz4-two-frames-crcfixed") return;
      const Decompressed out = decode(decompressor, payload_of(from_hex(vector["hex"].get<std::string>())));
      REQUIRE(out.error == nullptr);
      // Its first frame holds one stored block of ten bytes, the beginning of the first record.
      CHECK(Bytes(out.bytes.begin(), out.bytes.end()) == from_hex("380000000e6b65792d31"));
      ++seen;
    });
    CHECK(seen == 1);
  }

  TEST_CASE("framings found in the field, R43 R44 R46") {
    struct Case {
      const char* name;
      const char* hex;  // from the codec's first byte
      Codec codec;
      Lz4HeaderChecksum lz4_header;
      const char* content;  // null: refused
    };
    const char* record = "16000000010a68656c6c6f00";
    const char* message = "00000000000000000000001387a77ab20000ffffffff0000000568656c6c6f";
    const auto verified = Lz4HeaderChecksum::verified;
    const auto ignored = Lz4HeaderChecksum::ignored;
    const Case cases[] = {
        {"S1 raw", "0c2c16000000010a68656c6c6f00", Codec::snappy, verified, record},
        {"S2 xerial", "82534e415050590000000001000000010000000e0c2c16000000010a68656c6c6f00", Codec::snappy,
         verified, record},
        {"S3 little-endian versions", "82534e415050590001000000010000000000000e0c2c16000000010a68656c6c6f00",
         Codec::snappy, verified, record},
        {"S4 two chunks", "82534e4150505900000000010000000100000008061416000000010a00000008061468656c6c6f00",
         Codec::snappy, verified, record},
        {"L1 magic 0, historic checksum",
         "04224d1860401a1f00008000000000000000000000001387a77ab20000ffffffff0000000568656c6c6f00000000",
         Codec::lz4, ignored, message},
        {"L2 magic 0, right checksum",
         "04224d186040821f00008000000000000000000000001387a77ab20000ffffffff0000000568656c6c6f00000000",
         Codec::lz4, ignored, message},
        {"L3", "04224d186040820c00008016000000010a68656c6c6f0000000000", Codec::lz4, verified, record},
        {"L4 wrong content checksum", "04224d186440a70c00008016000000010a68656c6c6f0000000000157701a6",
         Codec::lz4, verified, nullptr},
        {"L5 historic checksum in magic 2", "04224d1860401a0c00008016000000010a68656c6c6f0000000000",
         Codec::lz4, verified, nullptr},
    };
    Decompressor decompressor;
    for (const Case& one : cases) {
      CAPTURE(one.name);
      const Decompressed out = decompressor.decompress(one.codec, from_hex(one.hex), one.lz4_header);
      CHECK((out.error == nullptr) == (one.content != nullptr));
      if (one.content != nullptr) CHECK(Bytes(out.bytes.begin(), out.bytes.end()) == from_hex(one.content));
    }
  }

  TEST_CASE("the worked payloads of §17.9 are written byte for byte") {
    const Bytes records = from_hex("14000000046b310476310014000a02046b3204763200");
    Compressor compressor;
    Bytes out = {0xee};
    compressor.compress({Codec::snappy, {}}, records, out);
    CHECK(out ==
          from_hex(
              "ee82534e4150505900000000010000000100000018165414000000046b310476310014000a02046b3204763200"));
    out.clear();
    compressor.compress({Codec::lz4, {}}, records, out);
    CHECK(out == from_hex("04224d186040821600008014000000046b310476310014000a02046b320476320000000000"));
  }
}
