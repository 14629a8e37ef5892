// tk cluster, tk replicate-sim, tk failover (cli.md §7).
#include <algorithm>
#include <memory>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "commands/cluster_options.h"
#include "commands/commands.h"

namespace tk::cli {
namespace {

std::int32_t broker_id(const std::string& text) {
  return static_cast<std::int32_t>(parse_number(text, 1, 1000));
}

std::int32_t controller_id(const std::string& text) {
  return static_cast<std::int32_t>(parse_number(text, 1, 9));
}

void take_brokers(CommandSpec& spec, std::vector<std::int32_t>& to, bool has_controllers) {
  if (spec.arguments().empty() && !has_controllers) usage_error("no broker given: its number, as 2");
  for (const std::string& argument : spec.arguments()) to.push_back(broker_id(argument));
}

void add_partition(CommandSpec& spec, std::string& to) {
  spec.value("-t,--topic", "TOPIC-P", "the partition, instead of an argument",
             [&to](const std::string& text) { to = text; });
}

void take_partition(CommandSpec& spec, std::string& to) {
  const std::size_t most = spec.count("topic") > 0 ? 0 : 1;
  if (spec.arguments().size() > most) usage_error("unexpected argument '" + spec.arguments()[most] + "'");
  if (most == 0) return;
  if (spec.arguments().empty()) usage_error("no partition given: TOPIC-P, as orders-0");
  to = spec.arguments().front();
}

void add_words(std::vector<std::string>& to, const std::string& text) {
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    if (comma > at) to.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
}

void set_seeds(ReplicateSimOptions& options, const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) usage_error("'" + text + "' is not A..B, as 1..1000");
  options.first_seed = static_cast<std::uint64_t>(parse_number(text.substr(0, dots), 0));
  options.last_seed = static_cast<std::uint64_t>(parse_number(text.substr(dots + 2), 0));
  if (*options.last_seed < *options.first_seed)
    usage_error("'" + text + "': the last seed is below the first");
}

void check_replicate_sim(CommandSpec& spec, ReplicateSimOptions& options) {
  const bool seeds = options.first_seed.has_value() || !options.without.empty();
  if (options.scenario || seeds) {
    if (!spec.arguments().empty()) usage_error("unexpected argument '" + spec.arguments().front() + "'");
    if (spec.count("topic") > 0) usage_error("--topic is for the cluster of the data directory");
  } else {
    take_partition(spec, options.partition);
  }
}

}  // namespace

void bind_cluster_init(CommandSpec& spec) {
  auto options = std::make_shared<ClusterInitOptions>();
  auto* to = options.get();
  spec.usage("", Completes::nothing);
  spec.about(
      "Turns a new or empty data directory into a cluster: a broker's log directory for each broker, and the "
      "log of the cluster's metadata. All other commands work on it unchanged. Nothing runs between "
      "commands; the cluster's clock moves only when a command moves it.");
  spec.value("--brokers", "N", "how many brokers (default: 3)",
             [to](const std::string& text) { to->brokers = broker_id(text); });
  spec.value("--controllers", "C", "controllers: a majority of them decides (default: 1)",
             [to](const std::string& text) {
               to->controllers = static_cast<std::int32_t>(parse_number(text, 1, 9));
             });
  add_configs(spec, to->configs, "a broker config, by Kafka's names (repeatable)");
  check_no_arguments(spec);
  spec.example("tk -d ./c cluster init --brokers 3 --controllers 3");
  spec.example("tk -d ./c cluster init --brokers 5 -c replica.lag.time.max.ms=10000");
  spec.run([options](Context& context) { return run_cluster_init(*options, context); });
}

void bind_cluster_status(CommandSpec& spec) {
  auto options = std::make_shared<ClusterStatusOptions>();
  spec.usage("", Completes::nothing);
  spec.about("Prints a line for each broker and controller, and one for the cluster with its clock.");
  check_no_arguments(spec);
  spec.example("tk -d ./c cluster status");
  spec.example("tk -d ./c cluster status --json");
  spec.run([options](Context& context) { return run_cluster_status(*options, context); });
}

