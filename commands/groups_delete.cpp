// tk groups delete, tk groups delete-offsets
#include <fmt/format.h>

#include <algorithm>

#include "commands/broker_rows.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/groups_options.h"
#include "commands/open_store.h"
#include "core/base/json_writer.h"
#include "core/group/commits.h"
#include "core/group/group_name.h"
#include "core/io/output.h"
#include "core/store/broker_group_write.h"

namespace tk {
namespace {

void print_action(const std::string& group, std::string_view action, const std::string& path,
                  Context& context) {
  if (context.json) {
    TextBuffer text;
    JsonLine(text).text("group", group).text("action", action).text("path", path).end();
    context.out.write({text.data(), text.size()});
  } else if (action == "would_delete") {
    context.out.write(fmt::format("would delete {}\n", printable(path, std::string::npos)));
  } else if (action == "would_set_aside") {
    context.out.write(fmt::format("would set aside {}\n", printable(path, std::string::npos)));
  } else if (action == "set_aside") {
    context.diagnostics.note(
        fmt::format("the file of group '{}' is damaged: set aside as {}", printable(group), path));
  } else {
    context.diagnostics.note(fmt::format("deleted group '{}'", printable(group)));
  }
}

/// A topic of the group's commits, and the partitions meant.
struct Scope {
  std::string topic;
  std::vector<std::optional<PartitionId>> partitions;
};

bool knows(const GroupState& group, const std::string& topic) {
  const auto subscribed = subscribed_topics(group);
  return std::ranges::binary_search(subscribed, topic) ||
         std::ranges::any_of(group.offsets, [&](const auto& entry) { return entry.first.topic == topic; });
}

// The topic may be gone: the group's own commits say what there is. One that bears the whole name comes
// first.
Scope scope_of(const GroupState& group, const std::string& name) {
  if (knows(group, name)) return {name, {std::nullopt}};
  const auto parsed = parse_partition_directory(name);
  if (parsed && knows(group, parsed->topic)) return {parsed->topic, {parsed->partition}};
  const std::size_t colon = name.rfind(':');
  if (colon != std::string::npos && knows(group, name.substr(0, colon))) {
    Scope scope{name.substr(0, colon), {}};
    for (std::size_t at = colon + 1; at <= name.size();) {
      const std::size_t end = std::min(name.find(',', at), name.size());
      const auto number = parse_int(std::string_view(name).substr(at, end - at));
      if (!number || *number < 0 || *number > INT32_MAX) break;
      scope.partitions.emplace_back(PartitionId(static_cast<std::int32_t>(*number)));
      if (end == name.size()) return scope;
      at = end + 1;
    }
  }
  std::vector<std::string> topics;
  for (const auto& [partition, offset] : group.offsets) topics.push_back(partition.topic);
  Error error(ErrorCode::unknown_topic_or_partition,
              fmt::format("group '{}' has no offsets of '{}'", printable(group.group), printable(name, 300)));
  const auto nearest = nearest_name(name, topics);
  throw nearest ? std::move(error).hint(fmt::format("did you mean '{}'?", *nearest)) : std::move(error);
}

void print_deleted(const GroupsDeleteOffsetsOptions& options, const std::vector<TopicPartition>& deleted,
                   Context& context) {
  TextBuffer text;
  for (const TopicPartition& partition : deleted) {
    if (context.json) {
      JsonLine(text)
          .text("group", options.group)
          .text("topic", partition.topic)
          .number("partition", partition.partition.value())
          .text("action", options.dry_run ? "would_delete" : "deleted")
          .end();
    } else {
      append(text, fmt::format("{} {}\n", options.dry_run ? "would delete" : "deleted",
                               partition_label(partition)));
    }
  }
  context.out.write({text.data(), text.size()});
}

void say(Context& context, const std::string& line) {
  context.diagnostics.warning(line);
}

/// The partition whose records are the group.
std::string place_of(const BrokerGroup& group, const Context& context) {
  return join_path(context.directory, partition_directory_name("__consumer_offsets", *group.held_by));
}

/// True if it was a group of the broker's own.
bool delete_broker_group(const GroupsDeleteOptions& options, Context& context) {
  Store store = options.dry_run ? open_store(context) : open_store_for_groups(context);
  const auto group = broker_group(options.group, store, open_groups(context), context);
  if (!group) return false;
  require_writable(store, *group);
  if (options.dry_run && !context.json) {
    context.out.write(fmt::format("would delete group '{}' in {}\n", printable(options.group),
                                  printable(place_of(*group, context), std::string::npos)));
    return true;
  }
  if (!options.dry_run) {
    BrokerGroupWriter(store, *group, context.clock.now_ms(), [&](const std::string& line) {
      say(context, line);
    }).delete_group();
  }
  print_action(options.group, options.dry_run ? "would_delete" : "deleted", place_of(*group, context),
               context);
  return true;
}

/// True if it was a group of the broker's own; `deleted` gets what goes.
bool delete_broker_offsets(const GroupsDeleteOffsetsOptions& options, Context& context,
                           std::vector<TopicPartition>& deleted) {
  Store store = options.dry_run ? open_store(context) : open_store_for_groups(context);
  const auto group = broker_group(options.group, store, open_groups(context), context);
  if (!group) return false;
  require_writable(store, *group);
  for (const std::string& name : options.topics) {
    const Scope scope = scope_of(group->state, name);
    for (const auto& [partition, offset] : group->state.offsets) {
      const bool meant = std::ranges::any_of(
          scope.partitions,
          [&, number = partition.partition](const auto& one) { return !one || *one == number; });
      if (partition.topic == scope.topic && meant) deleted.push_back(partition);
    }
  }
  if (!options.dry_run) {
    BrokerGroupWriter(store, *group, context.clock.now_ms(), [&](const std::string& line) {
      say(context, line);
    }).delete_commits(deleted);
  }
  return true;
}

int finish_deletion(const GroupsDeleteOffsetsOptions& options, const std::vector<TopicPartition>& deleted,
                    Context& context) {
  if (deleted.empty()) context.diagnostics.note("no offsets are committed there: nothing to delete");
  print_deleted(options, deleted, context);
  return 0;
}

/// Whether the directory is there, and a broker's.
bool is_broker_directory(Context& context) {
  return Store::open(context.fs, context.directory, {}).is_broker();
}

}  // namespace

int run_groups_delete(const GroupsDeleteOptions& options, Context& context) {
  const auto allowed = [](const GroupState& group) { require_no_members(group, "deleting it"); };
  check_group_id(options.group);
  if (is_broker_directory(context) && delete_broker_group(options, context))
    return context.diagnostics.exit_code();
  const std::string path = join_path(context.directory, group_state_name(group_key(options.group)));
  bool damaged = false;
  const auto look = [&](const Store& store) {
    const GroupLogs logs(store);
    try {
      allowed(require_group(open_groups(context), options.group, logs));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt_state) throw;
      damaged = true;
    }
  };
  if (options.dry_run) {
    look(open_store(context));
    print_action(options.group, damaged ? "would_set_aside" : "would_delete", path, context);
    return 0;
  }
  const Store store = open_store_for_groups(context);
  look(store);
  GroupStore groups = open_groups(context, options.sync);
  if (damaged) {
    const std::string to = groups.set_aside(options.group);
    if (!to.empty()) {
      print_action(options.group, "set_aside", to, context);
      return 0;
    }
  }
  groups.remove(options.group, GroupLogs(store), allowed);
  print_action(options.group, "deleted", path, context);
  return 0;
}

