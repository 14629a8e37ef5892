// What one command takes: options, arguments, examples, and what to run. The flags_*.cpp fill it in; reading
// (arguments.h), help and completion go by it. What it costs is paid at every start, so an option is kept as
// it was declared; CLI11 sees it where help is printed (help.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/parse_types.h"

namespace tk {
struct Context;
}

namespace tk::cli {

/// A name of an option's value, and the value.
template <class T>
using Choices = std::vector<std::pair<std::string_view, T>>;

/// What the shell offers for an argument that is not an option.
enum class Completes : std::uint8_t { nothing, shells, topics, topic_then_files, topics_or_files, groups };

class CommandSpec {
 public:
  using Setter = std::function<void(const std::string& value)>;
  struct Option {
    /// "-p,--partition".
    std::string names;
    /// What the help calls the value; empty for a flag.
    std::string value_name;
    std::string help;
    /// The heading it stands under.
    std::string group;
    Setter set;
    /// How often it was given.
    std::size_t count = 0;
    bool takes_value = false;
    bool repeatable = false;
    /// Set before the others, which may depend on it (the clock).
    bool global = false;

    /// `name` is without dashes.
    [[nodiscard]] bool has_long(std::string_view name) const;
    [[nodiscard]] bool has_short(char name) const;
    /// The names with their dashes, short ones first.
    [[nodiscard]] std::vector<std::string> spellings() const;
  };

  /// `name` is the command's one or two words, empty for tk itself.
  CommandSpec(std::string_view name, std::string_view purpose);
  CommandSpec(const CommandSpec&) = delete;
  CommandSpec& operator=(const CommandSpec&) = delete;

  // Filling in. `names` are as in "-p,--partition"; every option has a long name.

  /// The arguments in the usage line, for example "TOPIC [FILE]...", and what a shell completes there.
  void usage(std::string_view arguments, Completes completes);
  /// The heading of the options that follow.
  void group(std::string_view heading);
  void flag(const std::string& names, const std::string& help, bool& target);
  void flag(const std::string& names, const std::string& help, std::function<void()> set);
  /// An option that may be given once. `value` names it in the help: "N", or the choices as "end|batch|none".
  void value(const std::string& names, const std::string& value, const std::string& help, Setter set);
  /// One that may be given several times.
  void list(const std::string& names, const std::string& value, const std::string& help, Setter set);
  /// One whose value is one of a few names.
  template <class T, class Target>
  void choice(const std::string& names, const Choices<T>& choices, const std::string& help, Target& target) {
    value(names, joined(choices, "|"), help, [choices, &target](const std::string& text) {
      for (const auto& [name, value] : choices) {
        if (name == text) {
          target = value;
          return;
        }
      }
      usage_error("'" + text + "' is none of " + joined(choices, ", "));
    });
  }
  /// A paragraph of what the command does, behind its purpose: whole sentences, ASCII.
  void about(std::string_view paragraph);
  /// A line of the examples.
  void example(std::string_view line);
  /// What must hold of the options together; called when all are set, in the order added. Throws a usage
  /// error.
  void check(std::function<void()> check);
  void run(std::function<int(Context&)> run) { run_ = std::move(run); }
  /// Marks the options that follow as global.
  void begin_globals();

  // Setting.

  /// The time of day for values that are relative to it; known before options that are not global are set.
  [[nodiscard]] std::int64_t now_ms() const { return now_ms_; }
  void set_now(std::int64_t now_ms) { now_ms_ = now_ms; }
  /// The arguments that are no options, in order.
  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }
  void set_arguments(std::vector<std::string> arguments) { arguments_ = std::move(arguments); }
  /// How often an option was given; `name` is its long name without dashes.
  [[nodiscard]] std::size_t count(std::string_view name) const;
  /// A usage error if more than one of the options was given.
  void at_most_one_of(std::initializer_list<std::string_view> names) const;
  void run_checks() const;
  [[nodiscard]] int execute(Context& context) const { return run_(context); }

  // Describing.

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& purpose() const { return purpose_; }
  [[nodiscard]] const std::string& usage() const { return usage_; }
  [[nodiscard]] Completes completes() const { return completes_; }
  [[nodiscard]] const std::vector<std::string>& paragraphs() const { return paragraphs_; }
  [[nodiscard]] const std::vector<std::string>& examples() const { return examples_; }
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }
  /// The option with a long name (without dashes) or a short one; null if there is none.
  [[nodiscard]] const Option* find_long(std::string_view name) const;
  [[nodiscard]] const Option* find_short(char name) const;
  /// Notes that one of options() was given once more.
  void count_given(const Option& option);

 private:
  template <class T>
  static std::string joined(const Choices<T>& choices, std::string_view between) {
    std::string text;
    for (const auto& choice : choices) {
      if (!text.empty()) text += between;
      text += choice.first;
    }
    return text;
  }
  Option& add(const std::string& names, const std::string& help, bool takes_value);

  std::string name_;
  std::string purpose_;
  std::string usage_;
  std::string group_ = "Options";
  Completes completes_ = Completes::nothing;
  bool globals_ = false;
  std::vector<Option> options_;
  std::vector<std::string> paragraphs_;
  std::vector<std::string> examples_;
  std::vector<std::function<void()>> checks_;
  std::function<int(Context&)> run_;
  std::vector<std::string> arguments_;
  std::int64_t now_ms_ = 0;
};

}  // namespace tk::cli
