// Reading argv by a CommandSpec.
//
// The rules are getopt_long's without abbreviations: an option's value is whatever follows it, dashes or not
// and even if it is empty (`-o -5`, `-D ''`, `--delimiter=`), short flags may be joined (`-qF`), `--` ends
// the options. They are applied here because values are arbitrary bytes, and CLI11's own reader takes some of
// them for syntax ("[a,b]", "{}", nothing after an equals sign).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/command_spec.h"

namespace tk::cli {

struct GivenOption {
  const CommandSpec::Option* option = nullptr;
  /// As it was written, for messages: "-p" or "--partition".
  std::string spelled;
  std::string value;
};

struct ReadArguments {
  std::vector<GivenOption> options;
  std::vector<std::string> arguments;
  /// Where reading stopped: past the end, or with StopAt::argument at the first one that is no option.
  std::size_t next = 0;
  /// --help was met; what comes behind it was not read.
  bool help = false;
};

enum class StopAt : std::uint8_t { end, argument };

/// Reads `args` from `from` on. Unknown options (with the nearest name), missing and surplus values, and
/// repeated options that may not be are usage errors.
ReadArguments read_arguments(CommandSpec& spec, const std::vector<std::string>& args, std::size_t from,
                             StopAt stop);

/// Calls the setters of the options that are global, or of those that are not, and puts the option's name
/// before what a setter says is wrong.
void apply_options(const ReadArguments& read, bool global);

}  // namespace tk::cli
