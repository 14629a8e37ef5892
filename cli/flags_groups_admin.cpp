// tk groups list|describe|events|export|delete|delete-offsets|reset-offsets (cli.md §6).
#include <memory>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/groups_options.h"

namespace tk::cli {
namespace {

using Scenario = ResetScenario::Kind;

void one_group(CommandSpec& spec, std::string& group) {
  spec.check([&spec, &group] {
    if (spec.arguments().empty()) usage_error("no group given");
    if (spec.arguments().size() > 1) usage_error("unexpected argument '" + spec.arguments()[1] + "'");
    group = spec.arguments().front();
  });
}

void add_scope(CommandSpec& spec, std::vector<std::string>& topics) {
  spec.list("-t,--topic", "TOPIC[-P]", "a topic, a partition, or TOPIC:P,Q (repeatable)",
            [&topics](const std::string& text) { topics.push_back(text); });
}

void add_dry_run(CommandSpec& spec, bool& dry_run) {
  spec.flag("--dry-run", "say what would be deleted, delete nothing", dry_run);
}

// The scenarios without a value, and those with one.
void add_scenario(CommandSpec& spec, ResetScenario& to, const std::string& name, const std::string& help,
                  Scenario kind) {
  spec.flag(name, help, [&to, kind] { to.kind = kind; });
}
void add_scenario(CommandSpec& spec, ResetScenario& to, const std::string& name, const std::string& value,
                  const std::string& help, Scenario kind,
                  std::function<std::int64_t(const std::string&)> parse) {
  spec.value(name, value, help, [&to, kind, parse = std::move(parse)](const std::string& text) {
    to.kind = kind;
    to.value = parse(text);
  });
}

void add_scenarios(CommandSpec& spec, GroupsResetOptions* to) {
  ResetScenario& scenario = to->scenario;
  spec.group("Where to (one of these)");
  add_scenario(spec, scenario, "--to-earliest", "the start of the log", Scenario::to_earliest);
  add_scenario(spec, scenario, "--to-latest", "the end of the log", Scenario::to_latest);
  add_scenario(spec, scenario, "--to-offset", "N", "this offset, or the nearest that there is",
               Scenario::to_offset, [](const std::string& text) { return parse_number(text); });
  add_scenario(spec, scenario, "--shift-by", "N", "N offsets on; a negative N goes back", Scenario::shift_by,
               [](const std::string& text) { return parse_number(text, INT64_MIN); });
  add_scenario(spec, scenario, "--to-datetime", "T", "the first record at or after T", Scenario::to_datetime,
               [&spec](const std::string& text) { return parse_time_value(text, spec.now_ms()); });
  add_scenario(spec, scenario, "--by-duration", "D",
               "the first record of the last D (PT10S, 10s, 15m, 2h, 7d)", Scenario::by_duration,
               parse_duration_value);
  add_scenario(spec, scenario, "--to-current", "what is committed, else the end", Scenario::to_current);
  spec.value("--from-file", "FILE", "what lines topic,partition,offset say; - is stdin",
             [to](const std::string& text) {
               to->scenario.kind = Scenario::from_file;
               to->file = text;
             });
}

void check_reset(const CommandSpec& spec, GroupsResetOptions* to) {
  spec.at_most_one_of({"to-earliest", "to-latest", "to-offset", "shift-by", "to-datetime", "by-duration",
                       "to-current", "from-file"});
  const auto given = [&](const char* name) { return spec.count(name) > 0; };
  const bool any = given("to-earliest") || given("to-latest") || given("to-offset") || given("shift-by") ||
                   given("to-datetime") || given("by-duration") || given("to-current") || given("from-file");
  if (!any)
    usage_error("where to? give one of --to-earliest, --to-latest, --to-offset, --shift-by and so on");
  spec.at_most_one_of({"topic", "all-topics"});
  if (!given("topic") && !given("all-topics") && to->scenario.kind != Scenario::from_file) {
    usage_error("of what? give --topic or --all-topics");
  }
  spec.at_most_one_of({"dry-run", "execute"});
}

}  // namespace

void bind_groups_list(CommandSpec& spec) {
  spec.usage("", Completes::nothing);
  spec.about(
      "Prints a line for each group, as it would be at this moment: deadlines that have passed count. "
      "Nothing is changed.");
  check_no_arguments(spec);
  spec.example("tk groups list");
  spec.example("tk groups list --json | jq -r 'select(.state == \"Empty\") | .group'");
  spec.run([](Context& context) { return run_groups_list({}, context); });
}

void bind_groups_describe(CommandSpec& spec) {
  using View = GroupsDescribeOptions::View;
  auto options = std::make_shared<GroupsDescribeOptions>();
  auto* to = options.get();
  spec.usage("GROUP", Completes::groups);
  spec.about(
      "Prints a line for each partition that is committed or subscribed: the committed offset, the end, the "
      "lag, and who reads it; or the members, or the state of the group. Deadlines that have passed count; "
      "nothing is changed.");
  one_group(spec, to->group);
  spec.flag("--offsets", "how far it has read, and the lag (default)", [to] { to->view = View::offsets; });
  spec.flag("--members", "who reads what, and until when", [to] { to->view = View::members; });
  spec.flag("--state", "its state, and what the last rebalance cost", [to] { to->view = View::state; });
  spec.choice<Isolation>(
      "--isolation",
      {{"read_uncommitted", Isolation::read_uncommitted}, {"read_committed", Isolation::read_committed}},
      "where the log ends for the lag (default: read_uncommitted)", to->isolation);
  spec.flag("--lag-records", "count the records that are left, by reading them", to->lag_records);
  spec.check([&spec] { spec.at_most_one_of({"offsets", "members", "state"}); });
  spec.example("tk groups describe billing");
  spec.example("tk groups describe billing --json | jq -s 'map(.lag) | add'");
  spec.example("tk groups describe billing --members");
  spec.run([options](Context& context) { return run_groups_describe(*options, context); });
}

void bind_groups_events(CommandSpec& spec) {
  auto options = std::make_shared<GroupsEventsOptions>();
  spec.usage("GROUP", Completes::groups);
  spec.about(
      "Prints, oldest first, what the group remembers: joins, expulsions with the deadline that passed, "
      "commits, resets.");
  one_group(spec, options->group);
  spec.example("tk groups events billing");
  spec.example("tk groups events billing --json | jq 'select(.ev == \"expire\")'");
  spec.run([options](Context& context) { return run_groups_events(*options, context); });
}

void bind_groups_export(CommandSpec& spec) {
  auto options = std::make_shared<GroupsExportOptions>();
  spec.usage("GROUP", Completes::groups);
  spec.about("Prints what 'groups reset-offsets --from-file' reads.");
  one_group(spec, options->group);
  spec.example("tk groups export billing > billing.csv");
  spec.example("tk groups export billing --json | jq .offset");
  spec.run([options](Context& context) { return run_groups_export(*options, context); });
}

void bind_groups_delete(CommandSpec& spec) {
  auto options = std::make_shared<GroupsDeleteOptions>();
  spec.usage("GROUP", Completes::groups);
  spec.about(
      "Only a group without members can be deleted. A group file that is damaged is set aside, not removed.");
  one_group(spec, options->group);
  add_dry_run(spec, options->dry_run);
  add_sync(spec, options->sync);
  spec.example("tk groups delete billing --dry-run");
  spec.example("tk groups delete billing");
  spec.run([options](Context& context) { return run_groups_delete(*options, context); });
}

void bind_groups_delete_offsets(CommandSpec& spec) {
  auto options = std::make_shared<GroupsDeleteOffsetsOptions>();
  auto* to = options.get();
  spec.usage("GROUP", Completes::groups);
  spec.about(
      "Forgets what the group has committed of these topics or partitions; a topic to which a member "
      "subscribes is refused.");
  one_group(spec, to->group);
  add_scope(spec, to->topics);
  add_dry_run(spec, to->dry_run);
  add_sync(spec, to->sync);
  spec.check([to] {
    if (to->topics.empty()) usage_error("of what? give --topic");
  });
  spec.example("tk groups delete-offsets billing --topic orders --dry-run");
  spec.example("tk groups delete-offsets billing --topic orders-0 --topic events");
  spec.run([options](Context& context) { return run_groups_delete_offsets(*options, context); });
}

void bind_groups_reset_offsets(CommandSpec& spec) {
  auto options = std::make_shared<GroupsResetOptions>();
  auto* to = options.get();
  spec.usage("GROUP", Completes::groups);
  spec.about(
      "Shows where the group would read on, and with --execute puts it there. The group must have no "
      "members. Offsets outside of the log are moved to its nearest end.");
  one_group(spec, to->group);
  add_scenarios(spec, to);
  spec.group("Of what");
  add_scope(spec, to->topics);
  spec.flag("--all-topics", "everything that has a commit", to->all_topics);
  spec.group("Options");
  spec.flag("--dry-run", "say what would change (default)", to->dry_run);
  spec.flag("--execute", "do it", to->execute);
  add_sync(spec, to->sync);
  spec.check([&spec, to] { check_reset(spec, to); });
  spec.example("tk groups reset-offsets billing --to-earliest --topic orders");
  spec.example("tk groups reset-offsets billing --by-duration 2h --all-topics --execute");
  spec.example("tk groups reset-offsets billing --from-file billing.csv --execute");
  spec.run([options](Context& context) { return run_groups_reset_offsets(*options, context); });
}

}  // namespace tk::cli
