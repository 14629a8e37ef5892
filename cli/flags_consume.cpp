// tk consume (cli.md §4).
#include <algorithm>
#include <memory>
#include <regex>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "commands/commands.h"
#include "commands/consume_options.h"
#include "commands/context.h"

namespace tk::cli {
namespace {

using Output = ConsumeOptions::Output;

void add_range(CommandSpec& spec, ConsumeOptions* to) {
  spec.group("What is read");
  spec.list("-p,--partition", "N", "only this partition (repeatable)",
            [to](const std::string& text) { to->partitions.push_back(parse_partition(text)); });
  spec.value("-o,--offset", "SPEC",
             "from beginning, end, N, -N (the last N), @TIME, stored (default: beginning; with -g: stored)",
             [to, &spec](const std::string& text) { to->offset = parse_offset_spec(text, spec.now_ms()); });
  spec.flag("--from-beginning", "the same as -o beginning", [to] { to->offset = {}; });
  spec.value("--until", "SPEC", "stop before OFFSET, @TIME, end (the default without -F)",
             [to, &spec](const std::string& text) { to->until = parse_until(text, spec.now_ms()); });
  spec.value("-n,--max-messages", "N", "stop after N records in all",
             [to](const std::string& text) { to->max_messages = parse_number(text); });
  spec.flag("-F,--follow", "wait for more", to->follow);
  spec.value("--idle-timeout", "MS", "with -F: end after a quiet time",
             [to](const std::string& text) { to->idle_timeout_ms = parse_number(text); });
}

void add_selection(CommandSpec& spec, ConsumeOptions* to) {
  using Order = ConsumeOptions::Order;
  using OnDamage = ConsumeOptions::OnDamage;
  spec.value("--grep", "REGEX", "only values that match (ECMAScript, on bytes)",
             [to](const std::string& text) {
               try {
                 (void)std::regex(text, std::regex::ECMAScript);
               } catch (const std::regex_error& error) {
                 usage_error("'" + text + "' is no regular expression: " + error.what());
               }
               to->grep = text;
             });
  spec.value("--key", "KEY", "only records with exactly this key",
             [to](const std::string& text) { to->key = text; });
  spec.flag("--latest-per-key", "only the last record of each key, deleted keys left out",
            to->latest_per_key);
  spec.choice<Isolation>(
      "--isolation",
      {{"read_uncommitted", Isolation::read_uncommitted}, {"read_committed", Isolation::read_committed}},
      "transactions in sight (default: read_uncommitted)", to->isolation);
  spec.choice<Order>("--order", {{"partition", Order::partition}, {"time", Order::time}},
                     "one by one (default), or merged by timestamp", to->order);
  spec.choice<OnDamage>("--on-damage", {{"skip", OnDamage::skip}, {"stop", OnDamage::stop}},
                        "go on after a damaged batch (default), or stop; exit 3", to->on_damage);
}

/// Settings of the member are kept apart until it is known whether there is one.
void add_group(CommandSpec& spec, GroupReading* to) {
  spec.group("As a member of a consumer group");
  spec.value("-g,--group", "G", "what the group assigns, from where it left off",
             [to](const std::string& text) { to->group = text; });
  spec.value("--member", "M", "as this member, who stays one (default: one while the process runs)",
             [to](const std::string& text) { to->member = text; });
  spec.value("--instance", "I", "as a static member, who keeps its partitions over a restart",
             [to](const std::string& text) { to->instance = text; });
  spec.value("--session-timeout", "MS", "expelled when not heard of for so long (45000; 0: never)",
             [to](const std::string& text) { to->session_timeout_ms = parse_number(text); });
  spec.value("--max-poll-interval", "MS",
             "expelled when no record was asked for in so long (300000; 0: never)",
             [to](const std::string& text) { to->max_poll_interval_ms = parse_number(text); });
  spec.value(
      "--heartbeat-ms", "MS", "how often the group is heard of at least (3000)",
      [to](const std::string& text) { to->heartbeat_ms = std::max<std::int64_t>(1, parse_number(text)); });
  spec.value("--commit", "WHEN", "end (default: also before partitions are given up), every=N records, none",
             [to](const std::string& text) {
               constexpr std::string_view every = "every=";
               to->commits = text != "none";
               if (text.starts_with(every)) {
                 to->commit_every = parse_number(text.substr(every.size()));
                 if (*to->commit_every < 1) usage_error("'" + text + "': at least one record");
               } else if (text != "end" && text != "none") {
                 usage_error("'" + text + "' is not end, every=N or none");
               }
             });
  spec.value("--reset", "POLICY",
             "begin without a usable commit at earliest (default), latest, none (exit 4), by_duration:D",
             [to](const std::string& text) { to->reset = parse_reset_policy(text); });
}

void check_group(const CommandSpec& spec, ConsumeOptions* to, const GroupReading& group) {
  const bool asked = spec.count("group") > 0;
  for (const char* const flag :
       {"member", "instance", "session-timeout", "max-poll-interval", "heartbeat-ms", "commit", "reset"}) {
    if (!asked && spec.count(flag) > 0)
      usage_error(std::string("--") + flag + " is for members: give -g GROUP, too");
  }
  if (!asked) {
    if (to->offset.kind == OffsetSpec::Kind::stored)
      usage_error("only a group has a stored offset: give -g GROUP, too");
    return;
  }
  if (to->latest_per_key) usage_error("--latest-per-key with -g: a member reads every record");
  if (!to->partitions.empty()) usage_error("-p with -g: which partitions are read is for the group to say");
  if (to->order == ConsumeOptions::Order::time)
    usage_error("--order time with -g: a member reads partition by partition");
  if (group.member && group.member->empty()) usage_error("the member's id is empty");
  if (spec.count("offset") == 0 && spec.count("from-beginning") == 0)
    to->offset.kind = OffsetSpec::Kind::stored;
  if (spec.count("on-damage") == 0) to->on_damage = ConsumeOptions::OnDamage::stop;
  to->group = group;
}

void add_output(CommandSpec& spec, ConsumeOptions* to) {
  spec.group("Output");
  spec.value("-K,--key-separator", "SEP", "print key SEP value",
             [to](const std::string& text) { to->key_separator = parse_escapes(text); });
  spec.value("-f,--output-format", "FMT", "%t %p %o %k %K %s %S %T %h %% and \\n \\t \\xNN",
             [to](const std::string& text) { to->format = parse_output_format(text); });
  spec.flag("-J,--json", "a JSON object per record", [] {});
  spec.flag("--count", "print the number of records only", [] {});
  spec.value("-D,--delimiter", "STR", "what is printed behind a record (default: \\n)",
             [to](const std::string& text) { to->delimiter = parse_escapes(text); });
  spec.flag("-0,--null", "a NUL byte behind each record", [to] { to->delimiter = std::string(1, '\0'); });
  spec.value("--null-marker", "STR", "printed for a null key or value (default: nothing)",
             [to](const std::string& text) { to->null_marker = text; });
}

void check_output(const CommandSpec& spec, ConsumeOptions* to) {
  spec.at_most_one_of({"from-beginning", "offset"});
  spec.at_most_one_of({"delimiter", "null"});
  spec.at_most_one_of({"output-format", "key-separator"});
  spec.at_most_one_of({"output-format", "delimiter"});
  spec.at_most_one_of({"output-format", "null"});
  spec.at_most_one_of({"json", "key-separator"});
  spec.at_most_one_of({"json", "output-format"});
  spec.at_most_one_of({"json", "delimiter"});
  spec.at_most_one_of({"json", "null"});
  spec.at_most_one_of({"count", "output-format"});
  spec.at_most_one_of({"follow", "latest-per-key"});
  if (spec.count("count") > 0) {
    to->output = Output::count;
  } else if (spec.count("output-format") > 0) {
    to->output = Output::format;
  } else if (spec.count("json") > 0) {
    to->output = Output::json;
  }
}

}  // namespace

void bind_consume(CommandSpec& spec) {
  auto options = std::make_shared<ConsumeOptions>();
  auto* to = options.get();
  auto group = std::make_shared<GroupReading>();
  spec.usage("TOPIC[-P]...", Completes::topics);
  spec.about(
      "Prints the records from the beginning of each partition to where it ends now; --follow waits for "
      "more. The output of a topic whose records were lines is those lines again. A damaged batch is named "
      "on stderr, nothing of it is printed, and the exit code is 3.");
  spec.about(
      "With --group it reads as a member of a consumer group: the partitions that the group gives it, from "
      "where the group left off, committed after the output took them.");
  add_topics(spec, to->topics);
  add_range(spec, to);
  add_selection(spec, to);
  add_group(spec, group.get());
  add_output(spec, to);
  spec.check([&spec, to, group] {
    if (to->topics.empty()) usage_error("no topic given");
    if (to->follow && spec.count("until") == 0) to->until.kind = UntilSpec::Kind::never;
    check_output(spec, to);
    check_group(spec, to, *group);
  });
  spec.example("tk consume orders -o -10 -K :");
  spec.example("tk consume orders-0 -J --from-beginning | jq .value");
  spec.example("tk consume orders -o @-15m -F -f '%p %o %k=%s\\n'");
  spec.example("tk consume orders -g billing -F --commit every=1000 | ./bill");
  spec.run([options](Context& context) { return run_consume(*options, context); });
}

}  // namespace tk::cli
