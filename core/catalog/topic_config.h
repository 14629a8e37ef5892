// Topic configs by Kafka's names (kafka-on-disk.md §16; cli.md §2).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/codec.h"
#include "core/log/log_config.h"

namespace tk {

/// The settings that a topic was given, by name, as text; what is not there has its default.
using ConfigMap = std::map<std::string, std::string>;

/// Checks one setting and gives its value as it is stored: without blanks around it, a size with K, M or G in
/// bytes. Throws Error(invalid_config) for a key that Kafka does not know (with the nearest one) or a value
/// that is not one of its, with what is allowed. `segment.bytes` is taken from 128 here, keys that older
/// releases had are known, too.
std::string check_config(std::string_view key, std::string_view value);
/// The same for all settings of a topic, and check_config_relations().
ConfigMap check_configs(const ConfigMap& settings);
/// Throws Error(invalid_config) for a key that is not known.
void check_config_key(std::string_view key);
/// Throws Error(invalid_config) for settings that are good each but not together.
void check_config_relations(const ConfigMap& settings);

/// Every key that is known, in alphabetical order.
std::vector<std::string> config_keys();
/// Kafka's default, as text; nothing for a key without one, or an unknown one.
std::optional<std::string_view> config_default(std::string_view key);
/// The default of a topic that tk made: Kafka's, but that retention.ms is -1 (a log in a pipeline does not
/// forget by itself, cli.md §8).
std::optional<std::string_view> config_default_of_tk(std::string_view key);

/// What the settings say to the log. A value that is none (a state file edited by hand) counts as not given.
LogConfig log_config(const ConfigMap& settings);
/// What retention and compaction go by.
struct UpkeepConfig {
  /// cleanup.policy
  bool deletes = true, compacts = false;
  /// -1: without limit.
  std::int64_t retention_ms = 604800000, retention_bytes = -1;
  std::int64_t delete_retention_ms = 86400000;
  double min_cleanable_dirty_ratio = 0.5;
  std::int64_t min_compaction_lag_ms = 0, max_compaction_lag_ms = INT64_MAX;
};
/// `of_tk`: of a topic that tk made (config_default_of_tk).
UpkeepConfig upkeep_config(const ConfigMap& settings, bool of_tk);

/// compression.type with its level; nothing for "producer" (the producer's choice is kept).
std::optional<Compression> topic_compression(const ConfigMap& settings);

}  // namespace tk
