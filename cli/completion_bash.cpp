#include <fmt/format.h>

#include "cli/command_table.h"
#include "cli/completion.h"

namespace tk::cli {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

// What follows an option that takes a value.
std::string after_option(const CompletionOption& option) {
  std::string action = ":";
  if (!option.choices.empty()) {
    action = fmt::format("choices='{}'", joined(option.choices, " "));
  } else if (option.wants_topic()) {
    action = "kind=topics";
  } else if (option.wants_directory()) {
    action = "kind=directories";
  } else if (option.wants_file()) {
    action = "kind=files";
  }
  return fmt::format("        {}) value=1; {} ;;\n", joined(option.names, "|"), action);
}

std::string_view kind_of(Completes completes) {
  switch (completes) {
    case Completes::nothing:
    case Completes::shells:
      return "nothing";
    case Completes::topics:
      return "topics";
    case Completes::groups:
      return "groups";
    case Completes::topic_then_files:
    case Completes::topics_or_files:
      return "topics_or_files";
  }
  return "nothing";
}

std::string case_of(const CompletionCommand& command) {
  std::string text = fmt::format("    '{}')\n", command.name);
  std::vector<std::string> flags;
  std::string values;
  for (const CompletionOption& option : command.options) {
    flags.insert(flags.end(), option.names.begin(), option.names.end());
    if (option.takes_value) values += after_option(option);
  }
  text += fmt::format("      flags='{}'\n", joined(flags, " "));
  std::vector<std::string> words;
  if (command.name.empty()) words = command_words("");
  if (command.completes == Completes::shells) words = {"bash", "zsh", "fish"};
  if (command.name == "help") words = command_words("");
  if (words.empty()) {
    text += fmt::format("      kind={}\n", kind_of(command.completes));
  } else {
    text += fmt::format("      words='{}'\n", joined(words, " "));
  }
  return text + fmt::format("      case $prev in\n{}      esac ;;\n", values);
}

constexpr std::string_view kHead = R"sh(# bash completion for tk
_tk_topics() {
  local -a dir=()
  [[ -n $1 ]] && dir=(-d "${1/#\~/$HOME}")
  tk topics list --json "${dir[@]}" 2>/dev/null | sed -n 's/^{"topic":"\([^"]*\)".*/\1/p'
}

_tk_groups() {
  local -a dir=()
  [[ -n $1 ]] && dir=(-d "${1/#\~/$HOME}")
  tk groups list --json "${dir[@]}" 2>/dev/null | sed -n 's/^{"group":"\([^"]*\)".*/\1/p'
}

_tk() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  local command= dir= flags= words= choices= kind=nothing value= word i
  # Bash takes --name=value apart at the equals sign.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case $word in
      -d|--dir|--color|--lock-timeout|--at)
        ((++i))
        [[ ${COMP_WORDS[i]} == = ]] && ((++i))
        [[ $word == -d || $word == --dir ]] && dir=${COMP_WORDS[i]} ;;
      -*) ;;
      *)
        if [[ -z $command ]]; then
          command=$word
        elif [[ $command == PREFIXES ]]; then
          command="$command $word"
        fi ;;
    esac
  done
  COMPREPLY=()
  case $command in
)sh";

constexpr std::string_view kTail = R"sh(  esac
  if [[ -n $choices ]]; then
    COMPREPLY=($(compgen -W "$choices" -- "$cur"))
    return
  fi
  if [[ -z $value && $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    return
  fi
  if [[ -n $value ]]; then
    words=
    [[ $kind == topics_or_files ]] && kind=nothing
  fi
  case $kind in
    topics) words=$(_tk_topics "$dir") ;;
    groups) words=$(_tk_groups "$dir") ;;
    topics_or_files)
      words=$(_tk_topics "$dir")
      compopt -o default 2>/dev/null ;;
    directories)
      COMPREPLY=($(compgen -d -- "$cur"))
      return ;;
    files)
      COMPREPLY=($(compgen -f -- "$cur"))
      return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _tk tk
)sh";

}  // namespace

std::string bash_completion(const std::vector<CompletionCommand>& commands) {
  std::vector<std::string> prefixes;
  std::string cases;
  for (const std::string& word : command_words("")) {
    if (!is_command_prefix(word)) continue;
    prefixes.push_back(word);
    cases += fmt::format("    '{}') words='{}' ;;\n", word, joined(command_words(word), " "));
  }
  for (const CompletionCommand& command : commands) cases += case_of(command);
  std::string text(kHead);
  constexpr std::string_view kPlace = "PREFIXES";
  text.replace(text.find(kPlace), kPlace.size(), fmt::format("@({})", joined(prefixes, "|")));
  return text + cases + std::string(kTail);
}

}  // namespace tk::cli
