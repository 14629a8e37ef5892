// zstd frames (kafka-on-disk.md §4.5). Internal to the codecs; codec.h is the interface.
#pragma once

#include <memory>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/bytes.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace tk {

class ZstdCompressor {
 public:
  /// Appends one frame with its content size to `out`; `level` is -131072 to 22. `scratch` is overwritten.
  void compress(int level, ByteView in, Buffer& scratch, std::vector<std::uint8_t>& out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

class ZstdDecompressor {
 public:
  /// Appends the content of all frames to `out`, which is empty before and holds at most `max_bytes` after.
  /// Null if it went well, else what is wrong.
  ///
  /// Frames are decoded whole into `out`, which thereby is the window: no window size needs refusing, and
  /// none costs memory beyond the content.
  const char* decompress(ByteView in, std::size_t max_bytes, Buffer& out);

 private:
  const char* decompress_frame(ByteView frame, std::size_t max_bytes, Buffer& out);

  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace tk
