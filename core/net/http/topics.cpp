// Topics over HTTP: the rows of `topics list --json`, `topics describe --json` and `get-offsets --json`.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/json_writer.h"
#include "core/log/offset_search.h"
#include "core/net/failure.h"
#include "core/net/http/router.h"
#include "core/net/http/small_body.h"
#include "core/store/log_edges.h"

#include <nlohmann/json.hpp>

namespace tk::http {
namespace {

using Partitions = std::vector<std::shared_ptr<net::Partition>>;

Partitions partitions_of(const net::Topic& topic) {
  Partitions list;
  for (const auto& partition : topic.partitions) {
    if (partition) list.push_back(partition);
  }
  return list;
}

/// Calls `then` on the loop when all are open, or cannot be.
void when_open(const Partitions& partitions, std::function<void()> then) {
  const auto left = std::make_shared<std::size_t>(partitions.size() + 1);
  const auto count_down = [left, then = std::move(then)] {
    if (--*left == 0) then();
  };
  for (const auto& partition : partitions) partition->when_open(count_down);
  count_down();
}

/// Has a worker make a body.
void make_body(const ExchangePtr& exchange, std::function<std::string()> make, int status = 200) {
  exchange->service().workers().post([exchange, make = std::move(make), status] {
    std::string body;
    const auto failed = net::failure_of([&] { body = make(); });
    exchange->service().loop().post([exchange, body = std::move(body), failed, status] {
      failed ? exchange->respond_error(*failed) : exchange->respond(status, kJson, body);
    });
  });
}

void add_row(TextBuffer& text, const net::Topic& topic, net::Partition& partition) {
  const LogView view = partition.known_view();
  const net::PartitionEdges edges = partition.edges();
  if (text.size() > 1) text.push_back(',');
  JsonLine(text)
      .text("topic", topic.name)
      .number("partition", partition.info().partition.value())
      .text("format", topic_format_name(partition.format()))
      .number("segments", static_cast<std::int64_t>(view.files.segments.size()))
      .number("bytes", static_cast<std::int64_t>(view.bytes()))
      .number("log_start_offset", edges.start.value())
      .number("log_end_offset", edges.end.value())
      .number("high_watermark", edges.end.value())
      .number("last_stable_offset", edges.stable.value())
      .number_or_null("first_ts", first_timestamp(partition.file_system(), view))
      .number_or_null("last_ts", last_timestamp(partition.file_system(), view))
      .text("topic_id", topic.id.text())
      .text("state", "live")
      .text("path", partition.info().directory)
      .end();
  text.pop_back();
}

void respond_description(const ExchangePtr& exchange, const std::shared_ptr<const net::Topic>& topic,
                         int status) {
  const Partitions partitions = partitions_of(*topic);
  when_open(partitions, [exchange, topic, partitions, status] {
    make_body(
        exchange,
        [topic, partitions] {
          TextBuffer text;
          text.push_back('[');
          for (const auto& partition : partitions) {
            if (!partition->is_open())
              throw partition->open_error().value_or(
                  Error(ErrorCode::storage_error, "a partition cannot be read"));
            add_row(text, *topic, *partition);
          }
          append(text, "]\n");
          return std::string(text.begin(), text.end());
        },
        status);
  });
}

}  // namespace

void list_topics(const ExchangePtr& exchange) {
  const auto catalog = exchange->service().catalog();
  Partitions all;
  for (const auto& [name, topic] : catalog->topics()) {
    const Partitions its = partitions_of(*topic);
    all.insert(all.end(), its.begin(), its.end());
  }
  when_open(all, [exchange, catalog] {
    TextBuffer text;
    text.push_back('[');
    for (const auto& [name, topic] : catalog->topics()) {
      std::int64_t bytes = 0, records = 0;
      bool readable = true;
      TopicFormat format = topic->format;
      for (const auto& partition : partitions_of(*topic)) {
        readable &= partition->is_open();
        const net::PartitionEdges edges = partition->edges();
        bytes += static_cast<std::int64_t>(partition->log_bytes());
        records += edges.end - edges.start;
        format = partition->format();
      }
      if (text.size() > 1) text.push_back(',');
      JsonLine(text)
          .text("topic", name)
          .number("partitions", static_cast<std::int64_t>(topic->partitions.size()))
          .text("format", topic_format_name(format))
          .number_or_null("bytes", readable ? std::optional(bytes) : std::nullopt)
          .number_or_null("records", readable ? std::optional(records) : std::nullopt)
          .text("state", "live")
          .end();
      text.pop_back();
    }
    append(text, "]\n");
    exchange->respond(200, kJson, std::string(text.begin(), text.end()));
  });
}

void describe_topic(const ExchangePtr& exchange, const std::string& topic) {
  const auto found = exchange->service().catalog()->find(topic);
  found ? respond_description(exchange, found, 200) : respond_no_topic(exchange, topic);
}

namespace {

/// Numbers and booleans may stand there as such.
std::string setting_text(const std::string& key, const nlohmann::json& setting) {
  if (setting.is_string()) return setting.get<std::string>();
  if (setting.is_number() || setting.is_boolean()) return setting.dump();
  throw Error(ErrorCode::invalid_config,
              fmt::format("config '{}' is no text, number or boolean", printable(key)));
}

NewTopic new_topic_of(const std::string& body, const net::ServerOptions& options) {
  const auto json = parse_small_body(body);
  const auto refuse = [](const char* why) { return Error(ErrorCode::invalid_request, why); };
  if (!json.is_object())
    throw refuse("the body is a JSON object: {\"name\",\"partitions\",\"format\",\"configs\"}");
  NewTopic topic;
  topic.partitions = options.partitions;
  topic.format = options.topic_format;
  for (const auto& [name, value] : json.items()) {
    if (name == "name" && value.is_string()) {
      topic.name = value.get<std::string>();
    } else if (name == "partitions" && value.is_number_integer()) {
      const auto count = value.get<std::int64_t>();
      topic.partitions = static_cast<std::int32_t>(std::clamp<std::int64_t>(count, -1, INT32_MAX));
    } else if (name == "format" && value.is_string()) {
      topic.format = parse_topic_format(value.get<std::string>());
      if (!topic.format) throw refuse("format is json or kafka");
    } else if (name == "configs" && value.is_object()) {
      for (const auto& [key, setting] : value.items()) topic.configs[key] = setting_text(key, setting);
    } else {
      throw Error(ErrorCode::invalid_request,
                  fmt::format("'{}' is no member of a topic, or has a wrong type", printable(name)));
    }
  }
  check_new_topic(topic);
  return topic;
}

}  // namespace

void create_topic(const ExchangePtr& exchange) {
  net::Service& service = exchange->service();
  if (service.options().read_only)
    return exchange->respond_error(403, "POLICY_VIOLATION", "the server is read-only");
  NewTopic topic = new_topic_of(exchange->request().body, service.options());
  if (!service.topics().serves(topic.name))
    return exchange->respond_error(403, "POLICY_VIOLATION", "this server does not serve topics of that name");
  if (topic.partitions > net::kMostNewPartitions)
    return exchange->respond_error(403, "POLICY_VIOLATION", "one request makes at most 10000 partitions");
  const std::string name = topic.name;
  const std::int32_t partitions = topic.partitions;
  service.administer([&service, topic] { service.topics().create(topic); },
                     [exchange, name, partitions](const Error* error) {
                       if (error != nullptr) return exchange->respond_error(*error);
                       exchange->service().events().topic_created(name, partitions, "http");
                       const auto made = exchange->service().catalog()->find(name);
                       made ? respond_description(exchange, made, 201) : respond_no_topic(exchange, name);
                     });
}

void delete_topic(const ExchangePtr& exchange, const std::string& topic) {
  net::Service& service = exchange->service();
  if (service.options().read_only)
    return exchange->respond_error(403, "POLICY_VIOLATION", "the server is read-only");
  if (!service.catalog()->find(topic)) return respond_no_topic(exchange, topic);
  service.administer([&service, topic] { service.topics().remove(topic); },
                     [exchange](const Error* error) {
                       error != nullptr ? exchange->respond_error(*error)
                                        : exchange->respond(204, "", std::string());
                     });
}

void get_offsets(const ExchangePtr& exchange, const std::string& topic, std::int32_t number) {
  const auto found = exchange->service().catalog()->find(topic);
  const auto partition = found ? found->partition(number) : nullptr;
  if (!partition) {
    return exchange->respond_error(
        Error(ErrorCode::unknown_topic_or_partition,
              fmt::format("there is no partition {} of topic '{}'", number, printable(topic, 300))));
  }
  const std::string time = exchange->request().parameter("time").value_or("latest");
  const bool committed = exchange->request().parameter("isolation") == "read_committed";
  std::optional<std::int64_t> at;
  if (time != "latest" && time != "-1" && time != "earliest" && time != "-2" && time != "max-timestamp" &&
      time != "-3") {
    at = parse_time(time, exchange->service().clock().now_ms());
    if (!at) throw Error(ErrorCode::invalid_request, "time: earliest, latest, max-timestamp or a time");
  }
  when_open({partition}, [exchange, partition, topic, number, time, committed, at] {
    make_body(exchange, [partition, topic, number, time, committed, at] {
      const net::PartitionEdges edges = partition->edges();
      std::optional<std::int64_t> offset, timestamp;
      const Offset end = committed ? edges.stable : edges.end;
      if (time == "latest" || time == "-1") {
        offset = end.value();
      } else if (time == "earliest" || time == "-2") {
        offset = edges.start.value();
      } else {
        const LogView view = partition->known_view();
        const auto place = at ? record_at_time(partition->file_system(), view, *at)
                              : latest_record(partition->file_system(), view);
        if (place && place->offset < end) {
          offset = place->offset.value();
          timestamp = place->timestamp;
        }
      }
      TextBuffer text;
      JsonLine(text)
          .text("topic", topic)
          .number("partition", number)
          .number_or_null("offset", offset)
          .number_or_null("ts", timestamp)
          .end();
      return std::string(text.begin(), text.end());
    });
  });
}

}  // namespace tk::http
