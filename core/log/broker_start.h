// What a broker's start would do to one partition before it does it (kafka-on-disk.md §9; as Apache Kafka 4.4
// does it): nothing is changed here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/uuid.h"
#include "core/log/log_files.h"

namespace tk {

struct BrokerStartSettings {
  /// The clean-shutdown marker is there.
  bool clean = false;
  /// Of recovery-point- and log-start-offset-checkpoint.
  Offset recovery_point{0};
  Offset log_start{0};
  std::int64_t index_interval = 4096;
  /// The directory belongs to a KRaft broker: a partition without partition.metadata is a stray one.
  bool kraft = true;
  /// __cluster_metadata-0: always opened as unclean and from its start.
  bool metadata_log = false;
  /// The topic's id by the metadata log; nothing if that is not known.
  std::optional<Uuid> topic_id;
  /// Whether the metadata log knows the topic at all; nothing without a metadata log.
  std::optional<bool> topic_exists;
  /// Whether the broker is one of the partition's replicas by the metadata log.
  std::optional<bool> assigned;
};

struct BrokerStart {
  struct Segment {
    Offset base;
    std::uint64_t bytes = 0;
  };

  /// False: the broker as a whole would not come up; `reason` says why.
  bool starts = true;
  std::string reason;
  /// After the start; nothing if there is none.
  std::optional<Offset> log_end;
  Offset log_start{0};
  std::uint64_t cut_bytes = 0;
  /// Segments that are removed, by base.
  std::vector<Offset> deleted;
  /// Names of files that are made anew.
  std::vector<std::string> rebuilt;
  /// Names of left-over files that are removed, and of those that get their final name.
  std::vector<std::string> removed;
  std::vector<std::string> promoted;
  /// The directory is renamed to -stray and an empty log takes its place; nothing: cannot be told without the
  /// metadata log.
  std::optional<bool> stray = false;
  /// What is left of the log; of a start that fails, as far as it came.
  std::vector<Segment> segments;
};

/// Throws what reading the directory throws.
BrokerStart plan_broker_start(FileSystem& fs, const std::string& directory,
                              const BrokerStartSettings& settings);

}  // namespace tk
