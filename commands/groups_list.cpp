// tk groups list, and the row of `describe --state`
#include <fmt/format.h>

#include "commands/broker_rows.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/group_rows.h"
#include "commands/groups_options.h"
#include "commands/open_store.h"
#include "commands/table.h"
#include "core/base/json_writer.h"
#include "core/group/group_json.h"
#include "core/group/group_name.h"
#include "core/io/output.h"

namespace tk {
namespace {

// A group of commits alone has neither.
std::optional<std::string_view> protocol_of(const GroupState& group, const std::optional<StateNames>& names) {
  if (names) return text_if(names->protocol);
  return group.had_members ? std::optional(group_protocol_name(group.protocol)) : std::nullopt;
}
std::optional<std::string_view> assignor_of(const GroupState& group, const std::optional<StateNames>& names) {
  if (names) return text_if(names->assignor);
  return group.assignor ? std::optional(assignor_name(*group.assignor)) : std::nullopt;
}

void damaged_row(const std::string& key, Table& table, Context& context) {
  const std::string name = group_of_key(key);
  if (!context.json) return table.add({name, "Damaged", "-", "-", "-", "-", "-"});
  TextBuffer text;
  JsonLine line(text);
  line.text("group", name).text("state", "Damaged");
  for (const char* none : {"protocol", "assignor", "generation", "members", "topics"}) line.null(none);
  line.end();
  context.out.write({text.data(), text.size()});
}

/// Those of a broker, which are in its own topics.
void add_broker_groups(const Store& store, Table& table, Context& context) {
  for (const auto& [id, group] : broker_groups(store, context).groups) {
    if (context.interrupted.load() != 0 || context.out.closed()) return;
    if (!context.json) {
      table.add(broker_state_cells(group));
      continue;
    }
    TextBuffer text;
    JsonLine line(text);
    broker_state_json(line, group);
    line.end();
    context.out.write({text.data(), text.size()});
  }
}

}  // namespace

void state_json(JsonLine& line, const GroupState& group, const std::optional<StateNames>& names) {
  line.text("group", group.group)
      .text("state", group_phase_name(group.phase))
      .text_or_null("protocol", protocol_of(group, names))
      .text_or_null("assignor", assignor_of(group, names))
      .number("generation", group.generation)
      .number("members", static_cast<std::int64_t>(group.members.size()))
      .raw("topics", names_array(topics_of(group)));
}

std::vector<std::string> state_cells(const GroupState& group, const std::optional<StateNames>& names) {
  const auto text = [](const std::optional<std::string_view>& name) {
    return std::string(name.value_or("-"));
  };
  return {group.group,
          std::string(group_phase_name(group.phase)),
          text(protocol_of(group, names)),
          text(assignor_of(group, names)),
          std::to_string(group.generation),
          std::to_string(group.members.size()),
          names_text(topics_of(group))};
}

Table state_table() {
  return Table({{"GROUP"},
                {"STATE"},
                {"PROTOCOL"},
                {"ASSIGNOR"},
                {"GENERATION", true},
                {"MEMBERS", true},
                {"TOPICS"}});
}

int run_groups_list(const GroupsListOptions&, Context& context) {
  const Store store = open_store(context);
  const GroupLogs logs(store);
  const GroupStore groups = open_groups(context);
  Table table = state_table();
  for (const std::string& key : groups.keys()) {
    if (context.interrupted.load() != 0 || context.out.closed()) break;
    try {
      const auto group = groups.at_this_moment(groups.read_key(key), logs);
      if (!group) continue;  // gone meanwhile
      if (!context.json) {
        table.add(state_cells(*group));
        continue;
      }
      TextBuffer text;
      JsonLine line(text);
      state_json(line, *group);
      line.end();
      context.out.write({text.data(), text.size()});
    } catch (const Error& error) {
      if (error.code() == ErrorCode::corrupt_state) damaged_row(key, table, context);
      context.diagnostics.error(error);
    }
  }
  add_broker_groups(store, table, context);
  context.out.write(table.text());
  return context.diagnostics.exit_code();
}

}  // namespace tk
