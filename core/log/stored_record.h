// A single record of a log, by its offset or by its producer's sequence, in memory of its own.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/log/log_view.h"

namespace tk {

struct StoredRecord {
  Offset offset;
  std::optional<std::string> key;
  std::optional<std::string> value;
  bool value_is_json = false;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};

/// The record at `offset`; nothing if it is not there (any more) or cannot be read.
std::optional<StoredRecord> record_at(FileSystem& fs, const LogView& view, Offset offset);

/// The last record that the producer wrote with this sequence in this epoch; nothing if it is not there (any
/// more). Reads the whole log.
std::optional<StoredRecord> record_of_sequence(FileSystem& fs, const LogView& view, ProducerId producer,
                                               std::int16_t epoch, std::int32_t sequence);

}  // namespace tk
