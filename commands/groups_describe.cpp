// tk groups describe
#include <fmt/format.h>

#include <algorithm>

#include "commands/broker_rows.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/damage_text.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/group_rows.h"
#include "commands/groups_options.h"
#include "commands/open_store.h"
#include "commands/table.h"
#include "core/base/json_writer.h"
#include "core/group/commits.h"
#include "core/group/group_json.h"
#include "core/group/group_name.h"
#include "core/group/lag.h"
#include "core/io/output.h"
#include "core/log/partition_cursor.h"
#include "core/log/record_walk.h"

namespace tk {
namespace {

/// Counts what a reader would see.
struct RecordCount {
  std::int64_t records = 0;
  std::int64_t in_unit = 0;
  Context* context = nullptr;

  void begin_unit(const UnitInfo&) { in_unit = records; }
  void record(const RecordView&) { ++records; }
  void abandon_unit() { records = in_unit; }
  void damage(ReadDamage&& damage) { context->diagnostics.error(damage_error(damage)); }
};

struct OffsetRow {
  TopicPartition partition;
  std::optional<std::int64_t> committed, log_start, log_end, end, lag, lag_records, commit_ts;
  const CommittedOffset* commit = nullptr;
  const GroupMember* member = nullptr;
  std::string member_id;
  std::string note;
};

class OffsetsView {
 public:
  OffsetsView(const GroupState& group, const GroupsDescribeOptions& options, const Store& store,
              Context& context)
      : group_(group),
        options_(options),
        store_(store),
        logs_(store),
        context_(context),
        held_(holders(group)) {}

  void print();

 private:
  [[nodiscard]] PartitionList partitions() const;
  OffsetRow look_at(const TopicPartition& partition);
  void look_at_log(OffsetRow& row, const PartitionInfo& info);
  std::int64_t count_records(const LogView& view, const Transactions& transactions, Offset from,
                             Offset below);
  void print_json(const OffsetRow& row) const;
  void add(Table& table, const OffsetRow& row) const;