int run_groups_delete_offsets(const GroupsDeleteOffsetsOptions& options, Context& context) {
  std::vector<TopicPartition> deleted;
  if (is_broker_directory(context) && delete_broker_offsets(options, context, deleted))
    return finish_deletion(options, deleted, context);
  const auto take = [&](GroupTurn& turn) {
    for (const std::string& name : options.topics) {
      const Scope scope = scope_of(turn.group, name);
      for (const auto& partition : scope.partitions) {
        for (TopicPartition& gone : delete_offsets(turn, scope.topic, partition))
          deleted.push_back(std::move(gone));
      }
    }
  };
  if (options.dry_run) {
    const Store store = open_store(context);
    const GroupLogs logs(store);
    GroupState group = require_group(open_groups(context), options.group, logs);
    GroupTurn turn{.group = group, .now_ms = group.last_now_ms, .topics = logs};
    take(turn);
  } else {
    const Store store = open_store_for_groups(context);
    GroupStore groups = open_groups(context, options.sync);
    const auto outcome = groups.change(options.group, GroupLogs(store), [&](GroupTurn& turn) {
      if (!turn.exists) throw groups.unknown_group(options.group);
      take(turn);
    });
    report_outcome(outcome, options.group, context);
  }
  return finish_deletion(options, deleted, context);
}

}  // namespace tk
