#include "core/store/broker_group_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/format/batch.h"
#include "core/format/codec.h"
#include "core/format/internal_record.h"
#include "core/log/settled_records.h"

namespace tk {
namespace {

constexpr std::string_view kOffsetsTopic = "__consumer_offsets";
/// What a batch takes at most: below the least max.message.bytes that is in use.
constexpr std::size_t kMostBatchBytes = 512U << 10;
/// Read by brokers from 2.1 on, and what they write up to 4.1.
constexpr int kUsualCommitVersion = 3;
constexpr int kCommitKey = 1;

bool is_commit(int type_id) {
  return type_id == 0 || type_id == kCommitKey;
}

/// Commits, then current assignments, targets, members, expressions, and what the group is itself.
int deletion_rank(int type_id) {
  constexpr std::array order = {0, 1, 8, 7, 6, 5, 16, 4, 3, 2};
  return static_cast<int>(std::ranges::find(order, type_id) - order.begin());
}

/// A message behind the 16-bit number of its type or version.
std::string encoded(std::string_view name, int version, std::int16_t prefix, const SchemaValue& value) {
  Buffer bytes;
  store_be<std::int16_t>(bytes.room(sizeof(prefix)), prefix);
  bytes.commit(sizeof(prefix));
  if (const Fault fault = encode_schema(*internal_schemas().find(name, version), value, bytes))
    throw Error(ErrorCode::invalid_request, fmt::format("{} cannot be written: {}", name, fault.detail));
  return std::string(as_text(bytes.view()));
}

std::string commit_key(const std::string& group, const TopicPartition& partition) {
  SchemaValue key = SchemaValue::of(*internal_schemas().find("OffsetCommitKey", 0));
  key["group"] = group;
  key["topic"] = partition.topic;
  key["partition"] = partition.partition.value();
  return encoded("OffsetCommitKey", 0, kCommitKey, key);
}

// Without a leader epoch, as Kafka's own tool resets: the offset may lie anywhere.
std::string commit_value(int version, std::int64_t offset, std::int64_t now_ms,
                         const std::optional<Uuid>& topic) {
  const SchemaType& type = *internal_schemas().find("OffsetCommitValue", version);
  SchemaValue value = SchemaValue::of(type);
  value["offset"] = offset;
  value["commit_timestamp"] = now_ms;
  if (type.index_of("leader_epoch") >= 0) value["leader_epoch"] = -1;
  if (type.index_of("expire_timestamp") >= 0) value["expire_timestamp"] = -1;
  if (type.index_of("topic_id") >= 0 && topic) value["topic_id"] = *topic;
  return encoded("OffsetCommitValue", version, static_cast<std::int16_t>(version), value);
}

/// Null if it is not in the directory.
const PartitionInfo* partition_of(const Store& store, const BrokerGroup& group) {
  const TopicInfo* const topic = store.find(kOffsetsTopic);
  if (topic == nullptr || !group.held_by) return nullptr;
  const auto at = std::ranges::find(topic->partitions, *group.held_by, &PartitionInfo::partition);
  return at == topic->partitions.end() ? nullptr : &*at;
}

}  // namespace

void require_writable(const Store& store, const BrokerGroup& group) {
  const std::string name = printable(group.state.group, 300);
  const std::size_t members = group.state.members.size();
  if (group.type != BrokerGroupType::classic && group.type != BrokerGroupType::consumer) {
    throw Error(ErrorCode::invalid_request,
                fmt::format("group '{}' is a {} group: only a running broker can change it", name,
                            broker_group_type_name(group.type)))
        .at(store.directory());
  }
  if (members > 0) {
    throw Error(ErrorCode::non_empty_group,
                fmt::format("group '{}' of the broker has {} member{}: a change needs a group without any",
                            name, members, members == 1 ? "" : "s"))
        .at(store.directory())
        .hint("a running broker lets members go that stay away longer than their session timeout");
  }
  if (partition_of(store, group) == nullptr) {
    throw Error(ErrorCode::storage_error,
                fmt::format("the partition of {} that holds group '{}' is not here", kOffsetsTopic, name))
        .at(store.directory());
  }
}

BrokerGroupWriter::BrokerGroupWriter(Store& store, const BrokerGroup& group, std::int64_t now_ms,
                                     std::function<void(const std::string&)> note)
    : store_(store), group_(group), now_ms_(now_ms), note_(std::move(note)) {
  require_writable(store, group);
  topic_ = store.find(kOffsetsTopic);
  partition_ = partition_of(store, group);
  read_keys();
}

void BrokerGroupWriter::read_keys() {
  Offset newest(-1);
  const auto take = [&](const SettledRecord& record) {
    InternalRecord key, value;
    if (decode_coordinator_key("group", record.key_view(), key) || key.record == nullptr) return;
    const bool commit = is_commit(key.type_id);
    if (commit && record.value && record.offset > newest &&
        !decode_coordinator_value("group", key.type_id, record.value_view(), value)) {
      newest = record.offset;
      commit_version_ = value.version;
    }
    const SchemaValue* const id =
        key.value.find("group") != nullptr ? key.value.find("group") : key.value.find("group_id");
    if (id == nullptr || id->text() != group_.state.group) return;
    Held& held = keys_[*record.key];
    if (held.live && held.at > record.offset) return;
    held = {key.type_id, std::nullopt, record.offset, record.value.has_value()};
    if (commit) held.commit_of = {key.value["topic"].text(), PartitionId(key.value["partition"].int32())};
  };
  walk_settled_records(store_.file_system(), store_.view(*partition_), take, [&](const WalkDamage& damage) {
    throw Error(ErrorCode::corrupt_message, damage.fault.detail)
        .at(damage.path, damage.position)
        .hint("repair it first: tk recover");
  });
}

void BrokerGroupWriter::commit(const std::vector<std::pair<TopicPartition, std::int64_t>>& offsets) {
  std::vector<Record> records;
  const int version = commit_version_.value_or(kUsualCommitVersion);
  for (const auto& [partition, offset] : offsets) {
    const TopicInfo* const topic = store_.find(partition.topic);
    records.emplace_back(commit_key(group_.state.group, partition),
                         commit_value(version, offset, now_ms_, topic == nullptr ? std::nullopt : topic->id));
  }
  append(records);
}

void BrokerGroupWriter::delete_commits(const std::vector<TopicPartition>& partitions) {
  std::vector<Record> records;
  for (const auto& [key, held] : keys_) {
    if (held.live && held.commit_of && std::ranges::find(partitions, *held.commit_of) != partitions.end())
      records.emplace_back(key, std::nullopt);
  }
  append(records);
}

void BrokerGroupWriter::delete_group() {
  std::vector<std::pair<int, std::string>> keys;
  for (const auto& [key, held] : keys_) {
    if (held.live) keys.emplace_back(deletion_rank(held.type_id), key);
  }
  std::ranges::sort(keys);
  std::vector<Record> records;
  for (auto& [rank, key] : keys) records.emplace_back(std::move(key), std::nullopt);
  append(records);
}

void BrokerGroupWriter::append(const std::vector<Record>& records) {
  if (records.empty()) return;
  const auto log = store_.open_for_append(*topic_, partition_->partition, SyncPolicy::at_end, note_);
  log->begin();
  BatchBuilder builder;
  Compressor compressor;
  Buffer bytes;
  const auto flush = [&] {
    if (builder.count() == 0) return;
    const std::int32_t count = builder.count();
    BatchFields fields;
    fields.base_offset = log->log_end();
    fields.leader_epoch = log->leader_epoch();
    builder.finish(fields, Compression(), compressor, bytes);
    log->append(bytes.view(), {{static_cast<std::uint32_t>(bytes.size()), count, now_ms_}});
    bytes = Buffer();
  };
  for (const auto& [key, value] : records) {
    if (builder.count() > 0 && builder.size_with(key.size() + value.value_or("").size()) > kMostBatchBytes)
      flush();
    if (builder.count() == 0) builder.start();
    builder.add(bytes, now_ms_, key, value ? std::optional<std::string_view>(*value) : std::nullopt, {});
  }
  flush();
  log->close();
}

}  // namespace tk
