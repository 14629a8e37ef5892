#include "core/log/cut.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/buffer.h"

namespace tk {
namespace {

constexpr std::size_t kPiece = 1U << 20;

/// Fewer zeros than this at the end of a range may be data; more are unwritten blocks.
constexpr std::uint64_t kHole = 512;

/// The end of the last byte in [from, to) that is not zero; `from` if there is none.
std::uint64_t end_without_zeros(File& file, std::uint64_t from, std::uint64_t to) {
  Buffer piece;
  while (to > from) {
    const std::uint64_t start = to - std::min<std::uint64_t>(kPiece, to - from);
    piece.resize(static_cast<std::size_t>(to - start));
    piece.cut(file.read_at(start, {piece.data(), piece.size()}));
    for (std::size_t i = piece.size(); i > 0; --i) {
      if (piece.data()[i - 1] != 0) return start + i;
    }
    to = start;
  }
  return from;
}

std::string free_name(FileSystem& fs, const std::string& wanted) {
  std::string name = wanted;
  for (int i = 2; fs.stat(name); ++i) name = fmt::format("{}.{}", wanted, i);
  return name;
}

}  // namespace

std::string save_cut(FileSystem& fs, const SegmentFile& segment, std::uint64_t from, std::uint64_t to) {
  const auto source = fs.open(segment.log_path, OpenMode::read);
  std::uint64_t end = end_without_zeros(*source, from, to);
  if (to - end < kHole && end != from) end = to;
  if (end == from) return {};
  const std::string path = free_name(fs, fmt::format("{}-{}", segment.beside(".log.cut"), from));
  const auto copy = fs.open(path, OpenMode::create_new);
  Buffer piece;
  for (std::uint64_t at = from; at < end;) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, end - at)));
    piece.cut(source->read_at(at, {piece.data(), piece.size()}));
    if (piece.empty()) break;
    copy->write_at(at - from, piece.view());
    at += piece.size();
  }
  copy->sync();
  fs.sync_directory(parent_path(path));
  return path;
}

}  // namespace tk
