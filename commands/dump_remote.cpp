// Records of `__remote_log_metadata` in the words of the classes that Kafka reads them into. JSON shows them
// by their schema, as all others (dump_framed.h).
#include <fmt/format.h>

#include <iterator>
#include <map>

#include "commands/dump_framed.h"

namespace tk {
namespace {

/// The name of a state by its number; empty for one that has none.
template <std::size_t N>
std::string_view state_name(const std::string_view (&names)[N], const SchemaValue& state) {
  const std::int64_t number = state.integer();
  return number >= 0 && number < static_cast<std::int64_t>(N) ? names[number] : std::string_view();
}

std::string_view segment_state(const SchemaValue& state) {
  static constexpr std::string_view kNames[] = {"COPY_SEGMENT_STARTED", "COPY_SEGMENT_FINISHED",
                                                "DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED"};
  return state_name(kNames, state);
}

std::string_view partition_state(const SchemaValue& state) {
  static constexpr std::string_view kNames[] = {"DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED",
                                                "DELETE_PARTITION_FINISHED"};
  return state_name(kNames, state);
}

std::string partition_text(const SchemaValue& entry) {
  return fmt::format("{}:{}-{}", entry["id"].uuid().text(), entry["name"].text(),
                     entry["partition"].integer());
}

std::string segment_id_text(const SchemaValue& entry) {
  return fmt::format("RemoteLogSegmentId{{topicIdPartition={}, id={}}}",
                     partition_text(entry["topic_id_partition"]), entry["id"].uuid().text());
}

std::string custom_text(const SchemaValue& custom) {
  return custom.has_value() ? fmt::format("Optional[CustomMetadata{{{} bytes}}]", custom.bytes().size())
                            : "Optional.empty";
}

/// By rising epoch; of an epoch that is there twice the last offset counts.
std::string epochs_text(const SchemaValue& entries) {
  std::map<std::int64_t, std::int64_t> epochs;
  for (const SchemaValue& entry : entries.array())
    epochs[entry["leader_epoch"].integer()] = entry["offset"].integer();
  std::string text;
  for (const auto& [epoch, offset] : epochs)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", epoch, offset);
  return text;
}

bool is_true(const SchemaValue& tagged) {
  return tagged.has_value() && tagged.boolean();
}

constexpr const char* kNoState = "state can not be null";
constexpr const char* kNoEpochs = "segmentLeaderEpochs can not be null or empty";

RemoteText segment_text(const SchemaValue& value) {
  const std::int64_t start = value["start_offset"].integer(), end = value["end_offset"].integer();
  if (start < 0)
    return {{},
            fmt::format("Unexpected start offset = {}. StartOffset for a remote segment cannot be negative",
                        start)};
  if (end < start)
    return {{},
            fmt::format("Unexpected end offset = {}. EndOffset for a remote segment cannot be less than "
                        "startOffset = {}",
                        end, start)};
  if (value["segment_leader_epochs"].array().empty()) return {{}, kNoEpochs};
  const std::string_view state = segment_state(value["remote_log_segment_state"]);
  if (state.empty()) return {{}, kNoState};
  return {fmt::format(
              "RemoteLogSegmentMetadata{{remoteLogSegmentId={}, startOffset={}, endOffset={}, brokerId={}, "
              "maxTimestampMs={}, eventTimestampMs={}, segmentLeaderEpochs={{{}}}, segmentSizeInBytes={}, "
              "customMetadata={}, state={}, txnIdxEmpty={}}}",
              segment_id_text(value["remote_log_segment_id"]), start, end, value["broker_id"].integer(),
              value["max_timestamp_ms"].integer(), value["event_timestamp_ms"].integer(),
              epochs_text(value["segment_leader_epochs"]), value["segment_size_in_bytes"].integer(),
              custom_text(value["custom_metadata"]), state, is_true(value["txn_index_empty"])),
          {}};
}

// Neither the broker nor the time of the event is among what the class prints.
RemoteText snapshot_text(const SchemaValue& value) {
  const std::string_view state = segment_state(value["remote_log_segment_state"]);
  if (state.empty()) return {{}, kNoState};
  if (value["segment_leader_epochs"].array().empty()) return {{}, kNoEpochs};
  return {
      fmt::format(
          "RemoteLogSegmentMetadataSnapshot{{segmentId={}, startOffset={}, endOffset={}, maxTimestampMs={}, "
          "segmentLeaderEpochs={{{}}}, segmentSizeInBytes={}, customMetadata={}, state={}, txnIdxEmpty={}}}",
          value["segment_id"].uuid().text(), value["start_offset"].integer(), value["end_offset"].integer(),
          value["max_timestamp_ms"].integer(), epochs_text(value["segment_leader_epochs"]),
          value["segment_size_in_bytes"].integer(), custom_text(value["custom_metadata"]), state,
          is_true(value["txn_index_empty"])),
      {}};
}

RemoteText update_text(const SchemaValue& value) {
  const std::string_view state = segment_state(value["remote_log_segment_state"]);
  if (state.empty()) return {{}, kNoState};
  return {fmt::format("RemoteLogSegmentMetadataUpdate{{remoteLogSegmentId={}, customMetadata={}, state={}, "
                      "eventTimestampMs={}, brokerId={}}}",
                      segment_id_text(value["remote_log_segment_id"]), custom_text(value["custom_metadata"]),
                      state, value["event_timestamp_ms"].integer(), value["broker_id"].integer()),
          {}};
}

RemoteText deletion_text(const SchemaValue& value) {
  const std::string_view state = partition_state(value["remote_partition_delete_state"]);
  if (state.empty()) return {{}, "null"};
  return {
      fmt::format(
          "RemotePartitionDeleteMetadata{{topicPartition={}, state={}, eventTimestampMs={}, brokerId={}}}",
          partition_text(value["topic_id_partition"]), state, value["event_timestamp_ms"].integer(),
          value["broker_id"].integer()),
      {}};
}

}  // namespace

RemoteText remote_text(const InternalRecord& record) {
  if (record.record->name == "RemoteLogSegmentMetadataRecord") return segment_text(record.value);
  if (record.record->name == "RemoteLogSegmentMetadataSnapshotRecord") return snapshot_text(record.value);
  if (record.record->name == "RemoteLogSegmentMetadataUpdateRecord") return update_text(record.value);
  return deletion_text(record.value);
}

}  // namespace tk
