// Dumps one .log file: scanned chunk by chunk, formatted by several threads, written in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "commands/context.h"
#include "commands/dump_style.h"
#include "core/base/ids.h"

namespace tk {

class DumpReports;  // commands/dump_reports.h

/// Where a segment stands among those of its directory.
struct SegmentPlace {
  /// As given, and as lines and objects name it.
  std::string path;
  /// Offset that its name says; nothing if the name is not a segment's.
  std::optional<Offset> base;
  /// Base of the next segment. Without one a torn tail is what a crash or a running writer leaves.
  std::optional<Offset> below;
  /// What is opened, if that is not the path.
  std::string opens = {};
  /// The second line, if it is not the log's starting offset.
  std::string headline = {};
};

/// Dumps the file. Damage is reported through `context.diagnostics` and shown as far as it has a shape, then
/// dumping goes on at the next good unit. Reads `max_bytes` of the file, nothing: all of it. Throws if the
/// file cannot be read, or the output not written.
void dump_segment(const SegmentPlace& place, const DumpStyle& style, std::optional<std::uint64_t> max_bytes,
                  DumpReports& reports, Context& context);

}  // namespace tk
