// lz4 frames (kafka-on-disk.md §4.4): the frame is read and written here, liblz4 does the blocks. Its own
// frame functions would accept what Kafka refuses and refuse what Kafka accepts. Internal to the codecs;
// codec.h is the interface.
#pragma once

#include <memory>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/bytes.h"
#include "core/format/codec.h"

namespace tk {

/// Kafka's default level; it stands for the fast compressor, every other one for the high-compression one.
inline constexpr int kLz4FastLevel = 9;

class Lz4Compressor {
 public:
  /// Appends one frame to `out`; `level` is 1 to 17. `scratch` is overwritten.
  void compress(int level, ByteView in, Buffer& scratch, std::vector<std::uint8_t>& out);

 private:
  std::unique_ptr<char[]> fast_state_;
  std::unique_ptr<char[]> high_state_;
};

/// What lz4_decompress returns, this very pointer, where the whole frame was decoded but its content checksum
/// is wrong.
inline constexpr const char kLz4ContentMismatch[] = "lz4 content checksum does not match";

/// Appends the content of the first frame to `out`, which is empty before and holds at most `max_bytes`
/// after. Null if it went well, else what is wrong.
const char* lz4_decompress(ByteView in, Lz4HeaderChecksum header_checksum, std::size_t max_bytes,
                           Buffer& out);

}  // namespace tk
