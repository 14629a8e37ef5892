// tk txn, tk producers (cli.md §9).
#include <memory>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "commands/commands.h"
#include "commands/txn_options.h"

namespace tk::cli {
namespace {

/// The one argument of a command.
void take_argument(CommandSpec& spec, const char* what, std::string& to) {
  if (spec.arguments().empty()) usage_error(std::string("no ") + what + " given");
  if (spec.arguments().size() > 1) usage_error("unexpected argument '" + spec.arguments()[1] + "'");
  to = spec.arguments().front();
}

/// ID in the place of ID@EPOCH: an id that looks like the latter could not be told from it later.
std::string plain_id(const std::string& text) {
  if (parse_transaction(text).epoch) {
    usage_error("'" + text + "' ends in @ and digits, which stands for an epoch");
  }
  return text;
}

TxnEndOptions::Offset parse_offset(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    usage_error("'" + text + "' is not TOPIC-P=OFFSET, as orders-0=40");
  return {text.substr(0, equals), parse_number(text.substr(equals + 1))};
}

void check_commit(const TxnEndOptions& options) {
  if (options.group.has_value() != !options.offsets.empty()) usage_error("--group and --offset go together");
  if (options.member.has_value() != options.generation.has_value())
    usage_error("--member and --generation go together");
  if (options.member && !options.group) usage_error("--member goes with --group");
}

}  // namespace

void bind_txn_begin(CommandSpec& spec) {
  auto options = std::make_shared<TxnBeginOptions>();
  auto* to = options.get();
  spec.usage("ID", Completes::nothing);
  spec.about(
      "Prints the epoch of the new transaction. One that is open under the same id is aborted first, and "
      "whoever still holds its epoch is fenced.");
  spec.value("--timeout", "MS", "how long it may be open before others abort it (default: 60000)",
             [to](const std::string& text) { to->timeout_ms = parse_number(text, 1); });
  spec.check([&spec, to] {
    take_argument(spec, "transactional id", to->id);
    to->id = plain_id(to->id);
  });
  spec.example("tk txn begin copy-1");
  spec.example("epoch=$(tk txn begin copy-1 --timeout 300000)");
  spec.run([options](Context& context) { return run_txn_begin(*options, context); });
}

void bind_txn_commit(CommandSpec& spec) {
  auto options = std::make_shared<TxnEndOptions>();
  auto* to = options.get();
  spec.usage("ID[@EPOCH]", Completes::nothing);
  spec.about(
      "Writes the markers that make the transaction's records visible to read_committed consumers; the "
      "offsets given for a group become visible with them, or not at all.");
  spec.value("--group", "G", "a group whose offsets become visible with it",
             [to](const std::string& text) { to->group = text; });
  spec.list("--offset", "TOPIC-P=N", "where that group reads on (repeatable)",
            [to](const std::string& text) { to->offsets.push_back(parse_offset(text)); });
  spec.value("--member", "M", "the group's member that commits",
             [to](const std::string& text) { to->member = text; });
  spec.value("--generation", "N", "its generation, in a consumer group its epoch",
             [to](const std::string& text) { to->generation = parse_number(text, -2, INT32_MAX); });
  spec.check([&spec, to] {
    std::string name;
    take_argument(spec, "transactional id", name);
    to->name = parse_transaction(name);
    check_commit(*to);
  });
  spec.example("tk txn commit copy-1");
  spec.example("tk txn commit copy-1@3 --group copier --offset orders-0=120 --offset orders-1=98");
  spec.run([options](Context& context) { return run_txn_commit(*options, context); });
}

void bind_txn_abort(CommandSpec& spec) {
  auto options = std::make_shared<TxnEndOptions>();
  auto* to = options.get();
  spec.usage("ID[@EPOCH]", Completes::nothing);
  spec.about(
      "Writes the markers that hide the transaction's records from read_committed consumers for good.");
  spec.check([&spec, to] {
    std::string name;
    take_argument(spec, "transactional id", name);
    to->name = parse_transaction(name);
  });
  spec.example("tk txn abort copy-1");
  spec.example("tk txn abort copy-1@3");
  spec.run([options](Context& context) { return run_txn_abort(*options, context); });
}

void bind_txn_list(CommandSpec& spec) {
  auto options = std::make_shared<TxnListOptions>();
  spec.usage("", Completes::nothing);
  spec.about(
      "Prints the transactions known by an id, then every transaction that is open in a partition, known by "
      "an id or not.");
  check_no_arguments(spec);
  spec.example("tk txn list");
  spec.example("tk -d /var/lib/kafka/data txn list --json");
  spec.run([options](Context& context) { return run_txn_list(*options, context); });
}

void bind_txn_describe(CommandSpec& spec) {
  auto options = std::make_shared<TxnDescribeOptions>();
  auto* to = options.get();
  spec.usage("ID", Completes::nothing);
  spec.about(
      "Prints the state of one transaction: producer, epoch, partitions, groups, and how long it may still "
      "take.");
  spec.check([&spec, to] { take_argument(spec, "transactional id", to->id); });
  spec.example("tk txn describe copy-1");
  spec.example("tk txn describe copy-1 --json");
  spec.run([options](Context& context) { return run_txn_describe(*options, context); });
}

void bind_txn_expire(CommandSpec& spec) {
  auto options = std::make_shared<TxnExpireOptions>();
  spec.usage("", Completes::nothing);
  spec.about(
      "Aborts what is open for longer than its timeout. The next txn, produce, retain or compact on the "
      "directory does so, too.");
  check_no_arguments(spec);
  spec.example("tk txn expire");
  spec.example("tk txn expire --at 2026-11-29T10:00:00Z");
  spec.run([options](Context& context) { return run_txn_expire(*options, context); });
}

void bind_producers_list(CommandSpec& spec) {
  auto options = std::make_shared<ProducersListOptions>();
  spec.usage("", Completes::nothing);
  spec.about(
      "Prints, for each named producer, its id and epoch, and for each partition how far it has come.");
  check_no_arguments(spec);
  spec.example("tk producers list");
  spec.example("tk producers list --json");
  spec.run([options](Context& context) { return run_producers_list(*options, context); });
}

void bind_producers_delete(CommandSpec& spec) {
  auto options = std::make_shared<ProducersDeleteOptions>();
  auto* to = options.get();
  spec.usage("NAME", Completes::nothing);
  spec.about("Afterwards the name begins anew: input under it is appended whatever was appended before.");
  spec.check([&spec, to] { take_argument(spec, "producer", to->name); });
  spec.example("tk producers delete import-2026-11-29");
  spec.example("tk producers list && tk producers delete access-log-1");
  spec.run([options](Context& context) { return run_producers_delete(*options, context); });
}

}  // namespace tk::cli
