// Options of `tk produce` (cli.md §3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"
#include "core/format/codec.h"
#include "core/format/topic_format.h"

namespace tk {

struct ProduceOptions {
  enum class Input : std::uint8_t {
    lines,  // a record per delimiter
    json,   // NDJSON as `consume -J` prints it
    raw,    // each file, or the whole of stdin, as one record
    dump,   // what `dump-log --json --print-data-log` prints, into a new, empty partition
  };
  enum class Partitioner : std::uint8_t { murmur2, crc32, fnv1a, round_robin, sticky };
  enum class Report : std::uint8_t { partition, batch };
  struct Header {
    std::string name;
    std::string value;
  };

  /// As given: a topic, with Input::dump a partition TOPIC-P.
  std::string topic;
  /// Read in order, "-" is stdin; empty: stdin.
  std::vector<std::string> files;

  /// All records to this partition, from 0.
  std::optional<std::int32_t> partition;
  /// At most one of `key` and `key_separator` (not empty) is there; `key_separator` only with Input::lines.
  std::optional<std::string> key;
  std::optional<std::string> key_separator;
  /// A line without the separator has a null key instead of being an error.
  bool allow_no_key = false;
  std::vector<Header> headers;
  /// A value or key equal to this is null.
  std::optional<std::string> null_marker;

  Input input = Input::lines;
  /// Ignore the `partition` members of Input::json.
  bool repartition = false;
  /// What ends a record of Input::lines; not empty.
  std::string delimiter = "\n";
  /// Embed each line as a JSON value (json format).
  bool json_values = false;

  /// Nothing: the topic's compression.type.
  std::optional<Compression> compression;
  /// A batch closes at this many bytes (at least 1) or after this time (ms), whichever comes first.
  std::int64_t batch_size = 16384;
  std::int64_t linger_ms = 5;
  /// For records with a key; null keys are sticky per batch with any but round_robin.
  Partitioner partitioner = Partitioner::murmur2;
  /// Create time of every record in ms since the epoch; nothing: now.
  std::optional<std::int64_t> timestamp;
  SyncMode sync = SyncMode::end;
  /// In a cluster: who must have the records before they count, and how much cluster time that may take.
  enum class Acks : std::uint8_t { none, leader, all };
  std::optional<Acks> acks;
  std::int64_t timeout_ms = 30000;
  /// At most one of the two, and none with Input::dump: the named producer, or the open transaction that the
  /// records belong to.
  std::optional<std::string> producer;
  std::optional<TransactionName> txn;
  Report report = Report::partition;

  /// How the topic is made when it is missing; `create` false forbids it.
  bool create = true;
  std::optional<std::int32_t> create_partitions;
  std::optional<TopicFormat> create_format;
  std::vector<ConfigSetting> create_configs;
};

}  // namespace tk
