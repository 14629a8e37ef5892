// snappy (kafka-on-disk.md §4.3): raw blocks, and the framing of Java's library ("xerial"). Internal to the
// codecs; codec.h is the interface.
#pragma once

#include <vector>

#include "core/base/buffer.h"
#include "core/base/bytes.h"

namespace tk {

/// Appends the xerial framing of `in` in blocks of 32 KiB to `out`. `scratch` is overwritten.
void snappy_compress(ByteView in, Buffer& scratch, std::vector<std::uint8_t>& out);

/// Appends the content of xerial streams or of one raw block to `out`, which is empty before and holds at
/// most `max_bytes` after. Null if it went well, else what is wrong. Snappy has no checksum: damage may go
/// unnoticed here.
const char* snappy_decompress(ByteView in, std::size_t max_bytes, Buffer& out);

}  // namespace tk
