// Options that several commands share, for the flags_*.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command_spec.h"
#include "commands/common_options.h"

namespace tk::cli {

/// --sync end|none, for commands that acknowledge nothing before they end.
void add_sync(CommandSpec& spec, SyncMode& sync);
/// -c/--config KEY=VALUE.
void add_configs(CommandSpec& spec, std::vector<ConfigSetting>& configs,
                 const std::string& help = "a topic config, by Kafka's names (repeatable)");
/// -t/--topic for a command about one topic, which may be an argument instead; the check refuses none, and
/// more than one. What follows the topic among the arguments goes to `rest`, or is refused if that is null.
void add_one_topic(CommandSpec& spec, std::string& topic, std::vector<std::string>* rest = nullptr);
/// -t/--topic for a command about any number of topics, beside the arguments.
void add_topics(CommandSpec& spec, std::vector<std::string>& topics);
/// Arguments and -t/--topic of dump-log, verify and recover.
void add_targets(CommandSpec& spec, Targets& targets);
/// Refuses arguments.
void check_no_arguments(CommandSpec& spec);

}  // namespace tk::cli
