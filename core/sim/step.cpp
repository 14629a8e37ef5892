#include "core/sim/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/text.h"

namespace tk {
namespace {

using Json = nlohmann::ordered_json;

struct NamedOp {
  std::string_view first;
  Op second;
};
constexpr NamedOp kNames[] = {
    {"config", Op::config},
    {"append", Op::append},
    {"fetch", Op::fetch},
    {"sync", Op::sync},
    {"read", Op::read},
    {"commit", Op::commit},
    {"tick", Op::tick},
    {"kill", Op::kill},
    {"start", Op::start},
    {"bounce", Op::bounce},
    {"stop", Op::stop},
    {"fence", Op::fence},
    {"unfence", Op::unfence},
    {"elect", Op::elect},
    {"partition", Op::partition},
    {"heal", Op::heal},
    {"propagate", Op::propagate},
    {"learn", Op::learn},
    {"checkpoint", Op::checkpoint},
    {"flush", Op::flush},
    {"retain", Op::retain},
    {"corrupt", Op::corrupt},
    {"tear", Op::tear},
    {"rebuild", Op::rebuild},
    {"txn", Op::txn},
    {"send", Op::send},
    {"deliver", Op::deliver},
    {"drop", Op::drop},
    {"dup", Op::dup},
    {"quorum", Op::quorum},
    {"expect log", Op::expect_log},
    {"expect leader", Op::expect_leader},
    {"expect reply", Op::expect_reply},
    {"expect lost", Op::expect_lost},
    {"expect logs-equal", Op::expect_logs_equal},
    {"expect logs-diverge", Op::expect_logs_diverge},
    {"expect-violation", Op::expect_violation},
};

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(separators, at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

/// Reads the words of one step. Every complaint says what was expected.
class StepParser {
 public:
  explicit StepParser(Step& step) : step_(step) {}

  std::optional<std::string> parse(std::string_view text) {
    std::vector<std::string_view> words = split(text, " \t\r");
    if (words.empty()) return "a step was expected";
    std::string name(words.front());
    words.erase(words.begin());
    if (name == "expect") {
      if (words.empty())
        return "'expect' is followed by log, leader, reply, lost, logs-equal or logs-diverge";
      name += " " + std::string(words.front());
      words.erase(words.begin());
    }
    const auto found = std::find_if(std::begin(kNames), std::end(kNames),
                                    [&](const auto& known) { return known.first == name; });
    if (found == std::end(kNames)) return unknown(name);
    step_.op = found->second;
    if (step_.op == Op::expect_reply) {
      const std::size_t at = text.find("reply");
      std::string_view rest = text.substr(at + 5);
      while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
      step_.words = {std::string(rest)};
      return {};
    }
    for (const std::string_view word : words) {
      const std::size_t equals = word.find('=');
      const bool is_option = equals != std::string_view::npos && equals > 0 && step_.op != Op::config;
      if (step_.op == Op::config) {
        if (equals == std::string_view::npos) return fmt::format("config takes key=value, not '{}'", word);
        step_.words.emplace_back(word);
      } else if (is_option) {
        option(word.substr(0, equals), word.substr(equals + 1));
      } else if (word != "=") {
        positional(word);
      }
      if (problem_) return problem_;
    }
    return check();
  }

 private:
  static std::string unknown(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& [known, op] : kNames) names.emplace_back(known);
    if (const auto nearest = nearest_name(name, names))
      return fmt::format("there is no step '{}'; did you mean '{}'?", name, *nearest);
    return fmt::format(
        "there is no step '{}'; expected one such as append, fetch, sync, kill, start, elect, expect", name);
  }

  void fail(std::string problem) {
    if (!problem_) problem_ = std::move(problem);
  }

  std::int64_t number(std::string_view what, std::string_view text) {
    const auto value = parse_int(text);
    if (!value || *value < 0) {
      fail(fmt::format("{} is a whole number from 0, not '{}'", what, text));
      return 0;
    }
    return *value;
  }

  std::int32_t small(std::string_view what, std::string_view text) {
    const std::int64_t value = number(what, text);
    if (value > INT32_MAX) fail(fmt::format("{} is out of range", what));
    return static_cast<std::int32_t>(value);
  }

  void positional(std::string_view word) {
    switch (step_.op) {
      case Op::append:
        if (word == "txn") {
          step_.transactional = true;
        } else {
          step_.words.emplace_back(word);
        }
        return;
      case Op::kill:
        if (word == "clean") {
          step_.clean = true;
          return;
        }
        break;
      case Op::elect:
      case Op::propagate:
      case Op::txn:
      case Op::quorum:
      case Op::expect_violation:
      case Op::expect_lost:
        step_.words.emplace_back(word);
        return;
      case Op::commit:
        if (step_.group.empty()) {
          step_.group = word;
          return;
        }
        break;
      case Op::expect_leader:
        if (word == "none") {
          step_.n = kNoBroker;
          step_.words = {"none"};
          return;
        }
        break;
      case Op::flush:
        step_.links.push_back(small("a replica", word));
        return;
      case Op::expect_log:
        if (step_.n >= 0) {
          step_.words.emplace_back(word);
          return;
        }
        break;
      default:
        break;
    }
    if (step_.n >= 0) return fail(fmt::format("'{}' is one word too many for {}", word, op_name(step_.op)));
    step_.n = number(fmt::format("what follows {}", op_name(step_.op)), word);
  }

  void option(std::string_view key, std::string_view value) {
    if (key == "p") {
      step_.partition = small("p", value);
    } else if (key == "acks") {
      if (value != "0" && value != "1" && value != "all")
        return fail(fmt::format("acks is 0, 1 or all, not '{}'", value));
      step_.acks = value == "0" ? AckLevel::none : value == "1" ? AckLevel::leader : AckLevel::all;
    } else if (key == "to" || key == "on") {
      step_.to = small(key, value);
    } else if (key == "max") {
      step_.max = number("max", value);
    } else if (key == "lose") {
      lose(value);
    } else if (key == "pid") {
      step_.pid = number("pid", value);
    } else if (key == "epoch") {
      step_.epoch = small("epoch", value);
    } else if (key == "seq") {
      step_.sequence = small("seq", value);
    } else if (key == "coordinator") {
      step_.coordinator = small("coordinator", value);
    } else if (key == "group") {
      step_.group = value;
    } else if (key == "iso") {
      if (value != "rc" && value != "ru") return fail(fmt::format("iso is rc or ru, not '{}'", value));
      step_.read_committed = value == "rc";
    } else if (key == "from" && step_.op == Op::partition) {
      links(value);
    } else if (key == "from" || key == "off") {
      step_.from = number(key, value);
    } else if (key == "bytes" || key == "byte" || key == "pe") {
      step_.max = number(key, value);
    } else if (key == "hw") {
      step_.high_watermark = number("hw", value);
    } else if (key == "leo") {
      step_.log_end = number("leo", value);
    } else if (key == "start") {
      step_.log_start = number("start", value);
    } else if (key == "epochs") {
      step_.epochs = value;
    } else if (key == "isr") {
      step_.isr = value;
    } else if (key == "elr") {
      step_.elr = value;
    } else {
      fail(fmt::format("{} has no option '{}'", op_name(step_.op), key));
    }
  }

  void lose(std::string_view value) {
    if (step_.op == Op::kill) {
      if (value == "all") {
        step_.disk.what = DiskLoss::What::unsynced;
      } else if (value.starts_with("bytes:")) {
        step_.disk = {DiskLoss::What::bytes, number("lose=bytes", value.substr(6))};
      } else {
        step_.disk = {DiskLoss::What::records, number("lose", value)};
      }
    } else if (value == "request" || value == "reply") {
      step_.lose = value == "request" ? Cluster::Lose::request : Cluster::Lose::reply;
    } else if (value == "ack") {
      step_.lose_ack = true;
    } else {
      fail(fmt::format("lose is request, reply or ack (of kill: N, bytes:N or all), not '{}'", value));
    }
  }

  void links(std::string_view value) {
    if (value == "all") return;
    for (const std::string_view end : split(value, ",")) {
      step_.links.push_back(end == "C" ? kControllerNode : small("from", end));
    }
  }

  std::optional<std::string> check() {
    const auto needs_number = [&] {
      switch (step_.op) {
        case Op::fetch:
        case Op::tick:
        case Op::kill:
        case Op::start:
        case Op::bounce:
        case Op::stop:
        case Op::fence:
        case Op::unfence:
        case Op::partition:
        case Op::learn:
        case Op::retain:
        case Op::corrupt:
        case Op::tear:
        case Op::rebuild:
        case Op::send:
        case Op::deliver:
        case Op::drop:
        case Op::dup:
        case Op::commit:
        case Op::expect_log:
        case Op::expect_logs_diverge:
          return true;
        default:
          return false;
      }
    };
    if (needs_number() && step_.n < 0) return fmt::format("{} is followed by a number", op_name(step_.op));
    if (step_.op == Op::append && step_.words.empty()) return "append is followed by at least one value";
    const std::string word = step_.words.empty() ? std::string() : step_.words.front();
    if (step_.op == Op::elect && word != "preferred" && word != "unclean" && word != "online")
      return "elect is followed by preferred, unclean or online";
    if (step_.op == Op::propagate && word != "on" && word != "off")
      return "propagate is followed by on or off";
    if (step_.op == Op::txn && word != "begin" && word != "commit" && word != "abort")
      return "txn is followed by begin, commit or abort";
    if (step_.op == Op::txn && step_.pid < 0) return "txn needs pid=";
    return {};
  }

  Step& step_;
  std::optional<std::string> problem_;
};

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

std::string_view op_name(Op op) {
  const auto found = std::find_if(std::begin(kNames), std::end(kNames),
                                  [&](const auto& known) { return known.second == op; });
  return found == std::end(kNames) ? "" : found->first;
}

std::optional<std::string> parse_step(std::string_view text, Step& step) {
  return StepParser(step).parse(text);
}

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

std::string format_step(const Step& step) {
  std::string text(op_name(step.op));
  const auto add = [&](std::string_view key, const auto& value) {
    text += fmt::format(" {}={}", key, value);
  };
  if (step.op == Op::commit) text += " " + step.group;
  if (step.n >= 0) text += fmt::format(" {}", step.n);
  if (step.op == Op::expect_log || step.op == Op::expect_lost) {
    if (step.op == Op::expect_lost) add("acks", ack_level_name(step.acks));
    text += " =";
  }
  for (const std::string& word : step.words) text += " " + word;
  for (const BrokerId id : step.links) {
    if (step.op == Op::flush) text += fmt::format(" {}", id);
  }
  if (step.op == Op::append && step.acks != AckLevel::all) add("acks", ack_level_name(step.acks));
  if (step.partition != 0) add("p", step.partition);
  if (step.to != kNoBroker) add(step.op == Op::read ? "on" : "to", step.to);
  if (step.max != kNoLimit)
    add(step.op == Op::corrupt         ? "byte"
        : step.op == Op::tear          ? "bytes"
        : step.op == Op::expect_leader ? "pe"
                                       : "max",
        step.max);
  if (step.lose != Cluster::Lose::nothing)
    add("lose", step.lose == Cluster::Lose::reply ? "reply" : "request");
  if (step.lose_ack) add("lose", "ack");
  if (step.disk.what == DiskLoss::What::records) add("lose", step.disk.count);
  if (step.disk.what == DiskLoss::What::bytes) text += fmt::format(" lose=bytes:{}", step.disk.count);
  if (step.disk.what == DiskLoss::What::unsynced) add("lose", "all");
  if (step.clean) text += " clean";
  if (step.pid >= 0) add("pid", step.pid);
  if (step.epoch >= 0) add("epoch", step.epoch);
  if (step.sequence >= 0) add("seq", step.sequence);
  if (step.coordinator > 0) add("coordinator", step.coordinator);
  if (step.transactional) text += " txn";
  if (step.op == Op::read && !step.group.empty()) add("group", step.group);
  if (step.op == Op::read && step.read_committed) add("iso", "rc");
  if (step.op == Op::partition && !step.links.empty()) {
    std::string ends;
    for (const BrokerId id : step.links) {
      if (!ends.empty()) ends += ",";
      ends += id == kControllerNode ? "C" : std::to_string(id);
    }
    add("from", ends);
  }
  if (step.from >= 0) add(step.op == Op::corrupt ? "off" : "from", step.from);
  if (step.epochs) add("epochs", *step.epochs);
  if (step.high_watermark) add("hw", *step.high_watermark);
  if (step.log_end) add("leo", *step.log_end);
  if (step.log_start) add("start", *step.log_start);
  if (step.isr) add("isr", *step.isr);
  if (step.elr) add("elr", *step.elr);
  return text;
}

ScenarioConfig scenario_defaults() {
  ScenarioConfig config;
  config.cluster.elr = false;
  config.cluster.min_isr = 2;
  config.cluster.auto_fence = false;
  return config;
}

std::optional<std::string> apply_config(const std::vector<std::pair<std::string, std::string>>& config,
                                        ScenarioConfig& to) {
  for (const auto& [key, value] : config) {
    const auto number = parse_int(value);
    const bool on = value == "on" || value == "true";
    const bool is_switch = on || value == "off" || value == "false";
    const auto set_switch = [&](bool& target) -> std::optional<std::string> {
      if (!is_switch) return fmt::format("config {} is on or off, not '{}'", key, value);
      target = on;
      return {};
    };
    const auto set_number = [&](auto& target, std::int64_t least,
                                std::int64_t most) -> std::optional<std::string> {
      if (!number || *number < least || *number > most)
        return fmt::format("config {} is a number from {} to {}, not '{}'", key, least, most, value);
      target = static_cast<std::decay_t<decltype(target)>>(*number);
      return {};
    };
    std::optional<std::string> problem;
    if (key == "rf") {
      problem = set_number(to.replicas, 1, 9);
    } else if (key == "partitions") {
      problem = set_number(to.partitions, 1, 1000);
    } else if (key == "min.isr") {
      problem = set_number(to.cluster.min_isr, 1, 100);
    } else if (key == "elr") {
      problem = set_switch(to.cluster.elr);
    } else if (key == "unclean") {
      problem = set_switch(to.cluster.unclean);
    } else if (key == "hw.strict") {
      problem = set_switch(to.cluster.strict_hw);
    } else if (key == "auto.fence") {
      problem = set_switch(to.cluster.auto_fence);
    } else if (key == "propagate") {
      problem = set_switch(to.propagate);
    } else if (key == "flush.messages") {
      std::int64_t each = 0;
      problem = set_number(each, 0, INT64_MAX);
      to.cluster.flush_each = each == 1;
    } else if (key == "lag.ms") {
      problem = set_number(to.cluster.lag_ms, 0, INT64_MAX / 4);
    } else if (key == "session.ms") {
      problem = set_number(to.cluster.session_ms, 1, INT64_MAX / 4);
    } else if (key == "assign") {
      for (const std::string_view id : split(value, ",")) {
        const auto broker = parse_int(id);
        if (!broker || *broker < 1 || *broker > to.replicas ||
            holds(to.assignment, static_cast<BrokerId>(*broker)))
          return fmt::format("config assign is a list of all replicas behind rf, not '{}'", value);
        to.assignment.push_back(static_cast<BrokerId>(*broker));
      }
      if (static_cast<std::int32_t>(to.assignment.size()) != to.replicas)
        return fmt::format("config assign is a list of all replicas behind rf, not '{}'", value);
    } else if (key == "controllers") {
      problem = set_number(to.cluster.controllers, 1, 9);
    } else if (key == "segment.bytes") {
      problem = set_number(to.segment_bytes, 128, 1073741824);
    } else if (key == "seed") {
      problem = set_number(to.seed, 0, INT64_MAX);
    } else if (key == "format") {
      const auto format = parse_topic_format(value);
      if (!format) return fmt::format("config format is json or kafka, not '{}'", value);
      to.format = *format;
    } else if (key == "trunc") {
      const auto mode = parse_truncation(value);
      if (!mode) return fmt::format("config trunc is hw, kip101, kip279, kip320 or fetch, not '{}'", value);
      to.cluster.truncation = *mode;
    } else if (key == "without") {
      const RuleName* rule = find_rule(value);
      if (rule == nullptr) return fmt::format("there is no rule '{}'", value);
      to.cluster.rules.*rule->member = false;
    } else {
      return fmt::format(
          "config has no '{}'; it has rf, partitions, min.isr, elr, unclean, hw.strict, trunc, lag.ms, "
          "session.ms, "
          "auto.fence, propagate, flush.messages, format, segment.bytes, controllers, without, seed",
          key);
    }
    if (problem) return problem;
  }
  to.cluster.brokers = to.replicas;
  return {};
}

}  // namespace tk
