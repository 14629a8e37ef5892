// Who handles which request. Each answers its call, at once or later.
#pragma once

#include "core/net/kafka/call.h"
#include "core/net/kafka/messages_cluster.h"
#include "core/net/kafka/messages_fetch.h"
#include "core/net/kafka/messages_group_admin.h"
#include "core/net/kafka/messages_group_offsets.h"
#include "core/net/kafka/messages_groups.h"
#include "core/net/kafka/messages_leaders.h"
#include "core/net/kafka/messages_offsets.h"
#include "core/net/kafka/messages_produce.h"
#include "core/net/kafka/messages_topics.h"
#include "core/net/kafka/messages_transaction_admin.h"
#include "core/net/kafka/messages_transactions.h"

namespace tk::kafka {

// handle_cluster.cpp
void handle_api_versions(const CallPtr& call);
void handle_metadata(const CallPtr& call, MetadataRequest request);
void handle_describe_cluster(const CallPtr& call, DescribeClusterRequest request);
void handle_describe_topic_partitions(const CallPtr& call, DescribeTopicPartitionsRequest request);
void handle_describe_log_dirs(const CallPtr& call, DescribeLogDirsRequest request);
void handle_elect_leaders(const CallPtr& call, ElectLeadersRequest request);
void handle_list_reassignments(const CallPtr& call, ListPartitionReassignmentsRequest request);
// handle_topics.cpp
void handle_create_topics(const CallPtr& call, CreateTopicsRequest request);
void handle_delete_topics(const CallPtr& call, DeleteTopicsRequest request);
void handle_create_partitions(const CallPtr& call, CreatePartitionsRequest request);
void handle_delete_records(const CallPtr& call, DeleteRecordsRequest request);
// handle_configs.cpp
void handle_describe_configs(const CallPtr& call, DescribeConfigsRequest request);
void handle_alter_configs(const CallPtr& call, AlterConfigsRequest request);
void handle_incremental_alter_configs(const CallPtr& call, IncrementalAlterConfigsRequest request);
// handle_produce.cpp
void handle_produce(const CallPtr& call, ProduceRequest request);
// handle_fetch.cpp
void handle_fetch(const CallPtr& call, FetchRequest request);
// handle_offsets.cpp
void handle_list_offsets(const CallPtr& call, ListOffsetsRequest request);
void handle_offset_for_leader_epoch(const CallPtr& call, OffsetForLeaderEpochRequest request);
// handle_groups.cpp
void handle_find_coordinator(const CallPtr& call, FindCoordinatorRequest request);
void handle_join_group(const CallPtr& call, JoinGroupRequest request);
void handle_sync_group(const CallPtr& call, SyncGroupRequest request);
void handle_heartbeat(const CallPtr& call, HeartbeatRequest request);
void handle_leave_group(const CallPtr& call, LeaveGroupRequest request);
// handle_consumer_groups.cpp
void handle_consumer_group_heartbeat(const CallPtr& call, ConsumerGroupHeartbeatRequest request);
// handle_group_offsets.cpp
void handle_offset_commit(const CallPtr& call, OffsetCommitRequest request);
void handle_offset_fetch(const CallPtr& call, OffsetFetchRequest request);
void handle_offset_delete(const CallPtr& call, OffsetDeleteRequest request);
// handle_group_admin.cpp
void handle_list_groups(const CallPtr& call, ListGroupsRequest request);
void handle_describe_groups(const CallPtr& call, DescribeGroupsRequest request);
void handle_delete_groups(const CallPtr& call, DeleteGroupsRequest request);
void handle_consumer_group_describe(const CallPtr& call, ConsumerGroupDescribeRequest request);
// handle_transactions.cpp
void handle_init_producer_id(const CallPtr& call, InitProducerIdRequest request);
void handle_add_partitions_to_txn(const CallPtr& call, AddPartitionsToTxnRequest request);
void handle_add_offsets_to_txn(const CallPtr& call, AddOffsetsToTxnRequest request);
void handle_txn_offset_commit(const CallPtr& call, TxnOffsetCommitRequest request);
void handle_end_txn(const CallPtr& call, EndTxnRequest request);
// handle_transaction_admin.cpp
void handle_write_txn_markers(const CallPtr& call, WriteTxnMarkersRequest request);
void handle_describe_producers(const CallPtr& call, DescribeProducersRequest request);
void handle_describe_transactions(const CallPtr& call, DescribeTransactionsRequest request);
void handle_list_transactions(const CallPtr& call, ListTransactionsRequest request);

}  // namespace tk::kafka
