// What `tk produce` says of what it has appended (cli.md §3).
#pragma once

#include <cstdint>
#include <string_view>

#include "commands/common_options.h"
#include "core/log/append_pipeline.h"
#include "core/log/partition_log.h"

namespace tk {

struct Context;

/// When the partition log is to force what `--sync` asks for.
SyncPolicy sync_policy(SyncMode mode);

/// A line, or with --json an object, of what went into a partition; nothing for a person who wants it quiet.
void report_appended(Context& context, std::string_view topic, const AppendedBatch& appended,
                     std::int64_t duplicates = 0);

}  // namespace tk
