// Option values that several commands share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tk {

/// When data are forced to disk (--sync). `batch`: before each acknowledgement, `produce` only; `end`: before
/// exit 0; `none`: left to the system.
enum class SyncMode : std::uint8_t { end, batch, none };

/// Which records a reader may see (--isolation).
enum class Isolation : std::uint8_t { read_uncommitted, read_committed };

/// ID or ID@EPOCH: a transaction, and the epoch in which its holder began it.
struct TransactionName {
  std::string id;
  std::optional<std::int16_t> epoch;
};

/// One -c KEY=VALUE as given; whether there is such a config, and what its values are, the catalog knows.
struct ConfigSetting {
  std::string key;
  std::string value;
};

/// What `dump-log`, `verify` and `recover` work on. Both empty: the whole data directory.
struct Targets {
  /// Positional arguments, each a topic, a partition or a path (cli.md §1, "topic or path").
  std::vector<std::string> names;
  /// Values of -t/--topic: topics or partitions of the data directory, never paths.
  std::vector<std::string> topics;
};

}  // namespace tk
