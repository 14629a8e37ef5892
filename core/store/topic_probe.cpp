#include "core/store/topic_probe.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/format/checkpoint_file.h"
#include "core/log/log_files.h"
#include "core/log/segment_names.h"
#include "core/log/segment_scanner.h"
#include "core/log/unit_walk.h"

namespace tk {
namespace {

/// Bytes of a segment that are searched for a unit when none begins where one should.
constexpr std::uint64_t kSearched = 16U << 20;
constexpr std::uint64_t kLargestMetadata = 64U << 10;

TopicFormat format_of(UnitKind kind) {
  return kind == UnitKind::json ? TopicFormat::json : TopicFormat::kafka;
}

/// By the head of the first unit: its checksum does not matter for this.
std::optional<TopicFormat> format_at_start(FileSystem& fs, const SegmentFile& segment) {
  const auto file = fs.open(segment.log_path, OpenMode::read);
  std::array<std::uint8_t, 4096> head;
  const std::size_t size = file->read_at(0, head);
  const Frame frame = frame_unit(ByteView(head).first(size), std::max<std::uint64_t>(size, segment.size));
  const bool whole = frame.status == FrameStatus::whole || frame.status == FrameStatus::need_more;
  if (!whole || size < kUnitPrefix) return {};
  return format_of(frame.kind);
}

/// By the first unit behind damage.
std::optional<TopicFormat> format_behind_damage(FileSystem& fs, const SegmentFile& segment) {
  const auto file = fs.open(segment.log_path, OpenMode::read);
  const ScanRange range{.position = 0,
                        .end = std::min(segment.size, kSearched),
                        .segment_base = segment.base,
                        .after = segment.base - 1,
                        .below = {}};
  SegmentScanner scanner(*file, range);
  ScanChunk chunk;
  while (scanner.next(chunk)) {
    for (const Stretch& stretch : chunk.stretches) {
      if (stretch.kind == StretchKind::units)
        return format_of(framed_kind(chunk.bytes.view().subspan(stretch.at)));
    }
  }
  return {};
}

}  // namespace

std::optional<TopicFormat> probe_format(FileSystem& fs, const std::string& directory) {
  if (!fs.stat(directory)) return {};
  const PartitionFiles files = list_partition(fs, directory);
  for (const auto probe : {format_at_start, format_behind_damage}) {
    for (const SegmentFile& segment : files.segments) {
      if (segment.size == 0) continue;
      if (const auto format = probe(fs, segment)) return format;
    }
  }
  return {};
}

std::optional<Uuid> probe_topic_id(FileSystem& fs, const std::string& directory) {
  const std::string path = join_path(directory, kPartitionMetadataFile);
  if (!fs.stat(path)) return {};
  const PartitionMetadata metadata = parse_partition_metadata(read_whole(fs, path, kLargestMetadata));
  if (metadata.fault) return {};
  return metadata.topic_id;
}

}  // namespace tk
