// A whole segment of hostile bytes. What the scanner finds tiles the file, offsets of good units rise, the
// size of its reads changes nothing, and recovery keeps what the scan calls good.
#include <algorithm>

#include "core/base/crc.h"
#include "core/io/memory_file_system.h"
#include "core/log/broker_scan.h"
#include "core/log/log_view.h"
#include "core/log/recovery.h"
#include "core/log/segment_names.h"
#include "core/log/unit_walk.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/bytes.h"

namespace tk::fuzz {
namespace {

using test::Bytes;

struct Found {
  std::vector<std::pair<std::uint64_t, Bytes>> good;  // by position
  bool tail = false;

  [[nodiscard]] std::vector<Bytes> units() const {
    std::vector<Bytes> units;
    for (const auto& [position, bytes] : good) units.push_back(bytes);
    return units;
  }
};

Found scan(FileSystem& fs, const std::string& path, std::uint64_t size, std::size_t chunk_bytes) {
  Found found;
  if (size == 0) return found;
  const auto file = fs.open(path, OpenMode::read);
  SegmentScanner scanner(
      *file, {.position = 0, .end = size, .segment_base = Offset(0), .after = Offset(-1), .below = {}},
      chunk_bytes);
  ScanChunk chunk;
  std::uint64_t at = 0;
  std::optional<Offset> last;
  const auto cover = [&](std::uint64_t position, std::uint64_t bytes) {
    require(position == at && bytes > 0 && bytes <= size - at, "what is found tiles the file");
    at += bytes;
  };
  while (scanner.next(chunk)) {
    for (const Stretch& stretch : chunk.stretches) {
      if (stretch.kind != StretchKind::units) {
        require(static_cast<bool>(stretch.fault), "damage has a kind");
        require(!found.tail, "nothing follows a tail");
        found.tail = stretch.kind == StretchKind::tail;
        cover(stretch.position, stretch.size);
        continue;
      }
      walk_units(
          chunk, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t position) {
            cover(position, unit.size());
            require(!check_unit(unit, kind), "a good unit has a good checksum");
            const Offset offset(load_be<std::int64_t>(unit.data()));
            require(!last || offset > *last, "offsets rise");
            last = offset;
            found.good.emplace_back(position, Bytes(unit.begin(), unit.end()));
          },
          [&](std::uint64_t position, std::uint64_t bytes, const Fault& fault, ByteView) {
            require(static_cast<bool>(fault), "damage has a kind");
            cover(position, bytes);
          });
    }
  }
  require(at == size, "the whole file is accounted for");
  return found;
}

RecoveryPlan recover(FileSystem& fs, RecoveryMode mode) {
  RecoveryOptions options;
  options.mode = mode;
  options.full = true;
  const RecoveryPlan plan = plan_recovery(fs, "t-0", options);
  apply_recovery(fs, plan);
  return plan;
}

void check(const Bytes& bytes) {
  const std::string path = join_path("t-0", segment_file_name(Offset(0), kLogSuffix));
  MemoryFileSystem disk;
  test::write_file(disk, path, bytes);
  const Found found = scan(disk, path, bytes.size(), SegmentScanner::kDefaultChunk);
  require(scan(disk, path, bytes.size(), 256).good == found.good, "the size of reads does not matter");
  const LogView view = open_log_view(disk, "t-0");
  require(view.last_segment_end <= bytes.size(), "what counts lies within the file");
  const BrokerScan broker = scan_as_broker(disk, view.files.segments.front(), {.index_interval = 4096});
  require(broker.valid_bytes <= bytes.size(), "a broker keeps no more than there is");

  for (const RecoveryMode mode : {RecoveryMode::refuse, RecoveryMode::truncate, RecoveryMode::salvage}) {
    MemoryFileSystem fs;
    test::write_file(fs, path, bytes);
    recover(fs, mode);
    const std::uint64_t size = fs.stat(path)->size;
    const std::vector<Bytes> before = found.units(), after = scan(fs, path, size, 4096).units();
    if (mode == RecoveryMode::refuse) require(after == before, "plain recovery cuts nothing readable");
    require(std::includes(before.begin(), before.end(), after.begin(), after.end(),
                          [](const Bytes& a, const Bytes& b) {
                            return load_be<std::int64_t>(a.data()) < load_be<std::int64_t>(b.data());
                          }) ||
                mode == RecoveryMode::truncate,
            "recovery makes no units up");
    const RecoveryPlan again = recover(fs, mode);
    require(std::all_of(again.segments.begin(), again.segments.end(),
                        [](const SegmentRecovery& s) { return s.cut_bytes == 0; }),
            "a second recovery finds nothing to cut");
  }
}

/// Puts right the checksum of every Kafka unit that can be framed from the start on.
void repair(Bytes& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const MutableBytes rest = MutableBytes(bytes).subspan(at);
    const Frame frame = frame_unit(rest, rest.size());
    if (frame.status != FrameStatus::whole) return;
    const MutableBytes unit = rest.first(frame.size);
    if (frame.kind == UnitKind::batch)
      store_be<std::uint32_t>(unit.data() + 17, crc32c(ByteView(unit).subspan(21)));
    if (frame.kind == UnitKind::legacy)
      store_be<std::uint32_t>(unit.data() + 12, crc32(ByteView(unit).subspan(16)));
    at += frame.size;
  }
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tk::fuzz::Input input(data, size);
  const bool repaired = (input.byte() & 1) != 0;
  tk::test::Bytes bytes(input.rest().begin(), input.rest().end());
  if (repaired) tk::fuzz::repair(bytes);
  tk::fuzz::check(bytes);
  return 0;
}
