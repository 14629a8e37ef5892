#include "cli/command_spec.h"

#include <algorithm>

namespace tk::cli {
namespace {

// Calls `take(name)` for each name of "-p,--partition", dashes and all, until it returns true; whether it
// did.
template <class Take>
bool any_name(std::string_view names, Take take) {
  while (!names.empty()) {
    const std::size_t comma = names.find(',');
    if (take(names.substr(0, comma))) return true;
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
  }
  return false;
}

}  // namespace

bool CommandSpec::Option::has_long(std::string_view name) const {
  return any_name(names,
                  [&](std::string_view each) { return each.starts_with("--") && each.substr(2) == name; });
}

bool CommandSpec::Option::has_short(char name) const {
  return any_name(names, [&](std::string_view each) { return each.size() == 2 && each[1] == name; });
}

std::vector<std::string> CommandSpec::Option::spellings() const {
  std::vector<std::string> all;
  any_name(names, [&](std::string_view each) {
    all.emplace_back(each);
    return false;
  });
  std::stable_partition(all.begin(), all.end(),
                        [](const std::string& each) { return !each.starts_with("--"); });
  return all;
}

CommandSpec::CommandSpec(std::string_view name, std::string_view purpose) : name_(name), purpose_(purpose) {
  constexpr std::size_t kUsual = 48;  // options of a command with many
  options_.reserve(kUsual);
}

void CommandSpec::usage(std::string_view arguments, Completes completes) {
  usage_ = arguments;
  completes_ = completes;
}

void CommandSpec::group(std::string_view heading) {
  group_ = heading;
}

CommandSpec::Option& CommandSpec::add(const std::string& names, const std::string& help, bool takes_value) {
  Option& option = options_.emplace_back();
  option.names = names;
  option.help = help;
  option.group = group_;
  option.takes_value = takes_value;
  option.global = globals_;
  return option;
}

void CommandSpec::flag(const std::string& names, const std::string& help, bool& target) {
  flag(names, help, [&target] { target = true; });
}

void CommandSpec::flag(const std::string& names, const std::string& help, std::function<void()> set) {
  add(names, help, false).set = [set = std::move(set)](const std::string&) { set(); };
}

void CommandSpec::value(const std::string& names, const std::string& value, const std::string& help,
                        Setter set) {
  Option& option = add(names, help, true);
  option.value_name = value;
  option.set = std::move(set);
}

void CommandSpec::list(const std::string& names, const std::string& value, const std::string& help,
                       Setter set) {
  this->value(names, value, help, std::move(set));
  options_.back().repeatable = true;
}

void CommandSpec::about(std::string_view paragraph) {
  paragraphs_.emplace_back(paragraph);
}

void CommandSpec::example(std::string_view line) {
  examples_.emplace_back(line);
}

void CommandSpec::check(std::function<void()> check) {
  checks_.push_back(std::move(check));
}

void CommandSpec::begin_globals() {
  globals_ = true;
  group("Global options");
}

std::size_t CommandSpec::count(std::string_view name) const {
  const Option* option = find_long(name);
  return option == nullptr ? 0 : option->count;
}

void CommandSpec::at_most_one_of(std::initializer_list<std::string_view> names) const {
  std::string_view first;
  for (const std::string_view name : names) {
    if (count(name) == 0) continue;
    if (!first.empty()) {
      usage_error("--" + std::string(first) + " and --" + std::string(name) + " exclude each other");
    }
    first = name;
  }
}

void CommandSpec::run_checks() const {
  for (const auto& check : checks_) check();
}

const CommandSpec::Option* CommandSpec::find_long(std::string_view name) const {
  const auto it = std::find_if(options_.begin(), options_.end(),
                               [&](const Option& option) { return option.has_long(name); });
  return it == options_.end() ? nullptr : &*it;
}

const CommandSpec::Option* CommandSpec::find_short(char name) const {
  const auto it = std::find_if(options_.begin(), options_.end(),
                               [&](const Option& option) { return option.has_short(name); });
  return it == options_.end() ? nullptr : &*it;
}

void CommandSpec::count_given(const Option& option) {
  ++options_[static_cast<std::size_t>(&option - options_.data())].count;
}

}  // namespace tk::cli
