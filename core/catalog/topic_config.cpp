#include "core/catalog/topic_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/text.h"

namespace tk {
namespace {

enum class Type : std::uint8_t {
  number,    // a whole number in [least, most]
  size,      // the same, in bytes: K, M and G are taken
  boolean,   // true or false
  fraction,  // a number from 0 to 1
  choice,    // one of `choices`
  choices,   // any number of them, with commas between
  replicas,  // "*", or PARTITION:BROKER with commas between
  release,   // a release of Kafka: 2.8, 0.10.2-IV0
};

struct Row {
  std::string_view key;
  Type type;
  /// Kafka's default; empty: none (a list that is empty by default counts as none).
  std::string_view fallback = {};
  std::int64_t least = 0;
  std::int64_t most = INT64_MAX;
  /// With commas between.
  std::string_view choices = {};
};

constexpr std::int64_t kMost32 = INT32_MAX;
constexpr std::string_view kForever = "9223372036854775807";
/// Kafka takes segment.bytes from 1 MiB on; small segments are wanted in tests.
constexpr std::int64_t kLeastSegment = 128;

// By key. message.downconversion.enable, .format.version and .timestamp.difference.max.ms are of releases
// before 4.0: topics that come from there have them.
constexpr std::array kRows = {
    Row{"cleanup.policy", Type::choices, "delete", 0, 0, "compact,delete"},
    Row{"compression.gzip.level", Type::number, "-1", -1, 9},
    Row{"compression.lz4.level", Type::number, "9", 1, 17},
    Row{"compression.type", Type::choice, "producer", 0, 0, "uncompressed,zstd,lz4,snappy,gzip,producer"},
    Row{"compression.zstd.level", Type::number, "3", -131072, 22},
    Row{"delete.retention.ms", Type::number, "86400000"},
    Row{"errors.deadletterqueue.group.enable", Type::boolean, "false"},
    Row{"file.delete.delay.ms", Type::number, "60000"},
    Row{"flush.messages", Type::number, kForever, 1},
    Row{"flush.ms", Type::number, kForever},
    Row{"follower.replication.throttled.replicas", Type::replicas},
    Row{"index.interval.bytes", Type::size, "4096", 0, kMost32},
    Row{"internal.segment.bytes", Type::size, {}, kLeastSegment, kMost32},
    Row{"leader.replication.throttled.replicas", Type::replicas},
    Row{"local.retention.bytes", Type::size, "-2", -2},
    Row{"local.retention.ms", Type::number, "-2", -2},
    Row{"max.compaction.lag.ms", Type::number, kForever, 1},
    Row{"max.decompressed.message.bytes", Type::size, "2147483639", 1, kMost32 - 8},
    Row{"max.message.bytes", Type::size, "1048588", 0, kMost32},
    Row{"message.downconversion.enable", Type::boolean, "true"},
    Row{"message.format.version", Type::release, "3.0-IV1"},
    Row{"message.timestamp.after.max.ms", Type::number, "3600000"},
    Row{"message.timestamp.before.max.ms", Type::number, kForever},
    Row{"message.timestamp.difference.max.ms", Type::number, kForever},
    Row{"message.timestamp.type", Type::choice, "CreateTime", 0, 0, "CreateTime,LogAppendTime"},
    Row{"min.cleanable.dirty.ratio", Type::fraction, "0.5"},
    Row{"min.compaction.lag.ms", Type::number, "0"},
    Row{"min.insync.replicas", Type::number, "1", 1, kMost32},
    Row{"preallocate", Type::boolean, "false"},
    Row{"remote.copy.lag.bytes", Type::size, "-1", -1},
    Row{"remote.copy.lag.ms", Type::number, "0", -1},
    Row{"remote.log.copy.disable", Type::boolean, "false"},
    Row{"remote.log.delete.on.disable", Type::boolean, "false"},
    Row{"remote.storage.enable", Type::boolean, "false"},
    Row{"retention.bytes", Type::size, "-1", INT64_MIN},
    Row{"retention.ms", Type::number, "604800000", -1},
    Row{"segment.bytes", Type::size, "1073741824", kLeastSegment, kMost32},
    Row{"segment.index.bytes", Type::size, "10485760", 4, kMost32},
    Row{"segment.jitter.ms", Type::number, "0"},
    Row{"segment.ms", Type::number, "604800000", 1},
    Row{"unclean.leader.election.enable", Type::boolean, "false"},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::key));

const Row* find_row(std::string_view key) {
  const auto at = std::ranges::lower_bound(kRows, key, {}, &Row::key);
  return at != kRows.end() && at->key == key ? &*at : nullptr;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Calls `take` with each part between commas, blanks around it removed, until it returns false; an empty
/// text has no parts. True if every part was taken.
template <class Take>
bool each_part(std::string_view list, Take take) {
  if (without_blanks(list).empty()) return true;
  for (;;) {
    const std::size_t comma = list.find(',');
    if (!take(without_blanks(list.substr(0, comma)))) return false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

bool is_one_of(std::string_view list, std::string_view value) {
  return !value.empty() && !each_part(list, [&](std::string_view part) { return part != value; });
}

std::optional<std::int64_t> parse_number(const Row& row, std::string_view value) {
  auto number = parse_int(value);
  if (!number && row.type == Type::size) number = parse_size(value);
  if (!number || *number < row.least || *number > row.most) return {};
  // Of the levels of gzip, -1 is the codec's own choice and 0 is none.
  if (row.key == "compression.gzip.level" && *number == 0) return {};
  return number;
}

bool is_fraction(std::string_view value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc{} && end == value.data() + value.size() && number >= 0 && number <= 1;
}

bool is_replica(std::string_view part) {
  const std::size_t colon = part.find(':');
  if (colon == std::string_view::npos) return false;
  for (const std::string_view number : {part.substr(0, colon), part.substr(colon + 1)}) {
    if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != number.npos)
      return false;
  }
  return true;
}

bool is_release(std::string_view value) {
  const bool starts_right = !value.empty() && value[0] >= '0' && value[0] <= '9';
  return starts_right && value.size() <= 16 &&
         value.find_first_not_of("0123456789.-IV") == std::string_view::npos;
}

/// The value as it is stored; nothing if it is not one of the row's.
std::optional<std::string> stored_value(const Row& row, std::string_view text) {
  const std::string_view value = without_blanks(text);
  const auto if_true = [&](bool good) { return good ? std::optional<std::string>(value) : std::nullopt; };
  switch (row.type) {
    case Type::number:
    case Type::size: {
      const auto number = parse_number(row, value);
      return number ? std::optional(std::to_string(*number)) : std::nullopt;
    }
    case Type::boolean: {
      std::string lower(value);
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      return lower == "true" || lower == "false" ? std::optional(lower) : std::nullopt;
    }
    case Type::fraction:
      return if_true(is_fraction(value));
    case Type::choice:
      return if_true(is_one_of(row.choices, value));
    case Type::choices: {
      std::string joined;
      const bool good = each_part(value, [&](std::string_view part) {
        if (!is_one_of(joined, part)) joined.append(joined.empty() ? "" : ",").append(part);
        return is_one_of(row.choices, part);
      });
      return good ? std::optional(joined) : std::nullopt;
    }
    case Type::replicas:
      return if_true(value == "*" || each_part(value, is_replica));
    case Type::release:
      return if_true(is_release(value));
  }
  return {};
}

std::string allowed_values(const Row& row) {
  switch (row.type) {
    case Type::number:
    case Type::size: {
      const std::string_view what = row.type == Type::size ? "a size in bytes" : "a whole number";
      if (row.least == INT64_MIN) return fmt::format("{}", what);
      if (row.most == INT64_MAX) return fmt::format("{} of at least {}", what, row.least);
      const bool no_zero = row.key == "compression.gzip.level";
      return fmt::format("{} from {} to {}{}", what, row.least, row.most, no_zero ? ", but not 0" : "");
    }
    case Type::boolean:
      return "true or false";
    case Type::fraction:
      return "a number from 0 to 1";
    case Type::choice:
      return fmt::format("one of {}", row.choices);
    case Type::choices:
      return fmt::format("a list of {}", row.choices);
    case Type::replicas:
      return "'*' or a list of PARTITION:BROKER";
    case Type::release:
      return "a release such as 2.8";
  }
  return {};
}

const Row& known_row(std::string_view key) {
  if (const Row* row = find_row(key)) return *row;
  Error error(ErrorCode::invalid_config, fmt::format("there is no topic config '{}'", printable(key)));
  const auto nearest = nearest_name(key, config_keys());
  if (nearest) throw std::move(error).hint(fmt::format("did you mean '{}'?", *nearest));
  throw error;
}

/// The setting's number if it has a good one.
std::optional<std::int64_t> number_of(const ConfigMap& settings, std::string_view key) {
  const auto at = settings.find(std::string(key));
  const Row* row = find_row(key);
  if (at == settings.end() || row == nullptr) return {};
  return parse_number(*row, without_blanks(at->second));
}

std::string_view text_of(const ConfigMap& settings, std::string_view key) {
  const auto at = settings.find(std::string(key));
  return at == settings.end() ? std::string_view{} : without_blanks(at->second);
}

}  // namespace

std::string check_config(std::string_view key, std::string_view value) {
  const Row& row = known_row(key);
  if (auto stored = stored_value(row, value)) return *std::move(stored);
  throw Error(ErrorCode::invalid_config,
              fmt::format("{}={}: the value must be {}", key, printable(value), allowed_values(row)));
}

ConfigMap check_configs(const ConfigMap& settings) {
  ConfigMap checked;
  for (const auto& [key, value] : settings) checked[key] = check_config(key, value);
  check_config_relations(checked);
  return checked;
}

void check_config_key(std::string_view key) {
  known_row(key);
}

void check_config_relations(const ConfigMap& settings) {
  const auto least_lag = number_of(settings, "min.compaction.lag.ms");
  const auto most_lag = number_of(settings, "max.compaction.lag.ms");
  if (!least_lag || !most_lag || *least_lag <= *most_lag) return;
  throw Error(
      ErrorCode::invalid_config,
      fmt::format("min.compaction.lag.ms ({}) is above max.compaction.lag.ms ({})", *least_lag, *most_lag));
}

std::vector<std::string> config_keys() {
  std::vector<std::string> keys;
  for (const Row& row : kRows) keys.emplace_back(row.key);
  return keys;
}

std::optional<std::string_view> config_default(std::string_view key) {
  const Row* row = find_row(key);
  if (row == nullptr || row->fallback.empty()) return {};
  return row->fallback;
}

std::optional<std::string_view> config_default_of_tk(std::string_view key) {
  if (key == "retention.ms") return "-1";
  return config_default(key);
}

LogConfig log_config(const ConfigMap& settings) {
  LogConfig config;
  const auto take = [&](std::string_view key, std::int64_t& to) {
    to = number_of(settings, key).value_or(to);
  };
  take("segment.bytes", config.segment_bytes);
  take("internal.segment.bytes", config.segment_bytes);
  take("segment.ms", config.segment_ms);
  take("index.interval.bytes", config.index_interval_bytes);
  take("segment.index.bytes", config.segment_index_bytes);
  take("max.message.bytes", config.max_message_bytes);
  if (text_of(settings, "message.timestamp.type") == "LogAppendTime") {
    config.timestamp_type = TimestampType::log_append_time;
  }
  return config;
}

UpkeepConfig upkeep_config(const ConfigMap& settings, bool of_tk) {
  UpkeepConfig config;
  if (of_tk) config.retention_ms = -1;
  const auto take = [&](std::string_view key, std::int64_t& to) {
    to = number_of(settings, key).value_or(to);
  };
  take("retention.ms", config.retention_ms);
  take("retention.bytes", config.retention_bytes);
  take("delete.retention.ms", config.delete_retention_ms);
  take("min.compaction.lag.ms", config.min_compaction_lag_ms);
  take("max.compaction.lag.ms", config.max_compaction_lag_ms);
  if (settings.contains("cleanup.policy")) {
    const std::string_view policy = text_of(settings, "cleanup.policy");
    config.deletes = is_one_of(policy, "delete");
    config.compacts = is_one_of(policy, "compact");
  }
  const std::string_view ratio = text_of(settings, "min.cleanable.dirty.ratio");
  if (is_fraction(ratio))
    std::from_chars(ratio.data(), ratio.data() + ratio.size(), config.min_cleanable_dirty_ratio);
  return config;
}

std::optional<Compression> topic_compression(const ConfigMap& settings) {
  const std::string_view type = text_of(settings, "compression.type");
  if (type == "uncompressed") return Compression{};
  const auto codec = parse_codec(type);
  if (!codec || *codec == Codec::none) return {};
  Compression compression{.codec = *codec, .level = {}};
  const auto level = number_of(settings, fmt::format("compression.{}.level", codec_name(*codec)));
  if (level) compression.level = static_cast<int>(*level);
  return compression;
}

}  // namespace tk
