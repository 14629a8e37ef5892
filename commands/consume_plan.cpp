#include "commands/consume_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands/diagnostics.h"
#include "core/base/text.h"
#include "core/log/offset_search.h"

namespace tk {
namespace {

std::string label(const PartitionInfo& partition) {
  return partition_directory_name(partition.topic, partition.partition);
}

std::vector<PartitionInfo> chosen_partitions(const Store& store, const ConsumeOptions& options) {
  std::vector<PartitionInfo> chosen;
  for (const std::string& name : options.topics) {
    const Store::Selection selection = store.resolve(name);
    const auto& partitions = selection.topic->partitions;
    auto wanted = options.partitions;
    if (selection.partition) wanted = {selection.partition->value()};
    for (const std::int32_t number : wanted) {
      const bool there = std::any_of(partitions.begin(), partitions.end(),
                                     [&](const PartitionInfo& p) { return p.partition.value() == number; });
      if (!there) {
        throw Error(ErrorCode::unknown_topic_or_partition,
                    fmt::format("topic '{}' has no partition {}", selection.topic->name, number));
      }
    }
    for (const PartitionInfo& partition : partitions) {
      const bool take = wanted.empty() ||
                        std::find(wanted.begin(), wanted.end(), partition.partition.value()) != wanted.end();
      const bool twice = std::any_of(chosen.begin(), chosen.end(), [&](const PartitionInfo& p) {
        return p.directory == partition.directory;
      });
      if (take && !twice) chosen.push_back(partition);
    }
  }
  return chosen;
}

/// Up to where the isolation level lets read; with read_committed the plan gets its transactions.
Offset readable_end_of(const Store& store, const ConsumeOptions& options, PartitionPlan& plan) {
  if (options.isolation != Isolation::read_committed) return plan.view.log_end;
  plan.transactions = store.transactions(plan.partition, plan.view);
  plan.scope.committed = &plan.transactions;
  return plan.transactions.last_stable(plan.view.log_end);
}

void set_end(const ConsumeOptions& options, Context& context, PartitionPlan& plan, Offset readable_end) {
  // What is not committed yet is read once it is, by a later look at the log.
  const bool open_ended =
      options.follow && options.isolation == Isolation::read_uncommitted && !plan.partition.in_cluster;
  plan.scope.below =
      open_ended && options.until.kind == UntilSpec::Kind::never ? Offset(INT64_MAX) : readable_end;
  // The view ends by file sizes. A damaged end has no offset of its own: it is read to be named.
  if (plan.view.end_state == TailScan::Stop::damaged && readable_end == plan.view.log_end) {
    plan.scope.below = Offset(INT64_MAX);
  }
  if (options.until.kind == UntilSpec::Kind::offset) {
    plan.scope.below =
        open_ended ? Offset(options.until.value) : std::min(readable_end, Offset(options.until.value));
  }
  if (options.until.kind == UntilSpec::Kind::time) {
    if (const auto at = offset_for_time(context.fs, plan.view, options.until.value))
      plan.scope.below = std::min(readable_end, *at);
  }
}

void set_start(const ConsumeOptions& options, Context& context, PartitionPlan& plan, Offset readable_end) {
  const OffsetSpec& spec = options.offset;
  switch (spec.kind) {
    case OffsetSpec::Kind::beginning:
    case OffsetSpec::Kind::stored:  // the group knows
      return;
    case OffsetSpec::Kind::end:
      plan.scope.from = readable_end;
      return;
    case OffsetSpec::Kind::at: {
      const Offset wanted(spec.value);
      plan.scope.from =
          std::clamp(wanted, plan.view.log_start, std::max(plan.view.log_start, plan.view.log_end));
      if (plan.scope.from != wanted) {
        context.diagnostics.note(fmt::format("{}: offset {} lies outside the log ({} to {}): reading from {}",
                                             label(plan.partition), spec.value, plan.view.log_start.value(),
                                             plan.view.log_end.value(), plan.scope.from.value()));
      }
      return;
    }
    case OffsetSpec::Kind::last: {
      const LastRecords last = find_last_records(context.fs, plan.view, plan.scope, spec.value);
      plan.scope.from = last.from;
      plan.skip = last.skip;
      return;
    }
    case OffsetSpec::Kind::time: {
      const auto at = offset_for_time(context.fs, plan.view, spec.value);
      plan.scope.from = at.value_or(readable_end);
      if (!at)
        context.diagnostics.note(fmt::format("{}: no record at or after that time", label(plan.partition)));
      return;
    }
  }
}

}  // namespace

std::unique_ptr<PartitionPlan> plan_partition(const Store& store, const PartitionInfo& partition,
                                              const ConsumeOptions& options, Context& context) {
  auto plan = std::make_unique<PartitionPlan>();
  plan->partition = partition;
  plan->view = store.view(partition);
  if (!plan->view.files.pending.empty())
    context.diagnostics.note(label(partition) + ": " + plan->view.files.pending);
  for (const OtherFile& other : plan->view.files.others) {
    if (other.kind != OtherFile::Kind::foreign) continue;
    context.diagnostics.note(
        fmt::format("{}: '{}' is no file of the log: left out", label(partition), printable(other.name)));
  }
  // Without a word the consumer would find the topic empty, and wait.
  if (partition.in_cluster && plan->view.log_end < partition.high_watermark.value_or(Offset(0))) {
    context.diagnostics.error(
        Error(ErrorCode::corrupt_message,
              fmt::format("{}: the leader's log ends at {}, and records up to {} were committed: they are "
                          "gone from its disk",
                          label(partition), plan->view.log_end.value(), partition.high_watermark->value()))
            .at(partition.directory)
            .hint(fmt::format("'tk replicate-sim {}' lets another in-sync replica lead, if one is up",
                              label(partition))));
  }
  const Offset readable_end = readable_end_of(store, options, *plan);
  plan->scope.from = plan->view.log_start;
  set_end(options, context, *plan, readable_end);
  set_start(options, context, *plan, readable_end);
  return plan;
}

void look_again(const Store& store, const ConsumeOptions& options, Context& context, PartitionPlan& plan) {
  plan.view = store.view(plan.partition);
  set_end(options, context, plan, readable_end_of(store, options, plan));
}

std::vector<std::unique_ptr<PartitionPlan>> plan_consume(const Store& store, const ConsumeOptions& options,
                                                         Context& context) {
  std::vector<std::unique_ptr<PartitionPlan>> plans;
  for (const PartitionInfo& partition : chosen_partitions(store, options))
    plans.push_back(plan_partition(store, partition, options, context));
  return plans;
}

}  // namespace tk
