#include "core/net/kafka/api.h"

#include <algorithm>
#include <array>

#include "core/net/kafka/handlers.h"

namespace tk::kafka {
namespace {

template <class Request, void (*Handle)(const CallPtr&, Request)>
void run(const CallPtr& call) {
  std::optional<Request> request = read_message<Request>(call->body(), call->version());
  if (!request) return call->close();
  Handle(call, std::move(*request));
}

template <class Request, void (*Handle)(const CallPtr&, Request)>
constexpr ApiRow row(std::string_view name, bool keeps_frame = false) {
  return {name, Request::kType, Request::kType.first, keeps_frame, &run<Request, Handle>};
}

constexpr ApiRow produce_row() {
  ApiRow made = row<ProduceRequest, handle_produce>("Produce", true);
  // Some clients take a broker that does not say so for one without records of their kind.
  made.advertised_from = 0;
  return made;
}

constexpr std::array kApis = {
    produce_row(),
    row<FetchRequest, handle_fetch>("Fetch"),
    row<ListOffsetsRequest, handle_list_offsets>("ListOffsets"),
    row<MetadataRequest, handle_metadata>("Metadata"),
    row<OffsetCommitRequest, handle_offset_commit>("OffsetCommit"),
    row<OffsetFetchRequest, handle_offset_fetch>("OffsetFetch"),
    row<FindCoordinatorRequest, handle_find_coordinator>("FindCoordinator"),
    row<JoinGroupRequest, handle_join_group>("JoinGroup"),
    row<HeartbeatRequest, handle_heartbeat>("Heartbeat"),
    row<LeaveGroupRequest, handle_leave_group>("LeaveGroup"),
    row<SyncGroupRequest, handle_sync_group>("SyncGroup"),
    row<DescribeGroupsRequest, handle_describe_groups>("DescribeGroups"),
    row<ListGroupsRequest, handle_list_groups>("ListGroups"),
    ApiRow{"ApiVersions", ApiVersionsRequest::kType, 0, false, &handle_api_versions},
    row<CreateTopicsRequest, handle_create_topics>("CreateTopics"),
    row<DeleteTopicsRequest, handle_delete_topics>("DeleteTopics"),
    row<DeleteRecordsRequest, handle_delete_records>("DeleteRecords"),
    row<InitProducerIdRequest, handle_init_producer_id>("InitProducerId"),
    row<OffsetForLeaderEpochRequest, handle_offset_for_leader_epoch>("OffsetForLeaderEpoch"),
    row<AddPartitionsToTxnRequest, handle_add_partitions_to_txn>("AddPartitionsToTxn"),
    row<AddOffsetsToTxnRequest, handle_add_offsets_to_txn>("AddOffsetsToTxn"),
    row<EndTxnRequest, handle_end_txn>("EndTxn"),
    row<WriteTxnMarkersRequest, handle_write_txn_markers>("WriteTxnMarkers"),
    row<TxnOffsetCommitRequest, handle_txn_offset_commit>("TxnOffsetCommit"),
    row<DescribeConfigsRequest, handle_describe_configs>("DescribeConfigs"),
    row<AlterConfigsRequest, handle_alter_configs>("AlterConfigs"),
    row<DescribeLogDirsRequest, handle_describe_log_dirs>("DescribeLogDirs"),
    row<CreatePartitionsRequest, handle_create_partitions>("CreatePartitions"),
    row<DeleteGroupsRequest, handle_delete_groups>("DeleteGroups"),
    row<ElectLeadersRequest, handle_elect_leaders>("ElectLeaders"),
    row<IncrementalAlterConfigsRequest, handle_incremental_alter_configs>("IncrementalAlterConfigs"),
    row<ListPartitionReassignmentsRequest, handle_list_reassignments>("ListPartitionReassignments"),
    row<OffsetDeleteRequest, handle_offset_delete>("OffsetDelete"),
    row<DescribeClusterRequest, handle_describe_cluster>("DescribeCluster"),
    row<DescribeProducersRequest, handle_describe_producers>("DescribeProducers"),
    row<DescribeTransactionsRequest, handle_describe_transactions>("DescribeTransactions"),
    row<ListTransactionsRequest, handle_list_transactions>("ListTransactions"),
    row<ConsumerGroupHeartbeatRequest, handle_consumer_group_heartbeat>("ConsumerGroupHeartbeat"),
    row<ConsumerGroupDescribeRequest, handle_consumer_group_describe>("ConsumerGroupDescribe"),
    row<DescribeTopicPartitionsRequest, handle_describe_topic_partitions>("DescribeTopicPartitions"),
};
static_assert(std::ranges::is_sorted(kApis, {}, [](const ApiRow& api) { return api.type.key; }));

}  // namespace

std::span<const ApiRow> apis() {
  return kApis;
}

const ApiRow* find_api(std::int16_t key) {
  const auto at = std::ranges::lower_bound(kApis, key, {}, [](const ApiRow& api) { return api.type.key; });
  return at != kApis.end() && at->type.key == key ? &*at : nullptr;
}

bool is_flexible(std::int16_t key, std::int16_t version) {
  const ApiRow* const api = find_api(key);
  // Of versions that are not known nothing more is read than what all versions have.
  return api != nullptr && api->type.has(version) && api->type.flexible(version);
}

}  // namespace tk::kafka
