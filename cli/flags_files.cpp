// tk dump-log, verify, recover (cli.md §5).
#include <limits>
#include <memory>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "commands/commands.h"
#include "commands/dump_log_options.h"
#include "commands/recover_options.h"
#include "commands/verify_options.h"

namespace tk::cli {
namespace {

constexpr std::string_view kTargets = "[TOPIC[-P]|PATH]...";

void add_dump_options(CommandSpec& spec, DumpLogOptions* to) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  spec.value("--files", "A,B", "files or directories, split at the commas",
             [to](const std::string& text) { to->files = split_commas(text); });
  Choices<std::optional<DumpKind>> kinds;
  for (auto i = static_cast<int>(DumpKind::log); i <= static_cast<int>(DumpKind::json_state); ++i)
    kinds.emplace_back(dump_kind_name(static_cast<DumpKind>(i)), static_cast<DumpKind>(i));
  spec.choice("--as", kinds, "what the files are, whatever their names", to->kind);
  spec.group("What is shown");
  spec.flag("--print-data-log", "keys and values of the records", [to] {
    to->print_data_log = true;
    to->deep_iteration = true;
  });
  spec.flag("--deep-iteration", "a line per record as well as per batch", to->deep_iteration);
  spec.flag("--skip-record-metadata", "record lines without their metadata", to->skip_record_metadata);
  spec.value(
      "--offsets", "A:B", "only offsets from A to before B; either may be empty",
      [to](const std::string& text) { std::tie(to->from_offset, to->to_offset) = parse_offset_range(text); });
  spec.value("--max-bytes", "BYTES", "read only so much of a log (default: 2147483647)",
             [to](const std::string& text) { to->max_bytes = parse_bytes(text); });
  spec.group("Internal topics (JSON and whole topics are decoded by the topic's name)");
  // The tool's order: the first of these that is given counts.
  const auto decoder = [&spec, to](const std::string& name, DumpDecoder which, const std::string& help) {
    spec.flag(name, help, [to, which] {
      if (to->decoder == DumpDecoder::none || which < to->decoder) to->decoder = which;
      to->print_data_log = to->deep_iteration = true;
    });
  };
  decoder("--offsets-decoder", DumpDecoder::offsets, "records of __consumer_offsets");
  decoder("--transaction-log-decoder", DumpDecoder::transactions, "records of __transaction_state");
  decoder("--cluster-metadata-decoder", DumpDecoder::metadata,
          "records of __cluster_metadata and its snapshots");
  decoder("--remote-log-metadata-decoder", DumpDecoder::remote, "records of __remote_log_metadata");
  decoder("--share-group-state-decoder", DumpDecoder::share, "records of __share_group_state");
  const auto foreign = [to](const std::string& name) {
    to->foreign_decoder = name;
    to->print_data_log = to->deep_iteration = true;
  };
  for (const char* const name : {"--key-decoder-class", "--value-decoder-class"}) {
    spec.value(name, "CLASS", "taken for the tool's sake: keys and values are shown as text",
               [foreign, to, name](const std::string& text) {
                 if (text.ends_with("StringDecoder")) {
                   to->print_data_log = to->deep_iteration = true;
                 } else {
                   foreign(name);
                 }
               });
  }
  spec.group("Indexes");
  spec.flag("--verify-index-only", "check an index against its log, print no entries", to->verify_index_only);
  spec.flag("--index-sanity-check", "only check that an index is well formed", to->index_sanity_check);
  spec.value("--max-message-size", "BYTES", "slice read to check an entry (default: 5242880)",
             [to](const std::string& text) { to->max_message_size = parse_number(text, 1, kMost); });
}

}  // namespace

void bind_dump_log(CommandSpec& spec) {
  auto options = std::make_shared<DumpLogOptions>();
  spec.usage(kTargets, Completes::topics_or_files);
  spec.about(
      "Shows segments, indexes, producer snapshots, checkpoints and state files, of a topic or by path; a "
      "name with a slash is a path. For Kafka's formats the text is, line for line, what Kafka's own dump "
      "tool prints. Damage is named, and the exit code is then 3.");
  add_targets(spec, options->targets);
  add_dump_options(spec, options.get());
  spec.example("tk dump-log orders-0 --print-data-log --offsets 100:110");
  spec.example("tk dump-log ./00000000000000000000.log --deep-iteration --json");
  spec.example("tk dump-log --files data/t-0/00000000000000000000.index --verify-index-only");
  spec.example("tk dump-log __consumer_offsets --print-data-log -d /var/lib/kafka/data");
  spec.example("zcat old.log.gz | tk dump-log - --json --print-data-log");
  spec.run([options](Context& context) { return run_dump_log(*options, context); });
}

void bind_verify(CommandSpec& spec) {
  auto options = std::make_shared<VerifyOptions>();
  spec.usage(kTargets, Completes::topics_or_files);
  spec.about(
      "Reads everything: each checksum, each record inside its batch, the order of offsets, and how indexes, "
      "snapshots, checkpoints and state files agree with the log. Prints a line for each problem and a "
      "summary; exit code 3 if records are damaged or a derived file is wrong. Partitions found in more than "
      "one of the given data directories are compared as replicas, too.");
  add_targets(spec, options->targets);
  spec.flag("--quick", "leave the records inside good batches alone", options->quick);
  spec.example("tk verify -d /var/lib/kafka/data");
  spec.example("tk verify orders --json");
  spec.example("tk verify broker-1/ broker-2/");
  spec.run([options](Context& context) { return run_verify(*options, context); });
}

void bind_recover(CommandSpec& spec) {
  auto options = std::make_shared<RecoverOptions>();
  auto* to = options.get();
  using Damage = RecoverOptions::Damage;
  spec.usage(kTargets, Completes::topics_or_files);
  spec.about(
      "Does what opening a partition after a crash does, and says so: a torn tail is cut, and so is damage "
      "behind which no whole record begins. Damage before readable records is left alone, exit code 3, "
      "unless --salvage or --truncate say what is to become of it. What is cut is first saved beside the "
      "segment, a torn tail excepted.");
  add_targets(spec, to->targets);
  spec.flag("--dry-run", "say what would happen, change nothing", to->dry_run);
  spec.flag("--full", "from the first segment on, not from the last trusted point", to->full);
  spec.flag("--as-broker", "with --dry-run: what a Kafka broker's next start would do", to->as_broker);
  add_sync(spec, to->sync);
  spec.group("Damage with readable records behind it (without either: refused)");
  spec.flag("--salvage", "drop only the damaged bytes", [to] { to->damage = Damage::salvage; });
  spec.flag("--truncate", "drop everything from the damage on, as a broker does",
            [to] { to->damage = Damage::truncate; });
  spec.check([&spec, to] {
    spec.at_most_one_of({"salvage", "truncate", "as-broker"});
    if (to->as_broker && !to->dry_run) usage_error("--as-broker only looks: give --dry-run with it");
  });
  spec.example("tk recover --dry-run");
  spec.example("tk recover orders-0 --salvage");
  spec.example("tk recover ./copied-disk --full --json");
  spec.example("tk recover /var/lib/kafka/data --as-broker --dry-run");
  spec.run([options](Context& context) { return run_recover(*options, context); });
}

}  // namespace tk::cli
