// Options of `tk dump-log` (cli.md §5, kafka-on-disk.md §15.1).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "commands/common_options.h"
#include "commands/dump_decoder.h"
#include "commands/dump_kind.h"

namespace tk {

struct DumpLogOptions {
  Targets targets;
  /// Values of --files, split at the commas, blanks kept: paths only. They come after the targets; with
  /// neither, the whole data directory is dumped.
  std::vector<std::string> files;

  /// What the files are, whatever their names (--as).
  std::optional<DumpKind> kind;

  /// Of the internal topic's records; implies printing data. Without one it is chosen by the topic's name,
  /// for JSON, and as text for what was named as a topic or directory.
  DumpDecoder decoder = DumpDecoder::none;
  /// A decoder that kafka-dump-log has and tk has not, by its option.
  std::string foreign_decoder;

  /// Keys and values; implies deep iteration (already set in `deep_iteration`).
  bool print_data_log = false;
  bool deep_iteration = false;
  bool skip_record_metadata = false;
  bool verify_index_only = false;
  bool index_sanity_check = false;
  /// Bytes, at least 1: the slice read when an index entry is checked, and how much of a log is read.
  std::int64_t max_message_size = 5242880;
  std::int64_t max_bytes = std::numeric_limits<std::int32_t>::max();

  /// --offsets A:B keeps A <= offset < B; nothing: no limit on that side.
  std::optional<std::int64_t> from_offset;
  std::optional<std::int64_t> to_offset;
};

}  // namespace tk
