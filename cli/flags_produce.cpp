// tk produce (cli.md §3).
#include <memory>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "commands/commands.h"
#include "commands/produce_options.h"

namespace tk::cli {
namespace {

using Input = ProduceOptions::Input;

void add_input(CommandSpec& spec, ProduceOptions* to) {
  spec.group("Input");
  spec.choice<Input>(
      "-i,--input",
      {{"lines", Input::lines}, {"json", Input::json}, {"raw", Input::raw}, {"dump", Input::dump}},
      "what the input is (default: lines)", to->input);
  spec.value("-D,--delimiter", "STR", "what ends a record (default: \\n)", [to](const std::string& text) {
    to->delimiter = parse_escapes(text);
    if (to->delimiter.empty()) usage_error("a delimiter has at least one byte; -i raw takes the input whole");
  });
  spec.flag("-0,--null", "records end in a NUL byte", [to] { to->delimiter = std::string(1, '\0'); });
  spec.flag("--json-values", "embed each line as a JSON value (json format)", to->json_values);
  spec.flag("--repartition", "ignore the partitions that -i json names", to->repartition);
}

void add_record(CommandSpec& spec, ProduceOptions* to) {
  spec.group("Records");
  spec.value("-k,--key", "K", "the key of every record", [to](const std::string& text) { to->key = text; });
  spec.value("-K,--key-separator", "SEP", "split each line at the first SEP into key and value",
             [to](const std::string& text) {
               to->key_separator = parse_escapes(text);
               if (to->key_separator->empty()) usage_error("a separator has at least one byte");
             });
  spec.flag("--allow-no-key", "a line without SEP has a null key", to->allow_no_key);
  spec.list("-H,--header", "NAME=VALUE", "a header of every record (repeatable)",
            [to](const std::string& text) { to->headers.push_back(parse_header(text)); });
  spec.value("--null-marker", "STR", "a value or key equal to STR is null",
             [to](const std::string& text) { to->null_marker = text; });
  spec.value("--timestamp", "T", "create time of every record (default: now)",
             [to, &spec](const std::string& text) { to->timestamp = parse_time_value(text, spec.now_ms()); });
}

void add_placement(CommandSpec& spec, ProduceOptions* to) {
  using Partitioner = ProduceOptions::Partitioner;
  spec.group("Partitions and batches");
  spec.value("-p,--partition", "N", "all records to this partition",
             [to](const std::string& text) { to->partition = parse_partition(text); });
  spec.choice<Partitioner>("--partitioner",
                           {{"murmur2", Partitioner::murmur2},
                            {"crc32", Partitioner::crc32},
                            {"fnv1a", Partitioner::fnv1a},
                            {"round-robin", Partitioner::round_robin},
                            {"sticky", Partitioner::sticky}},
                           "how keys choose partitions (default: murmur2)", to->partitioner);
  spec.value("-z,--compression", "CODEC[:LEVEL]", "none, gzip, snappy, lz4 or zstd (default: the topic's)",
             [to](const std::string& text) { to->compression = parse_compression_value(text); });
  spec.value("--batch-size", "BYTES", "a batch closes at this size (default: 16384)",
             [to](const std::string& text) { to->batch_size = parse_bytes(text); });
  spec.value("--linger-ms", "MS", "or when input has paused so long (default: 5)",
             [to](const std::string& text) { to->linger_ms = parse_number(text); });
}

void add_topic_creation(CommandSpec& spec, ProduceOptions* to) {
  spec.group("A topic that is missing");
  spec.flag("--no-create", "is an error", [to] { to->create = false; });
  spec.value("--partitions", "N", "gets N partitions (default: 1)",
             [to](const std::string& text) { to->create_partitions = parse_partition_count(text); });
  spec.choice<TopicFormat>("--format", {{"json", TopicFormat::json}, {"kafka", TopicFormat::kafka}},
                           "gets this format (default: $TK_FORMAT, else by the directory)",
                           to->create_format);
  add_configs(spec, to->create_configs);
}

void add_outcome(CommandSpec& spec, ProduceOptions* to) {
  using Report = ProduceOptions::Report;
  spec.group("Outcome");
  spec.choice<SyncMode>("--sync",
                        {{"end", SyncMode::end}, {"batch", SyncMode::batch}, {"none", SyncMode::none}},
                        "when data are forced to disk (default: end, exit 0 means on disk)", to->sync);
  using Acks = ProduceOptions::Acks;
  spec.value("--acks", "0|1|all",
             "in a cluster, who must have the records first (default: all in-sync replicas)",
             [to](const std::string& text) {
               if (text != "0" && text != "1" && text != "all" && text != "-1")
                 usage_error("'" + text + "' is not 0, 1 or all");
               to->acks = text == "0" ? Acks::none : text == "1" ? Acks::leader : Acks::all;
             });
  spec.value("--timeout-ms", "MS", "cluster time to wait for them (default: 30000)",
             [to](const std::string& text) { to->timeout_ms = parse_number(text, 0); });
  spec.value("--producer", "NAME",
             "append each record of this producer's input once, however often it is piped",
             [to](const std::string& text) { to->producer = text; });
  spec.value("--txn", "ID[@EPOCH]", "append inside the open transaction ID",
             [to](const std::string& text) { to->txn = parse_transaction(text); });
  spec.choice<Report>("--report", {{"partition", Report::partition}, {"batch", Report::batch}},
                      "a line per partition at the end, or per batch at once", to->report);
}

// Options that an input has no use for: better refused than silently without effect.
void check_input(const CommandSpec& spec, const ProduceOptions& options) {
  const auto refuse = [&](std::initializer_list<const char*> names, const std::string& input) {
    for (const char* name : names) {
      if (spec.count(name) > 0)
        usage_error(std::string("--") + name + " means nothing with --input " + input);
    }
  };
  switch (options.input) {
    case Input::lines:
      refuse({"repartition"}, "lines");
      break;
    case Input::json:
      refuse({"key", "key-separator", "delimiter", "null", "json-values"}, "json");
      break;
    case Input::raw:
      refuse({"key-separator", "delimiter", "null", "repartition"}, "raw");
      break;
    case Input::dump:
      refuse(
          {"key", "key-separator", "header", "null-marker", "delimiter", "null", "json-values", "repartition",
           "timestamp", "partitioner", "compression", "batch-size", "linger-ms", "producer", "txn"},
          "dump");
      break;
  }
  spec.at_most_one_of({"key", "key-separator"});
  spec.at_most_one_of({"producer", "txn"});
  spec.at_most_one_of({"delimiter", "null"});
  spec.at_most_one_of({"partition", "repartition"});
  if (options.allow_no_key && !options.key_separator) usage_error("--allow-no-key needs --key-separator");
}

}  // namespace

void bind_produce(CommandSpec& spec) {
  auto options = std::make_shared<ProduceOptions>();
  auto* to = options.get();
  spec.usage("TOPIC [FILE]...", Completes::topic_then_files);
  spec.about(
      "Appends a record for each line of stdin, or of the files in order (- is stdin); a topic that is "
      "missing is made. Exit code 0 means that every record is on disk. A last line without a newline is a "
      "record, and a carriage return is data.");
  spec.about(
      "A line is printed for each partition: the offsets that were taken, and how many records. When it "
      "fails, the message says how many records are durable; with --producer the same input can then be "
      "piped again, and each record is appended once.");
  add_one_topic(spec, to->topic, &to->files);
  add_input(spec, to);
  add_record(spec, to);
  add_placement(spec, to);
  add_topic_creation(spec, to);
  add_outcome(spec, to);
  spec.check([&spec, to] { check_input(spec, *to); });
  spec.example("printf 'a:1\\nb:2\\n' | tk produce orders -K : --partitions 3");
  spec.example("tk consume orders -J | tk produce copy -i json");
  spec.example("tk produce events access.log --format kafka -z zstd");
  spec.example("tk produce events access.log --producer access-log-1");
  spec.run([options](Context& context) { return run_produce(*options, context); });
}

}  // namespace tk::cli
