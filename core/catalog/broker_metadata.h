// What a KRaft broker's metadata log says: topics with their ids, partitions and configs, brokers, features
// (kafka-on-disk.md §13.4). Replayed from the newest whole snapshot, or from the log's start.
//
// Everything in the log counts: what of it the quorum had agreed on cannot be told from one copy.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/uuid.h"
#include "core/catalog/topic_config.h"
#include "core/io/file_system.h"

namespace tk {

inline constexpr std::string_view kMetadataDirectory = "__cluster_metadata-0";

struct BrokerMetadata {
  struct Partition {
    std::vector<std::int32_t> replicas;
    std::vector<std::int32_t> in_sync;
    std::int32_t leader = -1;
    std::int32_t leader_epoch = -1;
  };
  struct Topic {
    Uuid id;
    std::map<std::int32_t, Partition> partitions;
    /// Of the topic itself, as the log has them.
    ConfigMap configs;
  };
  struct Broker {
    std::int64_t epoch = -1;
    bool fenced = true;
    std::optional<std::string> rack;
  };

  std::map<std::string, Topic, std::less<>> topics;
  std::map<std::int32_t, Broker> brokers;
  std::map<std::string, std::int16_t, std::less<>> features;
  /// Behind the last record.
  Offset end{0};
  /// Records that a later release wrote, or that cannot be decoded, and damage: stepped over.
  std::uint64_t unknown_records = 0;
  std::uint64_t damaged_places = 0;

  [[nodiscard]] const Topic* find(std::string_view name) const {
    const auto at = topics.find(name);
    return at == topics.end() ? nullptr : &at->second;
  }
  /// The topic of this id; empty if there is none.
  [[nodiscard]] std::string name_of(const Uuid& id) const;
};

enum class MetadataDetail : std::uint8_t {
  topics,  // ids, configs, how many partitions; not who leads, which is most of the log
  all,
};

/// Nothing if the data directory has no metadata log. Throws what reading throws.
std::optional<BrokerMetadata> read_broker_metadata(FileSystem& fs, const std::string& data_directory,
                                                   MetadataDetail detail = MetadataDetail::all);

}  // namespace tk
