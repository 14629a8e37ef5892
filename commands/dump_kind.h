// Which of Kafka's files a file is, by its name and, where that does not tell, by what it holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/io/file_system.h"

namespace tk {

enum class DumpKind : std::uint8_t {
  unknown,
  log,
  checkpoint,  // a KRaft snapshot: batches, as in a log
  index,
  time_index,
  txn_index,
  snapshot,            // of producers
  offset_checkpoint,   // topic partition offset
  epoch_checkpoint,    // epoch offset
  partition_metadata,  // version and topic id
  properties,          // meta.properties
  json_state,          // quorum-state, .kafka_cleanshutdown
};

/// The names that --as takes, in the order of the kinds; "" for unknown.
std::string_view dump_kind_name(DumpKind kind);

/// Kinds whose content is the units of a log.
constexpr bool holds_units(DumpKind kind) {
  return kind == DumpKind::log || kind == DumpKind::checkpoint;
}
/// Kinds that kafka-dump-log knows by their name; of any other file it says "Ignoring unknown file".
constexpr bool tool_knows(DumpKind kind) {
  return kind != DumpKind::unknown && kind <= DumpKind::snapshot;
}

struct DumpFile {
  DumpKind kind = DumpKind::unknown;
  /// False if the tool would not take the file by this name (a copy under another name, a leftover).
  bool by_name = false;
};

/// Looks at the name alone; a `.swap`, `.cleaned` or `.deleted` behind it is passed over.
DumpFile dump_kind_of_name(std::string_view name);
/// Looks at the first bytes of the file at `path`. Throws what reading throws.
DumpKind dump_kind_of_content(FileSystem& fs, const std::string& path);

}  // namespace tk
