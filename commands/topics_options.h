// Options of `tk topics create|list|describe|alter|delete` (cli.md §2). Names are as given, not yet checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"
#include "core/format/topic_format.h"

namespace tk {

struct TopicsCreateOptions {
  std::string name;
  /// At least 1.
  std::int32_t partitions = 1;
  std::optional<TopicFormat> format;
  std::vector<ConfigSetting> configs;
  std::optional<std::int32_t> replicas;
  bool if_not_exists = false;
  SyncMode sync = SyncMode::end;
};

struct TopicsListOptions {};

struct TopicsDescribeOptions {
  /// Empty: all topics.
  std::vector<std::string> names;
  /// Show the configs that differ from the defaults instead of the partitions.
  bool configs = false;
};

/// At least one of the three changes is there.
struct TopicsAlterOptions {
  std::string name;
  /// The new number of partitions, at least 1.
  std::optional<std::int32_t> partitions;
  std::vector<ConfigSetting> configs;
  /// Keys that go back to their defaults.
  std::vector<std::string> unset;
  SyncMode sync = SyncMode::end;
};

struct TopicsDeleteOptions {
  std::string name;
  bool dry_run = false;
  SyncMode sync = SyncMode::end;
};

}  // namespace tk
