#include "commands/produce_report.h"

#include <fmt/format.h>

#include "commands/context.h"
#include "core/base/json_writer.h"
#include "core/io/output.h"

namespace tk {

SyncPolicy sync_policy(SyncMode mode) {
  if (mode == SyncMode::batch) return SyncPolicy::by_append;
  return mode == SyncMode::none ? SyncPolicy::never : SyncPolicy::at_end;
}

void report_appended(Context& context, std::string_view topic, const AppendedBatch& appended) {
  if (context.quiet) return;
  if (!context.json) {
    context.out.write(fmt::format("{}-{} {}..{} {}\n", topic, appended.partition,
                                  appended.base_offset.value(), appended.last_offset.value(),
                                  appended.count));
    return;
  }
  TextBuffer line;
  JsonLine(line)
      .text("topic", topic)
      .number("partition", appended.partition)
      .number("base_offset", appended.base_offset.value())
      .number("last_offset", appended.last_offset.value())
      .number("count", appended.count)
      .number("duplicates", 0)
      .number("bytes", appended.bytes)
      .end();
  context.out.write({line.data(), line.size()});
}

}  // namespace tk