void bind_cluster_stop(CommandSpec& spec) {
  auto options = std::make_shared<ClusterStopOptions>();
  auto* to = options.get();
  spec.usage("[B...]", Completes::nothing);
  spec.about(
      "The brokers die at once; their files stay, and nobody is told: the controller notices when their "
      "sessions have run out in cluster time, or in failover. With --controlled they hand over their "
      "leaderships first.");
  spec.flag("--controlled", "hand over its leaderships first, and flush", to->controlled);
  spec.list("--controller", "C", "stop this controller, too; it dies at once (repeatable)",
            [to](const std::string& text) { to->controllers.push_back(controller_id(text)); });
  spec.check([&spec, to] { take_brokers(spec, to->brokers, !to->controllers.empty()); });
  spec.example("tk -d ./c cluster stop 1                 # dies at once, as by kill -9");
  spec.example("tk -d ./c cluster stop 1 2 --controlled");
  spec.example("tk -d ./c cluster stop --controller 1");
  spec.run([options](Context& context) { return run_cluster_stop(*options, context); });
}

void bind_cluster_start(CommandSpec& spec) {
  auto options = std::make_shared<ClusterStartOptions>();
  auto* to = options.get();
  spec.usage("[B...]", Completes::nothing);
  spec.list("--controller", "C", "start this controller, too (repeatable)",
            [to](const std::string& text) { to->controllers.push_back(controller_id(text)); });
  spec.check([&spec, to] { take_brokers(spec, to->brokers, !to->controllers.empty()); });
  spec.about("Each broker recovers its logs and registers; it is in an ISR again once it has caught up.");
  spec.example("tk -d ./c cluster start 1");
  spec.example("tk -d ./c cluster start --controller 1");
  spec.example("tk -d ./c cluster start 2 3 && tk -d ./c replicate-sim orders-0 --rounds 3");
  spec.run([options](Context& context) { return run_cluster_start(*options, context); });
}

void bind_cluster_events(CommandSpec& spec) {
  auto options = std::make_shared<ClusterEventsOptions>();
  spec.usage("", Completes::nothing);
  spec.about("Prints, oldest first, the elections, changes of ISR, truncations and the like.");
  check_no_arguments(spec);
  spec.example("tk -d ./c cluster events | tail -3");
  spec.example("tk -d ./c cluster events | jq -c '.events[] | select(.ev==\"leader\")'");
  spec.run([options](Context& context) { return run_cluster_events(*options, context); });
}

