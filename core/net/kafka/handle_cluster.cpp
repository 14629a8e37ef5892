// What there is: versions, brokers, topics, directories (serve.md §2.1, §2.3).
#include <sys/statvfs.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "core/catalog/topic_name.h"
#include "core/net/kafka/api.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"
#include "core/net/kafka/unique.h"

namespace tk::kafka {
namespace {

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// KIP-511's rule for names and versions of client software.
bool is_software_name(std::string_view text) {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '.' || c == '-'; });
}

void add_features(ApiVersionsResponse& answer, std::int16_t version) {
  // Version 3 knows no minimum of 0: its readers take one for a mistake.
  if (version >= 4) {
    answer.supported_features = {{"group.version", 0, 1}, {"transaction.version", 0, 2}};
  }
  answer.finalized_features_epoch = 1;
  answer.finalized_features = {{"group.version", 1, 1}, {"transaction.version", 2, 2}};
}

std::int16_t judge(const ApiVersionsRequest& request, const Call& call) {
  if (call.version() >= 3 && (!is_software_name(request.client_software_name) ||
                              !is_software_name(request.client_software_version))) {
    return kInvalidRequest;
  }
  if (call.version() < 5) return kNone;
  const bool other_cluster = request.cluster_id && *request.cluster_id != call.service().cluster_id();
  const bool other_node = request.node_id >= 0 && request.node_id != call.service().options().node_id;
  return other_cluster || other_node ? kRebootstrapRequired : kNone;
}

using MetadataTopic = MetadataResponse::Topic;

/// Partitions in one answer of DescribeTopicPartitions: max.request.partition.size.limit of a broker.
constexpr std::int32_t kMostDescribed = 2000;

MetadataTopic describe(const net::Topic& topic, const Call& call, bool operations) {
  MetadataTopic out;
  out.name = topic.name;
  out.topic_id = topic.id;
  out.is_internal = topic.internal();
  out.topic_authorized_operations = operations ? kTopicOperations : kOperationsNotAsked;
  const std::int32_t node = call.service().options().node_id;
  for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
    if (!topic.partitions[i]) continue;
    MetadataTopic::Partition& partition = out.partitions.emplace_back();
    partition.partition_index = static_cast<std::int32_t>(i);
    partition.leader_id = node;
    partition.leader_epoch = topic.partitions[i]->leader_epoch().value();
    partition.replica_nodes = {node};
    partition.isr_nodes = {node};
  }
  return out;
}

MetadataTopic describe_asked(const MetadataRequest::Topic& asked, const net::Catalog& catalog,
                             const Call& call, bool operations) {
  const bool by_id = !asked.name;
  const FoundTopic found = find_topic(catalog, by_id, asked.name.value_or(""), asked.topic_id);
  if (found.topic) return describe(*found.topic, call, operations);
  MetadataTopic out;
  out.name = asked.name;
  out.topic_id = by_id ? asked.topic_id : Uuid{};
  out.error_code = found.error;
  out.topic_authorized_operations = operations ? kTopicOperations : kOperationsNotAsked;
  if (!by_id && topic_name_fault(*asked.name) != nullptr) out.error_code = kInvalidTopic;
  return out;
}

void answer_metadata(const CallPtr& call, const MetadataRequest& request) {
  const net::Service& service = call->service();
  const auto catalog = service.catalog();
  MetadataResponse answer;
  const net::Address address = advertised(*call);
  answer.brokers.push_back({service.options().node_id, address.host, address.port, std::nullopt});
  answer.cluster_id = service.cluster_id();
  answer.controller_id = service.options().node_id;
  answer.cluster_authorized_operations =
      request.include_cluster_authorized_operations ? kClusterOperations : kOperationsNotAsked;
  const bool operations = request.include_topic_authorized_operations;
  const bool all = !request.topics || (call->version() == 0 && request.topics->empty());
  if (all) {
    for (const auto& [name, topic] : catalog->topics())
      answer.topics.push_back(describe(*topic, *call, operations));
  } else {
    for (const MetadataRequest::Topic& asked : *request.topics) {
      answer.topics.push_back(describe_asked(asked, *catalog, *call, operations));
      if (answer.topics.back().error_code != kNone) call->note_error(answer.topics.back().error_code);
    }
  }
  call->answer(answer);
}

}  // namespace

void when_all_open(const std::vector<std::shared_ptr<net::Partition>>& partitions,
                   std::function<void()> then) {
  const auto left = std::make_shared<std::size_t>(1);
  const auto count_down = [left, then = std::move(then)] {
    if (--*left == 0) then();
  };
  for (const auto& partition : partitions) {
    if (!partition || partition->is_open()) continue;
    ++*left;
    partition->when_open(count_down);
  }
  count_down();
}

