// Topics are made, grown and deleted, and records deleted, by the store's own code (serve.md §2.3).
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/net/kafka/config_rows.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"
#include "core/net/kafka/unique.h"
#include "core/store/upkeep.h"

namespace tk::kafka {
namespace {

using NewRow = CreateTopicsRequest::Topic;
using MadeRow = CreateTopicsResponse::Topic;

using net::kMostNewPartitions;

/// Names as they count for collisions: '.' and '_' are the same (topic_names_collide).
std::string collision_key(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

/// What the rows of one request are checked against.
struct Known {
  std::shared_ptr<const net::Catalog> catalog;
  std::unordered_map<std::string, std::string> by_collision_key = {};
  std::unordered_map<std::string, int> times_named = {};
};

Known known_of(const net::Service& service, const CreateTopicsRequest& request) {
  Known known{service.catalog()};
  for (const auto& [name, topic] : known.catalog->topics())
    known.by_collision_key[collision_key(name)] = name;
  for (const NewRow& row : request.topics) ++known.times_named[row.name];
  return known;
}

struct Refusal {
  std::int16_t code = kNone;
  std::string message;
};

Refusal check_assignments(const NewRow& row, std::int32_t node, std::int32_t& partitions) {
  if (row.assignments.empty()) return {};
  if (row.num_partitions != -1 || row.replication_factor != -1)
    return {kInvalidRequest, "an assignment says the number of partitions and replicas by itself"};
  std::set<std::int32_t> numbers;
  for (const auto& assignment : row.assignments) {
    numbers.insert(assignment.partition_index);
    if (assignment.broker_ids != std::vector<std::int32_t>{node})
      return {kInvalidReplicaAssignment, fmt::format("there is one node, {}", node)};
  }
  partitions = static_cast<std::int32_t>(row.assignments.size());
  if (*numbers.begin() != 0 || *numbers.rbegin() != partitions - 1 ||
      numbers.size() != row.assignments.size())
    return {kInvalidReplicaAssignment, "partitions are numbered from 0 without a gap"};
  return {};
}

Refusal check_new(const net::Service& service, const net::Topics& topics, const Known& known,
                  const NewRow& row, NewTopic& topic) {
  const net::ServerOptions& options = service.options();
  if (row.name == "__cluster_metadata")
    return {kInvalidRequest, "the metadata log is no topic that can be made"};
  topic.name = row.name;
  topic.partitions = row.num_partitions == -1 ? options.partitions : row.num_partitions;
  topic.format = options.topic_format;
  if (Refusal wrong = check_assignments(row, options.node_id, topic.partitions); wrong.code != kNone)
    return wrong;
  if (topic.partitions < 1) return {kInvalidPartitions, "a topic has at least one partition"};
  if (row.assignments.empty() && row.replication_factor != 1 && row.replication_factor != -1)
    return {kInvalidReplicationFactor, "there is one node, so the replication factor is 1"};
  for (const auto& config : row.configs) {
    if (!config.value) return {kInvalidConfig, fmt::format("config '{}' has no value", config.name)};
    topic.configs[config.name] = *config.value;
  }
  try {
    check_new_topic(topic);
  } catch (const Error& error) {
    return {error_of(error), error.message()};
  }
  if (!topics.serves(row.name)) return {kPolicyViolation, "this server does not serve topics of that name"};
  if (known.catalog->find(row.name))
    return {kTopicAlreadyExists, fmt::format("Topic '{}' already exists.", row.name)};
  const auto other = known.by_collision_key.find(collision_key(row.name));
  if (other != known.by_collision_key.end())
    return {kInvalidTopic,
            fmt::format("'{}' collides with '{}': '.' and '_' count as the same", row.name, other->second)};
  return {};
}

void describe_made(MadeRow& row, const NewTopic& topic, const net::Catalog& catalog) {
  row.num_partitions = topic.partitions;
  row.replication_factor = 1;
  ConfigMap configs = topic.configs;
  if (const auto made = catalog.find(topic.name)) {
    row.topic_id = made->id;
    configs = made->configs;
  }
  row.configs.emplace();
  for (const ConfigRow& config : config_rows(configs, true)) {
    auto& out = row.configs->emplace_back();
    out.name = config.name;
    out.value = config.value;
    out.config_source = config.is_default ? kDefaultConfig : kTopicConfig;
  }
}

void refuse(MadeRow& row, const Refusal& why) {
  row.error_code = why.code;
  row.error_message = why.message;
  row.num_partitions = -1;
  row.replication_factor = -1;
  row.configs.emplace();
}

}  // namespace

void handle_create_topics(const CallPtr& call, CreateTopicsRequest request) {
  net::Service& service = call->service();
  const auto answer = std::make_shared<CreateTopicsResponse>();
  const auto wanted = std::make_shared<std::vector<std::pair<std::size_t, NewTopic>>>();
  std::int64_t partitions = 0;
  const Known known = known_of(service, request);
  keep_first(request.topics, [](const NewRow& row) { return row.name; });
  for (const NewRow& row : request.topics) {
    MadeRow& made = answer->topics.emplace_back();
    made.name = row.name;
    NewTopic topic;
    Refusal why = check_new(service, service.topics(), known, row, topic);
    if (known.times_named.at(row.name) > 1) why = {kInvalidRequest, "the request names the topic twice"};
    if (service.options().read_only) why = {kPolicyViolation, "the server is read-only"};
    if (why.code == kNone && (partitions += topic.partitions) > kMostNewPartitions)
      why = {kPolicyViolation, fmt::format("one request makes at most {} partitions", kMostNewPartitions)};
    if (why.code != kNone) {
      refuse(made, why);
      call->note_error(why.code);
    } else {
      wanted->emplace_back(answer->topics.size() - 1, std::move(topic));
    }
  }
  const auto finish = [call, answer, wanted](const Error*) {
    const auto catalog = call->service().catalog();
    for (const auto& [index, topic] : *wanted) {
      MadeRow& row = answer->topics[index];
      if (row.error_code != kNone) {
        call->note_error(row.error_code);
        continue;
      }
      describe_made(row, topic, *catalog);
      if (catalog->find(topic.name))
        call->service().events().topic_created(topic.name, topic.partitions, "kafka");
    }
    call->answer(*answer);
  };
  if (request.validate_only || wanted->empty()) return finish(nullptr);
  service.administer(
      [&service, answer, wanted, call] {
        for (const auto& [index, topic] : *wanted) {
          if (call->gone()) return;  // nobody waits for the rest
          try {
            service.topics().create(topic);
          } catch (const Error& error) {
            refuse(answer->topics[index], {error_of(error), error.message()});
          }
        }
      },
      finish);
}

void handle_delete_topics(const CallPtr& call, DeleteTopicsRequest request) {
  net::Service& service = call->service();
  if (call->version() < 6) {
    for (const std::string& name : request.topic_names) request.topics.push_back({name, Uuid{}});
  }
  const auto catalog = service.catalog();
  const auto answer = std::make_shared<DeleteTopicsResponse>();
  for (const auto& asked : request.topics) {
    auto& row = answer->responses.emplace_back();
    row.name = asked.name;
    row.topic_id = asked.topic_id;
    if (asked.name && !asked.topic_id.is_zero()) {
      row.error_code = kInvalidRequest;
      row.error_message = "a topic is named by its name or its id, not both";
      continue;
    }
    const FoundTopic found = find_topic(*catalog, !asked.name, asked.name.value_or(""), asked.topic_id);
    row.error_code = found.error;
    if (found.topic) {
      row.name = found.topic->name;
      row.topic_id = found.topic->id;
      if (service.options().read_only) row.error_code = kPolicyViolation;
    }
  }
  service.administer(
      [&service, answer] {
        for (auto& row : answer->responses) {
          if (row.error_code != kNone) continue;
          try {
            service.topics().remove(*row.name);
          } catch (const Error& error) {
            row.error_code = error_of(error);
            row.error_message = error.message();
          }
        }
      },
      [call, answer](const Error*) {
        for (const auto& row : answer->responses) call->note_error(row.error_code);
        call->answer(*answer);
      });
}

void handle_create_partitions(const CallPtr& call, CreatePartitionsRequest request) {
  net::Service& service = call->service();
  const auto answer = std::make_shared<CreatePartitionsResponse>();
  const auto wanted = std::make_shared<CreatePartitionsRequest>(std::move(request));
  service.administer(
      [&service, answer, wanted] {
        for (const auto& topic : wanted->topics) {
          auto& row = answer->results.emplace_back();
          row.name = topic.name;
          const auto found = service.catalog()->find(topic.name);
          const auto refuse_with = [&](std::int16_t code, std::string message) {
            row.error_code = code;
            row.error_message = std::move(message);
          };
          const auto now = found ? static_cast<std::int32_t>(found->partitions.size()) : 0;
          if (!found) {
            refuse_with(kUnknownTopicOrPartition, "there is no such topic");
          } else if (service.options().read_only) {
            refuse_with(kPolicyViolation, "the server is read-only");
          } else if (topic.count <= now) {
            refuse_with(kInvalidPartitions, fmt::format("the topic has {} partitions already", now));
          } else if (topic.count - now > kMostNewPartitions) {
            refuse_with(kPolicyViolation,
                        fmt::format("one request makes at most {} partitions", kMostNewPartitions));
          } else if (!wanted->validate_only) {
            try {
              service.topics().alter(topic.name, topic.count, {}, {});
            } catch (const Error& error) {
              refuse_with(error_of(error), error.message());
            }
          }
        }
      },
      [call, answer](const Error*) {
        for (const auto& row : answer->results) call->note_error(row.error_code);
        call->answer(*answer);
      });
}

namespace {

/// A DeleteRecords request on its way through the admin queue.
struct RecordsDeletion {
  DeleteRecordsRequest request;
  DeleteRecordsResponse answer;
  std::vector<std::shared_ptr<net::Partition>> changed;
};

/// Error code and new log start (-1 with an error). In the admin queue.
std::pair<std::int16_t, std::int64_t> delete_before(net::Service& service, Store& store,
                                                    const std::string& name, std::int32_t number,
                                                    std::int64_t offset, RecordsDeletion& deletion) {
  const auto topic = service.catalog()->find(name);
  const auto partition = topic ? topic->partition(number) : nullptr;
  if (!partition) return {kUnknownTopicOrPartition, -1};
  if (service.options().read_only) return {kPolicyViolation, -1};
  const auto policy = topic->configs.find("cleanup.policy");
  if (policy != topic->configs.end() && policy->second == "compact") return {kPolicyViolation, -1};
  if (offset < -1) return {kOffsetOutOfRange, -1};
  const TopicInfo* const info = store.find(name);
  if (info == nullptr) return {kUnknownTopicOrPartition, -1};
  try {
    const auto before = offset < 0 ? std::nullopt : std::optional(Offset(offset));
    const DeletedRecords done = tk::delete_records(store, *info, partition->info(), before, false);
    deletion.changed.push_back(partition);
    return {kNone, done.to.value()};
  } catch (const Error& error) {
    return {error_of(error), -1};
  }
}

/// Answers when the queues of the partitions have seen their new start: it is there for whoever asks next.
void answer_when_seen(const CallPtr& call, const std::shared_ptr<RecordsDeletion>& deletion) {
  const auto left = std::make_shared<std::size_t>(deletion->changed.size() + 1);
  const auto count_down = [call, deletion, left] {
    if (--*left == 0) call->answer(deletion->answer);
  };
  for (const auto& partition : deletion->changed) {
    partition->noticed(true);
    partition->look_for_start();
    partition->queue().post([&loop = call->service().loop(), count_down] { loop.post(count_down); });
  }
  count_down();
}

}  // namespace

void handle_delete_records(const CallPtr& call, DeleteRecordsRequest request) {
  net::Service& service = call->service();
  const auto deletion = std::make_shared<RecordsDeletion>();
  deletion->request = std::move(request);
  for (const auto& topic : deletion->request.topics) {
    auto& row = deletion->answer.topics.emplace_back();
    row.name = topic.name;
    for (const auto& partition : topic.partitions) {
      auto& result = row.partitions.emplace_back();
      result.partition_index = partition.partition_index;
      result.low_watermark = -1;
    }
  }
  service.administer(
      [&service, deletion] {
        service.topics().with_own_store([&](Store& store) {
          for (std::size_t t = 0; t < deletion->request.topics.size(); ++t) {
            const auto& topic = deletion->request.topics[t];
            for (std::size_t p = 0; p < topic.partitions.size(); ++p) {
              auto& result = deletion->answer.topics[t].partitions[p];
              std::tie(result.error_code, result.low_watermark) = delete_before(
                  service, store, topic.name, result.partition_index, topic.partitions[p].offset, *deletion);
            }
          }
        });
      },
      [call, deletion](const Error* failed) {
        if (failed != nullptr) {
          for (auto& topic : deletion->answer.topics) {
            for (auto& partition : topic.partitions) partition.error_code = error_of(*failed);
          }
        }
        answer_when_seen(call, deletion);
      });
}

}  // namespace tk::kafka
