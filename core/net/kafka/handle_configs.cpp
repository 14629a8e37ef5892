// Configs of topics, and the few of the broker that mean something here (serve.md §2.3).
#include <fmt/format.h>

#include <algorithm>

#include "core/catalog/topic_name.h"
#include "core/net/kafka/config_rows.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"
#include "core/net/kafka/unique.h"

namespace tk::kafka {
namespace {

constexpr std::int8_t kTopicResource = 2;
constexpr std::int8_t kBrokerResource = 4;

std::vector<ConfigRow> broker_rows(const net::Service& service) {
  const net::ServerOptions& options = service.options();
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  constexpr std::int8_t boolean = 1, text = 2, whole = 3, large = 5;
  return {
      {"advertised.listeners", options.advertise ? options.advertise->text() : "", !options.advertise, text},
      {"auto.create.topics.enable", flag(options.auto_create && !options.read_only), options.auto_create,
       boolean},
      {"connections.max.idle.ms", std::to_string(options.idle_connection_ms),
       options.idle_connection_ms == 600000, large},
      {"default.replication.factor", "1", true, whole},
      {"group.initial.rebalance.delay.ms", std::to_string(options.rebalance_delay_ms), false, whole},
      {"log.dirs", options.directory, false, text},
      {"max.connections", std::to_string(options.max_connections), false, whole},
      {"message.max.bytes", "1048588", true, whole},
      {"min.insync.replicas", "1", true, whole},
      {"node.id", std::to_string(options.node_id), false, whole},
      {"num.partitions", std::to_string(options.partitions), options.partitions == 1, whole},
      {"socket.request.max.bytes", std::to_string(options.max_frame), options.max_frame == 104857600, whole},
  };
}

using Result = DescribeConfigsResponse::Result;

void describe(const Call& call, const DescribeConfigsRequest::Resource& asked, Result& out) {
  std::vector<ConfigRow> rows;
  std::int8_t set_source = kTopicConfig;
  bool read_only = false;
  if (asked.resource_type == kTopicResource) {
    const auto topic = call.service().catalog()->find(asked.resource_name);
    if (!topic) {
      out.error_code =
          topic_name_fault(asked.resource_name) != nullptr ? kInvalidTopic : kUnknownTopicOrPartition;
      out.error_message = "there is no such topic";
      return;
    }
    rows = config_rows(topic->configs, topic->tk_made);
  } else if (asked.resource_type == kBrokerResource) {
    const std::string id = std::to_string(call.service().options().node_id);
    if (!asked.resource_name.empty() && asked.resource_name != id) {
      out.error_code = kInvalidRequest;
      out.error_message = fmt::format("Unexpected broker id, expected {} or empty string, but received {}",
                                      id, asked.resource_name);
      return;
    }
    rows = broker_rows(call.service());
    set_source = kStaticBrokerConfig;
    read_only = true;
  } else {
    out.error_code = kInvalidRequest;
    out.error_message = "only topics and the broker have configs here";
    return;
  }
  out.error_message = "";
  for (ConfigRow& row : rows) {
    const auto& keys = asked.configuration_keys;
    if (keys && std::ranges::find(*keys, row.name) == keys->end()) continue;
    auto& config = out.configs.emplace_back();
    config.name = std::move(row.name);
    config.value = std::move(row.value);
    config.read_only = read_only;
    config.config_source = row.is_default ? kDefaultConfig : set_source;
    config.config_type = row.type;
  }
}

/// One resource of AlterConfigs or IncrementalAlterConfigs, as changes of a topic.
struct Alteration {
  std::int8_t type = 0;
  std::string name;
  ConfigMap set;
  std::vector<std::string> unset;
  std::int16_t error = kNone;
  std::string message;
};

using Alterations = std::shared_ptr<std::vector<Alteration>>;

void check(const net::Service& service, Alteration& alteration) {
  const auto refuse = [&](std::int16_t code, std::string message) {
    if (alteration.error != kNone) return;
    alteration.error = code;
    alteration.message = std::move(message);
  };
  if (service.options().read_only) return refuse(kPolicyViolation, "the server is read-only");
  if (alteration.type == kBrokerResource)
    return refuse(kPolicyViolation, "the broker's configs are options of tk");
  if (alteration.type != kTopicResource)
    return refuse(kInvalidRequest, "only topics have configs that change");
  if (!service.catalog()->find(alteration.name))
    return refuse(kUnknownTopicOrPartition, "there is no such topic");
  try {
    check_configs(alteration.set);
    for (const std::string& key : alteration.unset) check_config_key(key);
  } catch (const Error& error) {
    refuse(error_of(error), error.message());
  }
}

/// Makes the changes that are good, and hands all to `done`.
void alter(const CallPtr& call, Alterations alterations, bool validate_only, std::function<void()> done) {
  net::Service& service = call->service();
  for (Alteration& alteration : *alterations) check(service, alteration);
  service.administer(
      [&service, alterations, validate_only] {
        for (Alteration& alteration : *alterations) {
          if (alteration.error != kNone || validate_only) continue;
          try {
            service.topics().alter(alteration.name, {}, alteration.set, alteration.unset);
          } catch (const Error& error) {
            alteration.error = error_of(error);
            alteration.message = error.message();
          }
        }
      },
      [call, alterations, done = std::move(done)](const Error*) {
        for (const Alteration& alteration : *alterations) call->note_error(alteration.error);
        done();
      });
}

template <class Response>
void answer_altered(const CallPtr& call, const Alterations& alterations) {
  Response answer;
  for (const Alteration& alteration : *alterations) {
    auto& row = answer.responses.emplace_back();
    row.error_code = alteration.error;
    if (alteration.error != kNone) row.error_message = alteration.message;
    row.resource_type = alteration.type;
    row.resource_name = alteration.name;
  }
  call->answer(answer);
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= list.size() && !list.empty();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    parts.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

/// A list with something added to it, or taken from it.
std::string changed_list(const std::string& now, const std::string& change, bool append) {
  std::vector<std::string> parts = parts_of(now);
  for (const std::string& part : parts_of(change)) {
    const auto at = std::ranges::find(parts, part);
    if (append && at == parts.end()) parts.push_back(part);
    if (!append && at != parts.end()) parts.erase(at);
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

void add_change(const net::Service& service, Alteration& alteration,
                const IncrementalAlterConfigsRequest::Resource::Config& config) {
  enum : std::int8_t { set = 0, unset = 1, append = 2, subtract = 3 };
  const auto refuse = [&](std::int16_t code, std::string message) {
    alteration.error = code;
    alteration.message = std::move(message);
  };
  if (config.config_operation == unset) return alteration.unset.push_back(config.name);
  if (!config.value) return refuse(kInvalidConfig, fmt::format("config '{}' has no value", config.name));
  if (config.config_operation == set) {
    alteration.set[config.name] = *config.value;
    return;
  }
  if (config.config_operation != append && config.config_operation != subtract)
    return refuse(kInvalidRequest, "an operation that is not known");
  const auto topic = service.catalog()->find(alteration.name);
  if (!topic) return;
  for (const ConfigRow& row : config_rows(topic->configs, topic->tk_made)) {
    if (row.name != config.name) continue;
    constexpr std::int8_t list = 7;
    if (row.type != list) return refuse(kInvalidConfig, fmt::format("config '{}' is no list", config.name));
    alteration.set[config.name] =
        changed_list(row.value.value_or(""), *config.value, config.config_operation == append);
    return;
  }
  refuse(kInvalidConfig, fmt::format("there is no config '{}'", config.name));
}

}  // namespace

void handle_describe_configs(const CallPtr& call, DescribeConfigsRequest request) {
  DescribeConfigsResponse answer;
  keep_first(request.resources, [](const DescribeConfigsRequest::Resource& resource) {
    return std::to_string(resource.resource_type) + resource.resource_name;
  });
  for (const auto& resource : request.resources) {
    Result& row = answer.results.emplace_back();
    row.resource_type = resource.resource_type;
    row.resource_name = resource.resource_name;
    describe(*call, resource, row);
    call->note_error(row.error_code);
  }
  call->answer(answer);
}

void handle_alter_configs(const CallPtr& call, AlterConfigsRequest request) {
  const auto alterations = std::make_shared<std::vector<Alteration>>();
  for (const auto& resource : request.resources) {
    Alteration& alteration = alterations->emplace_back();
    alteration.type = resource.resource_type;
    alteration.name = resource.resource_name;
    for (const auto& config : resource.configs) {
      if (config.value) {
        alteration.set[config.name] = *config.value;
      } else {
        alteration.error = kInvalidConfig;
        alteration.message = fmt::format("config '{}' has no value", config.name);
      }
    }
    // This API replaces all of a topic's configs.
    if (const auto topic = call->service().catalog()->find(resource.resource_name)) {
      for (const auto& [key, value] : topic->configs) {
        if (!alteration.set.contains(key)) alteration.unset.push_back(key);
      }
    }
  }
  alter(call, alterations, request.validate_only,
        [call, alterations] { answer_altered<AlterConfigsResponse>(call, alterations); });
}

void handle_incremental_alter_configs(const CallPtr& call, IncrementalAlterConfigsRequest request) {
  const auto alterations = std::make_shared<std::vector<Alteration>>();
  for (const auto& resource : request.resources) {
    Alteration& alteration = alterations->emplace_back();
    alteration.type = resource.resource_type;
    alteration.name = resource.resource_name;
    for (const auto& config : resource.configs) add_change(call->service(), alteration, config);
  }
  alter(call, alterations, request.validate_only,
        [call, alterations] { answer_altered<IncrementalAlterConfigsResponse>(call, alterations); });
}

}  // namespace tk::kafka
