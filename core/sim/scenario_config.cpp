// What the first line of a scenario may set.
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/sim/step.h"

namespace tk {

ScenarioConfig scenario_defaults() {
  ScenarioConfig config;
  config.cluster.elr = false;
  config.cluster.min_isr = 2;
  config.cluster.auto_fence = false;
  return config;
}

std::optional<std::string> apply_config(const std::vector<std::pair<std::string, std::string>>& config,
                                        ScenarioConfig& to) {
  for (const auto& setting : config) {
    const std::string &key = setting.first, &value = setting.second;
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
      for (const std::string_view id : split_words(value, ",")) {
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
