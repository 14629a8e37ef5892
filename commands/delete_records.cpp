// tk delete-records
#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/produce_cluster.h"
#include "commands/upkeep_common.h"
#include "commands/upkeep_options.h"
#include "core/base/json_writer.h"
#include "core/cluster/cluster.h"
#include "core/io/output.h"
#include "core/store/upkeep.h"

namespace tk {
namespace {

NamedPartition one_partition(const Store& store, const std::string& name) {
  const std::vector<NamedPartition> found = named_partitions(store, {name});
  if (found.size() == 1) return found.front();
  throw Error(ErrorCode::invalid_request,
              fmt::format("topic '{}' has {} partitions: name one, as {}-0", name, found.size(), name));
}

/// The leader's log begins later, and with their next fetch the followers' do.
DeletedRecords delete_in_cluster(Store& store, const NamedPartition& named, std::optional<Offset> before,
                                 bool dry_run) {
  const LogView view = store.view(*named.partition);  // throws without a leader
  DeletedRecords deleted;
  deleted.from = view.log_start;
  deleted.to = std::max(before.value_or(view.log_end), view.log_start);
  if (deleted.to > view.log_end) {
    throw Error(ErrorCode::offset_out_of_range,
                fmt::format("{}: records up to {} cannot be deleted, the high watermark is {}", named.label,
                            deleted.to.value(), view.log_end.value()))
        .at(view.files.directory);
  }
  const auto& segments = view.files.segments;
  for (std::size_t i = 0; i + 1 < segments.size() && segments[i + 1].base <= deleted.to; ++i)
    ++deleted.segments_deleted;
  if (dry_run) return deleted;
  store.cluster()
      ->need_leader(fmt::format("{}-{}", named.topic->name, named.partition->partition.value()))
      .log()
      .start_at(deleted.to);
  return deleted;
}

}  // namespace

int run_delete_records(const DeleteRecordsOptions& options, Context& context) {
  static_cast<void>(Store::open(context.fs, context.directory, {}));
  Store store = options.dry_run ? open_store(context) : open_store_for_writing(context);
  for (const DeleteRecordsOptions::Place& place : options.places) {
    for_each_partition({one_partition(store, place.partition)}, context, [&](const NamedPartition& named) {
      const auto before = place.before == -1 ? std::nullopt : std::optional(Offset(place.before));
      const DeletedRecords deleted =
          store.cluster() != nullptr
              ? delete_in_cluster(store, named, before, options.dry_run)
              : delete_records(store, *named.topic, *named.partition, before, options.dry_run);
      if (context.json) {
        TextBuffer text;
        JsonLine(text)
            .text("topic", named.topic->name)
            .number("partition", named.partition->partition.value())
            .number("from", deleted.from.value())
            .number("to", deleted.to.value())
            .number("segments_deleted", deleted.segments_deleted)
            .end();
        context.out.write({text.data(), text.size()});
      } else if (!context.quiet) {
        context.out.write(fmt::format("{}: log start offset {} -> {}, {} segment{} {}\n", named.label,
                                      deleted.from.value(), deleted.to.value(), deleted.segments_deleted,
                                      deleted.segments_deleted == 1 ? "" : "s",
                                      options.dry_run ? "would be deleted" : "deleted"));
      }
    });
  }
  if (!options.dry_run) replicate_news(store);
  return context.diagnostics.exit_code();
}

}  // namespace tk
