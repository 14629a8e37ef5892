#include <fmt/format.h>

#include "cli/command_table.h"
#include "cli/completion.h"

namespace tk::cli {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string option_line(const std::string& condition, const CompletionOption& option) {
  std::string text = fmt::format("complete -c tk -n {}", quoted(condition));
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    text += is_long ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.takes_value) text += option.wants_directory() || option.wants_file() ? " -r -F" : " -x";
  if (!option.choices.empty()) {
    std::string words;
    for (const std::string& choice : option.choices) words += (words.empty() ? "" : " ") + choice;
    text += " -a " + quoted(words);
  } else if (option.wants_topic()) {
    text += " -a '(__tk_topics)'";
  }
  return text + " -d " + quoted(option.help) + "\n";
}

std::string word_line(const std::string& condition, const std::string& word, const std::string& help) {
  return fmt::format("complete -c tk -f -n {} -a {} -d {}\n", quoted(condition), quoted(word), quoted(help));
}

std::string argument_lines(const std::string& condition, Completes completes) {
  switch (completes) {
    case Completes::nothing:
      return fmt::format("complete -c tk -f -n {}\n", quoted(condition));
    case Completes::shells:
      return fmt::format("complete -c tk -f -n {} -a 'bash zsh fish'\n", quoted(condition));
    case Completes::topics:
      return fmt::format("complete -c tk -f -n {} -a '(__tk_topics)'\n", quoted(condition));
    case Completes::groups:
      return fmt::format("complete -c tk -f -n {} -a '(__tk_groups)'\n", quoted(condition));
    case Completes::topic_then_files:
    case Completes::topics_or_files:
      return fmt::format("complete -c tk -F -n {} -a '(__tk_topics)'\n", quoted(condition));
  }
  return {};
}

constexpr std::string_view kHead = R"sh(# fish completion for tk
# Sets __tk_words to the words of the command so far, without global options, and __tk_dir to the data directory.
function __tk_scan
    set -g __tk_words
    set -g __tk_dir
    set -l tokens (commandline -opc)
    set -l at 2
    while test $at -le (count $tokens)
        switch $tokens[$at]
            case -d --dir
                set at (math $at + 1)
                test $at -le (count $tokens); and set -g __tk_dir -d $tokens[$at]
            case '--dir=*'
                set -g __tk_dir $tokens[$at]
            case --color --lock-timeout --at
                set at (math $at + 1)
            case '-*'
            case '*'
                set -a __tk_words $tokens[$at]
        end
        set at (math $at + 1)
    end
end

function __tk_is
    __tk_scan
    set -l length (count $argv)
    test (count $__tk_words) -ge $length; or return 1
    test "$__tk_words[1..$length]" = "$argv"
end

function __tk_none
    __tk_scan
    test (count $__tk_words) -eq 0
end

function __tk_prefix
    __tk_scan
    test "$__tk_words" = "$argv"
end

function __tk_groups
    __tk_scan
    tk groups list --json $__tk_dir 2>/dev/null | sed -n 's/^{"group":"\([^"]*\)".*/\1/p'
end

function __tk_topics
    __tk_scan
    tk topics list --json $__tk_dir 2>/dev/null | sed -n 's/^{"topic":"\([^"]*\)".*/\1/p'
end

)sh";

}  // namespace

std::string fish_completion(const std::vector<CompletionCommand>& commands) {
  std::string text(kHead);
  for (const std::string& word : command_words("")) {
    std::string purpose = "commands about " + word;
    for (const CompletionCommand& command : commands) {
      if (command.name == word) purpose = command.purpose;
    }
    text += word_line("__tk_none", word, purpose);
  }
  for (const CompletionCommand& command : commands) {
    const std::string& name = command.name;
    const auto blank = name.find(' ');
    if (blank != std::string::npos) {
      text += word_line("__tk_prefix " + name.substr(0, blank), name.substr(blank + 1), command.purpose);
    }
    const std::string condition = name.empty() ? "__tk_none" : "__tk_is " + name;
    if (!name.empty()) text += argument_lines(condition, command.completes);
    for (const CompletionOption& option : command.options) text += option_line(condition, option);
  }
  return text;
}

}  // namespace tk::cli
