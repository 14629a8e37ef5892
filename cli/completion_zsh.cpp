#include <fmt/format.h>

#include "cli/command_table.h"
#include "cli/completion.h"

namespace tk::cli {
namespace {

// Text between single quotes that _arguments or _describe takes apart at colons and brackets.
std::string quoted_help(std::string_view help) {
  std::string text;
  for (const char c : help) {
    if (c == '\'') {
      text += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

std::string action_of(const CompletionOption& option) {
  if (!option.takes_value) return {};
  std::string action;
  if (!option.choices.empty()) {
    action = "(";
    for (const std::string& choice : option.choices) action += (action.size() > 1 ? " " : "") + choice;
    action += ")";
  } else if (option.wants_topic()) {
    action = "_tk_topics";
  } else if (option.wants_directory()) {
    action = "_files -/";
  } else if (option.wants_file()) {
    action = "_files";
  }
  return ":value:" + action;
}

// One line of _arguments: an entry per name, each shutting out the others unless the option is repeatable.
std::string option_line(const CompletionOption& option) {
  std::string all;
  for (const std::string& name : option.names) all += (all.empty() ? "" : " ") + name;
  std::string text;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    const char* joint = !option.takes_value ? "" : is_long ? "=" : "+";
    text += fmt::format(" \\\n    '{}{}{}[{}]{}'", option.repeatable ? "*" : "(" + all + ")", name, joint,
                        quoted_help(option.help), action_of(option));
  }
  return text;
}

std::string_view arguments_of(Completes completes) {
  switch (completes) {
    case Completes::nothing:
      return "";
    case Completes::shells:
      return " \\\n    '1:shell:(bash zsh fish)'";
    case Completes::topics:
      return " \\\n    '*:topic:_tk_topics'";
    case Completes::groups:
      return " \\\n    '1:group:_tk_groups'";
    case Completes::topic_then_files:
      return " \\\n    '1:topic:_tk_topics' \\\n    '*:file:_files'";
    case Completes::topics_or_files:
      return " \\\n    '*:topic or path:_tk_topics_or_files'";
  }
  return "";
}

std::string function_name(std::string_view command) {
  std::string name = "_tk_cmd_";
  for (const char c : command) name += c == ' ' || c == '-' ? '_' : c;
  return name;
}

std::string command_function(const CompletionCommand& command) {
  std::string text = fmt::format("{}() {{\n  _arguments -s -S", function_name(command.name));
  for (const CompletionOption& option : command.options) text += option_line(option);
  text += arguments_of(command.completes);
  return text + "\n}\n\n";
}

// A function that completes the word behind `prefix` and hands what follows to that command's function.
std::string chooser(const std::string& prefix, const CompletionCommand& globals,
                    const std::vector<CompletionCommand>& commands) {
  std::string text = fmt::format("{}() {{\n  local curcontext=$curcontext state line\n  _arguments -s -S -C",
                                 prefix.empty() ? "_tk_root" : function_name(prefix));
  for (const CompletionOption& option : globals.options) text += option_line(option);
  text += " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n  case $state in\n    command)\n";
  text += "      local -a names=(";
  std::string cases;
  for (const std::string& word : command_words(prefix)) {
    const std::string full = prefix.empty() ? word : prefix + " " + word;
    std::string purpose = "commands about " + word;
    for (const CompletionCommand& command : commands) {
      if (command.name == full) purpose = command.purpose;
    }
    text += fmt::format("\n        '{}:{}'", word, quoted_help(purpose));
    cases += fmt::format("        {}) {} ;;\n", word, function_name(full));
  }
  text += "\n      )\n      _describe command names ;;\n    argument)\n";
  return text + "      case $words[1] in\n" + cases + "      esac ;;\n  esac\n}\n\n";
}

constexpr std::string_view kHead = R"sh(#compdef tk
# zsh completion for tk
_tk_topics() {
  local -a topics
  topics=(${(f)"$(tk topics list --json $tk_dir 2>/dev/null | sed -n 's/^{"topic":"\([^"]*\)".*/\1/p')"})
  compadd -a topics
}

_tk_groups() {
  local -a groups
  groups=(${(f)"$(tk groups list --json $tk_dir 2>/dev/null | sed -n 's/^{"group":"\([^"]*\)".*/\1/p')"})
  compadd -a groups
}

_tk_topics_or_files() {
  _tk_topics
  _files
}

)sh";

constexpr std::string_view kTail = R"sh(_tk() {
  # _arguments narrows $words, so the data directory is looked up before.
  local -a tk_dir=()
  local at
  for ((at = 2; at < CURRENT; at++)); do
    case $words[at] in
      -d|--dir) tk_dir=(-d "$words[at+1]") ;;
      --dir=*) tk_dir=("$words[at]") ;;
    esac
  done
  _tk_root
}

if [[ $funcstack[1] == _tk ]]; then
  _tk "$@"
else
  compdef _tk tk
fi
)sh";

}  // namespace

std::string zsh_completion(const std::vector<CompletionCommand>& commands) {
  std::string text(kHead);
  for (const CompletionCommand& command : commands) {
    if (!command.name.empty()) text += command_function(command);
  }
  for (const std::string& word : command_words("")) {
    if (is_command_prefix(word)) text += chooser(word, commands.front(), commands);
  }
  return text + chooser("", commands.front(), commands) + std::string(kTail);
}

}  // namespace tk::cli
