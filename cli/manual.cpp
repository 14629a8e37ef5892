#include "cli/manual.h"

#include <fmt/format.h>

#include "cli/command_table.h"
#include "cli/globals.h"
#include "cli/help.h"
#include "cli/version.h"
#include "core/base/error_codes.h"

namespace tk::cli {
namespace {

constexpr std::string_view kPurpose = "Kafka's log, on your disk, as a Unix tool";

// Text as roff takes it. `literal`: what may be typed, where a dash must stay the one of the keyboard.
std::string escaped(std::string_view text, bool literal) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += literal ? "\\-" : "-";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '\'':
        out += literal ? "\\(aq" : "'";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text, true) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + escaped(text, true) + "\\fR";
}

// A sentence: one a line, as man(7) wants it, so that the formatter sets the blank behind it.
std::string sentences(std::string_view text) {
  std::string out;
  for (;;) {
    const auto end = text.find(". ");
    out += escaped(text.substr(0, end == std::string_view::npos ? end : end + 1), false) + "\n";
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 2);
  }
}

// "topics create" to "tk-topics-create".
std::string page_name(std::string_view command) {
  std::string name = "tk";
  if (command != "tk") name += "-" + std::string(command);
  for (char& c : name) c = c == ' ' ? '-' : c;
  return name;
}

// A reference to another page on a line of its own, `behind` it at once what follows.
std::string see(std::string_view command, std::string_view behind = "") {
  return ".BR " + escaped(page_name(command), true) + " (1)" + std::string(behind);
}

std::string head(std::string_view command, std::string_view purpose) {
  const std::string name = page_name(command);
  std::string title = name;
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return fmt::format(".TH {} 1 \"{}\" \"tk {}\" \"tk manual\"\n.SH NAME\n{} \\- {}\n", escaped(title, true),
                     version_date(), version_number(), escaped(name, true), escaped(purpose, false));
}

std::string synopsis(const std::string& command, std::string_view usage) {
  return fmt::format(".SH SYNOPSIS\n{}\n", bold(command)) + escaped(usage, true) + "\n";
}

std::string option_entry(const CommandSpec::Option& option) {
  std::string names;
  for (const std::string& name : option.spellings()) names += (names.empty() ? "" : ", ") + bold(name);
  if (option.takes_value) names += " " + italic(option.value_name);
  return ".TP\n" + names + "\n" + escaped(option.help, false) + "\n";
}

// Options under the headings that --help has.
std::string options_section(const CommandSpec& spec) {
  std::string text = ".SH OPTIONS\n";
  std::string group = "Options";
  for (const CommandSpec::Option& option : spec.options()) {
    if (option.group != group) text += ".SS " + escaped(option.group, false) + "\n";
    group = option.group;
    text += option_entry(option);
  }
  return text;
}

std::string examples_section(const std::vector<std::string>& examples) {
  std::string text = ".SH EXAMPLES\n.EX\n";
  for (const std::string& example : examples) text += escaped(example, true) + "\n";
  return text + ".EE\n";
}

std::string command_entries(std::string_view prefix, std::string_view group) {
  std::string text;
  for (const CommandRow& row : command_rows()) {
    if (row.group != group && !row.name.starts_with(std::string(prefix) + " ")) continue;
    text += fmt::format(".TP\n{}\n{}\n", see(row.name), escaped(row.purpose, false));
  }
  return text;
}

std::string exit_status() {
  std::string text =
      ".SH EXIT STATUS\n.TP\n.B 0\ndone; for verify: nothing is wrong\n"
      ".TP\n.B 130, 143\nended by SIGINT or SIGTERM; what was acknowledged is on disk\n";
  constexpr std::string_view kMeanings[] = {
      "failed", "usage: nothing was done",
      "the data are damaged, or an invariant or expectation of a simulation failed",
      "refused: by a lock, a stale generation or epoch, an offset, or too few replicas"};
  for (int code = 1; code <= 4; ++code) {
    text += fmt::format(".TP\n.B {}\n{}:", code, kMeanings[code - 1]);
    for (const std::string_view name : code_names(code)) text += "\n" + std::string(name);
    text += "\n";
  }
  return text + ".P\nThe names stand in the last line on stderr of a failure with " + bold("--json") +
         ":\n.EX\n" +
         escaped(R"({"error":"UNKNOWN_TOPIC_OR_PARTITION","message":"...","path":null,"position":null})",
                 true) +
         "\n.EE\n";
}

