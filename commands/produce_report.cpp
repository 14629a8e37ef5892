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

void report_appended(Context& context, std::string_view topic, const AppendedBatch& appended,
                     std::int64_t duplicates) {
  if (context.quiet) return;
  const bool nothing = appended.count == 0;
  if (!context.json) {
    std::string line = fmt::format("{}-{} ", topic, appended.partition);
    line += nothing ? std::string("- ")
                    : fmt::format("{}..{} ", appended.base_offset.value(), appended.last_offset.value());
    line += std::to_string(appended.count);
    if (duplicates > 0) line += fmt::format(" ({} duplicates)", duplicates);
    context.out.write(line + "\n");
    return;
  }
  const auto offset = [&](Offset value) { return nothing ? std::nullopt : std::optional(value.value()); };
  TextBuffer line;
  JsonLine(line)
      .text("topic", topic)
      .number("partition", appended.partition)
      .number_or_null("base_offset", offset(appended.base_offset))
      .number_or_null("last_offset", offset(appended.last_offset))
      .number("count", appended.count)
      .number("duplicates", duplicates)
      .number("bytes", appended.bytes)
      .end();
  context.out.write({line.data(), line.size()});
}

}  // namespace tk
