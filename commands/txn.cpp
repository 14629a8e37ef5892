// tk txn begin, commit, abort, expire
#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/open_store.h"
#include "commands/produce_cluster.h"
#include "commands/txn_options.h"
#include "core/base/json_writer.h"
#include "core/io/output.h"
#include "core/store/store_transactions.h"

namespace tk {
namespace {

StoreTransactions::Note warn(Context& context) {
  return [&context](const std::string& line) { context.diagnostics.warning(line); };
}

/// For what presumes that there is a transaction: a directory that is not there is not made for it.
Store open_existing(Context& context) {
  static_cast<void>(Store::open(context.fs, context.directory, {}));
  return open_store_for_writing(context);
}

void print_ended(const std::string& id, std::string_view how, Context& context) {
  if (!context.json) return;
  TextBuffer text;
  JsonLine(text).text("id", id).text("ended", how).end();
  context.out.write({text.data(), text.size()});
}

TransactionOffsets offsets_of(const TxnEndOptions& options, const Store& store) {
  TransactionOffsets offsets;
  offsets.group = *options.group;
  offsets.request.member = options.member;
  offsets.request.generation = options.generation.value_or(-1);
  for (const TxnEndOptions::Offset& offset : options.offsets) {
    offsets.request.offsets.push_back({resolve_partition(store, offset.partition), offset.offset, {}, {}});
  }
  return offsets;
}

}  // namespace

int run_txn_begin(const TxnBeginOptions& options, Context& context) {
  Store store = open_store_for_writing(context);
  const TransactionEntry entry = StoreTransactions(store, context.clock, warn(context))
                                     .coordinator()
                                     .begin(options.id, options.timeout_ms);
  if (!context.json) {
    context.out.write(fmt::format("{}\n", entry.epoch));
    return 0;
  }
  TextBuffer text;
  JsonLine(text)
      .text("id", options.id)
      .number("producer_id", entry.id.value())
      .number("epoch", entry.epoch)
      .number("timeout_ms", entry.timeout_ms)
      .end();
  context.out.write({text.data(), text.size()});
  return 0;
}

int run_txn_commit(const TxnEndOptions& options, Context& context) {
  Store store = open_existing(context);
  std::optional<TransactionOffsets> offsets;
  if (options.group) offsets = offsets_of(options, store);
  StoreTransactions(store, context.clock, warn(context))
      .coordinator()
      .commit(options.name.id, options.name.epoch, offsets ? &*offsets : nullptr);
  replicate_news(store);
  print_ended(options.name.id, "commit", context);
  return 0;
}

int run_txn_abort(const TxnEndOptions& options, Context& context) {
  Store store = open_existing(context);
  StoreTransactions(store, context.clock, warn(context))
      .coordinator()
      .abort(options.name.id, options.name.epoch);
  replicate_news(store);
  print_ended(options.name.id, "abort", context);
  return 0;
}

int run_txn_expire(const TxnExpireOptions&, Context& context) {
  Store store = open_existing(context);
  const auto expired = StoreTransactions(store, context.clock, warn(context)).coordinator().complete_due();
  if (!expired.empty()) replicate_news(store);
  for (const std::string& id : expired) {
    if (!context.json && !context.quiet) context.out.write(printable(id) + "\n");
    print_ended(id, "abort", context);
  }
  return 0;
}

}  // namespace tk