void handle_api_versions(const CallPtr& call) {
  ApiVersionsResponse answer;
  if (!ApiVersionsRequest::kType.has(call->version())) {
    answer.error_code = kUnsupportedVersion;
    answer.api_keys = {{kApiVersionsKey, ApiVersionsRequest::kType.first, ApiVersionsRequest::kType.last}};
    call->note_error(kUnsupportedVersion);
    return call->answer(answer, 0, true);
  }
  const auto request = read_message<ApiVersionsRequest>(call->body(), call->version());
  if (!request) return call->close();
  answer.error_code = judge(*request, *call);
  if (answer.error_code == kNone) {
    for (const ApiRow& api : apis())
      answer.api_keys.push_back({api.type.key, api.advertised_from, api.type.last});
    if (call->version() >= 3) add_features(answer, call->version());
  } else {
    call->note_error(answer.error_code);
  }
  call->answer(answer, call->version(), true);
}

void handle_metadata(const CallPtr& call, MetadataRequest request) {
  if (request.topics) {
    for (MetadataRequest::Topic& topic : *request.topics) {
      const bool wrong =
          topic.name ? !topic.topic_id.is_zero() && call->version() < 12 : topic.topic_id.is_zero();
      if (!wrong && (topic.name || call->version() >= 12)) continue;
      MetadataResponse refused;
      refused.error_code = kInvalidRequest;
      refused.cluster_authorized_operations = kOperationsNotAsked;
      for (const MetadataRequest::Topic& asked : *request.topics) {
        MetadataTopic& row = refused.topics.emplace_back();
        row.name = asked.name.value_or("");
        row.topic_id = asked.topic_id;
        row.error_code = kInvalidRequest;
        row.topic_authorized_operations = kOperationsNotAsked;
      }
      call->note_error(kInvalidRequest);
      return call->answer(refused);
    }
  }
  if (request.topics) {
    keep_first(*request.topics, [](const MetadataRequest::Topic& topic) {
      return topic.name.value_or("") + '/' + topic.topic_id.text();
    });
  }
  const net::ServerOptions& options = call->service().options();
  const bool creates = options.auto_create && !options.read_only &&
                       (call->version() < 4 || request.allow_auto_topic_creation) && request.topics;
  std::vector<std::string> missing;
  if (creates) {
    const auto catalog = call->service().catalog();
    for (const MetadataRequest::Topic& topic : *request.topics) {
      if (topic.name && topic_name_fault(*topic.name) == nullptr && !catalog->find(*topic.name) &&
          call->service().topics().serves(*topic.name))
        missing.push_back(*topic.name);
    }
  }
  if (missing.empty()) return answer_metadata(call, request);
  call->service().auto_create(
      std::move(missing), "kafka", [call, request = std::move(request)] { answer_metadata(call, request); },
      [call] { return !call->gone(); });
}

void handle_describe_cluster(const CallPtr& call, DescribeClusterRequest request) {
  DescribeClusterResponse answer;
  const net::Service& service = call->service();
  answer.endpoint_type = request.endpoint_type;
  answer.cluster_authorized_operations =
      request.include_cluster_authorized_operations ? kClusterOperations : kOperationsNotAsked;
  if (call->version() >= 1 && request.endpoint_type != 1) {
    answer.error_code = kInvalidRequest;
    answer.error_message = "only brokers answer here";
    return call->answer(answer);
  }
  const net::Address address = advertised(*call);
  answer.cluster_id = service.cluster_id();
  answer.controller_id = service.options().node_id;
  auto& broker = answer.brokers.emplace_back();
  broker.broker_id = service.options().node_id;
  broker.host = address.host;
  broker.port = address.port;
  call->answer(answer);
}

