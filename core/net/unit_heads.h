// Steps from unit to unit of a segment by their heads alone, reading many at once.
#pragma once

#include <optional>

#include "core/base/buffer.h"
#include "core/format/batch.h"
#include "core/io/file_system.h"

namespace tk::net {

/// A unit as its head describes it; the checksum is not looked at.
struct UnitHead {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  UnitKind kind = UnitKind::batch;
  Offset base;
  Offset last;
};

class UnitHeads {
 public:
  /// Looks at [position, end) of the file. `window`: bytes that are read at once.
  UnitHeads(File& file, std::uint64_t position, std::uint64_t end, std::size_t window = 64U << 10)
      : file_(file), position_(position), end_(end), window_(window) {}

  /// The next one; nothing at the end, or where no whole unit begins.
  std::optional<UnitHead> next();

 private:
  File& file_;
  std::uint64_t position_;
  std::uint64_t end_;
  std::size_t window_;
  Buffer bytes_;
  std::uint64_t bytes_at_ = 0;
};

/// The head in `bytes`, which begin at `position` of a file that has `remaining` bytes from there.
std::optional<UnitHead> read_unit_head(ByteView bytes, std::uint64_t position, std::uint64_t remaining);

/// Bytes that a head needs.
inline constexpr std::size_t kUnitHead = kBatchHeader;

}  // namespace tk::net
