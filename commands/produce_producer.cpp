#include "commands/produce_producer.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/produce_report.h"
#include "core/log/stored_record.h"
#include "core/store/store_transactions.h"

namespace tk {
namespace {

constexpr std::int64_t kLookForNameEveryMs = 100;

}  // namespace

ProduceProducer::ProduceProducer(Store& store, const std::string& topic,
                                 std::optional<std::int32_t> partition, std::int32_t partitions,
                                 const ProduceOptions& options, Context& context)
    : store_(store),
      in_cluster_(store.cluster() != nullptr),
      topic_(topic),
      partition_(partition),
      partitions_(partitions),
      options_(options),
      context_(context) {
  options_.producer ? begin_named() : join_transaction();
}

void ProduceProducer::begin_named() {
  NamedRun::Options run;
  run.name = *options_.producer;
  run.topic = topic_;
  run.partitions = partitions_;
  run.lock_wait = lock_wait(context_);
  run.first_id = [this] { return StoreTransactions(store_, context_.clock).first_id(); };
  if (in_cluster_) {
    wait_for_name(run);
  } else {
    named_.emplace(context_.fs, store_.directory(), std::move(run));
  }
  id_ = named_->id();
  epoch_ = named_->epoch();
  look_at_logs();
}

// A run of this name that goes on takes the cluster's lock for what its input still brings: whoever waits for
// its end does not hold that.
void ProduceProducer::wait_for_name(const NamedRun::Options& run) {
  const std::int64_t deadline = monotonic_ms() + context_.lock_timeout_ms;
  for (;;) {
    NamedRun::Options at_once = run;
    at_once.lock_wait = LockWait(0);
    try {
      named_.emplace(context_.fs, store_.directory(), std::move(at_once));
      return;
    } catch (const Error& error) {
      const bool over = monotonic_ms() >= deadline || context_.interrupted.load() != 0;
      if (error.code() != ErrorCode::log_dir_locked || over) throw;
    }
    static_cast<void>(Store(std::move(store_)));  // closed
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookForNameEveryMs));
    store_ = open_store_for_writing(context_);
    if (store_.find(topic_) == nullptr) static_cast<void>(store_.resolve(topic_));  // throws: it was deleted
  }
}

void ProduceProducer::join_transaction() {
  std::vector<TopicPartition> partitions;
  for (const PartitionInfo& partition : store_.find(topic_)->partitions) {
    if (!partition_ || partition.partition.value() == *partition_)
      partitions.push_back({topic_, partition.partition});
  }
  StoreTransactions transactions(store_, context_.clock,
                                 [this](const std::string& line) { context_.diagnostics.warning(line); });
  const TransactionEntry entry =
      transactions.coordinator().join(options_.txn->id, options_.txn->epoch, partitions);
  id_ = entry.id;
  epoch_ = entry.epoch;
}

// How many records of the input each partition holds. A partition with nothing in it is not even opened.
void ProduceProducer::look_at_logs() {
  const auto n = static_cast<std::size_t>(partitions_);
  std::vector<std::int64_t> held(n);
  last_held_.assign(n, Offset(-1));
  logs_.resize(n);
  for (const PartitionInfo& partition : store_.find(topic_)->partitions) {
    const auto p = static_cast<std::size_t>(partition.partition.value());
    if (partition_ && partition.partition.value() != *partition_) continue;
    if (!context_.fs.stat(partition.directory)) continue;
    const PartitionFiles files = list_partition(context_.fs, partition.directory);
    if (files.segments.empty() || (partition.tk_made && files.snapshots.empty())) continue;
    auto log =
        store_.open_for_append(*store_.find(topic_), partition.partition, sync_policy(options_.sync),
                               [this](const std::string& line) { context_.diagnostics.warning(line); });
    log->begin();
    held[p] = named_->held(partition.partition, log->producers());
    const ProducerEntry* const entry = log->producers().find(id_);
    if (held[p] > 0) last_held_[p] = entry->last_batch()->last_offset;
    log->yield();
    if (!in_cluster_) {
      logs_[p] = std::move(log);  // in a cluster others may write before this run does
    } else if (held[p] > 0 && partition.high_watermark && last_held_[p] >= *partition.high_watermark) {
      held_.push_back({partition.partition.value(), *partition.high_watermark, last_held_[p]});
    }
  }
  if (in_cluster_) store_.save_cluster();  // a look at a log may have found what its disk lost
  named_->forget_lost_counts();
  count_.emplace(std::move(held));
}

RecordSource& ProduceProducer::prepare(RecordSource& input, AppendPipeline::Options& options) {
  options.producer = EncodeOptions::Producer{id_, epoch_, !named_};
  if (!named_) {
    options.on_turn = [this] {
      require_open_transaction(context_.fs, store_.directory(), options_.txn->id, epoch_);
    };
    return input;
  }
  options.count = &*count_;
  options.check = [this](std::int32_t partition, std::int64_t number, const RecordFields& fields) {
    check(partition, number, fields);
  };
  options.on_held = [this](std::int32_t partition, PartitionLog& log, std::int64_t records) {
    if (!named_->wants_note(PartitionId(partition), records)) return;
    log.sync();
    named_->note_count(PartitionId(partition), records);
  };
  held_back_.emplace(input, options, *count_, options.check);
  held_back_->look(options.interrupted);
  options.records_before = held_back_->dropped_of_file();
  return *held_back_;
}

// Reads without the right to write: nobody else appends under this producer's id. While this run waits for
// input in a cluster it has no store open.
void ProduceProducer::check(std::int32_t partition, std::int64_t number, const RecordFields& fields) const {
  const auto p = static_cast<std::size_t>(partition);
  std::optional<Store> looks;
  if (in_cluster_) looks = Store::open(context_.fs, context_.directory, {});
  const Store& store = looks ? *looks : store_;
  const TopicInfo* topic = store.find(topic_);
  if (topic == nullptr) static_cast<void>(store.resolve(topic_));  // throws: it was deleted meanwhile
  const auto at =
      std::ranges::lower_bound(topic->partitions, PartitionId(partition), {}, &PartitionInfo::partition);
  if (at == topic->partitions.end()) return;  // made anew with fewer; appending to it tells
  const PartitionInfo& place = *at;
  const LogView view = store.view(place);
  std::optional<StoredRecord> stored;
  if (number + 1 == count_->held(partition)) {
    stored = record_at(context_.fs, view, last_held_[p]);
  } else if (count_->held(partition) <= INT32_MAX) {
    stored = record_of_sequence(context_.fs, view, id_, epoch_, static_cast<std::int32_t>(number));
  }
  require_same_record(stored, fields, *options_.producer, number, place.directory);
}

std::unique_ptr<PartitionLog> ProduceProducer::take_log(std::int32_t partition) {
  const auto p = static_cast<std::size_t>(partition);
  return p < logs_.size() ? std::move(logs_[p]) : nullptr;
}

std::int64_t ProduceProducer::duplicates(std::int32_t partition) const {
  return count_ && partition < count_->partitions() ? count_->duplicates(partition) : 0;
}

}  // namespace tk
