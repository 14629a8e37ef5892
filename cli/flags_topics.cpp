// tk topics create|list|describe|alter|delete (cli.md §2).
#include <memory>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "commands/commands.h"
#include "commands/topics_options.h"

namespace tk::cli {

void bind_topics_create(CommandSpec& spec) {
  auto options = std::make_shared<TopicsCreateOptions>();
  auto* to = options.get();
  spec.usage("NAME", Completes::nothing);
  spec.about(
      "Makes the partitions of a topic and enters it, with an id of its own, in the data directory (in a "
      "cluster: in the metadata log). The format is what --format says, else $TK_FORMAT, else kafka in a "
      "broker's directory, else json. Names are Kafka's: letters, digits, dots, underscores and dashes, at "
      "most 249; a.b and a_b cannot both be there.");
  add_one_topic(spec, to->name);
  spec.value("-p,--partitions", "N", "number of partitions (default: 1)",
             [to](const std::string& text) { to->partitions = parse_partition_count(text); });
  spec.choice<TopicFormat>("--format", {{"json", TopicFormat::json}, {"kafka", TopicFormat::kafka}},
                           "record format (default: $TK_FORMAT, else by the directory)", to->format);
  spec.value("--replicas", "R", "replicas of each partition, in a cluster (default: 3, or one a broker)",
             [to](const std::string& text) {
               to->replicas = static_cast<std::int32_t>(parse_number(text, 1, 1000));
             });
  add_configs(spec, to->configs);
  spec.flag("--if-not-exists", "a topic that exists is no error", to->if_not_exists);
  add_sync(spec, to->sync);
  spec.example("tk topics create orders -p 3");
  spec.example("tk topics create events --format kafka -c compression.type=zstd");
  spec.example("tk topics create orders --if-not-exists -c retention.ms=604800000");
  spec.run([options](Context& context) { return run_topics_create(*options, context); });
}

void bind_topics_list(CommandSpec& spec) {
  spec.usage("", Completes::nothing);
  spec.about(
      "Prints a line for each topic, those that a broker left included; directories that wait for their "
      "deletion, stray and future ones are listed with that state. Records are counted by offsets: end less "
      "start, summed over the partitions.");
  check_no_arguments(spec);
  spec.example("tk topics list");
  spec.example("tk topics list --json -d /var/lib/kafka/data");
  spec.run([](Context& context) { return run_topics_list({}, context); });
}

void bind_topics_describe(CommandSpec& spec) {
  auto options = std::make_shared<TopicsDescribeOptions>();
  spec.usage("[NAME]...", Completes::topics);
  spec.about(
      "Prints a line for each partition: segments, bytes, offsets, and the times of the first and the last "
      "record. In a cluster the high watermark is the leader's, and leader, replicas and in-sync replicas "
      "are shown; elsewhere it is the log end, as everything readable is shown.");
  add_topics(spec, options->names);
  spec.flag("--configs", "show the configs that differ from the defaults", options->configs);
  spec.example("tk topics describe orders");
  spec.example("tk topics describe --json");
  spec.example("tk topics describe orders --configs");
  spec.run([options](Context& context) { return run_topics_describe(*options, context); });
}

void bind_topics_alter(CommandSpec& spec) {
  auto options = std::make_shared<TopicsAlterOptions>();
  auto* to = options.get();
  spec.usage("NAME", Completes::topics);
  spec.about(
      "Adds partitions, which are never taken away, and changes the topic's configs. Records that are there "
      "stay in the partitions where they are.");
  add_one_topic(spec, to->name);
  spec.value("-p,--partitions", "N", "the new number of partitions, not less than now",
             [to](const std::string& text) { to->partitions = parse_partition_count(text); });
  add_configs(spec, to->configs);
  spec.list("--unset", "KEY", "put a config back to its default (repeatable)",
            [to](const std::string& text) { to->unset.push_back(text); });
  add_sync(spec, to->sync);
  spec.check([to] {
    if (!to->partitions && to->configs.empty() && to->unset.empty()) {
      usage_error("nothing to change: give -p, -c or --unset");
    }
  });
  spec.example("tk topics alter orders -p 6");
  spec.example("tk topics alter orders -c segment.bytes=1048576 --unset retention.ms");
  spec.run([options](Context& context) { return run_topics_alter(*options, context); });
}

void bind_topics_delete(CommandSpec& spec) {
  auto options = std::make_shared<TopicsDeleteOptions>();
  spec.usage("NAME", Completes::topics);
  spec.about(
      "Renames each partition to Kafka's form for deleted ones, then removes it. What a crash leaves in "
      "between, the next delete removes.");
  add_one_topic(spec, options->name);
  spec.flag("--dry-run", "say what would be deleted, delete nothing", options->dry_run);
  add_sync(spec, options->sync);
  spec.example("tk topics delete orders --dry-run");
  spec.example("tk topics delete orders");
  spec.run([options](Context& context) { return run_topics_delete(*options, context); });
}

}  // namespace tk::cli
