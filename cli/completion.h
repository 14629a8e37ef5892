// Shell completions, made from the same descriptions that --help shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_spec.h"

namespace tk::cli {

/// An option as a shell needs it.
struct CompletionOption {
  /// With dashes, the short one first if there is one.
  std::vector<std::string> names;
  std::string help;
  bool takes_value = false;
  bool repeatable = false;
  /// The names its value may have; empty if it is free.
  std::vector<std::string> choices;

  [[nodiscard]] bool wants_topic() const { return names.back() == "--topic"; }
  [[nodiscard]] bool wants_directory() const { return names.back() == "--dir"; }
  [[nodiscard]] bool wants_file() const { return names.back() == "--files"; }
};

struct CompletionCommand {
  /// One word or two; empty for what stands before the command.
  std::string name;
  std::string purpose;
  Completes completes = Completes::nothing;
  std::vector<CompletionOption> options;
};

/// All commands by the command table, the entry without a name first.
std::vector<CompletionCommand> describe_commands();

/// The script for a shell, for `source <(tk completion bash)` and its like.
std::string bash_completion(const std::vector<CompletionCommand>& commands);
std::string zsh_completion(const std::vector<CompletionCommand>& commands);
std::string fish_completion(const std::vector<CompletionCommand>& commands);

}  // namespace tk::cli
