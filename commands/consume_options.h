// Options of `tk consume` (cli.md §4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"
#include "core/group/position.h"

namespace tk {

/// Where reading starts in each partition.
struct OffsetSpec {
  enum class Kind : std::uint8_t {
    beginning,
    end,
    at,      // the offset `value`
    last,    // the last `value` records, at least 0
    time,    // the first record at or after `value` (ms)
    stored,  // where the group left off (only with a group)
  };
  Kind kind = Kind::beginning;
  std::int64_t value = 0;
};

/// Where reading ends in each partition; the record named is not read.
struct UntilSpec {
  enum class Kind : std::uint8_t {
    end,     // where the log ended when the command started
    never,   // follow without a limit
    offset,  // before the offset `value`
    time,    // before the first record at or after `value` (ms)
  };
  Kind kind = Kind::end;
  std::int64_t value = 0;
};

/// One part of -f/--output-format, escapes resolved.
struct FormatPart {
  enum class Kind : std::uint8_t {
    literal,       // `text`
    topic,         // %t
    partition,     // %p
    offset,        // %o
    key,           // %k
    key_length,    // %K, -1 for null
    value,         // %s
    value_length,  // %S, -1 for null
    timestamp,     // %T, ms
    headers,       // %h, as name=value,name=value
  };
  Kind kind = Kind::literal;
  std::string text;
};

/// Reading as a member of a consumer group (cli.md §6).
struct GroupReading {
  std::string group;
  /// The member's id. Nothing: the process is a member for as long as it runs.
  std::optional<std::string> member;
  std::optional<std::string> instance;
  /// ms; 0: never.
  std::int64_t session_timeout_ms = 45000;
  std::int64_t max_poll_interval_ms = 300000;
  /// How often the group is heard of at least, ms of real time.
  std::int64_t heartbeat_ms = 3000;
  /// Progress is committed at the end and before partitions are given up ...
  bool commits = true;
  /// ... and after so many records.
  std::optional<std::int64_t> commit_every;
  /// Where a partition begins that has no commit, or one that is not in the log.
  ResetPolicy reset;
};

struct ConsumeOptions {
  enum class Output : std::uint8_t {
    text,    // [key key_separator] value delimiter
    format,  // `format`, nothing added
    json,    // NDJSON
    count,   // the number of records only
  };
  enum class Order : std::uint8_t { partition, time };
  enum class OnDamage : std::uint8_t { skip, stop };

  /// As given, TOPIC or TOPIC-P; at least one.
  std::vector<std::string> topics;
  /// Only these partitions of each topic; empty: all, or the one its name says.
  std::vector<std::int32_t> partitions;

  OffsetSpec offset;
  UntilSpec until;
  /// Stop after so many records in all.
  std::optional<std::int64_t> max_messages;
  bool follow = false;
  /// Ends `follow` after a quiet time, ms.
  std::optional<std::int64_t> idle_timeout_ms;

  Output output = Output::text;
  std::optional<std::string> key_separator;
  /// What ends a record of Output::text; may be empty.
  std::string delimiter = "\n";
  std::vector<FormatPart> format;
  /// Printed for a null key or value of Output::text and Output::format.
  std::string null_marker;

  Isolation isolation = Isolation::read_uncommitted;
  Order order = Order::partition;
  /// Only values that this ECMAScript expression matches somewhere; known to be a valid one.
  std::optional<std::string> grep;
  /// Only records with exactly this key.
  std::optional<std::string> key;
  /// Only the last record of each key in each partition, and no deleted key.
  bool latest_per_key = false;
  OnDamage on_damage = OnDamage::skip;
  std::optional<GroupReading> group;
};

}  // namespace tk
