// Appending over HTTP (serve.md §3.2): all records are looked at before any is written.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "core/base/json_reader.h"
#include "core/base/json_writer.h"
#include "core/catalog/topic_name.h"
#include "core/format/batch.h"
#include "core/format/json_record.h"
#include "core/log/partitioner.h"
#include "core/log/record_json.h"
#include "core/net/failure.h"
#include "core/net/http/router.h"

namespace tk::http {
namespace {

/// Records of a kafka topic go into batches of about this size.
constexpr std::size_t kBatchBytes = 64U << 10;

/// Records of one request: each takes some 50 bytes beside its own, so a body of empty lines is not small.
constexpr std::size_t kMostRecords = 1000000;

/// A body split into records, and the place of each for messages.
struct Input {
  std::string body;
  ParsedChunk parsed;
  bool as_lines = true;
};

using InputPtr = std::shared_ptr<Input>;

struct Output {
  std::int32_t partition = 0;
  std::vector<std::size_t> records;
  net::AppendResult result;
  bool answered = false;
};

struct Appending {
  ExchangePtr exchange;
  std::string topic;
  std::vector<Output> outputs;
  std::size_t next = 0;
  InputPtr input;
  std::int64_t timestamp = 0;
  /// Of all records, where the request names one; records point to it.
  std::optional<std::string> key;
  bool forced = true;
  std::shared_ptr<const net::Topic> target;
};

[[noreturn]] void refuse_record(const Input& input, std::size_t index, const std::string& why) {
  throw Error(ErrorCode::invalid_record, why)
      .at(input.as_lines ? "line" : "index", input.as_lines ? index + 1 : index);
}

void require_room(const Input& input) {
  if (input.parsed.records.size() < kMostRecords) return;
  throw Error(ErrorCode::message_too_large,
              fmt::format("one request holds at most {} records", kMostRecords));
}

void take_json(Input& input, std::string_view object) {
  require_room(input);
  InputRecord record;
  InputExtra extra;
  JsonRecordReader reader(object, input.parsed);
  if (!reader.read(record, extra)) refuse_record(input, input.parsed.records.size(), reader.fault());
  if (extra.timestamp || extra.header_count > 0 || extra.value_is_json) {
    record.extra = static_cast<std::int32_t>(input.parsed.extras.size());
    input.parsed.extras.push_back(extra);
  }
  input.parsed.records.push_back(record);
}

void take_json_array(Input& input, JsonReader& reader) {
  reader.enter_array();
  while (reader.next_element()) take_json(input, reader.skip());
}

/// One object, an array of them, or {"records":[...]}.
void take_json_body(Input& input) {
  input.as_lines = false;
  JsonReader reader(input.body);
  if (reader.peek() == JsonType::array) {
    take_json_array(input, reader);
  } else {
    JsonReader look(input.body);
    std::string_view name;
    bool has_records = false;
    look.enter_object();
    while (!has_records && look.next_member(name)) {
      has_records = name == "records" && look.peek() == JsonType::array;
      if (has_records) {
        take_json_array(input, look);
      } else {
        look.skip();
      }
    }
    if (has_records) {
      while (look.next_member(name)) look.skip();
      if (!look.finish()) refuse_record(input, input.parsed.records.size(), look.error());
      return;
    }
    take_json(input, reader.skip());
  }
  if (!reader.finish())
    refuse_record(input, input.parsed.records.size(), fmt::format("it is no JSON: {}", reader.error()));
}

template <class Take>
void each_line(std::string_view body, Take take) {
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    std::string_view line = body.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line);
    body.remove_prefix(std::min(end + 1, body.size()));
  }
}

void take_text(Input& input, std::string_view line, const std::optional<std::string>& separator) {
  require_room(input);
  InputRecord record;
  if (separator && !separator->empty()) {
    const std::size_t at = line.find(*separator);
    if (at == std::string_view::npos)
      refuse_record(input, input.parsed.records.size(), "no key separator in it");
    record.key = line.data();
    record.key_size = static_cast<std::int32_t>(at);
    line.remove_prefix(at + separator->size());
  }
  record.value = line.data();
  record.value_size = static_cast<std::int32_t>(line.size());
  input.parsed.records.push_back(record);
}

