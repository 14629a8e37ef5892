#include "commands/import_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/produce_options.h"
#include "commands/produce_report.h"

namespace tk {
namespace {

const PartitionInfo* find_partition(const TopicInfo& topic, PartitionId partition) {
  const auto at = std::ranges::find(topic.partitions, partition, &PartitionInfo::partition);
  return at == topic.partitions.end() ? nullptr : &*at;
}

}  // namespace

ImportLog::ImportLog(Store& store, const ProduceOptions& options, Context& context)
    : store_(store), options_(options), context_(context) {
  name_target();
  const TopicInfo* topic = store_.find(topic_);
  const PartitionInfo* partition = topic == nullptr ? nullptr : find_partition(*topic, partition_);
  if (partition != nullptr) {
    require_empty(*partition);
    return;
  }
  if (!options_.create) {
    throw Error(ErrorCode::unknown_topic_or_partition, fmt::format("there is no partition {}", name()))
        .at(store_.directory());
  }
  if (options_.create_partitions && *options_.create_partitions <= partition_.value()) {
    throw Error(ErrorCode::invalid_request, fmt::format("with --partitions {} there is no partition {}",
                                                        *options_.create_partitions, name()));
  }
}

// A topic that bears the whole name comes first (cli.md §1), and then --partition says which of its
// partitions.
void ImportLog::name_target() {
  if (options_.partition) {
    topic_ = options_.topic;
    partition_ = PartitionId(*options_.partition);
    return;
  }
  const auto named = parse_partition_directory(options_.topic);
  if (store_.find(options_.topic) != nullptr || !named || named->state != PartitionState::live) {
    throw Error(ErrorCode::invalid_request, fmt::format("'{}' names no partition", options_.topic))
        .hint(fmt::format("a dump goes into one partition: name it, for example '{}-0'", options_.topic));
  }
  topic_ = named->topic;
  partition_ = named->partition;
}

std::string ImportLog::name() const {
  return partition_directory_name(topic_, partition_);
}

std::string ImportLog::format_fault(TopicFormat format) const {
  if (options_.create_format && *options_.create_format != format) {
    return fmt::format("it has the {} format, --format says {}", topic_format_name(format),
                       topic_format_name(*options_.create_format));
  }
  const TopicInfo* topic = store_.find(topic_);
  if (topic == nullptr || topic->format == format) return {};
  return fmt::format("it has the {} format, topic '{}' the {} format", topic_format_name(format), topic->name,
                     topic_format_name(topic->format));
}

void ImportLog::require_empty(const PartitionInfo& partition) const {
  if (!context_.fs.stat(partition.directory)) return;
  const PartitionFiles files = list_partition(context_.fs, partition.directory);
  if (std::ranges::all_of(files.segments, [](const SegmentFile& segment) { return segment.size == 0; }))
    return;
  throw Error(ErrorCode::topic_already_exists,
              fmt::format("partition {} is not empty: a dump goes into a new one", name()))
      .at(partition.directory);
}

const TopicInfo& ImportLog::make_partition(TopicFormat format) {
  const std::int32_t count = partition_.value() + 1;
  const TopicInfo* topic = store_.find(topic_);
  if (topic != nullptr) {
    if (find_partition(*topic, partition_) != nullptr) return *topic;
    return store_.alter_topic(topic_, options_.create_partitions.value_or(count), {}, {});
  }
  NewTopic made;
  made.name = topic_;
  made.partitions = options_.create_partitions.value_or(count);
  made.format = format;
  made.configs = config_map(options_.create_configs);
  return store_.create_topic(made);
}

void ImportLog::open(TopicFormat format, Offset first) {
  const TopicInfo& topic = make_partition(format);
  auto log = store_.open_for_append(
      topic, partition_, sync_policy(options_.sync),
      [this](const std::string& line) { context_.diagnostics.warning(line); }, first);
  log->begin();
  // Now that nobody else can write.
  const PartitionInfo* partition = find_partition(topic, partition_);
  if (partition != nullptr) require_empty(*partition);
  if (first < log->log_end()) {
    throw Error(ErrorCode::invalid_record, fmt::format("the dump begins at offset {}, but {} goes on at {}",
                                                       first.value(), name(), log->log_end().value()))
        .at(log->directory());
  }
  log_ = std::move(log);
}

}  // namespace tk
