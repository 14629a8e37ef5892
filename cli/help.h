// The texts of --help.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_spec.h"
#include "cli/command_table.h"

namespace tk::cli {

/// `tk --help`: all commands in groups, and the options that go with each.
std::string overview_help();
/// `tk topics --help`: the commands that begin with `prefix`.
std::string prefix_help(std::string_view prefix);
/// `tk COMMAND --help`: purpose, usage, options in groups, examples.
std::string command_help(const CommandSpec& spec);
/// The help of a command or of a prefix by its words, the overview for none; a usage error if
/// there is no such command.
std::string help_for(const std::string& name);
/// The command of this name; a usage error if there is none.
const CommandRow& command_named(const std::string& name);
/// The usage error for `word`, which is no command (behind `prefix`, if that is not empty), with the nearest
/// name.
[[noreturn]] void unknown_command(std::string_view prefix, const std::string& word);

}  // namespace tk::cli