  const GroupState& group_;
  const GroupsDescribeOptions& options_;
  const Store& store_;
  GroupLogs logs_;
  Context& context_;
  std::map<TopicPartition, std::string> held_;
};

// What is committed, and what is subscribed.
PartitionList OffsetsView::partitions() const {
  PartitionList subscribed;
  for (const std::string& topic : subscribed_topics(group_)) {
    const TopicInfo* found = store_.find(topic);
    if (found == nullptr) continue;
    for (const PartitionInfo& partition : found->partitions)
      subscribed.push_back({topic, partition.partition});
  }
  PartitionList committed;
  for (const auto& [partition, offset] : group_.offsets) committed.push_back(partition);
  for (const auto& [partition, member] : held_) committed.push_back(partition);
  sort_and_unite(committed);
  return united(subscribed, committed);
}

std::int64_t OffsetsView::count_records(const LogView& view, const Transactions& transactions, Offset from,
                                        Offset below) {
  if (from >= below) return 0;
  ReadScope scope{.from = from, .below = below};
  if (options_.isolation == Isolation::read_committed) scope.committed = &transactions;
  PartitionCursor cursor(context_.fs, view, from);
  CursorChunk chunk;
  RecordDecoder decoder;
  RecordCount count{.context = &context_};
  while (context_.interrupted.load() == 0 && cursor.last_offset() + 1 < below && cursor.next(chunk)) {
    walk_records(chunk, scope, decoder, count);
  }
  return count.records;
}

void OffsetsView::look_at_log(OffsetRow& row, const PartitionInfo& info) {
  const LogView view = store_.view(info);
  Transactions transactions;
  Offset end = view.log_end;
  if (options_.isolation == Isolation::read_committed) {
    transactions = store_.transactions(info, view);
    end = transactions.last_stable(view.log_end);
  }
  row.log_start = view.log_start.value();
  // What a cluster shows ends at the high watermark.
  const auto edges = info.in_cluster ? logs_.edges(row.partition) : std::nullopt;
  row.log_end = edges ? edges->log_end.value() : view.log_end.value();
  row.end = end.value();
  if (!row.committed) return;
  row.lag = lag_of(Offset(*row.committed), view.log_start, end);
  if (*row.committed < *row.log_start) {
    row.note = "the commit is below the log's start";
  } else if (*row.committed > *row.log_end) {
    row.note = "the commit is beyond the log's end";
  }
  if (!options_.lag_records) return;
  row.lag_records = count_records(view, transactions, std::max(Offset(*row.committed), view.log_start), end);
}

OffsetRow OffsetsView::look_at(const TopicPartition& partition) {
  OffsetRow row;
  row.partition = partition;
  if (const auto holder = held_.find(partition); holder != held_.end()) {
    row.member_id = holder->second;
    row.member = &group_.members.at(holder->second);
  }
  const auto stored = group_.offsets.find(partition);
  row.commit = committed_offset(group_, logs_, partition);
  if (row.commit != nullptr) {
    row.committed = row.commit->offset;
    row.commit_ts = row.commit->commit_ts_ms;
  } else if (stored != group_.offsets.end()) {
    row.note = "the topic was made anew since the commit, which does not apply";
  }
  const PartitionInfo* info = logs_.find(partition);
  if (info == nullptr) {
    row.note = store_.find(partition.topic) == nullptr ? "the topic is gone" : "the partition is gone";
    return row;
  }
  try {
    look_at_log(row, *info);
  } catch (const Error& error) {
    context_.diagnostics.error(error);
    const bool leaderless = error.code() == ErrorCode::leader_not_available;
    row.note = leaderless ? "no live leader" : "the log cannot be read";
  }
  return row;
}

void OffsetsView::print_json(const OffsetRow& row) const {
  const CommittedOffset* commit = row.commit;
  TextBuffer text;
  JsonLine line(text);
  line.text("group", group_.group).text("topic", row.partition.topic);
  line.number("partition", row.partition.partition.value());
  line.number_or_null("committed", row.committed);
  line.number_or_null("log_start_offset", row.log_start).number_or_null("log_end_offset", row.log_end);
  line.number_or_null("end_offset", row.end).number_or_null("lag", row.lag);
  line.text_or_null("member", text_if(row.member_id));
  line.text_or_null("metadata", commit ? std::optional<std::string_view>(commit->metadata) : std::nullopt);
  line.number_or_null("leader_epoch", commit && commit->leader_epoch >= 0
                                          ? std::optional<std::int64_t>(commit->leader_epoch)
                                          : std::nullopt);
  line.number_or_null("commit_ts", row.commit_ts).text_or_null("note", text_if(row.note));
  if (options_.lag_records) line.number_or_null("lag_records", row.lag_records);
  line.end();
  context_.out.write({text.data(), text.size()});
}

void OffsetsView::add(Table& table, const OffsetRow& row) const {
  const auto text = [](const std::string& name) { return name.empty() ? std::string("-") : name; };
  std::vector<std::string> cells = {group_.group,
                                    row.partition.topic,
                                    std::to_string(row.partition.partition.value()),
                                    number_text(row.committed),
                                    number_text(row.end),
                                    number_text(row.lag),
                                    text(row.member_id),
                                    text(row.member ? row.member->host : ""),
                                    text(row.member ? row.member->client : "")};
  if (options_.lag_records) cells.push_back(number_text(row.lag_records));
  cells.push_back(row.note);
  table.add(cells);
}

void OffsetsView::print() {
  std::vector<Table::Column> columns = {{"GROUP"},
                                        {"TOPIC"},
                                        {"PARTITION", true},
                                        {"CURRENT-OFFSET", true},
                                        {"LOG-END-OFFSET", true},
                                        {"LAG", true},
                                        {"CONSUMER-ID"},
                                        {"HOST"},
                                        {"CLIENT-ID"}};
  if (options_.lag_records) columns.push_back({"LAG-RECORDS", true});
  columns.push_back({"NOTE"});
  Table table(std::move(columns));
  // As Kafka's tool has it: what nobody reads comes last.
  PartitionList order = partitions();
  std::stable_partition(order.begin(), order.end(),
                        [&](const TopicPartition& p) { return held_.contains(p); });
  for (const TopicPartition& partition : order) {
    if (context_.interrupted.load() != 0 || context_.out.closed()) return;
    const OffsetRow row = look_at(partition);
    context_.json ? print_json(row) : add(table, row);
  }
  context_.out.write(table.text());
}

void print_members(const GroupState& group, Context& context) {
  const bool epochs = group.protocol == GroupProtocol::consumer;
  Table table({{"GROUP"},
               {"CONSUMER-ID"},
               {"INSTANCE"},
               {"GENERATION", true},
               {"EPOCH", true},
               {"TOPICS"},
               {"PARTITIONS"},
               {"REVOKING"},
               {"SESSION-UNTIL"},
               {"POLL-UNTIL"}});
  const auto time = [](const std::optional<std::int64_t>& ms) {
    return ms ? format_time(*ms) : std::string("-");
  };
  for (const auto& [id, member] : group.members) {
    if (!context.json) {
      table.add({group.group, id, member.instance.value_or("-"), std::to_string(group.generation),
                 epochs ? std::to_string(member.epoch) : "-", names_text(member.topics),
                 partitions_text(member.assignment), partitions_text(member.revoking),
                 time(member.session_deadline_ms), time(member.poll_deadline_ms)});
      continue;
    }
    TextBuffer text;
    JsonLine line(text);
    member_json(line, group, id, member);
    line.end();
    context.out.write({text.data(), text.size()});
  }
  context.out.write(table.text());
}

std::string cost_json(const RebalanceCost& cost) {
  TextBuffer text;
  JsonLine(text)
      .number("moved", cost.moved)
      .number("forced", cost.forced)
      .number("voluntary", cost.voluntary)
      .number("kept", cost.kept)
      .number("new", cost.added)
      .number("orphaned", cost.orphaned)
      .number("spread", cost.spread)
      .number("stopped", cost.stopped)
      .number_or_null("min_moved", cost.least_moved)
      .end();
  return {text.data(), text.size() - 1};
}

void print_broker_state(const BrokerGroup& group, Context& context) {
  if (!context.json) {
    Table table = state_table();
    table.add(broker_state_cells(group));
    return context.out.write(table.text());
  }
  const bool epochs = group.state.protocol == GroupProtocol::consumer;
  TextBuffer text;
  JsonLine line(text);
  broker_state_json(line, group);
  line.text_or_null("leader", text_if(group.state.leader));
  line.number_or_null("state_since", group.state.state_since_ms > 0
                                         ? std::optional(group.state.state_since_ms)
                                         : std::nullopt);
  line.number_or_null("target_epoch", epochs ? std::optional(group.state.target_epoch) : std::nullopt);
  line.null("last_rebalance").end();
  context.out.write({text.data(), text.size()});
}

void print_state(const GroupState& group, Context& context) {
  const bool epochs = group.protocol == GroupProtocol::consumer;
  if (context.json) {
    TextBuffer text;
    JsonLine line(text);
    state_json(line, group);
    line.text_or_null("leader", text_if(group.leader)).number("state_since", group.state_since_ms);
    line.number_or_null("target_epoch", epochs ? std::optional(group.target_epoch) : std::nullopt);
    line.number("offsets_partition", offsets_partition_of(group.group));
    line.raw("last_rebalance", group.cost ? cost_json(*group.cost) : "null").end();
    context.out.write({text.data(), text.size()});
    return;
  }
  Table table = state_table();
  table.add(state_cells(group));
  std::string text = table.text();
  if (group.cost) {
    const RebalanceCost& cost = *group.cost;
    text += fmt::format(
        "last rebalance: {} moved ({} forced, {} by choice), {} kept, {} new, {} without a reader, {} "
        "paused, "
        "sizes differ by {}\n",
        cost.moved, cost.forced, cost.voluntary, cost.kept, cost.added, cost.orphaned, cost.stopped,
        cost.spread);
  }
  context.out.write(text);
}

}  // namespace

namespace {

int describe(const GroupState& group, const BrokerGroup* of_broker, const GroupsDescribeOptions& options,
             const Store& store, Context& context) {
  using View = GroupsDescribeOptions::View;
  switch (options.view) {
    case View::offsets:
      OffsetsView(group, options, store, context).print();
      break;
    case View::members:
      print_members(group, context);
      break;
    case View::state:
      of_broker != nullptr ? print_broker_state(*of_broker, context) : print_state(group, context);
      break;
  }
  return context.diagnostics.exit_code();
}

}  // namespace

// A group that tk keeps in a broker's directory comes before the broker's own of the same name.
int run_groups_describe(const GroupsDescribeOptions& options, Context& context) {
  const Store store = open_store(context);
  const GroupLogs logs(store);
  const GroupStore groups = open_groups(context);
  if (store.is_broker() && !groups.read(options.group)) {
    const BrokerGroups of_broker = broker_groups(store, context);
    const auto found = of_broker.groups.find(options.group);
    if (found != of_broker.groups.end())
      return describe(found->second.state, &found->second, options, store, context);
    throw unknown_broker_group(options.group, of_broker, store.directory());
  }
  return describe(require_group(groups, options.group, logs), nullptr, options, store, context);
}

}  // namespace tk
