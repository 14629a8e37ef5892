// A compressed payload: the first byte names the codec.
#include "core/format/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  if (size == 0) return 0;
  static Decompressor decompressor;
  const auto codec = static_cast<Codec>(1 + data[0] % 4);
  const auto header = (data[0] & 0x80) != 0 ? Lz4HeaderChecksum::ignored : Lz4HeaderChecksum::verified;
  constexpr std::size_t kLimit = 1U << 20;
  const Decompressed out = decompressor.decompress(codec, {data + 1, size - 1}, header, kLimit);
  if (out.bytes.size() > kLimit + (4U << 20)) __builtin_trap();
  return 0;
}
