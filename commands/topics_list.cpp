// tk topics list
#include <algorithm>
#include <memory>
#include <variant>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/table.h"
#include "commands/topics_options.h"
#include "core/base/json_writer.h"
#include "core/base/ordered_workers.h"
#include "core/io/output.h"

namespace tk {
namespace {

struct Sums {
  /// Nothing if a partition could not be looked at.
  std::optional<std::int64_t> bytes = 0;
  std::optional<std::int64_t> records = 0;
};

/// Partitions looked at side by side with others, and what came of each: a view or an error.
struct Looks {
  std::size_t first = 0;
  std::vector<std::variant<LogView, Error>> found;
};
/// Few enough that a topic of some dozens keeps two processors busy; a look takes some ten system calls.
constexpr std::size_t kLooksAtOnce = 8;

std::variant<LogView, Error> look_at(const Store& store, const PartitionInfo& partition) {
  try {
    return store.view(partition);
  } catch (const Error& error) {
    return error;
  }
}

Sums sum_up(const Store& store, const TopicInfo& topic, Context& context) {
  Sums sums;
  const std::vector<PartitionInfo>& partitions = topic.partitions;
  std::vector<std::unique_ptr<Looks>> jobs;
  for (unsigned i = 0; i < job_count(); ++i) jobs.push_back(std::make_unique<Looks>());
  std::size_t next = 0;
  const auto take = [&](Looks& job) {
    if (next >= partitions.size()) return false;
    job.first = next;
    next = std::min(next + kLooksAtOnce, partitions.size());
    job.found.clear();
    return true;
  };
  const auto work = [&](Looks& job) {
    for (std::size_t i = job.first; i < std::min(job.first + kLooksAtOnce, partitions.size()); ++i)
      job.found.push_back(look_at(store, partitions[i]));
  };
  const auto give = [&](Looks& job) {
    for (const auto& look : job.found) {
      try {
        if (const Error* error = std::get_if<Error>(&look)) throw Error(*error);
        const LogView& view = std::get<LogView>(look);
        report_damage_at_end(view, context);
        if (!sums.bytes) continue;
        *sums.bytes += static_cast<std::int64_t>(view.bytes());
        *sums.records += view.log_end - view.log_start;
      } catch (const Error& error) {
        context.diagnostics.error(error);
        sums = {std::nullopt, std::nullopt};
      }
    }
    return true;
  };
  run_ordered(jobs, take, work, give, [&](const Looks&) { return next < partitions.size(); });
  return sums;
}

std::string text_or_dash(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

class Lister {
 public:
  Lister(const Store& store, Context& context) : store_(store), context_(context) {}

  void add(const std::vector<TopicInfo>& topics) {
    for (const TopicInfo& topic : topics) {
      if (context_.interrupted.load() != 0 || context_.out.closed()) return;
      const Sums sums = sum_up(store_, topic, context_);
      const auto partitions = static_cast<std::int64_t>(topic.partitions.size());
      if (!context_.json) {
        table_.add({topic.name, std::to_string(partitions), std::string(topic_format_name(topic.format)),
                    text_or_dash(sums.records), text_or_dash(sums.bytes),
                    std::string(partition_state_name(topic.state))});
        continue;
      }
      TextBuffer text;
      JsonLine(text)
          .text("topic", topic.name)
          .number("partitions", partitions)
          .text("format", topic_format_name(topic.format))
          .number_or_null("bytes", sums.bytes)
          .number_or_null("records", sums.records)
          .text("state", partition_state_name(topic.state))
          .end();
      context_.out.write({text.data(), text.size()});
    }
  }

  void finish() { context_.out.write(table_.text()); }

 private:
  const Store& store_;
  Context& context_;
  Table table_{{{"TOPIC"}, {"PARTITIONS", true}, {"FORMAT"}, {"RECORDS", true}, {"BYTES", true}, {"STATE"}}};
};

}  // namespace

int run_topics_list(const TopicsListOptions&, Context& context) {
  const Store store = open_store(context);
  Lister lister(store, context);
  lister.add(store.topics());
  lister.add(store.set_aside());
  lister.finish();
  return context.diagnostics.exit_code();
}

}  // namespace tk
