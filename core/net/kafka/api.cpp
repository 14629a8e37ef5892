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
    ApiRow{"ApiVersions", ApiVersionsRequest::kType, 0, false, &handle_api_versions},
    row<CreateTopicsRequest, handle_create_topics>("CreateTopics"),
    row<DeleteTopicsRequest, handle_delete_topics>("DeleteTopics"),
    row<DeleteRecordsRequest, handle_delete_records>("DeleteRecords"),
    row<OffsetForLeaderEpochRequest, handle_offset_for_leader_epoch>("OffsetForLeaderEpoch"),
    row<DescribeConfigsRequest, handle_describe_configs>("DescribeConfigs"),
    row<AlterConfigsRequest, handle_alter_configs>("AlterConfigs"),
    row<DescribeLogDirsRequest, handle_describe_log_dirs>("DescribeLogDirs"),
    row<CreatePartitionsRequest, handle_create_partitions>("CreatePartitions"),
    row<ElectLeadersRequest, handle_elect_leaders>("ElectLeaders"),
    row<IncrementalAlterConfigsRequest, handle_incremental_alter_configs>("IncrementalAlterConfigs"),
    row<ListPartitionReassignmentsRequest, handle_list_reassignments>("ListPartitionReassignments"),
    row<DescribeClusterRequest, handle_describe_cluster>("DescribeCluster"),
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
