// gzip (kafka-on-disk.md §4.2) by libdeflate. Internal to the codecs; codec.h is the interface.
#pragma once

#include <memory>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/bytes.h"

struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace tk {

class GzipCompressor {
 public:
  /// Appends one member to `out`; `level` is -1 (6) or 1 to 9. `scratch` is overwritten.
  void compress(int level, ByteView in, Buffer& scratch, std::vector<std::uint8_t>& out);

 private:
  struct Free {
    void operator()(libdeflate_compressor* context) const;
  };
  std::unique_ptr<libdeflate_compressor, Free> context_;
  int level_ = 0;
};

class GzipDecompressor {
 public:
  /// Appends the content of all members to `out`, which is empty before and holds at most `max_bytes` after.
  /// Null if it went well, else what is wrong.
  const char* decompress(ByteView in, std::size_t max_bytes, Buffer& out);

 private:
  const char* decompress_member(ByteView in, std::size_t max_bytes, Buffer& out, std::size_t& taken);

  struct Free {
    void operator()(libdeflate_decompressor* context) const;
  };
  std::unique_ptr<libdeflate_decompressor, Free> context_;
};

}  // namespace tk
