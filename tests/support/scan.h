// Scans of bytes in memory, with what a scan found in a form that tests compare.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/log/unit_walk.h"
#include "tests/support/bytes.h"

namespace tk::test {

/// Bytes as a file that can only be read. Counts what is read.
class BytesFile final : public File {
 public:
  explicit BytesFile(Bytes bytes) : bytes_(std::move(bytes)) {}
  std::size_t read_at(std::uint64_t position, MutableBytes to) override {
    if (position >= bytes_.size()) return 0;
    const std::size_t size = std::min<std::size_t>(to.size(), bytes_.size() - position);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(position), size, to.begin());
    bytes_read += size;
    return size;
  }
  void write_at(std::uint64_t, ByteView) override { FAIL("a scan writes"); }
  void truncate(std::uint64_t) override { FAIL("a scan truncates"); }
  void sync() override { FAIL("a scan syncs"); }
  [[nodiscard]] FileStat stat() override { return {.size = bytes_.size(), .is_regular = true}; }
  [[nodiscard]] const std::string& path() const override { return path_; }

  std::uint64_t bytes_read = 0;

 private:
  Bytes bytes_;
  std::string path_ = "bytes";
};

struct FoundUnit {
  std::uint64_t position = 0;
  Bytes bytes;
  friend bool operator==(const FoundUnit&, const FoundUnit&) = default;
};

struct FoundFault {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  Fault fault;
  friend bool operator==(const FoundFault& a, const FoundFault& b) {
    return a.position == b.position && a.size == b.size && a.fault.kind == b.fault.kind;
  }
};

struct Scanned {
  std::vector<FoundUnit> good;
  std::vector<FoundFault> damage;
  std::optional<FoundFault> tail;
  std::uint64_t bytes_read = 0;

  /// The ranges that are not good units, merged: "69+69 207+10".
  [[nodiscard]] std::string holes(std::uint64_t begin, std::uint64_t end) const {
    std::string text;
    std::uint64_t at = begin;
    const auto hole = [&](std::uint64_t to) {
      if (to > at) text += (text.empty() ? "" : " ") + std::to_string(at) + "+" + std::to_string(to - at);
    };
    for (const FoundUnit& unit : good) {
      hole(unit.position);
      at = unit.position + unit.bytes.size();
    }
    hole(end);
    return text;
  }
};

constexpr std::size_t kSmallChunk = 200;

/// Scans with sums, and checks on the way that what is found tiles the range and that good offsets rise. With
/// `ahead` two of three chunks are read ahead, some of them too early or too late to be of use.
inline Scanned scan_once(const Bytes& bytes, const ScanRange& range, std::size_t chunk_bytes, bool ahead) {
  Scanned result;
  const auto file = std::make_shared<BytesFile>(bytes);
  const auto reader =
      ahead ? std::make_shared<ReadAhead>(file, range.end, chunk_bytes, chunk_bytes / 3 + 1) : nullptr;
  SegmentScanner scanner(*file, range, chunk_bytes, reader);
  ScanChunk chunk;
  int turn = 0;
  std::uint64_t at = range.position;
  bool tiled = true, rises = true;
  std::optional<Offset> last;
  const auto cover = [&](std::uint64_t position, std::uint64_t size) {
    tiled &= position == at && size > 0;
    at = position + size;
  };
  const auto next = [&] {
    if (reader && turn++ % 3 > 0) reader->read(chunk.bytes, chunk.ahead);
    if (reader && turn % 5 == 4) reader->read(chunk.bytes, chunk.ahead);
    return scanner.next(chunk);
  };
  while (next()) {
    for (const Stretch& stretch : chunk.stretches) {
      if (stretch.kind == StretchKind::damage) {
        result.damage.push_back({stretch.position, stretch.size, stretch.fault});
        cover(stretch.position, stretch.size);
      } else if (stretch.kind == StretchKind::tail) {
        CHECK_FALSE(result.tail);
        result.tail = FoundFault{stretch.position, stretch.size, stretch.fault};
        cover(stretch.position, stretch.size);
      } else {
        walk_units(
            chunk, stretch,
            [&](ByteView unit, UnitKind, std::uint64_t position) {
              result.good.push_back({position, Bytes(unit.begin(), unit.end())});
              const Offset offset(load_be<std::int64_t>(unit.data()));
              rises &= !last || offset > *last;
              last = offset;
              cover(position, unit.size());
            },
            [&](std::uint64_t position, std::uint64_t size, const Fault& fault, ByteView) {
              result.damage.push_back({position, size, fault});
              cover(position, size);
            });
      }
    }
  }
  if (!tiled || at != range.end) FAIL_CHECK("what was found does not tile the file");
  if (!rises) FAIL_CHECK("offsets do not rise");
  result.bytes_read = file->bytes_read;
  return result;
}

/// The same, once read in order and once read ahead: what is found must not depend on it.
inline Scanned scan_bytes(const Bytes& bytes, ScanRange range, std::size_t chunk_bytes) {
  if (range.end == 0) range.end = bytes.size();
  Scanned in_order = scan_once(bytes, range, chunk_bytes, false);
  const Scanned ahead = scan_once(bytes, range, chunk_bytes, true);
  if (in_order.good != ahead.good) FAIL_CHECK("other units are found when bytes are read ahead");
  return in_order;
}

inline Scanned scan_bytes(const Bytes& bytes, std::int64_t base = 0,
                          std::size_t chunk_bytes = SegmentScanner::kDefaultChunk) {
  ScanRange range;
  range.segment_base = Offset(base);
  range.after = Offset(base - 1);
  return scan_bytes(bytes, range, chunk_bytes);
}

}  // namespace tk::test