void handle_describe_topic_partitions(const CallPtr& call, DescribeTopicPartitionsRequest request) {
  const auto catalog = call->service().catalog();
  const std::int32_t node = call->service().options().node_id;
  std::vector<std::string> names;
  for (const auto& topic : request.topics) names.push_back(topic.name);
  if (names.empty()) {
    for (const auto& [name, topic] : catalog->topics()) names.push_back(name);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  DescribeTopicPartitionsResponse answer;
  std::int32_t left = std::min(request.response_partition_limit, kMostDescribed);
  for (const std::string& name : names) {
    if (request.cursor && name < request.cursor->topic_name) continue;
    const std::int32_t first =
        request.cursor && name == request.cursor->topic_name ? request.cursor->partition_index : 0;
    const auto topic = catalog->find(name);
    if (left <= 0) {
      answer.next_cursor.emplace();
      answer.next_cursor->topic_name = name;
      answer.next_cursor->partition_index = first;
      break;
    }
    auto& row = answer.topics.emplace_back();
    row.name = name;
    row.topic_authorized_operations = kTopicOperations;
    if (!topic) {
      row.error_code = topic_name_fault(name) != nullptr ? kInvalidTopic : kUnknownTopicOrPartition;
      row.topic_authorized_operations = kOperationsNotAsked;
      continue;
    }
    row.topic_id = topic->id;
    row.is_internal = topic->internal();
    for (std::size_t i = static_cast<std::size_t>(std::max(first, 0)); i < topic->partitions.size(); ++i) {
      if (left <= 0) {
        answer.next_cursor.emplace();
        answer.next_cursor->topic_name = name;
        answer.next_cursor->partition_index = static_cast<std::int32_t>(i);
        break;
      }
      if (!topic->partitions[i]) continue;
      --left;
      auto& partition = row.partitions.emplace_back();
      partition.partition_index = static_cast<std::int32_t>(i);
      partition.leader_id = node;
      partition.leader_epoch = topic->partitions[i]->leader_epoch().value();
      partition.replica_nodes = {node};
      partition.isr_nodes = {node};
      partition.eligible_leader_replicas.emplace();
      partition.last_known_elr.emplace();
    }
    if (answer.next_cursor) break;
  }
  call->answer(answer);
}

void handle_describe_log_dirs(const CallPtr& call, DescribeLogDirsRequest request) {
  const auto catalog = call->service().catalog();
  struct Asked {
    std::string name;
    std::int32_t number;
    std::shared_ptr<net::Partition> partition;
  };
  const auto asked = std::make_shared<std::vector<Asked>>();
  if (request.topics) {
    for (const auto& topic : *request.topics) {
      const auto found = catalog->find(topic.topic);
      for (const std::int32_t number : topic.partitions) {
        if (found && found->partition(number))
          asked->push_back({topic.topic, number, found->partition(number)});
      }
    }
  } else {
    for (const auto& [name, topic] : catalog->topics()) {
      for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
        if (topic->partitions[i])
          asked->push_back({name, static_cast<std::int32_t>(i), topic->partitions[i]});
      }
    }
  }
  std::vector<std::shared_ptr<net::Partition>> partitions;
  for (const Asked& one : *asked) partitions.push_back(one.partition);
  when_all_open(partitions, [call, asked] {
    DescribeLogDirsResponse answer;
    auto& directory = answer.results.emplace_back();
    char resolved[PATH_MAX];
    const std::string& path = call->service().options().directory;
    directory.log_dir = ::realpath(path.c_str(), resolved) != nullptr ? resolved : path;
    struct statvfs space {};
    directory.total_bytes = directory.usable_bytes = -1;
    if (::statvfs(path.c_str(), &space) == 0) {
      directory.total_bytes = static_cast<std::int64_t>(space.f_blocks * space.f_frsize);
      directory.usable_bytes = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
    }
    for (const Asked& one : *asked) {
      if (directory.topics.empty() || directory.topics.back().name != one.name)
        directory.topics.emplace_back().name = one.name;
      auto& row = directory.topics.back().partitions.emplace_back();
      row.partition_index = one.number;
      row.partition_size = static_cast<std::int64_t>(one.partition->log_bytes());
    }
    call->answer(answer);
  });
}

void handle_elect_leaders(const CallPtr& call, ElectLeadersRequest request) {
  ElectLeadersResponse answer;
  const auto catalog = call->service().catalog();
  if (request.topic_partitions) {
    for (const auto& topic : *request.topic_partitions) {
      auto& row = answer.replica_election_results.emplace_back();
      row.topic = topic.topic;
      const auto found = catalog->find(topic.topic);
      for (const std::int32_t number : topic.partitions) {
        auto& partition = row.partition_result.emplace_back();
        partition.partition_id = number;
        partition.error_code =
            found && found->partition(number) ? kElectionNotNeeded : kUnknownTopicOrPartition;
        call->note_error(partition.error_code);
      }
    }
  }
  call->answer(answer);
}

void handle_list_reassignments(const CallPtr& call, ListPartitionReassignmentsRequest) {
  ListPartitionReassignmentsResponse answer;
  call->answer(answer);
}

}  // namespace tk::kafka
