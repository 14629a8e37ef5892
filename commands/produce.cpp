#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/import_dump.h"
#include "commands/open_store.h"
#include "commands/produce_cluster.h"
#include "commands/produce_input.h"
#include "commands/produce_producer.h"
#include "commands/produce_report.h"
#include "commands/produce_slices.h"
#include "commands/progress.h"
#include "core/io/output.h"
#include "core/io/standard_descriptors.h"
#include "core/store/store.h"

namespace tk {
namespace {

/// Partitions that a topic made by this very command may grow to by what its input asks for.
constexpr std::int32_t kGrowthLimit = 1024;

/// A partition that is written to has a lock file and a segment open.
std::int64_t most_open_partitions() {
  constexpr std::int64_t others = 64;
  return std::max<std::int64_t>(1, (raise_descriptor_limit() - others) / 2);
}

/// What does not fit the topic's format is refused before anything is made or written.
void check_format(const ProduceOptions& options, TopicFormat format) {
  if (format == TopicFormat::json && options.compression && options.compression->codec != Codec::none) {
    throw Error(ErrorCode::invalid_request,
                "a json topic is not compressed: --compression needs --format kafka");
  }
  if (format == TopicFormat::kafka && options.json_values) {
    throw Error(ErrorCode::invalid_request,
                "--json-values is for json topics; this one has the kafka format");
  }
}

NewTopic wanted_topic(const ProduceOptions& options) {
  return {options.topic,
          options.create_partitions.value_or(1),
          options.create_format,
          config_map(options.create_configs),
          {}};
}

struct Target {
  const TopicInfo* topic = nullptr;
  TopicFormat format = TopicFormat::json;
  std::optional<std::int32_t> partition;
  bool made = false;
};

Target existing_target(const Store& store, const ProduceOptions& options, const TopicInfo& topic) {
  const TopicFormat format =
      topic.format_settled ? topic.format : options.create_format.value_or(topic.format);
  if (options.create_format && *options.create_format != format) {
    throw Error(ErrorCode::topic_already_exists, fmt::format("topic '{}' exists with the {} format",
                                                             topic.name, topic_format_name(topic.format)))
        .at(store.directory());
  }
  check_format(options, format);
  return {&topic, format, options.partition, false};
}

Target find_or_create(Store& store, const ProduceOptions& options) {
  if (const TopicInfo* topic = store.find(options.topic)) return existing_target(store, options, *topic);
  const auto named = parse_partition_directory(options.topic);
  if (named && named->state == PartitionState::live) {
    const TopicInfo* topic = store.find(named->topic);
    const bool there = topic != nullptr &&
                       std::any_of(topic->partitions.begin(), topic->partitions.end(),
                                   [&](const PartitionInfo& p) { return p.partition == named->partition; });
    if (there) {
      Target target = existing_target(store, options, *topic);
      if (target.partition && *target.partition != named->partition.value()) {
        throw Error(ErrorCode::invalid_request,
                    fmt::format("'{}' and --partition {} name different partitions", options.topic,
                                *target.partition));
      }
      target.partition = named->partition.value();
      return target;
    }
  }
  if (!options.create) static_cast<void>(store.resolve(options.topic));  // throws, with the nearest name
  NewTopic topic = wanted_topic(options);
  topic.format = options.create_format.value_or(store.default_format());
  check_format(options, *topic.format);
  return {&store.create_topic(topic), *topic.format, options.partition, true};
}

class ProduceRun {
 public:
  ProduceRun(Store& store, const Target& target, const ProduceOptions& options, Context& context)
      : store_(store),
        options_(options),
        context_(context),
        topic_(target.topic->name),
        format_(target.format),
        count_(partition_count(*target.topic)),
        in_cluster_(store.cluster() != nullptr),
        grows_(target.made && options.input == ProduceOptions::Input::json && !options.create_partitions &&
               !target.partition && !options.repartition && !has_producer()),
        input_(options, limits(*target.topic)),
        pipeline_options_(pipeline_options(*target.topic, target.partition)) {
    if (has_producer()) {
      producer_.emplace(store, topic_, target.partition, count_, options, context);
      if (!producer_->held().empty() && ack_level(options_) == AckLevel::all)
        replicate_appended(store_, topic_, producer_->held(), AckLevel::all, options_.timeout_ms);
    }
  }

