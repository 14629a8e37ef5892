// tk retain, compact, delete-records, get-offsets (cli.md §8).
#include <memory>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "commands/commands.h"
#include "commands/upkeep_options.h"

namespace tk::cli {
namespace {

DeleteRecordsOptions::Place parse_place(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    usage_error("'" + text + "' is not TOPIC-P=OFFSET, as orders-0=1000");
  return {text.substr(0, equals), parse_number(text.substr(equals + 1), -1)};
}

void set_time(GetOffsetsOptions& options, const std::string& text, std::int64_t now_ms) {
  using Kind = GetOffsetsOptions::Kind;
  // The numbers are those of Kafka's own tool.
  if (text == "earliest" || text == "-2") {
    options.kind = Kind::earliest;
  } else if (text == "latest" || text == "-1") {
    options.kind = Kind::latest;
  } else if (text == "max-timestamp" || text == "-3") {
    options.kind = Kind::max_timestamp;
  } else {
    options.kind = Kind::at_time;
    options.time = parse_time_value(text, now_ms);
  }
}

}  // namespace

void bind_retain(CommandSpec& spec) {
  auto options = std::make_shared<RetainOptions>();
  spec.usage("[TOPIC[-P]]...", Completes::topics);
  spec.about(
      "Deletes whole segments, from the oldest on, that are older or more than the topic's retention.ms and "
      "retention.bytes allow, or lie below its log start offset. Topics made here keep everything unless "
      "their configs say otherwise. Prints a line for each segment, with the reason.");
  add_topics(spec, options->names);
  add_configs(spec, options->configs);
  spec.flag("--dry-run", "say what would be deleted, delete nothing", options->dry_run);
  add_sync(spec, options->sync);
  spec.example("tk retain orders --dry-run");
  spec.example("tk retain orders -c retention.ms=604800000 -c retention.bytes=10G");
  spec.example("tk retain --json");
  spec.run([options](Context& context) { return run_retain(*options, context); });
}

void bind_compact(CommandSpec& spec) {
  auto options = std::make_shared<CompactOptions>();
  auto* to = options.get();
  spec.usage("[TOPIC[-P]]...", Completes::topics);
  spec.about(
      "Rewrites the segments of compacted topics so that each key keeps its last record. Tombstones and "
      "transaction markers go when delete.retention.ms has passed. A topic is left alone until its dirty "
      "part is large enough, unless --force is given. Producers may go on meanwhile.");
  add_topics(spec, to->names);
  add_configs(spec, to->configs);
  spec.flag("--dry-run", "say what would be freed, change nothing", to->dry_run);
  add_sync(spec, to->sync);
  spec.flag("--force", "whatever the dirty ratio and the lag times are", to->force);
  spec.flag("--roll", "close the active segment first, so that it is compacted, too", to->roll);
  spec.value("--map-bytes", "SIZE", "memory for the map of keys (default: 128M)",
             [to](const std::string& text) { to->map_bytes = parse_bytes(text); });
  spec.example("tk compact users");
  spec.example("tk compact users --force --roll --dry-run");
  spec.example("tk compact -c min.cleanable.dirty.ratio=0.1 --json");
  spec.run([options](Context& context) { return run_compact(*options, context); });
}

void bind_delete_records(CommandSpec& spec) {
  auto options = std::make_shared<DeleteRecordsOptions>();
  auto* to = options.get();
  spec.usage("TOPIC-P=OFFSET...", Completes::topics);
  spec.about(
      "Moves the start of the log to OFFSET: what lies before it is not read any more, and segments that lie "
      "before it as a whole are removed. OFFSET -1 is the high watermark.");
  spec.check([to, &spec] {
    for (const std::string& argument : spec.arguments()) to->places.push_back(parse_place(argument));
    if (to->places.empty()) usage_error("name at least one TOPIC-P=OFFSET; OFFSET -1 is the high watermark");
  });
  spec.flag("--dry-run", "say what would be deleted, delete nothing", to->dry_run);
  spec.example("tk delete-records orders-0=1000 orders-1=1200");
  spec.example("tk delete-records orders-0=-1 --dry-run");
  spec.run([options](Context& context) { return run_delete_records(*options, context); });
}

void bind_get_offsets(CommandSpec& spec) {
  auto options = std::make_shared<GetOffsetsOptions>();
  auto* to = options.get();
  spec.usage("[TOPIC[-P]]...", Completes::topics);
  spec.about(
      "Prints topic:partition:offset: where each partition ends, where it begins, or the first record at or "
      "after a time. Without a topic: all of them.");
  add_topics(spec, to->names);
  spec.value("--time", "TIME",
             "earliest, latest (default), max-timestamp, or a time: first record at or after",
             [to, &spec](const std::string& text) { set_time(*to, text, spec.now_ms()); });
  spec.choice<Isolation>(
      "--isolation",
      {{"read_uncommitted", Isolation::read_uncommitted}, {"read_committed", Isolation::read_committed}},
      "where the log ends: with read_committed at the last stable offset", to->isolation);
  spec.example("tk get-offsets orders");
  spec.example("tk get-offsets orders --time -1h");
  spec.example("tk get-offsets --time earliest --json");
  spec.run([options](Context& context) { return run_get_offsets(*options, context); });
}

}  // namespace tk::cli
