// One codec (TK_FUZZ_CODEC) on a payload and on plain bytes. Decoding keeps to its limit exactly, a used
// context decodes like a fresh one, and what was compressed comes back.
#include "core/format/codec.h"

#include <algorithm>

#include "tests/fuzz/fuzz.h"

namespace tk::fuzz {
namespace {

constexpr auto kCodec = static_cast<Codec>(TK_FUZZ_CODEC);
constexpr std::size_t kLimit = 1U << 20;

bool same(ByteView a, ByteView b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

void check_payload(Decompressor& used, ByteView payload, Lz4HeaderChecksum header) {
  const Decompressed first = used.decompress(kCodec, payload, header, kLimit);
  require(first.bytes.size() <= kLimit, "no more than the limit is decoded");
  const std::vector<std::uint8_t> content(first.bytes.begin(), first.bytes.end());
  if (first.error != nullptr && content.empty()) return;
  const std::uint8_t* const end = first.bytes.data() + first.bytes.size();
  if (!content.empty()) {
    require(std::all_of(end, end + kDecompressedSlack, [](std::uint8_t b) { return b == 0; }),
            "zeros lie behind what was decoded");
  }
  Decompressor fresh;
  const Decompressed exact = fresh.decompress(kCodec, payload, header, content.size());
  require((exact.error == nullptr) == (first.error == nullptr), "the size itself is enough of a limit");
  require(same(exact.bytes, content), "a fresh context decodes the same");
  if (content.empty()) return;
  const Decompressed short_of = used.decompress(kCodec, payload, header, content.size() - 1);
  require(short_of.error != nullptr, "one byte less is too little");
}

void check_round_trip(Decompressor& decompressor, int level, ByteView plain) {
  static Compressor compressor;
  Compression how{kCodec, {}};
  if (codec_takes_level(kCodec, level)) how.level = level;
  std::vector<std::uint8_t> packed{1, 2, 3};
  compressor.compress(how, plain, packed);
  require(packed.size() > 3 && packed[0] == 1 && packed[2] == 3, "compressing appends");
  const Decompressed back = decompressor.decompress(kCodec, ByteView(packed).subspan(3));
  require(back.error == nullptr && same(back.bytes, plain), "what was compressed comes back");
  std::vector<std::uint8_t> again{1, 2, 3};
  compressor.compress(how, plain, again);
  require(again == packed, "compressing is repeatable");
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  static Decompressor decompressor;
  fuzz::Input input(data, size);
  const std::uint8_t settings = input.byte();
  const auto header = (settings & 1) != 0 ? Lz4HeaderChecksum::ignored : Lz4HeaderChecksum::verified;
  fuzz::check_payload(decompressor, input.rest(), header);
  fuzz::check_round_trip(decompressor, settings >> 4, input.rest());
  return 0;
}
