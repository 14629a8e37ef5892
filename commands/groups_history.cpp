// tk groups events, tk groups export
#include <fmt/format.h>

#include "commands/broker_rows.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/groups_options.h"
#include "commands/offsets_csv.h"
#include "commands/open_store.h"
#include "commands/table.h"
#include "core/base/json_reader.h"
#include "core/base/json_writer.h"
#include "core/group/commits.h"
#include "core/io/output.h"

namespace tk {
namespace {

// One event's members as cells.
std::vector<std::string> event_cells(const std::string& line) {
  std::string time = "-", what = "-", member = "-", generation = "-", detail = "-";
  JsonReader in(line);
  in.enter_object();
  std::string_view name;
  while (in.next_member(name)) {
    std::string scratch;
    if (name == "ts") {
      time = format_time(in.integer());
    } else if (name == "ev") {
      what = in.string(scratch);
    } else if (name == "member" && in.peek() == JsonType::string) {
      member = in.string(scratch);
    } else if (name == "generation") {
      generation = in.skip();
    } else if (name == "detail") {
      detail = in.skip();
    } else {
      in.skip();
    }
  }
  return {time, what, member, generation, detail};
}

}  // namespace

int run_groups_events(const GroupsEventsOptions& options, Context& context) {
  static_cast<void>(open_store(context));
  const GroupStore groups = open_groups(context);
  const History history = groups.history(options.group);
  if (history.lines.empty() && !groups.read(options.group)) throw groups.unknown_group(options.group);
  if (history.unreadable > 0) {
    context.diagnostics.warning(fmt::format("{} line{} of the history cannot be read", history.unreadable,
                                            history.unreadable == 1 ? "" : "s"));
  }
  Table table({{"TIME"}, {"EVENT"}, {"MEMBER"}, {"GENERATION", true}, {"DETAIL"}});
  for (const std::string& line : history.lines) {
    if (context.out.closed()) return 0;
    context.json ? context.out.write(line + "\n") : table.add(event_cells(line));
  }
  context.out.write(table.text());
  return context.diagnostics.exit_code();
}

namespace {

/// A group that tk keeps comes before a broker's of the same name.
GroupState group_or_broker_group(const std::string& name, const Store& store, const GroupLogs& logs,
                                 Context& context) {
  const GroupStore groups = open_groups(context);
  if (!store.is_broker() || groups.read(name)) return require_group(groups, name, logs);
  BrokerGroups of_broker = broker_groups(store, context);
  const auto found = of_broker.groups.find(name);
  if (found == of_broker.groups.end()) throw unknown_broker_group(name, of_broker, store.directory());
  return std::move(found->second.state);
}

}  // namespace

int run_groups_export(const GroupsExportOptions& options, Context& context) {
  const Store store = open_store(context);
  const GroupLogs logs(store);
  const GroupState group = group_or_broker_group(options.group, store, logs, context);
  for (const auto& [partition, stored] : group.offsets) {
    const CommittedOffset* committed = committed_offset(group, logs, partition);
    if (committed == nullptr) {
      context.diagnostics.note(partition_label(partition) +
                               ": the topic was made anew since the commit: left out");
      continue;
    }
    if (!context.json) {
      context.out.write(csv_line(partition, committed->offset));
      continue;
    }
    TextBuffer text;
    JsonLine(text)
        .text("group", group.group)
        .text("topic", partition.topic)
        .number("partition", partition.partition.value())
        .number("offset", committed->offset)
        .end();
    context.out.write({text.data(), text.size()});
  }
  return context.diagnostics.exit_code();
}

}  // namespace tk
