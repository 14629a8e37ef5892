// Configs as Kafka's tools show them: name, value, where it comes from, what type it has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/catalog/topic_config.h"

namespace tk::kafka {

/// DescribeConfigs' sources.
inline constexpr std::int8_t kTopicConfig = 1;
inline constexpr std::int8_t kStaticBrokerConfig = 4;
inline constexpr std::int8_t kDefaultConfig = 5;

struct ConfigRow {
  std::string name;
  std::optional<std::string> value;
  bool is_default = true;
  /// DescribeConfigs' type of the value.
  std::int8_t type = 0;
};

/// Every config of a topic, those that releases before 4.0 had left out unless they are set.
std::vector<ConfigRow> config_rows(const ConfigMap& set, bool of_tk);

}  // namespace tk::kafka
