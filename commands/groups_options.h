// Options of `tk commit` and `tk groups ...` (cli.md §6). Names are as given, not yet resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"
#include "core/group/offset_reset.h"

namespace tk {

struct CommitOptions {
  struct Offset {
    /// TOPIC-P or TOPIC:P
    std::string partition;
    std::int64_t offset = 0;
  };
  std::string group;
  std::vector<Offset> offsets;
  /// With all_read and without a member: besides the partitions that have a commit.
  std::vector<std::string> topics;
  /// Both or neither.
  std::optional<std::string> member;
  std::optional<std::int64_t> generation;
  std::optional<std::string> instance;
  std::string metadata;
  /// Commit the high watermark of all that the member has, or that the group reads.
  bool all_read = false;
  SyncMode sync = SyncMode::end;
};

struct GroupsListOptions {};

struct GroupsDescribeOptions {
  enum class View : std::uint8_t { offsets, members, state };
  std::string group;
  View view = View::offsets;
  Isolation isolation = Isolation::read_uncommitted;
  /// Count the records that are still to be read, by reading them.
  bool lag_records = false;
};

struct GroupsEventsOptions {
  std::string group;
};

struct GroupsExportOptions {
  std::string group;
};

struct GroupsDeleteOptions {
  std::string group;
  bool dry_run = false;
  SyncMode sync = SyncMode::end;
};

struct GroupsDeleteOffsetsOptions {
  std::string group;
  /// TOPIC, TOPIC-P or TOPIC:P,Q; at least one.
  std::vector<std::string> topics;
  bool dry_run = false;
  SyncMode sync = SyncMode::end;
};

struct GroupsResetOptions {
  std::string group;
  ResetScenario scenario;
  /// Where ResetScenario::Kind::from_file reads; "-" is standard input.
  std::string file;
  std::vector<std::string> topics;
  bool all_topics = false;
  bool execute = false;
  /// Somebody said --dry-run: no reminder is needed.
  bool dry_run = false;
  SyncMode sync = SyncMode::end;
};

}  // namespace tk