  void run() {
    Progress progress(context_, "produced", kProgressMiB, options_.report != ProduceOptions::Report::batch);
    if (const auto size = progress.is_wanted() ? input_.size() : std::nullopt) {
      progress.expect(*size);
      input_.on_taken([&progress](std::uint64_t bytes) { progress.add(bytes); });
    }
    try {
      if (in_cluster_) {
        run_slices();
      } else {
        run_pipeline(producer_ ? producer_->prepare(input_, pipeline_options_) : input_);
      }
    } catch (const Error& error) {
      std::int64_t durable = 0;
      for (const PartitionTally& tally : tallies_) durable += tally.durable;
      Error told(error.code(), fmt::format("{}; {} record{} of this run {} {}", error.message(), durable,
                                           durable == 1 ? "" : "s", durable == 1 ? "is" : "are",
                                           in_cluster_ ? "acknowledged" : "durable"));
      if (error.position()) {
        told = std::move(told).at(error.path(), *error.position());
      } else {
        told = std::move(told).at(error.path());
      }
      report();
      throw std::move(told).hint(error.hint());
    }
    report();
  }

 private:
  void run_pipeline(RecordSource& source) {
    pipeline_.emplace(
        source, grows_ ? std::max(count_, kGrowthLimit) : count_,
        [this](std::int32_t partition) { return open(partition); }, context_.clock, pipeline_options_);
    std::optional<Error> failed;
    try {
      pipeline_->run();
    } catch (const Error& error) {
      failed = error;
    }
    const std::vector<PartitionTally> added = pipeline_->tallies();
    pipeline_options_.records_before = pipeline_->records_of_file();
    pipeline_.reset();  // lets go of the logs
    if (in_cluster_) replicate_before(failed, added);
    add_tallies(added);
    if (failed) throw *failed;
  }

  // In a cluster a record counts when its acks level has it, not when the leader's disk has. Of a slice that
  // its input ended what came before counts; where a disk failed nobody knows what the leader's log ends
  // with.
  void replicate_before(const std::optional<Error>& failed, const std::vector<PartitionTally>& added) {
    if (failed && failed->code() == ErrorCode::storage_error) throw *failed;
    try {
      replicate(added);
    } catch (const Error&) {
      if (failed) throw *failed;
      throw;
    }
  }

  // A cluster is one thing under one lock: it is held while input flows, and given up where it pauses.
  // Whoever takes it again finds the leaders there are now.
  void run_slices() {
    static_cast<void>(Store(std::move(store_)));  // closed
    InputSlices slices(producer_ ? producer_->prepare(input_, pipeline_options_) : input_);
    while (slices.wait([this] { return context_.interrupted.load() != 0; })) {
      store_ = open_store_for_writing(context_);
      const TopicInfo* topic = store_.find(topic_);
      if (topic == nullptr) static_cast<void>(store_.resolve(topic_));  // throws: it was deleted meanwhile
      if (!producer_) count_ = std::max(count_, partition_count(*topic));
      run_pipeline(slices);
      ++pipeline_options_.sticky_start;
      static_cast<void>(Store(std::move(store_)));
    }
  }

  void add_tallies(const std::vector<PartitionTally>& added) {
    tallies_.resize(std::max(tallies_.size(), added.size()));
    for (std::size_t i = 0; i < added.size(); ++i) {
      PartitionTally& tally = tallies_[i];
      if (!tally.base_offset) tally.base_offset = added[i].base_offset;
      if (added[i].base_offset) tally.last_offset = added[i].last_offset;
      tally.count += added[i].count;
      tally.durable += added[i].durable;
      tally.bytes += added[i].bytes;
      pipeline_options_.numbered_before += static_cast<std::uint64_t>(added[i].count);
    }
  }

  [[nodiscard]] bool has_producer() const { return options_.producer || options_.txn; }

  static std::int32_t partition_count(const TopicInfo& topic) {
    std::int32_t count = 0;
    for (const PartitionInfo& partition : topic.partitions)
      count = std::max(count, partition.partition.value() + 1);
    return count;
  }

  ProduceInput::Limits limits(const TopicInfo& topic) const {
    ProduceInput::Limits limits;
    limits.format = format_;
    limits.partitions = count_;
    limits.partition_limit = grows_ ? std::max(count_, kGrowthLimit) : count_;
    // A little more than may be stored, so that what is just too large is refused by its number; compression
    // may make a larger line fit.
    const auto largest = static_cast<std::size_t>(log_config(topic.configs).max_message_bytes);
    limits.max_record = compression(topic).codec == Codec::none ? largest + (1U << 20) : kMaxDecompressed;
    const auto batches = static_cast<std::size_t>(options_.batch_size) * static_cast<std::size_t>(count_) * 2;
    limits.chunk_size = std::clamp<std::size_t>(batches, 1U << 20, 8U << 20);
    return limits;
  }

