#include "core/group/group_name.h"

#include <fmt/format.h>

#include <cstdint>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace tk {
namespace {

constexpr std::size_t kLongestId = 4096;
constexpr std::size_t kLongestKey = 180;
constexpr std::size_t kKeptOfLongKey = 150;
constexpr std::string_view kPrefix = "group-";
constexpr std::string_view kStateSuffix = ".json";

bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

}  // namespace

void check_group_id(std::string_view group) {
  if (group.empty()) throw Error(ErrorCode::invalid_group_id, "the group's id is empty");
  if (!is_utf8(group)) {
    throw Error(ErrorCode::invalid_group_id,
                fmt::format("'{}' cannot be a group: it is not UTF-8", printable(group)));
  }
  if (group.size() > kLongestId) {
    throw Error(ErrorCode::invalid_group_id,
                fmt::format("the group's id has {} bytes, at most {} are taken", group.size(), kLongestId));
  }
}

std::string group_key(std::string_view group) {
  std::string key;
  for (const char c : group) {
    if (is_plain(c)) {
      key += c;
    } else {
      key += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  if (key.size() <= kLongestKey) return key;
  return fmt::format("{}~{:016x}", key.substr(0, kKeptOfLongKey), fnv1a(group));
}

std::string group_of_key(std::string_view key) {
  std::string group;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] != '%') {
      group += key[i];
      continue;
    }
    const int high = i + 2 < key.size() ? hex_value(key[i + 1]) : -1;
    const int low = i + 2 < key.size() ? hex_value(key[i + 2]) : -1;
    if (high < 0 || low < 0) return std::string(key);
    group += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return group;
}

std::string key_of_file_name(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kStateSuffix)) return {};
  if (name.size() <= kPrefix.size() + kStateSuffix.size()) return {};
  return std::string(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kStateSuffix.size()));
}

std::string group_state_name(std::string_view key) {
  return fmt::format("{}{}{}", kPrefix, key, kStateSuffix);
}
std::string group_lock_name(std::string_view key) {
  return fmt::format("{}{}.lock", kPrefix, key);
}
std::string group_events_name(std::string_view key) {
  return fmt::format("{}{}.events.ndjson", kPrefix, key);
}

// Java's String.hashCode works on UTF-16; the absolute value of the smallest int is 0.
int offsets_partition_of(std::string_view group, int partitions) {
  std::uint32_t hash = 0;
  const char* at = group.data();
  const char* const end = at + group.size();
  const auto add = [&hash](std::uint32_t unit) { hash = hash * 31 + unit; };
  while (at != end) {
    const Utf8Step step = utf8_step(at, end);
    std::uint32_t point = static_cast<unsigned char>(*at);
    if (!step.valid) {
      point = 0xFFFD;
    } else if (step.length > 1) {
      point &= 0x7FU >> step.length;
      for (std::size_t i = 1; i < step.length; ++i) point = point << 6 | (at[i] & 0x3F);
    }
    if (point > 0xFFFF) {
      add(0xD800 + ((point - 0x10000) >> 10));
      add(0xDC00 + (point & 0x3FF));
    } else {
      add(point);
    }
    at += step.length;
  }
  const auto value = static_cast<std::int32_t>(hash);
  if (value == INT32_MIN) return 0;
  return (value < 0 ? -value : value) % partitions;
}

}  // namespace tk
