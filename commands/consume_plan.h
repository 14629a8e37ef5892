// What `consume` is to read: partitions, and from where to where in each.
#pragma once

#include <memory>
#include <vector>

#include "commands/consume_options.h"
#include "commands/context.h"
#include "core/log/key_map.h"
#include "core/log/record_walk.h"
#include "core/store/store.h"

namespace tk {

struct PartitionPlan {
  PartitionInfo partition;
  LogView view;
  Transactions transactions;
  ReadScope scope;
  /// Records at the beginning to leave out (-o -N).
  std::int64_t skip = 0;
  /// With --latest-per-key: where each key was last written, within the scope.
  std::unique_ptr<KeyMap> latest;
};

/// Settles the limits of one partition as they are now, and notes what is odd in its directory.
std::unique_ptr<PartitionPlan> plan_partition(const Store& store, const PartitionInfo& partition,
                                              const ConsumeOptions& options, Context& context);
/// Takes the log as it is now, and its end; where reading begins is left as it was.
void look_again(const Store& store, const ConsumeOptions& options, Context& context, PartitionPlan& plan);

/// Resolves the topics and settles the limits of every partition as they are now. Throws for an unknown topic
/// or partition; notes offsets that lie outside a log.
std::vector<std::unique_ptr<PartitionPlan>> plan_consume(const Store& store, const ConsumeOptions& options,
                                                         Context& context);

}  // namespace tk