/// False: a type of content that is not known.
bool parse_body(const Request& request, Input& input) {
  std::string type = request.header("content-type");
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.pop_back();
  input.parsed.texts.push_back(std::make_unique<std::string>());
  // Decoded text must not move: none of it is longer than the body.
  input.parsed.texts.back()->reserve(input.body.size() + 64);
  if (type == kNdjson) {
    each_line(input.body, [&](std::string_view line) {
      if (!line.empty()) take_json(input, line);
    });
  } else if (type == kJson) {
    take_json_body(input);
  } else if (type == "text/plain") {
    each_line(input.body,
              [&](std::string_view line) { take_text(input, line, request.parameter("key_separator")); });
  } else if (type == "application/octet-stream") {
    InputRecord record;
    record.value = input.body.data();
    record.value_size = static_cast<std::int32_t>(input.body.size());
    input.parsed.records.push_back(record);
  } else {
    return false;
  }
  return true;
}

std::optional<std::string_view> text_of(const char* data, std::int32_t size) {
  if (size < 0) return std::nullopt;
  return std::string_view(data, static_cast<std::size_t>(size));
}

RecordView view_of(const Input& input, std::size_t index, std::int64_t timestamp) {
  const InputRecord& record = input.parsed.records[index];
  RecordView view;
  view.timestamp = timestamp;
  view.key = text_of(record.key, record.key_size);
  view.value = text_of(record.value, record.value_size);
  if (record.extra < 0) return view;
  const InputExtra& extra = input.parsed.extras[static_cast<std::size_t>(record.extra)];
  view.timestamp = extra.timestamp.value_or(timestamp);
  view.headers = std::span(input.parsed.headers).subspan(extra.first_header, extra.header_count);
  view.value_is_json = extra.value_is_json;
  return view;
}

void encode_json(const Appending& appending, const Output& output, PartitionLog& log, Buffer& bytes,
                 std::vector<AppendUnit>& units) {
  JsonRecordEncoder encoder;
  JsonFields fields;
  fields.leader_epoch = log.leader_epoch();
  Offset offset = log.log_end();
  for (const std::size_t index : output.records) {
    const RecordView record = view_of(*appending.input, index, appending.timestamp);
    const std::size_t before = bytes.size();
    encoder.encode(bytes, offset, record, fields);
    units.push_back({static_cast<std::uint32_t>(bytes.size() - before), 1, record.timestamp});
    ++offset;
  }
}

void encode_batches(const Appending& appending, const Output& output, PartitionLog& log,
                    const Compression& codec, Buffer& bytes, std::vector<AppendUnit>& units) {
  thread_local Compressor compressor;
  BatchBuilder builder;
  Offset next = log.log_end();
  std::size_t begin = 0;
  const auto close = [&] {
    if (builder.count() == 0) return;
    BatchFields fields;
    fields.base_offset = next;
    fields.leader_epoch = log.leader_epoch();
    const UnitInfo info = builder.finish(fields, codec, compressor, bytes);
    units.push_back({static_cast<std::uint32_t>(bytes.size() - begin), info.count, info.max_timestamp});
    next += info.count;
  };
  for (const std::size_t index : output.records) {
    const RecordView record = view_of(*appending.input, index, appending.timestamp);
    const std::size_t size = record.key.value_or("").size() + record.value.value_or("").size();
    const std::size_t most =
        std::min<std::size_t>(kBatchBytes, static_cast<std::size_t>(log.config().max_message_bytes));
    if (builder.count() > 0 && builder.size_with(size) > most) close();
    if (builder.count() == 0) {
      begin = bytes.size();
      builder.start();
    }
    builder.add(bytes, record.timestamp, record.key, record.value, record.headers);
  }
  close();
}

net::AppendResult append_output(const Appending& appending, const Output& output, PartitionLog& log,
                                TopicFormat format) {
  Buffer bytes;
  std::vector<AppendUnit> units;
  if (format == TopicFormat::json) {
    encode_json(appending, output, log, bytes, units);
  } else {
    const Compression codec = topic_compression(appending.target->configs).value_or(Compression());
    encode_batches(appending, output, log, codec, bytes, units);
  }
  for (const AppendUnit& unit : units) {
    if (static_cast<std::int64_t>(unit.size) > log.config().max_message_bytes)
      throw Error(ErrorCode::message_too_large, fmt::format("a record is larger than max.message.bytes, {}",
                                                            log.config().max_message_bytes));
  }
  net::AppendResult result;
  result.base = log.log_end();
  log.append(bytes.view(), units);
  result.last = log.log_end() - 1;
  result.bytes = bytes.size();
  return result;
}

