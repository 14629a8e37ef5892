// tk get-offsets
#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/upkeep_common.h"
#include "commands/upkeep_options.h"
#include "core/base/json_writer.h"
#include "core/io/output.h"
#include "core/log/offset_search.h"

namespace tk {
namespace {

class Asker {
 public:
  Asker(const GetOffsetsOptions& options, const Store& store, Context& context)
      : options_(options), store_(store), context_(context) {}

  void ask(const NamedPartition& named) {
    const LogView view = store_.view(*named.partition);
    report_damage_at_end(view, context_);
    const Answer answer = answer_for(*named.partition, view);
    if (context_.json) {
      TextBuffer text;
      JsonLine(text)
          .text("topic", named.topic->name)
          .number("partition", named.partition->partition.value())
          .number_or_null("offset", answer.offset)
          .number_or_null("ts", answer.timestamp)
          .end();
      context_.out.write({text.data(), text.size()});
      return;
    }
    context_.out.write(fmt::format("{}:{}:{}\n", named.topic->name, named.partition->partition.value(),
                                   answer.offset ? std::to_string(*answer.offset) : ""));
  }

 private:
  struct Answer {
    std::optional<std::int64_t> offset, timestamp;
  };

  [[nodiscard]] Offset readable_end(const PartitionInfo& partition, const LogView& view) const {
    if (options_.isolation == Isolation::read_uncommitted) return view.log_end;
    return store_.transactions(partition, view).last_stable(view.log_end);
  }

  [[nodiscard]] Answer answer_for(const PartitionInfo& partition, const LogView& view) const {
    using Kind = GetOffsetsOptions::Kind;
    if (options_.kind == Kind::earliest) return {view.log_start.value(), {}};
    const Offset end = readable_end(partition, view);
    if (options_.kind == Kind::latest) return {end.value(), {}};
    const auto found = options_.kind == Kind::max_timestamp
                           ? latest_record(context_.fs, view)
                           : record_at_time(context_.fs, view, options_.time);
    if (!found || found->offset >= end) return {};
    return {found->offset.value(), found->timestamp};
  }

  const GetOffsetsOptions& options_;
  const Store& store_;
  Context& context_;
};

}  // namespace

int run_get_offsets(const GetOffsetsOptions& options, Context& context) {
  const Store store = open_store(context);
  Asker asker(options, store, context);
  for_each_partition(named_partitions(store, options.names), context,
                     [&](const NamedPartition& named) { asker.ask(named); });
  return context.diagnostics.exit_code();
}

}  // namespace tk