void bind_replicate_sim(CommandSpec& spec) {
  auto options = std::make_shared<ReplicateSimOptions>();
  auto* to = options.get();
  spec.usage("[TOPIC-P]", Completes::topics);
  spec.about(
      "With a partition: lets its followers fetch, over the real directories of the cluster, and shows every "
      "replica. With --scenario: runs a script of steps and expectations. With --seed or --seeds: runs "
      "random histories with faults in memory and checks after every step that nothing committed was lost; "
      "exit code 3 if something was.");
  spec.group("On the cluster of the data directory");
  add_partition(spec, to->partition);
  spec.value("--rounds", "N", "fetch rounds of the followers (default: 1)",
             [to](const std::string& text) { to->rounds = parse_number(text, 0, 1000000); });
  spec.list("--only", "B", "only this follower fetches (repeatable)",
            [to](const std::string& text) { to->only.push_back(broker_id(text)); });
  spec.value("--tick", "MS", "then so much cluster time passes",
             [to](const std::string& text) { to->tick_ms = parse_number(text); });
  spec.list("--step", "LINE", "run a line of the scenario language instead (repeatable)",
            [to](const std::string& text) { to->steps.push_back(text); });
  spec.group("Scenarios and simulated histories");
  spec.value("--scenario", "FILE", "run a scenario in a temporary directory, or on the cluster that -d names",
             [to](const std::string& text) { to->scenario = text; });
  spec.value("--seed", "S", "run one random history", [to](const std::string& text) {
    to->first_seed = to->last_seed = static_cast<std::uint64_t>(parse_number(text, 0));
  });
  spec.value("--seeds", "A..B", "run the histories of these seeds",
             [to](const std::string& text) { set_seeds(*to, text); });
  spec.value("--steps", "N", "steps a history (default: 500)",
             [to](const std::string& text) { to->steps_per_seed = parse_number(text, 1, 100000000); });
  spec.value("--brokers", "N", "brokers (default: 3)", [to](const std::string& text) {
    to->brokers = static_cast<std::int32_t>(parse_number(text, 1, 9));
  });
  spec.value("--controllers", "C", "controllers (default: 1)", [to](const std::string& text) {
    to->controllers = static_cast<std::int32_t>(parse_number(text, 1, 9));
  });
  spec.value("--acks", "A", "what producers ask for: 0, 1, all or mixed (default: mixed)",
             [to](const std::string& text) {
               if (text != "0" && text != "1" && text != "all" && text != "mixed")
                 usage_error("'" + text + "' is not 0, 1, all or mixed");
               to->acks = text;
             });
  spec.value("--min-isr", "M", "min.insync.replicas (default: 2)", [to](const std::string& text) {
    to->min_isr = static_cast<std::int32_t>(parse_number(text, 1, 9));
  });
  spec.value("--faults", "LIST",
             "net,reorder,crash,power,disk,controller,client, all or none (default: all but disk)",
             [to](const std::string& text) { add_words(to->faults, text); });
  spec.list("--without", "RULE", "switch a rule off; 'help' lists them",
            [to](const std::string& text) { add_words(to->without, text); });
  spec.flag("--trace", "print every step of a single seed", to->trace);
  spec.value("--shrink", "N", "shrink the first N failing seeds (default: 1)",
             [to](const std::string& text) { to->shrink = parse_number(text, 0, 1000000); });
  spec.check([&spec, to] { check_replicate_sim(spec, *to); });
  spec.example("tk -d ./c replicate-sim orders-0 --rounds 3");
  spec.example("tk replicate-sim --scenario lost-ack.scenario");
  spec.example("tk replicate-sim --seeds 1..1000 --without epoch-truncation");
  spec.run([options](Context& context) { return run_replicate_sim(*options, context); });
}

void bind_failover(CommandSpec& spec) {
  auto options = std::make_shared<FailoverOptions>();
  auto* to = options.get();
  spec.usage("TOPIC-P", Completes::topics);
  spec.about(
      "Fences the brokers that are down, with all that follows from it. If that gave the partition a new "
      "leader, it is done; else one is elected among the in-sync replicas that live. Prints what each "
      "replica will drop, and how many acknowledged records are missing in the new leader's log.");
  add_partition(spec, to->partition);
  spec.value("--to", "B", "the broker that is to lead",
             [to](const std::string& text) { to->to = broker_id(text); });
  spec.flag("--unclean", "any live replica rather than none; says what is lost", to->unclean);
  spec.flag("--preferred", "only the first replica, if it can lead", to->preferred);
  spec.flag("--dry-run", "say what each candidate would lose, change nothing", to->dry_run);
  spec.check([&spec, to] {
    spec.at_most_one_of({"preferred", "unclean"});
    spec.at_most_one_of({"preferred", "to"});
    take_partition(spec, to->partition);
  });
  spec.example("tk -d ./c failover orders-0");
  spec.example("tk -d ./c failover orders-0 --to 2 --dry-run --json");
  spec.example("tk -d ./c failover orders-0 --unclean");
  spec.run([options](Context& context) { return run_failover(*options, context); });
}

}  // namespace tk::cli