std::string rows_json(const Appending& appending) {
  TextBuffer text;
  text.push_back('[');
  for (const Output& output : appending.outputs) {
    if (!output.answered || output.result.error != 0) continue;
    if (text.size() > 1) text.push_back(',');
    JsonLine(text)
        .text("topic", appending.topic)
        .number("partition", output.partition)
        .number("base_offset", output.result.base.value())
        .number("last_offset", output.result.last.value())
        .number("count", static_cast<std::int64_t>(output.records.size()))
        .number("bytes", static_cast<std::int64_t>(output.result.bytes))
        .end();
    text.pop_back();
  }
  text.push_back(']');
  return {text.begin(), text.end()};
}

void append_next(const std::shared_ptr<Appending>& appending) {
  if (appending->next == appending->outputs.size())
    return appending->exchange->respond(200, kJson, rows_json(*appending) + "\n");
  Output& output = appending->outputs[appending->next];
  const auto partition = appending->target->partition(output.partition);
  net::Partition::Append append;
  append.forced = appending->forced;
  append.deadline_ms = monotonic_ms() + 30000;
  append.work = [appending, &output, weak = std::weak_ptr(partition)](PartitionLog& log) {
    const auto to = weak.lock();
    net::AppendResult result = append_output(*appending, output, log, to ? to->format() : TopicFormat::kafka);
    appending->exchange->service().records_in += output.records.size();
    return result;
  };
  append.done = [appending, &output](net::AppendResult& result) {
    output.result = std::move(result);
    output.answered = true;
    if (output.result.error == 0) {
      ++appending->next;
      return append_next(appending);
    }
    const std::int16_t code = output.result.error;
    const int status = code == 10 ? 413 : code == 3 ? 404 : 503;
    appending->exchange->respond_error(
        status,
        code == 10  ? "MESSAGE_TOO_LARGE"
        : code == 3 ? "UNKNOWN_TOPIC_OR_PARTITION"
        : code == 7 ? "LOG_DIR_LOCKED"
                    : "STORAGE_ERROR",
        output.result.message,
        fmt::format(",\"topic\":\"{}\",\"partition\":{},\"results\":{}", appending->topic, output.partition,
                    rows_json(*appending)));
  };
  partition->append(std::move(append));
}

void place_records(Appending& appending, std::int32_t only, Partitioner partitioner) {
  Input& input = *appending.input;
  const auto count = static_cast<std::int32_t>(appending.target->partitions.size());
  static std::atomic<std::uint32_t> turn = 0;
  const auto without_key = static_cast<std::int32_t>(turn++ % static_cast<std::uint32_t>(count));
  std::map<std::int32_t, Output> by_partition;
  const UpkeepConfig upkeep = upkeep_config(appending.target->configs, true);
  const LogConfig config = log_config(appending.target->configs);
  for (std::size_t i = 0; i < input.parsed.records.size(); ++i) {
    InputRecord& record = input.parsed.records[i];
    if (appending.key) {
      record.key = appending.key->data();
      record.key_size = static_cast<std::int32_t>(appending.key->size());
    }
    if (upkeep.compacts && record.key_size < 0)
      refuse_record(input, i, "the topic is compacted: its records need keys");
    if (std::max(record.key_size, 0) + std::int64_t{std::max(record.value_size, 0)} >
        config.max_message_bytes)
      throw Error(ErrorCode::message_too_large, "a record is larger than the topic's max.message.bytes");
    std::int32_t number = only;
    if (number < 0) number = record.partition;
    if (number < 0 && record.key_size >= 0 && partitioner != Partitioner::round_robin)
      number = partition_for_key(
          partitioner, std::string_view(record.key, static_cast<std::size_t>(record.key_size)), count);
    if (number < 0)
      number = partitioner == Partitioner::round_robin
                   ? static_cast<std::int32_t>(i % static_cast<std::size_t>(count))
                   : without_key;
    if (!appending.target->partition(number))
      throw Error(ErrorCode::unknown_topic_or_partition,
                  fmt::format("topic '{}' has no partition {}", appending.topic, number));
    Output& output = by_partition[number];
    output.partition = number;
    output.records.push_back(i);
  }
  for (auto& [number, output] : by_partition) appending.outputs.push_back(std::move(output));
}

