// tk txn list, describe
#include <fmt/format.h>

#include <algorithm>

#include "commands/broker_rows.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/open_store.h"
#include "commands/table.h"
#include "commands/txn_options.h"
#include "core/base/json_writer.h"
#include "core/base/text.h"
#include "core/group/group_json.h"
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

void broker_json_row(const std::string& id, const BrokerTransaction& entry, Context& context) {
  const auto known = [](std::int64_t ms) { return ms < 0 ? std::nullopt : std::optional(ms); };
  TextBuffer text;
  JsonLine(text)
      .text("id", id)
      .number("producer_id", entry.id.value())
      .number("epoch", entry.epoch)
      .text("state", entry.state)
      .number_or_null("started", known(entry.started_ms))
      .number("timeout_ms", entry.timeout_ms)
      .raw("partitions", partitions_array(entry.partitions))
      .raw("groups", "[]")
      .null("ended")
      .number_or_null("updated", known(entry.updated_ms))
      .number("state_partition", entry.held_by.value())
      .end();
  context.out.write({text.data(), text.size()});
}

std::vector<std::string> broker_cells(const std::string& id, const BrokerTransaction& entry) {
  return {printable(id),
          std::to_string(entry.id.value()),
          std::to_string(entry.epoch),
          entry.state,
          entry.started_ms < 0 ? "-" : std::to_string(entry.started_ms),
          std::to_string(entry.timeout_ms),
          partitions_text(entry.partitions),
          "-"};
}

/// What the coordinators know of transactions, tk's own and a broker's.
struct Known {
  ProducersFile file;
  bool of_broker = false;
  TransactionCoordinators coordinators;

  [[nodiscard]] const std::string* name_of(ProducerId producer) const {
    for (const auto& [id, entry] : file.transactions) {
      if (entry.id == producer) return &id;
    }
    for (const auto& [id, entry] : coordinators.transactions) {
      if (entry.id == producer) return &id;
    }
    return nullptr;
  }
};

Known read_known(const Store& store, Context& context) {
  Known known;
  try {
    known.file = read_producers_file(context.fs, store.directory()).value_or(ProducersFile{});
  } catch (const Error& error) {
    context.diagnostics.error(error);  // what is open is in the logs all the same
  }
  known.of_broker = store.is_broker() && store.find("__transaction_state") != nullptr;
  if (known.of_broker) known.coordinators = transaction_coordinators(store, context);
  return known;
}

class OpenList {
 public:
  OpenList(const Known& known, Context& context) : known_(known), context_(context) {}

  void add(const PartitionInfo& partition, const OpenTransaction& open) {
    const std::string* const id = known_.name_of(open.producer);
    const std::optional<bool> hangs =
        known_.coordinators.hangs(open.producer, {partition.topic, partition.partition});
    std::optional<std::int64_t> first, age;
    if (open.first_timestamp >= 0) {
      first = open.first_timestamp;
      age = context_.clock.now_ms() - open.first_timestamp;
    }
    if (!context_.json) {
      table_.add({partition_directory_name(partition.topic, partition.partition),
                  std::to_string(open.producer.value()), std::to_string(open.epoch),
                  id == nullptr ? "-" : printable(*id), std::to_string(open.first.value()), number_text(age),
                  std::to_string(open.batches), hangs == true ? "hangs" : ""});
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
        .raw("hanging", !hangs   ? "null"
                        : *hangs ? "true"
                                 : "false")
        .end();
    context_.out.write({text.data(), text.size()});
  }
  [[nodiscard]] std::string text() const { return table_.text(); }

 private:
  const Known& known_;
  Context& context_;
  Table table_{{{"OPEN-IN"},
                {"PRODUCER-ID", true},
                {"EPOCH", true},
                {"ID"},
                {"FIRST-OFFSET", true},
                {"AGE-MS", true},
                {"BATCHES", true},
                {""}}};
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
  const Known known = read_known(store, context);
  Table table = transactions_table();
  for (const auto& [id, entry] : known.file.transactions)
    context.json ? json_row(id, entry, context) : table.add(cells(id, entry));
  for (const auto& [id, entry] : known.coordinators.transactions)
    context.json ? broker_json_row(id, entry, context) : table.add(broker_cells(id, entry));
  OpenList open_list(known, context);
  each_open(store, context, [&](const PartitionInfo& partition, const OpenTransaction& open) {
    open_list.add(partition, open);
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
  const Known known = read_known(store, context);
  const auto own = known.file.transactions.find(options.id);
  const auto of_broker = known.coordinators.transactions.find(options.id);
  const bool is_own = own != known.file.transactions.end();
  if (!is_own && of_broker == known.coordinators.transactions.end()) {
    Error error = Error(ErrorCode::transactional_id_not_found,
                        fmt::format("there is no transaction '{}'", printable(options.id)))
                      .at(store.directory());
    std::vector<std::string> names;
    for (const auto& [id, entry] : known.file.transactions) names.push_back(id);
    for (const auto& [id, entry] : known.coordinators.transactions) names.push_back(id);
    const auto nearest = nearest_name(options.id, names);
    throw nearest ? std::move(error).hint(fmt::format("did you mean '{}'?", printable(*nearest)))
                  : std::move(error);
  }
  const ProducerId producer = is_own ? own->second.id : of_broker->second.id;
  Table table = transactions_table();
  if (is_own) {
    context.json ? json_row(own->first, own->second, context) : table.add(cells(own->first, own->second));
  } else {
    context.json ? broker_json_row(of_broker->first, of_broker->second, context)
                 : table.add(broker_cells(of_broker->first, of_broker->second));
  }
  context.out.write(table.text());
  OpenList open_list(known, context);
  each_open(store, context, [&](const PartitionInfo& partition, const OpenTransaction& open) {
    if (open.producer == producer) open_list.add(partition, open);
  });
  if (const std::string text = open_list.text(); !text.empty()) context.out.write("\n" + text);
  return context.diagnostics.exit_code();
}

}  // namespace tk
