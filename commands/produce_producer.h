// What --producer and --txn add to a run of `tk produce` (cli.md §9).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "commands/produce_options.h"
#include "core/log/append_pipeline.h"
#include "core/log/held_back_input.h"
#include "core/producer/named_run.h"
#include "core/store/store.h"

namespace tk {

struct Context;

class ProduceProducer {
 public:
  /// Registers the named producer or joins the transaction. `partition`: the only one that the run writes to,
  /// if there is one. All must outlive it. Throws what NamedRun and Coordinator::join() throw.
  ProduceProducer(Store& store, const std::string& topic, std::optional<std::int32_t> partition,
                  std::int32_t partitions, const ProduceOptions& options, Context& context);

  /// Completes the pipeline's options, and returns where it is to read from: with a named producer a look has
  /// been taken at the input then. Throws out_of_order_sequence_number for another input. `input` and
  /// `options` must outlive it.
  RecordSource& prepare(RecordSource& input, AppendPipeline::Options& options);
  /// The log of a partition, if it was opened already to look what it holds; else null.
  std::unique_ptr<PartitionLog> take_log(std::int32_t partition);
  /// Records of the input that a partition held before.
  [[nodiscard]] std::int64_t duplicates(std::int32_t partition) const;

 private:
  void begin_named();
  void join_transaction();
  void look_at_logs();
  void check(std::int32_t partition, std::int64_t number, const RecordFields& fields) const;
  [[nodiscard]] const PartitionInfo& info(std::int32_t partition) const;

  Store& store_;
  std::string topic_;
  std::optional<std::int32_t> partition_;
  std::int32_t partitions_;
  const ProduceOptions& options_;
  Context& context_;
  ProducerId id_;
  std::int16_t epoch_ = 0;
  std::optional<NamedRun> named_;
  std::optional<InputCount> count_;
  std::vector<Offset> last_held_;  // by partition; -1: nothing
  std::vector<std::unique_ptr<PartitionLog>> logs_;
  std::optional<HeldBackInput> held_back_;
};

}  // namespace tk
