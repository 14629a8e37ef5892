// tk rebalance, tk commit (cli.md §6).
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/groups_options.h"
#include "commands/rebalance_options.h"
#include "core/base/text.h"

namespace tk::cli {
namespace {

using Kind = RebalanceStep::Kind;

void add_assignor(CommandSpec& spec, std::optional<Assignor>& assignor) {
  std::string names;
  for (const std::string& name : assignor_names()) names += (names.empty() ? "" : "|") + name;
  spec.value("--assignor", names,
             "who reads what (default: range; uniform in the consumer protocol; what a question names)",
             [&assignor](const std::string& text) { assignor = parse_assignor(text); });
}

RebalanceStep parse_join(const std::string& text) {
  RebalanceStep step;
  step.member = text.substr(0, text.find('='));
  if (step.member.empty()) usage_error("'" + text + "' is not MEMBER or MEMBER=TOPIC,TOPIC");
  if (step.member.size() == text.size()) return step;
  step.topics = split_commas(text.substr(step.member.size() + 1));
  if (std::ranges::find(step.topics, "") != step.topics.end()) {
    usage_error("'" + text + "': a topic's name is empty");
  }
  return step;
}

RebalanceStep parse_leave(const std::string& text) {
  constexpr std::string_view kInstance = "instance:";
  RebalanceStep step;
  step.kind = Kind::leave;
  if (text.starts_with(kInstance)) {
    step.leaving_instance = text.substr(kInstance.size());
  } else {
    step.member = text;
  }
  if (step.member.empty() && step.leaving_instance.value_or("").empty())
    usage_error("the member's id is empty");
  return step;
}

RebalanceStep step_of(Kind kind, const std::string& member) {
  if (member.empty()) usage_error("the member's id is empty");
  RebalanceStep step;
  step.kind = kind;
  step.member = member;
  return step;
}

// t:0,t:1,u:0 or t:0,1
PartitionList parse_owned(const std::string& text) {
  PartitionList owned;
  if (text == "none") return owned;
  std::string topic;
  for (const std::string& part : split_commas(text)) {
    const std::size_t colon = part.rfind(':');
    if (colon != std::string::npos) topic = part.substr(0, colon);
    const std::string number = colon == std::string::npos ? part : part.substr(colon + 1);
    if (topic.empty()) usage_error("'" + text + "' is not TOPIC:P,TOPIC:P or none");
    owned.push_back({topic, PartitionId(parse_partition(number))});
  }
  sort_and_unite(owned);
  return owned;
}

void add_members(CommandSpec& spec, RebalanceOptions* to) {
  spec.group("Members, in the order given");
  spec.list("--join", "M[=T1,T2]", "member M joins, or subscribes to other topics (repeatable)",
            [to](const std::string& text) { to->steps.push_back(parse_join(text)); });
  spec.list("--leave", "M|instance:I", "it leaves (repeatable)",
            [to](const std::string& text) { to->steps.push_back(parse_leave(text)); });
  spec.list("--heartbeat", "M", "it lives: its session is renewed (repeatable)",
            [to](const std::string& text) { to->steps.push_back(step_of(Kind::heartbeat, text)); });
  spec.flag("--expire", "expel those whose deadlines have passed, as every step does first", to->expire);
  spec.list("-t,--topic", "TOPIC", "what a member subscribes to that names none (repeatable)",
            [to](const std::string& text) { to->topics.push_back(text); });
  spec.value("--instance", "I", "the instance id of a static member", [to](const std::string& text) {
    if (text.empty()) usage_error("the instance's id is empty");
    to->instance = text;
  });
  spec.value("--session-timeout", "MS", "how long it lives without a sign (default: 45000; 0: for ever)",
             [to](const std::string& text) { to->session_timeout_ms = parse_number(text); });
  spec.value("--max-poll-interval", "MS", "how long it may go without reading (default: 300000; 0: for ever)",
             [to](const std::string& text) { to->max_poll_interval_ms = parse_number(text, 0, 1LL << 50); });
}

void add_protocol(CommandSpec& spec, RebalanceOptions* to) {
  spec.group("How partitions are shared out");
  add_assignor(spec, to->assignor);
  spec.choice<GroupProtocol>("--protocol",
                             {{"immediate", GroupProtocol::immediate},
                              {"consumer", GroupProtocol::consumer},
                              {"classic", GroupProtocol::classic}},
                             "of a group that has no members yet (default: immediate)", to->protocol);
  spec.value("--epoch", "N", "consumer: the member epoch of a --heartbeat; -1 leaves, -2 for a while",
             [to](const std::string& text) { to->epoch = parse_number(text, -2, INT32_MAX); });
  spec.value("--owned", "T:P,..|none", "consumer: what the member of a --heartbeat holds",
             [to](const std::string& text) { to->owned = parse_owned(text); });
  spec.list("--sync-group", "M", "classic: M asks for its assignment",
            [to](const std::string& text) { to->steps.push_back(step_of(Kind::sync_group, text)); });
  spec.value("--generation", "N", "classic: the generation that M knows",
             [to](const std::string& text) { to->generation = parse_number(text, 0, INT32_MAX); });
  add_sync(spec, to->sync);
  spec.group("Without a group");
  spec.flag("--preview", "answer questions from stdin, one JSON object a line; touches no file", to->preview);
}

void check_preview(const CommandSpec& spec) {
  if (!spec.arguments().empty()) usage_error("unexpected argument '" + spec.arguments().front() + "'");
  for (const char* other :
       {"join", "leave", "heartbeat", "expire", "topic", "protocol", "sync-group", "epoch"}) {
    if (spec.count(other) > 0) usage_error(fmt::format("--preview and --{} exclude each other", other));
  }
}

void check_steps(const CommandSpec& spec, RebalanceOptions* to) {
  if (spec.arguments().empty()) usage_error("no group given (without one: --preview)");
  if (spec.arguments().size() > 1) usage_error("unexpected argument '" + spec.arguments()[1] + "'");
  to->group = spec.arguments().front();
  if (to->steps.empty() && !to->expire) {
    usage_error("nothing to do: give --join, --leave, --heartbeat, --sync-group or --expire");
  }
  if (to->assignor == Assignor::server_range) usage_error("--assignor: groups call it range");
  const auto beats = std::ranges::count(to->steps, Kind::heartbeat, &RebalanceStep::kind);
  for (const char* one : {"epoch", "owned"}) {
    if (spec.count(one) > 0 && beats != 1) usage_error(fmt::format("--{} goes with one --heartbeat", one));
  }
  const auto syncs = std::ranges::count(to->steps, Kind::sync_group, &RebalanceStep::kind);
  if (spec.count("generation") > 0 && beats + syncs != 1) {
    usage_error("--generation goes with one --sync-group or --heartbeat");
  }
  if (syncs > 0 && !to->generation) usage_error("--sync-group wants --generation");
  if (to->instance && to->steps.size() != 1) usage_error("--instance goes with one member");
}

CommitOptions::Offset parse_commit(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const auto offset = equals == std::string::npos ? std::nullopt : parse_int(text.substr(equals + 1));
  if (!offset || equals == 0) usage_error("'" + text + "' is not TOPIC-P=OFFSET");
  return {text.substr(0, equals), *offset};
}

void check_commit(const CommandSpec& spec, CommitOptions* to) {
  if (spec.arguments().empty()) usage_error("no group given");
  to->group = spec.arguments().front();
  for (std::size_t i = 1; i < spec.arguments().size(); ++i) {
    to->offsets.push_back(parse_commit(spec.arguments()[i]));
  }
  if (to->offsets.empty() && !to->all_read)
    usage_error("nothing to commit: give TOPIC-P=OFFSET or --all-read");
  if (to->member.has_value() != to->generation.has_value()) {
    usage_error("--member and --generation go together");
  }
  if (to->instance && !to->member) usage_error("--instance goes with --member");
  if (!to->topics.empty() && !to->all_read) usage_error("--topic goes with --all-read");
}

}  // namespace

void bind_rebalance(CommandSpec& spec) {
  auto options = std::make_shared<RebalanceOptions>();
  auto* to = options.get();
  spec.usage("GROUP | --preview", Completes::groups);
  spec.about(
      "Lets members join a group, leave it, or show that they live. Who reads which partition is found by "
      "Kafka's assignors, kept in the group's file, and printed for each member. Between two commands a "
      "member lives only by its deadlines.");
  add_members(spec, to);
  add_protocol(spec, to);
  spec.check([&spec, to] { to->preview ? check_preview(spec) : check_steps(spec, to); });
  spec.example("tk rebalance billing --topic orders --join c1 --join c2");
  spec.example("tk rebalance billing --leave c2 --json");
  spec.example(
      R"(echo '{"partitions":{"t":6},"members":[{"id":"A","topics":["t"]},{"id":"B","topics":["t"]}]}' | tk rebalance --preview)");
  spec.run([options](Context& context) { return run_rebalance(*options, context); });
}

void bind_commit(CommandSpec& spec) {
  auto options = std::make_shared<CommitOptions>();
  auto* to = options.get();
  spec.usage("GROUP [TOPIC-P=OFFSET]...", Completes::groups);
  spec.about(
      "Stores, for each partition, the offset that is to be read next. In a group with members the commit "
      "must name a member and the generation it was told; a stale one is refused, exit code 4.");
  spec.value("--member", "M", "the member that commits; a group with members wants one",
             [to](const std::string& text) { to->member = text; });
  spec.value("--generation", "N", "its generation, in a consumer group its epoch",
             [to](const std::string& text) { to->generation = parse_number(text, -2, INT32_MAX); });
  spec.value("--instance", "I", "its instance id", [to](const std::string& text) { to->instance = text; });
  spec.value("--metadata", "TEXT", "what is to be stored with the offsets",
             [to](const std::string& text) { to->metadata = text; });
  spec.flag("--all-read", "the end of all that the member has, or the group has commits of", to->all_read);
  spec.list("-t,--topic", "TOPIC", "with --all-read: these too (repeatable)",
            [to](const std::string& text) { to->topics.push_back(text); });
  add_sync(spec, to->sync);
  spec.check([&spec, to] { check_commit(spec, to); });
  spec.example("tk commit billing orders-0=40 orders-1=12");
  spec.example("tk commit billing orders-0=40 --member c1 --generation 2 --metadata 'batch 7'");
  spec.example("tk commit billing --all-read --topic orders --json");
  spec.run([options](Context& context) { return run_commit(*options, context); });
}

}  // namespace tk::cli
