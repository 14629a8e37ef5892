// Options of `tk rebalance` (cli.md §6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"
#include "core/group/assignor.h"
#include "core/group/group_state.h"

namespace tk {

/// One thing to do with a member; several are done in the order given, all of them or none.
struct RebalanceStep {
  enum class Kind : std::uint8_t { join, leave, heartbeat, sync_group };
  Kind kind = Kind::join;
  /// Empty for a leave that names an instance.
  std::string member;
  /// --leave instance:I
  std::optional<std::string> leaving_instance;
  /// --join M=T1,T2; empty: the command's topics.
  std::vector<std::string> topics;
};

struct RebalanceOptions {
  /// Answer questions from standard input; no group and no file is touched.
  bool preview = false;
  /// --assignor; for a preview it goes before what a question names.
  std::optional<Assignor> assignor;

  std::string group;
  /// -t/--topic: what members subscribe to that name no topics of their own.
  std::vector<std::string> topics;
  std::vector<RebalanceStep> steps;
  /// Do what has fallen due, as every step does first.
  bool expire = false;
  std::optional<GroupProtocol> protocol;
  /// Of the member that joins, leaves, or speaks.
  std::optional<std::string> instance;
  /// ms, 0: never.
  std::optional<std::int64_t> session_timeout_ms;
  std::optional<std::int64_t> max_poll_interval_ms;
  /// Of a heartbeat of the consumer protocol; -1 leaves, -2 leaves for a while, 0 joins.
  std::optional<std::int64_t> epoch;
  /// Of a heartbeat of the consumer protocol: what the member holds; nothing: it does not say.
  std::optional<PartitionList> owned;
  /// Of a sync or heartbeat of the classic protocol.
  std::optional<std::int64_t> generation;
  SyncMode sync = SyncMode::end;
};

}  // namespace tk
