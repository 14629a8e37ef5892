// A whole segment of hostile bytes: the scan ends, and what it calls good lies within the file.
#include "core/io/memory_file_system.h"
#include "core/log/tail_scan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  MemoryFileSystem fs;
  fs.make_directories("t-0");
  SegmentFile segment;
  segment.log_path = "t-0/00000000000000000000.log";
  segment.size = size;
  if (size > 0) fs.open(segment.log_path, OpenMode::create)->write_at(0, {data, size});
  if (size == 0) return 0;
  std::uint64_t behind = 0;
  const TailScan scan = scan_to_end(
      fs, segment, {.position = 0, .end = size, .segment_base = Offset(0), .after = Offset(-1), .below = {}},
      [&](ByteView unit, UnitKind, std::uint64_t position) {
        if (position < behind || position + unit.size() > size) __builtin_trap();
        behind = position + unit.size();
      });
  if (scan.good_bytes > size) __builtin_trap();
  return 0;
}
