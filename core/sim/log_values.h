// What a replica's files hold, record by record, for expectations and checks: read from the disk, whether its
// broker is up or not.
#pragma once

#include <string>
#include <vector>

#include "core/format/leader_epochs.h"
#include "core/io/file_system.h"
#include "core/log/transactions.h"

namespace tk {

struct LoggedRecord {
  Offset offset;
  LeaderEpoch epoch;
  std::string value;
  ProducerId producer = kNoProducerId;
  std::int32_t sequence = -1;
  std::int16_t producer_epoch = -1;
  /// An end marker; `value` is COMMIT or ABORT.
  bool marker = false;
  /// Data of a transaction that was aborted.
  bool aborted = false;
};

struct LogValues {
  std::vector<LoggedRecord> records;
  Offset start;
  Offset end;
  /// Something could not be read.
  bool damaged = false;
};

/// Records from `from` up to, not including, `to`.
LogValues read_log_values(FileSystem& fs, const std::string& directory, Offset from, Offset to);

}  // namespace tk