std::string overview_page() {
  CommandSpec top("", "");
  GlobalOptions globals;
  bind_top(top, globals);
  std::string text = head("tk", kPurpose) + synopsis("tk", "[OPTION]... COMMAND [ARGUMENT]...");
  text +=
      ".SH DESCRIPTION\n" +
      sentences(
          "Reads, writes, checks, repairs and simulates Kafka's logs directly in a directory, without a "
          "broker. Each run is a short process that takes all its state from files, does its work, makes "
          "it durable, and leaves. A broker's directory needs no preparation, and looking changes nothing.");
  text += ".SH COMMANDS\n";
  std::string_view group;
  for (const CommandRow& row : command_rows()) {
    if (row.group == group) continue;
    group = row.group;
    text += ".SS " + std::string(group) + "\n" + command_entries("-", group);
  }
  text += options_section(top) + exit_status();
  text += ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] :
       {std::pair{"TK_DIR", "the data directory, where --dir names none"},
        std::pair{"TK_FORMAT", "json or kafka: the format of topics that are made"},
        std::pair{"TK_NOW", "the time of day in ms since 1970, for scripted runs"},
        std::pair{"NO_COLOR", "no colour, unless --color asks for it"}})
    text += fmt::format(".TP\n.B {}\n{}\n", name, escaped(meaning, false));
  text += examples_section({R"(printf 'a\nb\n' | tk produce orders)", "tk consume orders", "tk topics list",
                            "tk verify -d /var/lib/kafka/data"});
  return text;
}

std::string prefix_page(const std::string& prefix) {
  return head(prefix, "commands about " + prefix) +
         synopsis("tk " + prefix, "COMMAND [OPTION]... [ARGUMENT]...") + ".SH COMMANDS\n" +
         command_entries(prefix, "-") + ".SH SEE ALSO\n" + see("tk") + "\n";
}

std::string command_page(const CommandRow& row) {
  CommandSpec spec(row.name, row.purpose);
  row.bind(spec);
  GlobalOptions globals;
  bind_globals(spec, globals);
  std::string text = head(row.name, row.purpose);
  text += synopsis("tk " + spec.name(), "[OPTION]..." + (spec.usage().empty() ? "" : " " + spec.usage()));
  text += ".SH DESCRIPTION\n";
  for (std::size_t i = 0; i < spec.paragraphs().size(); ++i)
    text += (i > 0 ? ".P\n" : "") + sentences(spec.paragraphs()[i]);
  text += options_section(spec);
  text +=
      ".SH EXIT STATUS\n0 done, 1 failed, 2 usage, 3 damaged data, 4 refused; see\n" + see("tk", ".") + "\n";
  text += examples_section(spec.examples()) + ".SH SEE ALSO\n";
  for (const CommandRow& other : command_rows()) {
    if (other.group == row.group && other.name != row.name) text += see(other.name, ",") + "\n";
  }
  return text + see("tk") + "\n";
}

std::string page_list() {
  std::string text = "tk\n";
  for (const std::string& word : command_words("")) {
    if (is_command_prefix(word)) text += word + "\n";
  }
  for (const CommandRow& row : command_rows()) text += std::string(row.name) + "\n";
  return text;
}

}  // namespace

std::string manual_page(const std::string& name) {
  if (name.empty()) return page_list();
  if (name == "tk") return overview_page();
  return is_command_prefix(name) ? prefix_page(name) : command_page(command_named(name));
}

}  // namespace tk::cli
