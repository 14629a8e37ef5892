#include "cli/flags.h"

namespace tk::cli {

void add_sync(CommandSpec& spec, SyncMode& sync) {
  spec.choice<SyncMode>("--sync", {{"end", SyncMode::end}, {"none", SyncMode::none}},
                        "when data are forced to disk (default: end, exit 0 means on disk)", sync);
}

void add_configs(CommandSpec& spec, std::vector<ConfigSetting>& configs, const std::string& help) {
  spec.list("-c,--config", "KEY=VALUE", help,
            [&configs](const std::string& text) { configs.push_back(parse_config(text)); });
}

void add_one_topic(CommandSpec& spec, std::string& topic, std::vector<std::string>* rest) {
  spec.value("-t,--topic", "TOPIC", "the topic, instead of an argument",
             [&topic](const std::string& text) { topic = text; });
  spec.check([&spec, &topic, rest] {
    std::vector<std::string> arguments = spec.arguments();
    if (spec.count("topic") == 0) {
      if (arguments.empty()) usage_error("no topic given");
      topic = arguments.front();
      arguments.erase(arguments.begin());
    }
    if (rest != nullptr) {
      *rest = std::move(arguments);
    } else if (!arguments.empty()) {
      usage_error("unexpected argument '" + arguments.front() + "'");
    }
  });
}

void add_topics(CommandSpec& spec, std::vector<std::string>& topics) {
  spec.list("-t,--topic", "TOPIC", "a topic, instead of an argument (repeatable)",
            [&topics](const std::string& text) { topics.push_back(text); });
  spec.check(
      [&spec, &topics] { topics.insert(topics.begin(), spec.arguments().begin(), spec.arguments().end()); });
}

void add_targets(CommandSpec& spec, Targets& targets) {
  spec.list("-t,--topic", "TOPIC[-P]", "a topic or partition, never taken for a path (repeatable)",
            [&targets](const std::string& text) { targets.topics.push_back(text); });
  spec.check([&spec, &targets] { targets.names = spec.arguments(); });
}

void check_no_arguments(CommandSpec& spec) {
  spec.check([&spec] {
    if (!spec.arguments().empty()) usage_error("unexpected argument '" + spec.arguments().front() + "'");
  });
}

}  // namespace tk::cli
