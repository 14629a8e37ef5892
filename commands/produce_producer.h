// What --producer and --txn add to a run of `tk produce` (cli.md §9).
//
// In a cluster the run gives the cluster's lock up where its input pauses (produce_slices.h). What others may
// have done meanwhile is looked at whenever the right to write a partition was taken anew: the sequence that
// its leader's log expects, and, of a transaction, whether it is still open in this epoch.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "commands/produce_cluster.h"
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
  /// been taken at the input then; in a cluster the store is to be closed meanwhile, as input may pause.
  /// Throws out_of_order_sequence_number for another input. `input` and `options` must outlive it.
  RecordSource& prepare(RecordSource& input, AppendPipeline::Options& options);
  /// The log of a partition, if it was opened already to look what it holds; else null.
  std::unique_ptr<PartitionLog> take_log(std::int32_t partition);
  /// In a cluster: what its leaders have of the input, and that may not be on the followers (a run before did
  /// not wait for them, or was killed).
  [[nodiscard]] const std::vector<AppendedRange>& held() const { return held_; }
  /// Records of the input that a partition held before.
  [[nodiscard]] std::int64_t duplicates(std::int32_t partition) const;

 private:
  void begin_named();
  void wait_for_name(const NamedRun::Options& run);
  void join_transaction();
  void look_at_logs();
  void check(std::int32_t partition, std::int64_t number, const RecordFields& fields) const;

  Store& store_;
  bool in_cluster_;
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
  std::vector<AppendedRange> held_;
  std::optional<HeldBackInput> held_back_;
};

}  // namespace tk
