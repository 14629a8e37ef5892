#include "core/log/recovery_point.h"

#include <algorithm>

#include "core/log/segment_names.h"

namespace tk {
namespace {

/// Disks and file systems write whole multiples of this.
constexpr std::uint64_t kBlock = 512;
/// A record's offset: fewer zeros than this at the start of a unit may be the high bytes of one.
constexpr std::uint64_t kLeastHole = 8;

/// Calls `look(const Entry&)` for the first `count` entries of an index until it says false.
template <class Entry, class Look>
void read_entries(FileSystem& fs, const std::string& path, Offset base, std::size_t count, Look look) {
  constexpr std::size_t at_once = 8192;
  const auto file = fs.open(path, OpenMode::read);
  Buffer block;
  for (std::size_t first = 0; first < count; first += at_once) {
    block.resize(std::min(at_once, count - first) * Entry::kSize);
    block.cut(file->read_at(first * Entry::kSize, {block.data(), block.size()}));
    for (std::size_t at = 0; at + Entry::kSize <= block.size(); at += Entry::kSize) {
      if (!look(Entry::decode(block.data() + at, base))) return;
    }
  }
}

/// The last of the first `count` entries; nothing if offsets and positions do not rise strictly up to it.
std::optional<OffsetIndexEntry> last_in_order(FileSystem& fs, const SegmentFile& segment, std::size_t count) {
  OffsetIndexEntry before{segment.base - 1, 0};
  std::size_t seen = 0;
  read_entries<OffsetIndexEntry>(fs, segment.beside(kIndexSuffix), segment.base, count,
                                 [&](const OffsetIndexEntry& entry) {
                                   if (entry.offset <= before.offset || entry.position <= before.position)
                                     return false;
                                   before = entry;
                                   ++seen;
                                   return true;
                                 });
  return seen == count ? std::optional(before) : std::nullopt;
}

/// Takes in the time entries up to `last`; false if times or offsets do not rise, or the file cannot be read.
bool times_in_order(FileSystem& fs, const SegmentFile& segment, Offset last, RecoveryPoint& point) {
  const std::string path = segment.beside(kTimeIndexSuffix);
  const TimeIndexFile file(fs, path, segment.base);
  if (!file.is_open()) return false;
  TimeIndexEntry before{kNoTimestamp, segment.base - 1};
  bool in_order = true;
  read_entries<TimeIndexEntry>(fs, path, segment.base, file.count(), [&](const TimeIndexEntry& entry) {
    // Behind them may be the final entry of a clean end, which comes again at the next.
    if (entry.offset > last) return false;
    in_order = entry.timestamp > before.timestamp && entry.offset > before.offset;
    if (!in_order) return false;
    before = point.last_time = entry;
    point.time_index_bytes += TimeIndexEntry::kSize;
    return true;
  });
  return in_order;
}

bool all_zero(const std::uint8_t* bytes, std::uint64_t size) {
  return std::all_of(bytes, bytes + size, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

RecoveryPoint find_recovery_point(FileSystem& fs, const SegmentFile& segment) {
  const RecoveryPoint start{{0, segment.base - 1, std::nullopt}, 0, 0, {}};
  if (!segment.has_index || !segment.has_time_index) return start;
  RecoveryPoint point{find_last_indexed(fs, segment), 0, 0, {}};
  if (!point.place.entry) return start;
  const std::size_t count = *point.place.entry + 1;
  point.index_bytes = count * OffsetIndexEntry::kSize;
  const auto last = last_in_order(fs, segment, count);
  if (!last || !times_in_order(fs, segment, last->offset, point)) return start;
  return point;
}

bool indexes_end_at_recovery_point(FileSystem& fs, const SegmentFile& segment) {
  const RecoveryPoint point = find_recovery_point(fs, segment);
  const auto index = fs.stat(segment.beside(kIndexSuffix));
  const auto times = fs.stat(segment.beside(kTimeIndexSuffix));
  if (!point.place.entry || !index || !times) return false;
  const std::uint64_t rest = times->size - point.time_index_bytes;
  return index->size == point.index_bytes && (rest == 0 || rest == TimeIndexEntry::kSize);
}

bool begins_with_unwritten_blocks(FileSystem& fs, const SegmentFile& segment, const TailScan& scan) {
  if (scan.damage.empty()) return false;
  const std::uint64_t from = scan.damage.front().position;
  std::uint64_t to = from;
  for (const DamageRange& range : scan.damage) {
    if (range.position != to) break;
    to += range.size;
  }
  const auto file = fs.open(segment.log_path, OpenMode::read);
  Buffer piece;
  for (std::uint64_t at = from; at < to;) {
    piece.resize(static_cast<std::size_t>(kBlock - at % kBlock));
    piece.cut(file->read_at(at, {piece.data(), piece.size()}));
    const bool whole_block = at % kBlock == 0 && piece.size() == kBlock;
    const bool rest_of_block =
        at == from && at % kBlock + piece.size() == kBlock && piece.size() >= kLeastHole;
    if ((whole_block || rest_of_block) && all_zero(piece.data(), piece.size())) return true;
    at += kBlock - at % kBlock;
  }
  return false;
}

}  // namespace tk
