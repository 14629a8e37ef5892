#include "cli/completion.h"

#include "cli/command_table.h"
#include "cli/globals.h"
#include "commands/context.h"
#include "core/io/output.h"

namespace tk::cli {
namespace {

std::vector<std::string> split_choices(const std::string& value_name) {
  std::vector<std::string> choices;
  std::size_t begin = 0;
  for (;;) {
    const auto bar = value_name.find('|', begin);
    // A name without bars is a placeholder, "N" or "DIR".
    if (bar == std::string::npos && begin == 0) return choices;
    choices.push_back(value_name.substr(begin, bar - begin));
    if (bar == std::string::npos) return choices;
    begin = bar + 1;
  }
}

CompletionCommand describe(const CommandSpec& spec) {
  CompletionCommand command{spec.name(), spec.purpose(), spec.completes(), {}};
  for (const CommandSpec::Option& option : spec.options()) {
    CompletionOption described;
    described.names = option.spellings();
    described.help = option.help;
    described.takes_value = option.takes_value;
    described.repeatable = option.repeatable;
    if (option.takes_value) described.choices = split_choices(option.value_name);
    command.options.push_back(std::move(described));
  }
  return command;
}

}  // namespace

std::vector<CompletionCommand> describe_commands() {
  std::vector<CompletionCommand> commands;
  GlobalOptions globals;
  CommandSpec top("", "");
  bind_top(top, globals);
  commands.push_back(describe(top));
  for (const CommandRow& row : command_rows()) {
    CommandSpec spec(row.name, row.purpose);
    row.bind(spec);
    bind_globals(spec, globals);
    commands.push_back(describe(spec));
  }
  return commands;
}

void bind_completion(CommandSpec& spec) {
  spec.usage("bash|zsh|fish", Completes::shells);
  spec.about("Prints a script that the shell reads; packages install it where the shell looks by itself.");
  spec.example("source <(tk completion bash)");
  spec.example("tk completion zsh > ~/.zfunc/_tk");
  spec.example("tk completion fish > ~/.config/fish/completions/tk.fish");
  spec.check([&spec] {
    const auto& arguments = spec.arguments();
    if (arguments.size() != 1) usage_error("name one shell: bash, zsh or fish");
    const std::string& shell = arguments.front();
    if (shell != "bash" && shell != "zsh" && shell != "fish") {
      usage_error("'" + shell + "' is none of bash, zsh, fish");
    }
  });
  spec.run([&spec](Context& context) {
    const std::string& shell = spec.arguments().front();
    const auto commands = describe_commands();
    context.out.write(shell == "bash"  ? bash_completion(commands)
                      : shell == "zsh" ? zsh_completion(commands)
                                       : fish_completion(commands));
    return 0;
  });
}

}  // namespace tk::cli
