// tk txn list, describe
#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/open_store.h"
#include "commands/table.h"
#include "commands/txn_options.h"
#include "core/base/json_writer.h"
#include "core/base/text.h"
#include "core/io/output.h"
#include "core/store/store_transactions.h"

namespace tk {
namespace {

/// What is over its time is not shown as open: it is aborted first, but in a broker's directory.
void expire_first(Context& context) {
  try {
    if (!has_due_transactions(context.fs, context.directory, context.clock.now_ms())) return;
    Store store = open_store_for_writing(context);
    if (store.is_broker()) return;
    expire_due_transactions(store, context);
  } catch (const Error& error) {
    context.diagnostics.warning(
        fmt::format("transactions that are due are not completed: {}", error.message()));
  }
}

void json_row(const std::string& id, const TransactionEntry& entry, Context& context) {
  const auto started = entry.started_ms < 0 ? std::nullopt : std::optional(entry.started_ms);
  std::optional<std::string_view> ended;
  if (entry.committed) ended = *entry.committed ? "commit" : "abort";
  TextBuffer text;
  JsonLine(text)
      .text("id", id)
      .number("producer_id", entry.id.value())
      .number("epoch", entry.epoch)
      .text("state", transaction_state_name(entry.state))
      .number_or_null("started", started)
      .number("timeout_ms", entry.timeout_ms)
      .raw("partitions", partitions_array(entry.partitions))
      .raw("groups", names_array(entry.groups))
      .text_or_null("ended", ended)
      .end();
  context.out.write({text.data(), text.size()});
}

class OpenList {
 public:
  explicit OpenList(Context& context) : context_(context) {}

  void add(const PartitionInfo& partition, const OpenTransaction& open, const std::string* id) {
    std::optional<std::int64_t> first, age;
    if (open.first_timestamp >= 0) {
      first = open.first_timestamp;
      age = context_.clock.now_ms() - open.first_timestamp;
    }
    if (!context_.json) {
      table_.add({partition_directory_name(partition.topic, partition.partition),
                  std::to_string(open.producer.value()), std::to_string(open.epoch),
                  id == nullptr ? "-" : printable(*id), std::to_string(open.first.value()), number_text(age),
                  std::to_string(open.batches)});
      return;
    }
    TextBuffer text;
    JsonLine(text)
        .text("topic", partition.topic)
        .number("partition", partition.partition.value())
        .number("producer_id", open.producer.value())
        .number("epoch", open.epoch)
        .number("first_offset", open.first.value())
        .number_or_null("first_ts", first)
        .number_or_null("age_ms", age)
        .number("batches", open.batches)
        .text_or_null("id", id == nullptr ? std::nullopt : std::optional<std::string_view>(*id))
        .end();
    context_.out.write({text.data(), text.size()});
  }
  [[nodiscard]] std::string text() const { return table_.text(); }

 private:
  Context& context_;
  Table table_{{{"OPEN-IN"},
                {"PRODUCER-ID", true},
                {"EPOCH", true},
                {"ID"},
                {"FIRST-OFFSET", true},
                {"AGE-MS", true},
                {"BATCHES", true}}};
};

/// Calls `take(partition, open)` for every transaction that is open in some partition.
template <class Take>
void each_open(const Store& store, Context& context, Take take) {
  for (const TopicInfo& topic : store.topics()) {
    for (const PartitionInfo& partition : topic.partitions) {
      if (context.interrupted.load() != 0 || context.out.closed()) return;
      try {
        const LogView view = store.view(partition);
        const Transactions transactions = store.transactions(partition, view);
        for (const OpenTransaction& open : transactions.open()) take(partition, open);
      } catch (const Error& error) {
        context.diagnostics.error(error);
      }
    }
  }
}

const std::string* name_of(const ProducersFile& file, ProducerId producer) {
  for (const auto& [id, entry] : file.transactions) {
    if (entry.id == producer) return &id;
  }
  return nullptr;
}

std::vector<std::string> cells(const std::string& id, const TransactionEntry& entry) {
  return {printable(id),
          std::to_string(entry.id.value()),
          std::to_string(entry.epoch),
          std::string(transaction_state_name(entry.state)),
          entry.started_ms < 0 ? "-" : std::to_string(entry.started_ms),
          std::to_string(entry.timeout_ms),
          partitions_text(entry.partitions),
          names_text(entry.groups)};
}

Table transactions_table() {
  return Table({{"ID"},
                {"PRODUCER-ID", true},
                {"EPOCH", true},
                {"STATE"},
                {"STARTED", true},
                {"TIMEOUT-MS", true},
                {"PARTITIONS"},
                {"GROUPS"}});
}

}  // namespace

int run_txn_list(const TxnListOptions&, Context& context) {
  expire_first(context);
  const Store store = open_store(context);
  ProducersFile file;
  try {
    file = read_producers_file(context.fs, store.directory()).value_or(ProducersFile{});
  } catch (const Error& error) {
    context.diagnostics.error(error);  // what is open is in the logs all the same
  }
  Table table = transactions_table();
  for (const auto& [id, entry] : file.transactions) {
    if (context.json) {
      json_row(id, entry, context);
    } else {
      table.add(cells(id, entry));
    }
  }
  OpenList open_list(context);
  each_open(store, context, [&](const PartitionInfo& partition, const OpenTransaction& open) {
    open_list.add(partition, open, name_of(file, open.producer));
  });
  const std::string open_text = open_list.text();
  context.out.write(table.text());
  if (!table.text().empty() && !open_text.empty()) context.out.write("\n");
  context.out.write(open_text);
  return context.diagnostics.exit_code();
}

int run_txn_describe(const TxnDescribeOptions& options, Context& context) {
  expire_first(context);
  const Store store = open_store(context);
  const ProducersFile file = read_producers_file(context.fs, store.directory()).value_or(ProducersFile{});
  const auto at = file.transactions.find(options.id);
  if (at == file.transactions.end()) {
    Error error = Error(ErrorCode::transactional_id_not_found,
                        fmt::format("there is no transaction '{}'", printable(options.id)))
                      .at(store.directory());
    std::vector<std::string> names;
    for (const auto& [id, entry] : file.transactions) names.push_back(id);
    const auto nearest = nearest_name(options.id, names);
    throw nearest ? std::move(error).hint(fmt::format("did you mean '{}'?", printable(*nearest)))
                  : std::move(error);
  }
  const auto& [id, entry] = *at;
  if (context.json) {
    json_row(id, entry, context);
  } else {
    Table table = transactions_table();
    table.add(cells(id, entry));
    context.out.write(table.text());
  }
  OpenList open_list(context);
  each_open(store, context, [&](const PartitionInfo& partition, const OpenTransaction& open) {
    if (open.producer == entry.id) open_list.add(partition, open, &id);
  });
  if (const std::string text = open_list.text(); !text.empty()) context.out.write("\n" + text);
  return context.diagnostics.exit_code();
}

}  // namespace tk
