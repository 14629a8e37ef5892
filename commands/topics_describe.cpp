// tk topics describe
#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/table.h"
#include "commands/topics_options.h"
#include "core/base/json_writer.h"
#include "core/base/text.h"
#include "core/cluster/cluster.h"
#include "core/io/output.h"
#include "core/store/log_edges.h"

namespace tk {
namespace {

/// Nothing: could not be found out.
struct PartitionReport {
  std::optional<std::int64_t> segments, bytes, log_start, log_end, high_watermark, last_stable, first_ts,
      last_ts;
};

/// [1,2], or with other brackets.
std::string id_list(const BrokerIds& ids, std::string_view open, std::string_view close) {
  std::string text(open);
  for (const BrokerId id : ids) text += fmt::format("{}{}", text.size() > open.size() ? "," : "", id);
  return text + std::string(close);
}

PartitionReport look_at(const Store& store, const PartitionInfo& partition, Context& context) {
  PartitionReport report;
  try {
    const LogView view = store.view(partition);
    report.segments = static_cast<std::int64_t>(view.files.segments.size());
    report.bytes = static_cast<std::int64_t>(view.bytes());
    report.log_start = view.log_start.value();
    report.log_end = report.high_watermark = view.log_end.value();
    // What is not committed yet lies behind the view of a cluster's readers.
    if (partition.in_cluster && !view.files.segments.empty()) {
      const LogView whole = open_log_view(context.fs, partition.directory, partition.cluster_log_start);
      report.log_end = std::max(view.log_end, whole.log_end).value();
    }
    report_damage_at_end(view, context);
    report.first_ts = first_timestamp(context.fs, view);
    report.last_ts = last_timestamp(context.fs, view);
    report.last_stable = store.transactions(partition, view).last_stable(view.log_end).value();
  } catch (const Error& error) {
    context.diagnostics.error(error);
  }
  return report;
}

class Describer {
 public:
  Describer(const Store& store, bool configs, Context& context)
      : store_(store), configs_(configs), context_(context) {}

  void describe_all() {
    for (const TopicInfo& topic : store_.topics()) describe(topic, {});
    for (const TopicInfo& topic : store_.set_aside()) describe(topic, {});
  }

  /// The topic or partition of that name, and what is set aside under it.
  void describe_named(const std::string& name) {
    bool aside = false;
    for (const TopicInfo& topic : store_.set_aside()) aside |= topic.name == name;
    if (!aside || store_.find(name) != nullptr) {
      const Store::Selection selection = store_.resolve(name);
      describe(*selection.topic, selection.partition);
    }
    for (const TopicInfo& topic : store_.set_aside()) {
      if (topic.name == name) describe(topic, {});
    }
  }

 private:
  void describe(const TopicInfo& topic, std::optional<PartitionId> only) {
    if (context_.interrupted.load() != 0 || context_.out.closed()) return;
    if (configs_) {
      if (topic.state == PartitionState::live) print_configs(topic);
      return;
    }
    if (!context_.json) print_heading(topic);
    Table table = store_.cluster() != nullptr ? Table({{"PARTITION", true},
                                                       {"LEADER", true},
                                                       {"EPOCH", true},
                                                       {"REPLICAS"},
                                                       {"ISR"},
                                                       {"ELR"},
                                                       {"BYTES", true},
                                                       {"START", true},
                                                       {"HIGH WATERMARK", true},
                                                       {"END", true},
                                                       {"PATH"}},
                                                      2)
                                              : Table({{"PARTITION", true},
                                                       {"SEGMENTS", true},
                                                       {"BYTES", true},
                                                       {"START", true},
                                                       {"END", true},
                                                       {"STABLE", true},
                                                       {"FIRST"},
                                                       {"LAST"},
                                                       {"PATH"}},
                                                      2);
    for (const PartitionInfo& partition : topic.partitions) {
      if (only && partition.partition != *only) continue;
      if (context_.interrupted.load() != 0 || context_.out.closed()) break;
      const PartitionReport report = look_at(store_, partition, context_);
      if (context_.json) {
        print_json(topic, partition, report);
      } else {
        add_row(table, topic, partition, report);
      }
    }
    context_.out.write(table.text());
  }

  void print_heading(const TopicInfo& topic) {
    std::string line = fmt::format("{}: {}, {} partition{}", printable(topic.name, std::string::npos),
                                   topic_format_name(topic.format), topic.partitions.size(),
                                   topic.partitions.size() == 1 ? "" : "s");
    if (topic.id) line += ", id " + topic.id->text();
    if (topic.state != PartitionState::live)
      line += fmt::format(", state {}", partition_state_name(topic.state));
    context_.out.write(line + "\n");
  }

