// tk groups reset-offsets
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "commands/broker_rows.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/groups_options.h"
#include "commands/offsets_csv.h"
#include "commands/open_store.h"
#include "commands/table.h"
#include "core/base/json_writer.h"
#include "core/io/line_input.h"
#include "core/io/output.h"
#include "core/store/broker_group_write.h"

namespace tk {
namespace {

constexpr std::uint64_t kLargestPlan = 64U << 20;

std::string read_input(const std::string& path) {
  Descriptor file;
  if (path != "-") file = open_input(path);
  ChunkReader reader(path == "-" ? STDIN_FILENO : file.get(), path == "-" ? "standard input" : path, {});
  InputChunk chunk;
  std::string text;
  for (;;) {
    const Got got = reader.next(chunk);
    if (got == Got::end) return text;
    if (got == Got::pause) continue;
    text += as_text(chunk.bytes());
    if (text.size() > kLargestPlan) throw Error(ErrorCode::invalid_request, "the plan is too long").at(path);
  }
}

class Reset {
 public:
  /// For --execute the store was opened for writing.
  Reset(const GroupsResetOptions& options, Store& store, Context& context)
      : options_(options), scenario_(options.scenario), store_(store), logs_(store), context_(context) {}

  void run();

 private:
  void read_plan();
  [[nodiscard]] PartitionList scope(const GroupState& group) const;
  void plan(const GroupState& group);
  void run_on_broker(const BrokerGroup& group);
  void say_if_preview() const;
  void print() const;

  const GroupsResetOptions& options_;
  ResetScenario scenario_;
  Store& store_;
  GroupLogs logs_;
  Context& context_;
  std::vector<ResetRow> rows_;
};

void Reset::read_plan() {
  if (scenario_.kind != ResetScenario::Kind::from_file) return;
  const std::string name = options_.file == "-" ? "standard input" : options_.file;
  OffsetsFile file = parse_offsets_csv(read_input(options_.file), options_.group, name);
  for (const std::string& other : file.other_groups) {
    context_.diagnostics.note(fmt::format("the file's lines for group '{}' are left out", printable(other)));
  }
  if (file.offsets.empty()) {
    context_.diagnostics.warning(
        fmt::format("the file has no lines for group '{}': nothing changes", printable(options_.group)));
  }
  scenario_.offsets = std::move(file.offsets);
}

PartitionList Reset::scope(const GroupState& group) const {
  PartitionList partitions;
  for (const std::string& topic : options_.topics)
    partitions = united(partitions, resolve_scope(store_, topic));
  if (options_.all_topics) {
    PartitionList committed;
    for (const auto& [partition, offset] : group.offsets) {
      if (logs_.find(partition) == nullptr) {
        context_.diagnostics.note(partition_label(partition) + " is gone: left out");
        continue;
      }
      committed.push_back(partition);
    }
    partitions = united(partitions, committed);
  }
  if (scenario_.kind != ResetScenario::Kind::from_file) return partitions;
  PartitionList in_file;
  for (const auto& [partition, offset] : scenario_.offsets) in_file.push_back(partition);
  return options_.topics.empty() ? in_file : common(in_file, partitions);
}

void Reset::plan(const GroupState& group) {
  rows_ = plan_reset(group, logs_, scenario_, scope(group), context_.clock.now_ms());
}

void Reset::print() const {
  Table table({{"GROUP"}, {"TOPIC"}, {"PARTITION", true}, {"FROM", true}, {"TO", true}, {"NOTE"}});
  for (const ResetRow& row : rows_) {
    if (!row.note.empty()) context_.diagnostics.warning(partition_label(row.partition) + ": " + row.note);
    if (!context_.json) {
      table.add({options_.group, row.partition.topic, std::to_string(row.partition.partition.value()),
                 number_text(row.from), std::to_string(row.to), row.clamped ? "clamped" : row.note});
      continue;
    }
    TextBuffer text;
    JsonLine(text)
        .text("group", options_.group)
        .text("topic", row.partition.topic)
        .number("partition", row.partition.partition.value())
        .number_or_null("from", row.from)
        .number("to", row.to)
        .boolean("clamped", row.clamped)
        .text_or_null("note", text_if(row.note))
        .end();
    context_.out.write({text.data(), text.size()});
  }
  context_.out.write(table.text());
}

void Reset::say_if_preview() const {
  if (!options_.execute && !options_.dry_run)
    context_.diagnostics.warning("nothing was changed: --execute does it");
}

void Reset::run_on_broker(const BrokerGroup& group) {
  require_writable(store_, group);
  plan(group.state);
  if (options_.execute) {
    std::vector<std::pair<TopicPartition, std::int64_t>> offsets;
    for (const ResetRow& row : rows_) offsets.emplace_back(row.partition, row.to);
    BrokerGroupWriter(store_, group, context_.clock.now_ms(), [this](const std::string& line) {
      context_.diagnostics.warning(line);
    }).commit(offsets);
  }
  print();
  say_if_preview();
}

void Reset::run() {
  read_plan();
  if (scenario_.kind == ResetScenario::Kind::to_datetime) {
    context_.diagnostics.note("reset to " + format_time(scenario_.value));
  }
  GroupStore groups = open_groups(context_, options_.sync);
  if (const auto of_broker = broker_group(options_.group, store_, groups, context_))
    return run_on_broker(*of_broker);
  if (!options_.execute) {
    const auto found = groups.at_this_moment(groups.read(options_.group), logs_);
    if (!found && options_.all_topics) throw groups.unknown_group(options_.group);
    const GroupState group = found.value_or(GroupState{});
    require_no_members(group, "a reset");
    plan(group);
    print();
    return say_if_preview();
  }
  const auto outcome = groups.change(options_.group, logs_, [&](GroupTurn& turn) {
    if (!turn.exists && options_.all_topics) throw groups.unknown_group(options_.group);
    require_no_members(turn.group, "a reset");
    plan(turn.group);
    std::vector<std::pair<TopicPartition, std::int64_t>> offsets;
    for (const ResetRow& row : rows_) offsets.emplace_back(row.partition, row.to);
    set_offsets(turn, offsets);
    // A group of which nothing would be stored does not come to be.
    if (!turn.exists && offsets.empty()) turn.remove_group = true;
  });
  report_outcome(outcome, options_.group, context_);
  print();
}

}  // namespace

int run_groups_reset_offsets(const GroupsResetOptions& options, Context& context) {
  if (options.execute) {
    Store store = open_store_for_groups(context);
    Reset(options, store, context).run();
  } else {
    Store store = open_store(context);
    Reset(options, store, context).run();
  }
  return context.diagnostics.exit_code();
}

}  // namespace tk