  [[nodiscard]] Compression compression(const TopicInfo& topic) const {
    if (options_.compression) return *options_.compression;
    return topic_compression(topic.configs).value_or(Compression{});
  }

  AppendPipeline::Options pipeline_options(const TopicInfo& topic, std::optional<std::int32_t> partition) {
    AppendPipeline::Options options;
    options.format = format_;
    options.config = log_config(topic.configs);
    options.compression = compression(topic);
    options.batch_size = options_.batch_size;
    options.partitioner = static_cast<Partitioner>(options_.partitioner);
    options.partition = partition;
    options.hash_partitions = count_;
    options.timestamp = options_.timestamp;
    for (const auto& header : options_.headers) options.headers.push_back({header.name, header.value});
    options.record_word =
        options_.input == ProduceOptions::Input::lines && options_.delimiter != "\n" ? "record" : "line";
    if (options_.input == ProduceOptions::Input::raw) options.record_word = "record";
    options.most_open = most_open_partitions();
    options.interrupted = [this] { return context_.interrupted.load() != 0; };
    static_cast<void>(getrandom(&options.sticky_start, sizeof options.sticky_start, 0));
    if (options_.report == ProduceOptions::Report::batch) {
      options.on_batch = [this](const AppendedBatch& batch) { report_appended(context_, topic_, batch); };
      options.on_reported = [this] { context_.out.flush(); };
    }
    return options;
  }

  std::unique_ptr<PartitionLog> open(std::int32_t partition) {
    if (producer_) {
      if (auto log = producer_->take_log(partition)) return log;
    }
    if (partition >= count_) {
      store_.alter_topic(topic_, partition + 1, {}, {});
      count_ = partition + 1;
    }
    if (in_cluster_) check_acks(store_, topic_, partition, ack_level(options_));
    return store_.open_for_append(*store_.find(topic_), PartitionId(partition), sync_policy(options_.sync),
                                  [this](const std::string& line) { context_.diagnostics.warning(line); });
  }

  /// The records are in the leaders' logs: what the acks level asks for follows.
  void replicate(const std::vector<PartitionTally>& tallies) {
    std::vector<AppendedRange> ranges;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      if (tallies[i].base_offset)
        ranges.push_back({static_cast<std::int32_t>(i), *tallies[i].base_offset, tallies[i].last_offset});
    }
    replicate_appended(store_, topic_, ranges, ack_level(options_), options_.timeout_ms);
  }

  void report() {
    if (options_.report == ProduceOptions::Report::batch) return;
    for (std::size_t i = 0; i < tallies_.size(); ++i) {
      const PartitionTally& tally = tallies_[i];
      const auto partition = static_cast<std::int32_t>(i);
      const std::int64_t duplicates = producer_ ? producer_->duplicates(partition) : 0;
      if ((tally.count == 0 && duplicates == 0) || tally.durable != tally.count) continue;
      report_appended(
          context_, topic_,
          {partition, tally.base_offset.value_or(Offset(-1)), tally.last_offset, tally.count, tally.bytes},
          duplicates);
    }
  }

  Store& store_;
  const ProduceOptions& options_;
  Context& context_;
  std::string topic_;
  TopicFormat format_;
  std::int32_t count_;
  bool in_cluster_;
  bool grows_;
  ProduceInput input_;
  AppendPipeline::Options pipeline_options_;
  std::optional<ProduceProducer> producer_;
  std::optional<AppendPipeline> pipeline_;
  // Of all pipelines so far.
  std::vector<PartitionTally> tallies_;
};

}  // namespace

int run_produce(const ProduceOptions& options, Context& context) {
  if (options.input != ProduceOptions::Input::dump)
    check_new_topic(wanted_topic(options));  // refused without a trace
  Store store = open_store_for_writing(context);
  expire_due_transactions(store, context);
  if (options.input == ProduceOptions::Input::dump) return import_dump(store, options, context);
  const Target target = find_or_create(store, options);
  if (target.partition) {
    const auto& partitions = target.topic->partitions;
    const bool there = std::any_of(partitions.begin(), partitions.end(), [&](const PartitionInfo& p) {
      return p.partition.value() == *target.partition;
    });
    if (!there) {
      throw Error(ErrorCode::unknown_topic_or_partition,
                  fmt::format("topic '{}' has no partition {}", target.topic->name, *target.partition))
          .at(store.directory());
    }
  }
  ProduceRun(store, target, options, context).run();
  return 0;
}

}  // namespace tk
