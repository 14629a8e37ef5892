// A list of all messages of Kafka's protocol that are described here.
#pragma once

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

namespace tk::test {

/// Calls visit.template operator()<Request, Response>(name) for every API.
template <class Visit>
void for_each_api(Visit&& visit) {
  using namespace tk::kafka;
#define TK_API(name) visit.template operator()<name##Request, name##Response>(#name);
  // clang-format off
  TK_API(Produce) TK_API(Fetch) TK_API(ListOffsets) TK_API(Metadata) TK_API(OffsetCommit) TK_API(OffsetFetch)
  TK_API(FindCoordinator) TK_API(JoinGroup) TK_API(Heartbeat) TK_API(LeaveGroup) TK_API(SyncGroup)
  TK_API(DescribeGroups) TK_API(ListGroups) TK_API(ApiVersions) TK_API(CreateTopics) TK_API(DeleteTopics)
  TK_API(DeleteRecords) TK_API(InitProducerId) TK_API(OffsetForLeaderEpoch) TK_API(AddPartitionsToTxn)
  TK_API(AddOffsetsToTxn) TK_API(EndTxn) TK_API(WriteTxnMarkers) TK_API(TxnOffsetCommit)
  TK_API(DescribeConfigs) TK_API(AlterConfigs) TK_API(DescribeLogDirs) TK_API(CreatePartitions)
  TK_API(DeleteGroups) TK_API(ElectLeaders) TK_API(IncrementalAlterConfigs)
  TK_API(ListPartitionReassignments) TK_API(OffsetDelete) TK_API(DescribeCluster) TK_API(DescribeProducers)
  TK_API(DescribeTransactions) TK_API(ListTransactions) TK_API(ConsumerGroupHeartbeat)
  TK_API(ConsumerGroupDescribe) TK_API(DescribeTopicPartitions)
  // clang-format on
#undef TK_API
}

}  // namespace tk::test
