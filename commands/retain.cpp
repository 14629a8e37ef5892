// tk retain
#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/upkeep_common.h"
#include "commands/upkeep_options.h"
#include "core/base/json_writer.h"
#include "core/io/output.h"
#include "core/log/segment_names.h"
#include "core/store/upkeep.h"

namespace tk {
namespace {

void print_json(const NamedPartition& named, const SegmentVerdict& verdict, bool dry_run, Context& context) {
  TextBuffer text;
  JsonLine(text)
      .text("topic", named.topic->name)
      .number("partition", named.partition->partition.value())
      .text("segment", segment_file_name(verdict.segment.base, kLogSuffix))
      .text("action", !verdict.goes ? "kept"
                      : dry_run     ? "would_delete"
                                    : "deleted")
      .text("reason", verdict.reason)
      .number("bytes", static_cast<std::int64_t>(verdict.segment.size))
      .number_or_null("max_ts", verdict.max_timestamp)
      .number("next_offset", verdict.next_offset.value())
      .end();
  context.out.write({text.data(), text.size()});
}

void print_text(const NamedPartition& named, const SegmentVerdict& verdict, bool dry_run, Context& context) {
  context.out.write(fmt::format("{}/{} {} bytes, next offset {}: {}: {}\n", named.label,
                                segment_file_name(verdict.segment.base, kLogSuffix), verdict.segment.size,
                                verdict.next_offset.value(),
                                !verdict.goes ? "kept"
                                : dry_run     ? "would be deleted"
                                              : "deleted",
                                verdict.reason));
}

}  // namespace

int run_retain(const RetainOptions& options, Context& context) {
  const ConfigMap given = check_configs(config_map(options.configs));
  // A directory that is not there has nothing to delete, and is not made for this.
  static_cast<void>(Store::open(context.fs, context.directory, {}));
  Store store = options.dry_run ? open_store(context) : open_store_for_writing(context);
  if (!options.dry_run) expire_due_transactions(store, context);
  for_each_partition(named_partitions(store, options.names), context, [&](const NamedPartition& named) {
    const RetentionPlan plan =
        retain(store, *named.topic, *named.partition, settings_for_run(*named.topic, given),
               context.clock.now_ms(), options.dry_run);
    for (const SegmentVerdict& verdict : plan.segments) {
      if (context.json) {
        print_json(named, verdict, options.dry_run, context);
      } else if (!context.quiet) {
        print_text(named, verdict, options.dry_run, context);
      }
    }
  });
  return context.diagnostics.exit_code();
}

}  // namespace tk
