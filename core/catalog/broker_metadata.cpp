#include "core/catalog/broker_metadata.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/varint.h"
#include "core/format/internal_record.h"
#include "core/format/record_decoder.h"
#include "core/log/segment_names.h"
#include "core/log/view_walk.h"

namespace tk {
namespace {

/// API keys (§13.4.2).
enum Api : std::int32_t {
  kRegisterBrokerApi = 0,
  kUnregisterBrokerApi = 1,
  kTopicApi = 2,
  kPartitionApi = 3,
  kConfigApi = 4,
  kPartitionChangeApi = 5,
  kFenceBrokerApi = 7,
  kUnfenceBrokerApi = 8,
  kRemoveTopicApi = 9,
  kFeatureLevelApi = 12,
  kBrokerChangeApi = 17,
  kBeginTransactionApi = 23,
  kEndTransactionApi = 24,
  kAbortTransactionApi = 25,
};
constexpr std::int8_t kTopicResource = 2;
constexpr std::int32_t kLeaderUnchanged = -2;

/// True for records that the replay looks into; the others, of which no-ops are most, are not decoded.
bool counts(std::int32_t api, MetadataDetail detail) {
  if (detail == MetadataDetail::topics) {
    switch (api) {
      case kPartitionChangeApi:
      case kRegisterBrokerApi:
      case kUnregisterBrokerApi:
      case kFenceBrokerApi:
      case kUnfenceBrokerApi:
      case kBrokerChangeApi:
        return false;
      default:
        break;
    }
  }
  switch (api) {
    case kRegisterBrokerApi:
    case kUnregisterBrokerApi:
    case kTopicApi:
    case kPartitionApi:
    case kConfigApi:
    case kPartitionChangeApi:
    case kFenceBrokerApi:
    case kUnfenceBrokerApi:
    case kRemoveTopicApi:
    case kFeatureLevelApi:
    case kBrokerChangeApi:
    case kBeginTransactionApi:
    case kEndTransactionApi:
    case kAbortTransactionApi:
      return true;
    default:
      return false;
  }
}

/// The number behind the frame's version; -1 if it cannot be read.
std::int32_t api_of(const std::optional<std::string_view>& value) {
  if (!value) return -1;
  const ByteView bytes = as_bytes(*value);
  std::uint32_t frame = 0, api = 0;
  const std::uint8_t* const end = bytes.data() + bytes.size();
  const std::uint8_t* at = get_uvarint(bytes.data(), end, frame);
  if (at != nullptr) at = get_uvarint(at, end, api);
  return at == nullptr || frame != 1 || api > INT16_MAX ? -1 : static_cast<std::int32_t>(api);
}

/// A tagged field that is there and not null.
const SchemaValue* given(const SchemaValue& record, std::string_view name) {
  const SchemaValue* const field = record.find(name);
  return field != nullptr && field->has_value() ? field : nullptr;
}

class Replay {
 public:
  Replay(BrokerMetadata& to, MetadataDetail detail) : to_(to), detail_(detail) {}

  void take(const std::optional<std::string_view>& value) {
    const std::int32_t api = api_of(value);
    if (api >= 0 && !counts(api, detail_)) return;
    InternalRecord record;
    if (decode_metadata_record(value, record) || record.record == nullptr) {
      ++to_.unknown_records;
      return;
    }
    if (api == kBeginTransactionApi) {
      in_transaction_ = true;
      held_back_.clear();
    } else if (api == kEndTransactionApi || api == kAbortTransactionApi) {
      // What stands between a begin and its end takes effect together (KIP-868).
      if (api == kEndTransactionApi) {
        for (const InternalRecord& held : held_back_) apply(held);
      }
      in_transaction_ = false;
      held_back_.clear();
    } else if (in_transaction_) {
      held_back_.push_back(std::move(record));
    } else {
      apply(record);
    }
  }

 private:
  void apply(const InternalRecord& record);
  void apply_config(const SchemaValue& value);
  void apply_change(const SchemaValue& value);
  void apply_broker_change(const SchemaValue& value);
  BrokerMetadata::Topic* topic_of(const SchemaValue& value) {
    const auto name = names_.find(value["topic_id"].uuid());
    return name == names_.end() ? nullptr : &to_.topics[name->second];
  }

