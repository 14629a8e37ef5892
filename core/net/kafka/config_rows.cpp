#include "core/net/kafka/config_rows.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tk::kafka {
namespace {

constexpr std::int8_t kBoolean = 1, kString = 2, kInt = 3, kLong = 5, kDouble = 6, kList = 7;

std::int8_t type_of(std::string_view key) {
  using namespace std::string_view_literals;
  constexpr std::array booleans = {
      "errors.deadletterqueue.group.enable"sv, "preallocate"sv,           "remote.log.copy.disable"sv,
      "remote.log.delete.on.disable"sv,        "remote.storage.enable"sv, "unclean.leader.election.enable"sv,
      "message.downconversion.enable"sv};
  constexpr std::array ints = {"compression.gzip.level"sv, "compression.lz4.level"sv,
                               "compression.zstd.level"sv, "index.interval.bytes"sv,
                               "max.message.bytes"sv,      "min.insync.replicas"sv,
                               "segment.bytes"sv,          "segment.index.bytes"sv,
                               "internal.segment.bytes"sv, "max.decompressed.message.bytes"sv};
  constexpr std::array lists = {"cleanup.policy"sv, "follower.replication.throttled.replicas"sv,
                                "leader.replication.throttled.replicas"sv};
  constexpr std::array texts = {"compression.type"sv, "message.timestamp.type"sv, "message.format.version"sv};
  const auto in = [&](const auto& keys) { return std::ranges::find(keys, key) != keys.end(); };
  if (in(booleans)) return kBoolean;
  if (in(ints)) return kInt;
  if (in(lists)) return kList;
  if (in(texts)) return kString;
  return key == "min.cleanable.dirty.ratio" ? kDouble : kLong;
}

bool is_old(std::string_view key) {
  return key == "message.downconversion.enable" || key == "message.format.version" ||
         key == "message.timestamp.difference.max.ms" || key == "internal.segment.bytes";
}

}  // namespace

std::vector<ConfigRow> config_rows(const ConfigMap& set, bool of_tk) {
  std::vector<ConfigRow> rows;
  for (const std::string& key : config_keys()) {
    const auto given = set.find(key);
    if (given == set.end() && is_old(key)) continue;
    ConfigRow row;
    row.name = key;
    row.type = type_of(key);
    if (given != set.end()) {
      row.value = given->second;
      row.is_default = false;
    } else {
      row.value = std::string((of_tk ? config_default_of_tk(key) : config_default(key)).value_or(""));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tk::kafka
