// tk commit
#include <fmt/format.h>

#include "commands/broker_rows.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/groups_options.h"
#include "commands/open_store.h"
#include "core/base/json_writer.h"
#include "core/group/commits.h"
#include "core/group/group_json.h"
#include "core/group/membership.h"
#include "core/io/output.h"

namespace tk {
namespace {

// What --all-read is about: the member's partitions, or those of a group without members that have a commit,
// and those of the topics named.
PartitionList all_of(GroupState& group, const CommitOptions& options, const Store& store) {
  PartitionList partitions;
  if (options.member) {
    return require_member(group, *options.member, options.instance).assignment;
  }
  GroupLogs logs(store);
  for (const auto& [partition, offset] : group.offsets) {
    if (logs.find(partition) != nullptr) partitions.push_back(partition);
  }
  for (const std::string& topic : options.topics)
    partitions = united(partitions, resolve_scope(store, topic));
  return partitions;
}

std::vector<OffsetCommit> offsets_of(GroupState& group, const CommitOptions& options, const Store& store) {
  std::vector<OffsetCommit> commits;
  for (const CommitOptions::Offset& offset : options.offsets) {
    commits.push_back({resolve_partition(store, offset.partition), offset.offset, {}, options.metadata});
  }
  if (!options.all_read) return commits;
  const GroupLogs logs(store);
  for (const TopicPartition& partition : all_of(group, options, store)) {
    const auto edges = logs.edges(partition);
    if (edges) commits.push_back({partition, edges->high_watermark.value(), {}, options.metadata});
  }
  return commits;
}

void print(const std::string& group, const std::vector<CommittedRow>& rows, Context& context) {
  TextBuffer text;
  for (const CommittedRow& row : rows) {
    if (!context.json) {
      append(text, fmt::format("{} {}", partition_label(row.partition), row.offset));
      if (row.previous) append(text, fmt::format(" (was {})", *row.previous));
      append(text, "\n");
      continue;
    }
    JsonLine line(text);
    commit_json(line, group, row);
    line.end();
  }
  if (context.json || !context.quiet) context.out.write({text.data(), text.size()});
  for (const CommittedRow& row : rows) {
    const std::string label = partition_label(row.partition);
    if (row.went_back) {
      context.diagnostics.note(
          fmt::format("{}: the commit went back, from {} to {}", label, *row.previous, row.offset));
    }
    if (row.not_owner)
      context.diagnostics.warning(label + " is not assigned to the member that committed it");
    if (row.above_high_watermark) context.diagnostics.warning(label + ": nobody can read at that offset yet");
  }
}

}  // namespace

int run_commit(const CommitOptions& options, Context& context) {
  const Store store = open_store_for_groups(context);
  const GroupLogs logs(store);
  GroupStore groups = open_groups(context, options.sync);
  refuse_brokers_group(options.group, store, groups, context);
  std::vector<CommittedRow> rows;
  const auto outcome = groups.change(options.group, logs, [&](GroupTurn& turn) {
    if (!turn.exists && options.member) throw groups.unknown_group(options.group);
    CommitRequest request;
    request.member = options.member;
    request.instance = options.instance;
    request.generation = options.generation.value_or(-1);
    request.offsets = offsets_of(turn.group, options, store);
    if (request.offsets.empty()) {
      throw Error(
          ErrorCode::invalid_request,
          fmt::format("nothing to commit: group '{}' has no partitions yet", printable(options.group)))
          .hint("name partitions as TOPIC-P=OFFSET, or topics with --topic");
    }
    rows = commit(turn, request);
  });
  report_outcome(outcome, options.group, context);
  print(options.group, rows, context);
  return 0;
}

}  // namespace tk