  void print_json(const TopicInfo& topic, const PartitionInfo& partition, const PartitionReport& report) {
    const auto id = topic.id ? std::optional(topic.id->text()) : std::nullopt;
    TextBuffer text;
    JsonLine line(text);
    line.text("topic", topic.name)
        .number("partition", partition.partition.value())
        .text("format", topic_format_name(topic.format))
        .number_or_null("segments", report.segments)
        .number_or_null("bytes", report.bytes)
        .number_or_null("log_start_offset", report.log_start)
        .number_or_null("log_end_offset", report.log_end)
        .number_or_null("high_watermark", report.high_watermark)
        .number_or_null("last_stable_offset", report.last_stable)
        .number_or_null("first_ts", report.first_ts)
        .number_or_null("last_ts", report.last_ts)
        .text_or_null("topic_id", id)
        .text("state", partition_state_name(partition.state))
        .text("path", partition.directory);
    if (const PartitionRegistration* state = registration(topic, partition)) {
      line.number_or_null("leader", state->leader == kNoBroker ? std::nullopt
                                                               : std::optional<std::int64_t>(state->leader))
          .number("leader_epoch", state->leader_epoch)
          .raw("replicas", id_list(state->replicas, "[", "]"))
          .raw("isr", id_list(state->isr, "[", "]"))
          .raw("elr", id_list(state->elr, "[", "]"));
    }
    line.end();
    context_.out.write({text.data(), text.size()});
  }

  /// What a cluster's controller says of the partition; null elsewhere.
  [[nodiscard]] const PartitionRegistration* registration(const TopicInfo& topic,
                                                          const PartitionInfo& partition) const {
    if (store_.cluster() == nullptr) return nullptr;
    return store_.cluster()->image().partition(topic.name, partition.partition.value());
  }

  void add_row(Table& table, const TopicInfo& topic, const PartitionInfo& partition,
               const PartitionReport& report) const {
    const auto number = [](const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "-"; };
    const auto time = [](const std::optional<std::int64_t>& ms) { return ms ? format_time(*ms) : "-"; };
    if (const PartitionRegistration* state = registration(topic, partition)) {
      const auto ids = [](const BrokerIds& list) { return list.empty() ? "-" : id_list(list, "", ""); };
      table.add({std::to_string(partition.partition.value()),
                 state->leader == kNoBroker ? "none" : std::to_string(state->leader),
                 std::to_string(state->leader_epoch), ids(state->replicas), ids(state->isr), ids(state->elr),
                 number(report.bytes), number(report.log_start), number(report.high_watermark),
                 number(report.log_end), partition.directory});
      return;
    }
    table.add({std::to_string(partition.partition.value()), number(report.segments), number(report.bytes),
               number(report.log_start), number(report.log_end), number(report.last_stable),
               time(report.first_ts), time(report.last_ts), partition.directory});
  }

  void print_configs(const TopicInfo& topic) {
    TextBuffer json;
    std::string text;
    for (const auto& [key, value] : topic.configs) {
      const auto usual = topic.tk_made ? config_default_of_tk(key) : config_default(key);
      if (usual == std::string_view(value)) continue;
      if (!json.empty()) json.push_back(',');
      append_json_string(json, key);
      json.push_back(':');
      append_json_string(json, value);
      text += fmt::format("{} {}={}", printable(topic.name, std::string::npos), key, value);
      text += usual ? fmt::format(" (default {})\n", *usual) : "\n";
    }
    if (!context_.json) return context_.out.write(text);
    TextBuffer line;
    JsonLine(line)
        .text("topic", topic.name)
        .raw("configs", "{" + std::string(json.begin(), json.end()) + "}")
        .end();
    context_.out.write({line.data(), line.size()});
  }

  const Store& store_;
  bool configs_;
  Context& context_;
};

}  // namespace

int run_topics_describe(const TopicsDescribeOptions& options, Context& context) {
  const Store store = open_store(context);
  Describer describer(store, options.configs, context);
  if (options.names.empty()) describer.describe_all();
  for (const std::string& name : options.names) {
    try {
      describer.describe_named(name);
    } catch (const Error& error) {
      context.diagnostics.error(error);
    }
  }
  return context.diagnostics.exit_code();
}

}  // namespace tk