Partitioner partitioner_of(const Request& request) {
  const std::string name = request.parameter("partitioner").value_or("murmur2");
  if (name == "murmur2") return Partitioner::murmur2;
  if (name == "crc32") return Partitioner::crc32;
  if (name == "fnv1a") return Partitioner::fnv1a;
  if (name == "round-robin") return Partitioner::round_robin;
  throw Error(ErrorCode::invalid_request, "partitioner: murmur2, crc32, fnv1a or round-robin");
}

void respond_bad_record(const ExchangePtr& exchange, const Error& error) {
  const bool placed = error.path() == "line" || error.path() == "index";
  exchange->respond_error(
      status_of(error.code()), code_name(error.code()), error.message(),
      placed ? fmt::format(",\"{}\":{}", error.path(), error.position().value_or(0)) : "");
}

/// What the request says, and its records, are looked at; throws an Error for what is wrong. On a worker: a
/// large body takes its time.
void prepare(Appending& appending, std::int32_t partition) {
  const Request& request = appending.exchange->request();
  if (!parse_body(request, *appending.input)) {
    throw Error(ErrorCode::unsupported_version,
                "the content type is application/x-ndjson, application/json, text/plain or "
                "application/octet-stream");
  }
  appending.timestamp = appending.exchange->service().clock().now_ms();
  if (const auto given = request.parameter("timestamp")) {
    const auto time = parse_time(*given, appending.timestamp);
    if (!time) throw Error(ErrorCode::invalid_request, "timestamp: no time");
    appending.timestamp = *time;
  }
  const std::string acks = request.parameter("acks").value_or("all");
  if (acks != "all" && acks != "-1" && acks != "1" && acks != "0")
    throw Error(ErrorCode::invalid_request, "acks: all, 1 or 0");
  appending.forced = acks == "all" || acks == "-1";
  if (const auto given = request.parameter("partition"); given && partition < 0) {
    const auto number = parse_int(*given);
    if (!number || *number < 0 || *number > INT32_MAX)
      throw Error(ErrorCode::invalid_request, "partition: a number from 0 on");
    partition = static_cast<std::int32_t>(*number);
  }
  appending.key = request.parameter("key");
  place_records(appending, partition, partitioner_of(request));
}

void begin_append(const ExchangePtr& exchange, const std::string& topic, std::int32_t partition) {
  const auto appending = std::make_shared<Appending>();
  appending->exchange = exchange;
  appending->topic = topic;
  appending->target = exchange->service().catalog()->find(topic);
  if (!appending->target) return respond_no_topic(exchange, topic);
  appending->input = std::make_shared<Input>();
  appending->input->body = std::move(exchange->request().body);
  net::Service& service = exchange->service();
  service.workers().post([appending, partition, &service] {
    const auto failed = net::failure_of([&] { prepare(*appending, partition); });
    service.loop().post([appending, failed] {
      if (!failed) return append_next(appending);
      if (failed->code() == ErrorCode::unsupported_version)
        return appending->exchange->respond_error(415, "INVALID_REQUEST", failed->message());
      respond_bad_record(appending->exchange, *failed);
    });
  });
}

}  // namespace

void append_records(const ExchangePtr& exchange, const std::string& topic, std::int32_t partition) {
  net::Service& service = exchange->service();
  if (service.options().read_only)
    return exchange->respond_error(403, "POLICY_VIOLATION", "the server is read-only");
  const bool makes = service.options().auto_create && !service.catalog()->find(topic) &&
                     topic_name_fault(topic) == nullptr && service.topics().serves(topic);
  if (!makes) return begin_append(exchange, topic, partition);
  service.auto_create({topic}, "http",
                      [exchange, topic, partition] { begin_append(exchange, topic, partition); });
}

}  // namespace tk::http
