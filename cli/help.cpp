#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "cli/command_table.h"
#include "cli/globals.h"
#include "cli/manual.h"
#include "commands/context.h"
#include "core/base/text.h"
#include "core/io/output.h"

namespace tk::cli {
namespace {

class OptionFormatter : public CLI::Formatter {
 public:
  OptionFormatter() { column_width(36); }
  // Repeatable options say so in words; CLI11's own marks are left out.
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 || option->get_type_name().empty() ? ""
                                                                           : " " + option->get_type_name();
  }
};

// CLI11's text of the option groups, in the order they were added, with one blank line between them.
std::string option_groups(const CommandSpec& spec) {
  CLI::App app;
  app.set_help_flag();  // ours is among the global options
  for (const CommandSpec::Option& option : spec.options()) {
    // Two options of one name are an error of CLI11's, so every command's help is one of the tests.
    CLI::Option* const described =
        option.takes_value ? app.add_option(
                                 option.names, [](const CLI::results_t&) { return true; }, option.help)
                           : app.add_flag_callback(
                                 option.names, [] {}, option.help);
    described->group(option.group);
    if (option.takes_value) described->type_name(option.value_name);
  }
  std::string text = OptionFormatter().make_groups(&app, CLI::AppFormatMode::Normal);
  for (auto at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n", at))
    text.erase(at, 1);
  return text;
}

// Lines of at most 90 characters, broken at blanks.
void append_wrapped(std::string& text, std::string_view paragraph) {
  constexpr std::size_t kWidth = 90;
  while (paragraph.size() > kWidth) {
    const std::size_t blank = paragraph.rfind(' ', kWidth);
    const std::size_t end = blank == std::string_view::npos ? paragraph.size() : blank;
    text += fmt::format("{}\n", paragraph.substr(0, end));
    paragraph.remove_prefix(std::min(end + 1, paragraph.size()));
  }
  text += fmt::format("{}\n", paragraph);
}

void append_row(std::string& text, const CommandRow& row) {
  text += fmt::format("  {:<23}{}\n", row.name, row.purpose);
}

}  // namespace

std::string overview_help() {
  CommandSpec top("", "");
  GlobalOptions globals;
  bind_top(top, globals);
  std::string text =
      "tk - Kafka's log, on your disk, as a Unix tool\n\n"
      "Usage: tk [OPTION]... COMMAND [ARGUMENT]...\n";
  std::string_view group;
  for (const CommandRow& row : command_rows()) {
    if (row.group != group) text += fmt::format("\n{}:\n", row.group);
    group = row.group;
    append_row(text, row);
  }
  text += option_groups(top);
  text +=
      "\nExamples:\n"
      "  printf 'a\\nb\\n' | tk produce orders\n"
      "  tk consume orders\n"
      "  tk topics list\n"
      "\n'tk COMMAND --help' says more about a command.\n";
  return text;
}

std::string prefix_help(std::string_view prefix) {
  std::string text = fmt::format("Usage: tk {} COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n", prefix);
  std::string example;
  for (const CommandRow& row : command_rows()) {
    if (row.name.starts_with(prefix) && row.name.size() > prefix.size()) {
      append_row(text, row);
      CommandSpec spec(row.name, row.purpose);
      row.bind(spec);
      example += fmt::format("  {}\n", spec.examples().front());
    }
  }
  text += fmt::format("\nExamples:\n{}", example);
  return text + fmt::format("\n'tk {} COMMAND --help' says more about a command.\n", prefix);
}

std::string command_help(const CommandSpec& spec) {
  std::string text =
      fmt::format("tk {} - {}\n\nUsage: tk {} [OPTION]...", spec.name(), spec.purpose(), spec.name());
  if (!spec.usage().empty()) text += " " + spec.usage();
  text += "\n";
  for (const std::string& paragraph : spec.paragraphs()) {
    text += "\n";
    append_wrapped(text, paragraph);
  }
  text += option_groups(spec) + "\nExamples:\n";
  for (const std::string& example : spec.examples()) text += fmt::format("  {}\n", example);
  return text;
}

std::string help_for(const std::string& name) {
  if (name.empty()) return overview_help();
  if (is_command_prefix(name)) return prefix_help(name);
  const CommandRow& row = command_named(name);
  CommandSpec spec(row.name, row.purpose);
  row.bind(spec);
  GlobalOptions globals;
  bind_globals(spec, globals);
  return command_help(spec);
}

const CommandRow& command_named(const std::string& name) {
  if (const CommandRow* row = find_command(name)) return *row;
  const auto blank = name.find(' ');
  const std::string first = name.substr(0, blank);
  if (blank == std::string::npos || !is_command_prefix(first)) unknown_command("", first);
  unknown_command(first, name.substr(blank + 1));
}

void unknown_command(std::string_view prefix, const std::string& word) {
  std::string message = fmt::format("unknown command '{}{}{}'", prefix, prefix.empty() ? "" : " ", word);
  if (const auto nearest = nearest_name(word, command_words(prefix))) {
    message += fmt::format("; did you mean '{}{}{}'?", prefix, prefix.empty() ? "" : " ", *nearest);
  }
  usage_error(std::move(message));
}

void bind_help(CommandSpec& spec) {
  auto text = std::make_shared<std::string>();
  auto man = std::make_shared<bool>(false);
  spec.usage("[COMMAND]", Completes::nothing);
  spec.about("Shows what 'tk COMMAND --help' shows; with --man as a manual page.");
  spec.flag("--man", "print a manual page for man; of no command: which pages there are", *man);
  spec.example("tk help");
  spec.example("tk help topics create");
  spec.example("tk help --man consume | man -l -");
  spec.check([&spec, text, man] {
    std::string name;
    for (const std::string& word : spec.arguments()) name += (name.empty() ? "" : " ") + word;
    *text = *man ? manual_page(name) : help_for(name);
  });
  spec.run([text](Context& context) {
    context.out.write(*text);
    return 0;
  });
}

}  // namespace tk::cli
