// Dumps .index and .timeindex files, each entry compared with the log (kafka-on-disk.md §5, §15.2).
#pragma once

#include <string>

#include "commands/context.h"
#include "commands/dump_log_options.h"
#include "commands/dump_style.h"
#include "core/base/ids.h"

namespace tk {

class DumpReports;  // commands/dump_reports.h

/// Dumps an index whose segment begins at `base`. What does not agree with the log goes to `reports`; an
/// entry that cannot be followed, or a failed sanity check, is reported as damage through
/// `context.diagnostics`. Throws if a file is missing (the .log, for a .timeindex the .index, too) or cannot
/// be read.
void dump_offset_index(const std::string& path, Offset base, const DumpLogOptions& options,
                       const DumpStyle& style, DumpReports& reports, Context& context);
void dump_time_index(const std::string& path, Offset base, const DumpLogOptions& options,
                     const DumpStyle& style, DumpReports& reports, Context& context);

}  // namespace tk
