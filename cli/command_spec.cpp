#include "cli/command_spec.h"

#include <CLI/App.hpp>
#include <algorithm>

namespace tk::cli {

CommandSpec::CommandSpec(std::string_view name, std::string_view purpose)
    : name_(name), purpose_(purpose), app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag();  // ours is among the global options
}

CommandSpec::~CommandSpec() = default;

void CommandSpec::usage(std::string_view arguments, Completes completes) {
  usage_ = arguments;
  completes_ = completes;
}

void CommandSpec::group(std::string_view heading) {
  group_ = heading;
}

CommandSpec::Option& CommandSpec::add(const std::string& names, const std::string& help, bool takes_value) {
  // What is read goes through our setters; CLI11 needs a callback only as a place to put it.
  const auto ignore = [](const CLI::results_t&) { return true; };
  CLI::Option* described = takes_value ? app_->add_option(names, ignore, help)
                                       : app_->add_flag_callback(
                                             names, [] {}, help);
  described->group(group_);
  Option& option = options_.emplace_back();
  option.described = described;
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
  option.described->type_name(value);
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
  return option == nullptr ? 0 : option->described->count();
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
  const auto it = std::find_if(options_.begin(), options_.end(), [&](const Option& option) {
    return option.described->check_lname(std::string(name));
  });
  return it == options_.end() ? nullptr : &*it;
}

const CommandSpec::Option* CommandSpec::find_short(char name) const {
  const auto it = std::find_if(options_.begin(), options_.end(), [&](const Option& option) {
    return option.described->check_sname(std::string(1, name));
  });
  return it == options_.end() ? nullptr : &*it;
}

}  // namespace tk::cli
