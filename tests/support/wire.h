// Recorded exchanges of real clients with a real 4.4.0 broker, and Kafka's own definitions of the messages
// (tests/fixtures/wire), with a list of all messages that are described here.
#pragma once

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/format/codec.h"
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

inline std::string wire_fixture(const std::string& name) {
  std::ifstream file(std::string(TK_FIXTURES) + "/wire/" + name, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(file)), {});
  Decompressor decompressor;
  const Decompressed plain = decompressor.decompress(Codec::zstd, as_bytes(packed));
  if (plain.error != nullptr) throw std::runtime_error(name + ": " + plain.error);
  return std::string(as_text(plain.bytes));
}

struct Exchange {
  bool is_request = false;
  std::int16_t key = 0;
  std::int16_t version = 0;
  std::vector<std::uint8_t> bytes;
};

inline std::vector<Exchange> recorded_exchanges() {
  std::vector<Exchange> all;
  std::istringstream lines(wire_fixture("exchanges.txt.zst"));
  std::string kind, hex;
  int key = 0, version = 0;
  while (lines >> kind >> key >> version >> hex) {
    Exchange& one = all.emplace_back();
    one.is_request = kind == "Q";
    one.key = static_cast<std::int16_t>(key);
    one.version = static_cast<std::int16_t>(version);
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
      one.bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return all;
}

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
