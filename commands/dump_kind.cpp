#include "commands/dump_kind.h"

#include <algorithm>
#include <iterator>

#include "core/base/buffer.h"
#include "core/base/crc.h"
#include "core/base/text.h"
#include "core/format/checkpoint_file.h"
#include "core/format/unit.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

constexpr std::string_view kNames[] = {"",
                                       "log",
                                       "checkpoint",
                                       "index",
                                       "timeindex",
                                       "txnindex",
                                       "snapshot",
                                       "offset-checkpoint",
                                       "epoch-checkpoint",
                                       "partition-metadata",
                                       "properties",
                                       "json-state"};
/// What the kind is told by, at most.
constexpr std::size_t kSniffed = 64U << 10;

struct Suffix {
  std::string_view suffix;
  DumpKind kind;
};
constexpr Suffix kSuffixes[] = {{kLogSuffix, DumpKind::log},
                                {kIndexSuffix, DumpKind::index},
                                {kTimeIndexSuffix, DumpKind::time_index},
                                {kTxnIndexSuffix, DumpKind::txn_index},
                                {kSnapshotSuffix, DumpKind::snapshot},
                                {kCheckpointSuffix, DumpKind::checkpoint}};
constexpr Suffix kWholeNames[] = {{"recovery-point-offset-checkpoint", DumpKind::offset_checkpoint},
                                  {"replication-offset-checkpoint", DumpKind::offset_checkpoint},
                                  {"log-start-offset-checkpoint", DumpKind::offset_checkpoint},
                                  {"cleaner-offset-checkpoint", DumpKind::offset_checkpoint},
                                  {kLeaderEpochFile, DumpKind::epoch_checkpoint},
                                  {kPartitionMetadataFile, DumpKind::partition_metadata},
                                  {"meta.properties", DumpKind::properties},
                                  {"quorum-state", DumpKind::json_state},
                                  {".kafka_cleanshutdown", DumpKind::json_state}};

bool is_producer_snapshot(ByteView bytes, std::uint64_t size) {
  return bytes.size() >= 10 && bytes.size() == size && load_be<std::int16_t>(bytes.data()) == 1 &&
         load_be<std::uint32_t>(bytes.data() + 2) == crc32c(bytes.subspan(6));
}

/// Text files by their first lines.
DumpKind kind_of_text(std::string_view text) {
  if (text.starts_with("version: ")) return DumpKind::partition_metadata;
  if (text.starts_with('{')) return DumpKind::json_state;
  if (text.find("cluster.id") != std::string_view::npos || text.find("broker.id") != std::string_view::npos)
    return DumpKind::properties;
  TextLines lines(text);
  std::string_view version, count, entry;
  if (!lines.next(version) || version != "0" || !lines.next(count) || !parse_int(count))
    return DumpKind::unknown;
  if (!lines.next(entry)) return DumpKind::offset_checkpoint;
  return std::count(entry.begin(), entry.end(), ' ') == 1 ? DumpKind::epoch_checkpoint
                                                          : DumpKind::offset_checkpoint;
}

}  // namespace

std::string_view dump_kind_name(DumpKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

DumpFile dump_kind_of_name(std::string_view name) {
  bool leftover = false;
  for (const std::string_view suffix : {kSwapSuffix, kCleanedSuffix, kDeletedSuffix}) {
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    leftover = true;
    break;
  }
  for (const Suffix& whole : kWholeNames) {
    if (name == whole.suffix) return {whole.kind, false};
  }
  for (const Suffix& known : kSuffixes) {
    if (name.ends_with(known.suffix)) return {known.kind, !leftover};
  }
  return {};
}

DumpKind dump_kind_of_content(FileSystem& fs, const std::string& path) {
  const auto file = fs.open(path, OpenMode::read);
  const std::uint64_t size = file->size();
  Buffer bytes;
  bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size, kSniffed)));
  bytes.cut(file->read_at(0, {bytes.data(), bytes.size()}));
  const ByteView view = bytes.view();
  if (view.empty()) return DumpKind::unknown;
  const Frame frame = frame_unit(view, size);
  if (frame.status == FrameStatus::whole || frame.status == FrameStatus::need_more) return DumpKind::log;
  if (is_producer_snapshot(view, size)) return DumpKind::snapshot;
  return kind_of_text(as_text(view));
}

}  // namespace tk