  BrokerMetadata& to_;
  MetadataDetail detail_;
  std::map<Uuid, std::string> names_;
  bool in_transaction_ = false;
  std::vector<InternalRecord> held_back_;
};

void Replay::apply_config(const SchemaValue& value) {
  if (value["resource_type"].integer() != kTopicResource) return;
  const auto topic = to_.topics.find(value["resource_name"].text());
  if (topic == to_.topics.end()) return;
  if (value["value"].is_null()) {
    topic->second.configs.erase(value["name"].text());
  } else {
    topic->second.configs[value["name"].text()] = value["value"].text();
  }
}

void Replay::apply_change(const SchemaValue& value) {
  BrokerMetadata::Topic* const of = topic_of(value);
  if (of == nullptr) return;
  BrokerMetadata::Partition& changed = of->partitions[value["partition_id"].int32()];
  if (const SchemaValue* replicas = given(value, "replicas")) changed.replicas = replicas->int32s();
  if (const SchemaValue* isr = given(value, "isr")) changed.in_sync = isr->int32s();
  const SchemaValue* const leader = given(value, "leader");
  if (leader == nullptr || leader->integer() == kLeaderUnchanged) return;
  changed.leader = leader->int32();
  ++changed.leader_epoch;
}

void Replay::apply_broker_change(const SchemaValue& value) {
  const SchemaValue* const fenced = given(value, "fenced");
  if (fenced == nullptr || fenced->integer() == 0) return;
  to_.brokers[value["broker_id"].int32()].fenced = fenced->integer() > 0;
}

void Replay::apply(const InternalRecord& record) {
  const SchemaValue& value = record.value;
  switch (record.type_id) {
    case kTopicApi: {
      const std::string& name = value["name"].text();
      to_.topics[name] = {value["topic_id"].uuid(), {}, {}};
      names_[value["topic_id"].uuid()] = name;
      return;
    }
    case kRemoveTopicApi:
      if (const auto name = names_.find(value["topic_id"].uuid()); name != names_.end()) {
        to_.topics.erase(name->second);
        names_.erase(name);
      }
      return;
    case kPartitionApi:
      if (BrokerMetadata::Topic* const of = topic_of(value)) {
        of->partitions[value["partition_id"].int32()] = {value["replicas"].int32s(), value["isr"].int32s(),
                                                         value["leader"].int32(),
                                                         value["leader_epoch"].int32()};
      }
      return;
    case kPartitionChangeApi:
      return apply_change(value);
    case kConfigApi:
      return apply_config(value);
    case kRegisterBrokerApi: {
      BrokerMetadata::Broker& broker = to_.brokers[value["broker_id"].int32()];
      broker.epoch = value["broker_epoch"].integer();
      broker.fenced = value["fenced"].boolean();
      broker.rack.reset();
      if (value["rack"].has_value()) broker.rack = value["rack"].text();
      return;
    }
    case kUnregisterBrokerApi:
      to_.brokers.erase(value["broker_id"].int32());
      return;
    case kFenceBrokerApi:
    case kUnfenceBrokerApi:
      to_.brokers[value["id"].int32()].fenced = record.type_id == kFenceBrokerApi;
      return;
    case kBrokerChangeApi:
      return apply_broker_change(value);
    case kFeatureLevelApi:
      to_.features[value["name"].text()] = static_cast<std::int16_t>(value["feature_level"].integer());
      return;
    default:
      return;
  }
}

/// Replays a view from an offset on; true if its last record is a snapshot's footer.
bool replay(FileSystem& fs, const LogView& view, Offset from, Replay& to, BrokerMetadata& metadata) {
  RecordDecoder decoder;
  bool footer = false;
  walk_view(
      fs, view, from,
      [&](ByteView unit, const UnitInfo& info, const SegmentFile&) {
        if (info.last_offset < from) return true;
        footer = false;
        const Fault fault = decoder.decode(unit, info, [&](const RecordView& record) {
          if (!info.control) {
            if (record.offset >= from) to.take(record.value);
            return;
          }
          // SNAPSHOT_FOOTER: version 0, type 4.
          footer = record.key == std::string_view("\0\0\0\4", 4);
        });
        if (fault) ++metadata.damaged_places;
        metadata.end = std::max(metadata.end, info.last_offset + 1);
        return true;
      },
      [&](const WalkDamage&) { ++metadata.damaged_places; });
  return footer;
}

struct Snapshot {
  KraftSnapshotName name;
  std::string path;
};

/// The newest first.
std::vector<Snapshot> snapshots_in(FileSystem& fs, const std::string& directory) {
  std::vector<Snapshot> found;
  for (const DirEntry& entry : fs.list(directory)) {
    const auto name = parse_snapshot_name(entry.name);
    if (name && !entry.is_directory && entry.name.ends_with(kCheckpointSuffix))
      found.push_back({*name, join_path(directory, entry.name)});
  }
  std::sort(found.begin(), found.end(), [](const Snapshot& a, const Snapshot& b) {
    return std::pair(a.name.epoch, a.name.end) > std::pair(b.name.epoch, b.name.end);
  });
  return found;
}

/// A snapshot file as a log of one segment.
LogView view_of_file(FileSystem& fs, const std::string& path) {
  LogView view;
  view.files.directory = parent_path(path);
  SegmentFile segment;
  segment.log_path = path;
  segment.size = fs.stat(path)->size;
  view.files.segments.push_back(segment);
  view.log_end = Offset(INT64_MAX);
  view.last_segment_end = segment.size;
  return view;
}

}  // namespace

std::string BrokerMetadata::name_of(const Uuid& id) const {
  for (const auto& [name, of] : topics) {
    if (of.id == id) return name;
  }
  return "";
}

std::optional<BrokerMetadata> read_broker_metadata(FileSystem& fs, const std::string& data_directory,
                                                   MetadataDetail detail) {
  const std::string directory = join_path(data_directory, kMetadataDirectory);
  const auto found = fs.stat(directory);
  if (!found || !found->is_directory) return std::nullopt;
  BrokerMetadata metadata;
  Replay to(metadata, detail);
  Offset from(0);
  // One that is not whole says nothing.
  for (const Snapshot& snapshot : snapshots_in(fs, directory)) {
    BrokerMetadata tried;
    Replay trial(tried, detail);
    if (!replay(fs, view_of_file(fs, snapshot.path), Offset(0), trial, tried) || tried.damaged_places > 0)
      continue;
    replay(fs, view_of_file(fs, snapshot.path), Offset(0), to, metadata);
    from = snapshot.name.end;
    break;
  }
  metadata.end = from;
  const LogView log = open_log_view(fs, directory);
  if (!log.empty()) replay(fs, log, from, to, metadata);
  return metadata;
}

}  // namespace tk
