// tk compact
#include <fmt/format.h>

#include <utility>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/progress.h"
#include "commands/upkeep_common.h"
#include "commands/upkeep_options.h"
#include "core/base/json_writer.h"
#include "core/io/output.h"
#include "core/store/upkeep.h"

namespace tk {
namespace {

class Compacter {
 public:
  Compacter(const CompactOptions& options, Store& store, Context& context)
      : options_(options), given_(config_map(options.configs)), store_(store), context_(context) {}

  void run(const NamedPartition& named) {
    const ConfigMap settings = settings_for_run(*named.topic, given_);
    if (!upkeep_config(settings, named.topic->tk_made).compacts) {
      if (options_.names.empty()) return;
      throw Error(
          ErrorCode::invalid_config,
          fmt::format("topic '{}' is not compacted: its cleanup.policy has no 'compact'", named.topic->name))
          .at(named.partition->directory)
          .hint(
              fmt::format("set it with 'tk topics alter {} -c cleanup.policy=compact', or for this run with "
                          "-c cleanup.policy=compact",
                          named.topic->name));
    }
    CompactRun run;
    run.dry_run = options_.dry_run;
    run.force = options_.force;
    run.roll = options_.roll;
    run.map_bytes = static_cast<std::size_t>(options_.map_bytes);
    run.interrupted = [this] { return context_.interrupted.load() != 0; };
    run.note = [this](const std::string& line) { context_.diagnostics.note(line); };
    print(named, compact_showing_progress(named, settings, std::move(run)));
  }

 private:
  using Action = CompactionResult::Action;

  /// A line of progress for each partition: what is done and what there is are of this one.
  CompactionResult compact_showing_progress(const NamedPartition& named, const ConfigMap& settings,
                                            CompactRun run) {
    Progress progress(context_, named.label + ": compacted");
    run.progress = [&](std::uint64_t done, std::uint64_t of) {
      progress.expect(of);
      progress.update(done);
    };
    return compact(store_, *named.topic, *named.partition, settings, context_.clock.now_ms(), run);
  }

  void print(const NamedPartition& named, const CompactionResult& result) {
    if (context_.json) {
      print_json(named, result);
    } else if (!context_.quiet) {
      print_text(named, result);
    }
  }

  void print_json(const NamedPartition& named, const CompactionResult& result) {
    const char* const action = result.action == Action::compacted       ? "compacted"
                               : result.action == Action::would_compact ? "would_compact"
                                                                        : "skipped";
    TextBuffer text;
    JsonLine(text)
        .text("topic", named.topic->name)
        .number("partition", named.partition->partition.value())
        .text("action", action)
        .text_or_null("reason",
                      result.reason.empty() ? std::nullopt : std::optional<std::string_view>(result.reason))
        .number("first_dirty_offset", result.range.first_dirty.value())
        .number("cleaned_to", result.cleaned_to.value())
        .number_or_null("records_before", result.records_before)
        .number_or_null("records_after", result.records_after)
        .number("bytes_before", static_cast<std::int64_t>(result.bytes_before))
        .number("bytes_after", static_cast<std::int64_t>(result.bytes_after))
        .raw("dirty_ratio", fmt::format("{:.4f}", result.range.dirty_ratio()))
        .number("other_bytes", static_cast<std::int64_t>(result.range.other_bytes))
        .text("other_reason", result.range.upper_reason)
        .number("passes", result.passes)
        .end();
    context_.out.write({text.data(), text.size()});
  }

  void print_text(const NamedPartition& named, const CompactionResult& result) {
    std::string line = named.label + ": ";
    if (result.action == Action::skipped) {
      line += "skipped: " + result.reason;
    } else {
      line += fmt::format("{} up to offset {}: records {} -> {}, bytes {} -> {}",
                          options_.dry_run ? "would be compacted" : "compacted", result.cleaned_to.value(),
                          result.records_before.value_or(0), result.records_after.value_or(0),
                          result.bytes_before, result.bytes_after);
      if (result.passes > 1) line += fmt::format(", in {} passes", result.passes);
      if (result.interrupted) line += ", interrupted";
    }
    if (result.range.other_bytes > 0) {
      line += fmt::format("; {} bytes from offset {} on stay: {}", result.range.other_bytes,
                          result.range.upper.value(), result.range.upper_reason);
    }
    context_.out.write(line + "\n");
  }

  const CompactOptions& options_;
  ConfigMap given_;
  Store& store_;
  Context& context_;
};

}  // namespace

int run_compact(const CompactOptions& options, Context& context) {
  static_cast<void>(check_configs(config_map(options.configs)));
  static_cast<void>(Store::open(context.fs, context.directory, {}));
  Store store = options.dry_run ? open_store(context) : open_store_for_writing(context);
  if (store.cluster() != nullptr) {
    throw Error(ErrorCode::invalid_request,
                "a cluster is not compacted: its replicas are to be the same, byte for byte")
        .at(context.directory)
        .hint(
            "'tk retain' deletes old segments of a cluster; a copy of one broker's directory can be "
            "compacted");
  }
  if (!options.dry_run) expire_due_transactions(store, context);
  Compacter compacter(options, store, context);
  for_each_partition(named_partitions(store, options.names), context,
                     [&](const NamedPartition& named) { compacter.run(named); });
  return context.diagnostics.exit_code();
}

}  // namespace tk
