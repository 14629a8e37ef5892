// Whole scenarios: lines of steps, or JSON (replication.md §9).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/sim/step.h"

namespace tk {
namespace {

using Json = nlohmann::ordered_json;

/// A value of the JSON form as a word.
std::string json_word(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Scenario parse_json_scenario(std::string_view text) {
  Scenario scenario;
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    scenario.fault = StepFault{1, "this is no JSON object with \"config\" and \"steps\""};
    return scenario;
  }
  if (json.contains("config") && json["config"].is_object()) {
    for (const auto& [key, value] : json["config"].items())
      scenario.config.emplace_back(key, json_word(value));
  }
  int number = 0;
  if (!json.contains("steps") || !json["steps"].is_array()) return scenario;
  for (const Json& step : json["steps"]) {
    ++number;
    std::string line, options;
    if (!step.is_object() || !step.contains("op")) {
      scenario.fault = StepFault{number, "a step is an object with \"op\""};
      return scenario;
    }
    line = json_word(step["op"]);
    for (const auto& [key, value] : step.items()) {
      if (key == "op") continue;
      if (value.is_array()) {
        for (const Json& word : value) line += " " + json_word(word);
      } else {
        options += " " + key + "=" + json_word(value);
      }
    }
    Step parsed;
    parsed.line = number;
    if (auto problem = parse_step(line + options, parsed)) {
      scenario.fault = StepFault{number, *problem};
      return scenario;
    }
    scenario.steps.push_back(std::move(parsed));
  }
  return scenario;
}

}  // namespace

Scenario parse_scenario(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return parse_json_scenario(text);
  Scenario scenario;
  int number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    line = line.substr(0, line.find('#'));
    while (!line.empty()) {
      const std::string_view part = line.substr(0, std::min(line.find(';'), line.size()));
      line.remove_prefix(std::min(part.size() + 1, line.size()));
      if (part.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      Step step;
      step.line = number;
      std::optional<std::string> problem = parse_step(part, step);
      if (!problem && step.op == Op::config && !scenario.steps.empty())
        problem = "config is the first step or none";
      if (problem) {
        scenario.fault = StepFault{number, *problem};
        return scenario;
      }
      if (step.op != Op::config) {
        scenario.steps.push_back(std::move(step));
        continue;
      }
      for (const std::string& word : step.words) {
        const std::size_t equals = word.find('=');
        scenario.config.emplace_back(word.substr(0, equals), word.substr(equals + 1));
      }
    }
  }
  return scenario;
}

}  // namespace tk
