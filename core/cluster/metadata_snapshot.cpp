#include "core/cluster/metadata_snapshot.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/cluster/metadata_log.h"
#include "core/cluster/quorum_records.h"
#include "core/format/batch.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

constexpr std::size_t kOffsetDigits = 20, kEpochDigits = 10;
/// A state of many partitions comes in batches of about this size.
constexpr std::size_t kBatchBytes = 1U << 20;
constexpr std::uint64_t kLargest = 1U << 30;

std::optional<SnapshotId> parse_name(std::string_view name) {
  if (name.size() != kOffsetDigits + 1 + kEpochDigits + kCheckpointSuffix.size()) return std::nullopt;
  if (!name.ends_with(kCheckpointSuffix) || name[kOffsetDigits] != '-') return std::nullopt;
  const auto end = parse_int(name.substr(0, kOffsetDigits));
  const auto epoch = parse_int(name.substr(kOffsetDigits + 1, kEpochDigits));
  if (!end || !epoch || *end < 0 || *epoch < 0 || *epoch > INT32_MAX) return std::nullopt;
  return SnapshotId{Offset(*end), LeaderEpoch(static_cast<std::int32_t>(*epoch))};
}

/// Writes records into batches, offsets from 0 on.
class SnapshotWriter {
 public:
  SnapshotWriter(LeaderEpoch epoch, std::int64_t now) : epoch_(epoch), now_(now) {
    next_ = encode_snapshot_header(out_, next_, epoch_, now_).last_offset + 1;
    builder_.start(now_);
  }

  void add(const MetadataRecord& record) {
    value_.clear();
    if (const Fault fault = encode_metadata_record(record.name, record.version, record.value, value_))
      throw Error(ErrorCode::unknown_server_error, fault.detail);
    builder_.add(batch_, now_, std::nullopt, as_text(value_.view()), {});
    if (builder_.size() >= kBatchBytes) finish_batch();
  }

  Buffer finish() {
    finish_batch();
    encode_snapshot_footer(out_, next_, epoch_, now_);
    return std::move(out_);
  }

 private:
  void finish_batch() {
    if (batch_.empty()) return;
    BatchFields fields;
    fields.base_offset = next_;
    fields.leader_epoch = epoch_;
    next_ = builder_.finish(fields, {}, compressor_, batch_).last_offset + 1;
    out_.append(batch_.view());
    batch_.clear();
    builder_.start(now_);
  }

  LeaderEpoch epoch_;
  std::int64_t now_;
  Offset next_{0};
  BatchBuilder builder_;
  Compressor compressor_;
  Buffer out_, batch_, value_;
};

bool has_footer(ByteView bytes) {
  std::size_t at = 0, last = 0;
  while (at < bytes.size()) {
    const Frame frame = frame_unit(bytes.subspan(at), bytes.size() - at);
    if (frame.status != FrameStatus::whole) return false;
    last = at;
    at += frame.size;
  }
  UnitInfo info;
  const ByteView unit = bytes.subspan(last);
  return !bytes.empty() && !read_unit_info(unit, UnitKind::batch, info) && info.control && last > 0;
}

}  // namespace

std::string snapshot_name(const SnapshotId& id) {
  return fmt::format("{:020}-{:010}{}", id.end.value(), id.epoch.value(), kCheckpointSuffix);
}

std::optional<SnapshotId> newest_snapshot(FileSystem& fs, const std::string& directory) {
  std::optional<SnapshotId> newest;
  if (!fs.stat(directory)) return newest;
  for (const DirEntry& entry : fs.list(directory)) {
    const auto id = parse_name(entry.name);
    if (id && (!newest || *id > *newest)) newest = id;
  }
  return newest;
}

Buffer encode_snapshot(const MetadataImage& image, const SnapshotId& id, std::int64_t now) {
  SnapshotWriter writer(id.epoch, now);
  for (const auto& [name, level] : image.features) writer.add(feature_record(name, level));
  for (const auto& [broker_id, broker] : image.brokers)
    writer.add(register_broker_record(broker, broker.directory));
  for (const auto& [key, value] : image.broker_configs) writer.add(config_record("", key, value));
  for (const auto& [name, topic] : image.topics) {
    writer.add(topic_record(name, topic.id));
    for (const auto& [key, value] : topic.configs) writer.add(config_record(name, key, value));
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      const PartitionRegistration& partition = topic.partitions[i];
      std::vector<Uuid> directories;
      for (const BrokerId replica : partition.replicas) {
        const BrokerState* broker = image.broker(replica);
        directories.push_back(broker == nullptr ? Uuid{} : broker->directory);
      }
      writer.add(partition_record(topic.id, static_cast<std::int32_t>(i), partition, directories));
    }
  }
  return writer.finish();
}

void load_snapshot(FileSystem& fs, const std::string& path, MetadataImage& image) {
  const std::string bytes = read_whole(fs, path, kLargest);
  std::uint64_t position = 0;
  Fault problem = replay_units(as_bytes(bytes), image, position);
  if (!problem && !has_footer(as_bytes(bytes))) problem = {FaultKind::torn_tail, "there is no footer"};
  if (!problem) return;
  throw Error(ErrorCode::corrupt_state,
              fmt::format("the snapshot of the metadata is damaged here: {}", problem.detail))
      .at(path, position)
      .hint(fmt::format("look with 'tk dump-log {}'; nothing is guessed about what it said", path));
}

void remove_snapshots_before(FileSystem& fs, const std::string& directory, const SnapshotId& id) {
  for (const DirEntry& entry : fs.list(directory)) {
    const auto other = parse_name(entry.name);
    if (other && *other < id) fs.remove(join_path(directory, entry.name));
  }
}

}  // namespace tk
