// tk producers list, delete
#include <algorithm>
#include <map>

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
#include "core/log/producer_history.h"
#include "core/producer/named_run.h"

namespace tk {
namespace {

/// What one partition knows of a producer.
struct Known {
  const PartitionInfo* partition = nullptr;
  ProducedBatch last;
  std::int64_t timestamp = kNoTimestamp;
};

/// By producer id; the state of each partition is looked up once.
std::map<ProducerId, std::vector<Known>> known_of(const Store& store, const ProducersFile& file,
                                                  Context& context) {
  std::map<ProducerId, std::vector<Known>> known;
  for (const auto& [name, producer] : file.producers) known[producer.id];
  for (const TopicInfo& topic : store.topics()) {
    const bool written = std::ranges::any_of(
        file.producers, [&](const auto& entry) { return entry.second.partitions.contains(topic.name); });
    for (const PartitionInfo& partition : topic.partitions) {
      if (!written || context.interrupted.load() != 0) continue;
      try {
        const LogView view = store.view(partition);
        if (view.empty() || !Store::may_have_producers(partition, view)) continue;
        const ProducerHistory history = read_producer_history(context.fs, view);
        for (auto& [id, places] : known) {
          const ProducerEntry* const entry = history.state.find(id);
          if (entry != nullptr && entry->last_batch() != nullptr)
            places.push_back({&partition, *entry->last_batch(), entry->last_timestamp});
        }
      } catch (const Error& error) {
        context.diagnostics.error(error);
      }
    }
  }
  return known;
}

std::string places_json(const std::vector<Known>& places) {
  TextBuffer text;
  text.push_back('[');
  for (const Known& place : places) {
    if (text.size() > 1) text.push_back(',');
    JsonLine(text)
        .text("topic", place.partition->topic)
        .number("partition", place.partition->partition.value())
        .number("last_sequence", place.last.last_sequence)
        .number("last_offset", place.last.last_offset.value())
        .number("last_ts", place.timestamp)
        .end();
    text.pop_back();  // the line feed
  }
  text.push_back(']');
  return {text.data(), text.size()};
}

}  // namespace

int run_producers_list(const ProducersListOptions&, Context& context) {
  const Store store = open_store(context);
  const ProducersFile file = read_producers_file(context.fs, store.directory()).value_or(ProducersFile{});
  const auto known = known_of(store, file, context);
  Table table({{"NAME"},
               {"PRODUCER-ID", true},
               {"EPOCH", true},
               {"PARTITION"},
               {"LAST-SEQUENCE", true},
               {"LAST-OFFSET", true}});
  for (const auto& [name, producer] : file.producers) {
    const std::vector<Known>& places = known.at(producer.id);
    if (context.json) {
      TextBuffer text;
      JsonLine(text)
          .text("name", name)
          .number("producer_id", producer.id.value())
          .number("epoch", producer.epoch)
          .raw("partitions", places_json(places))
          .end();
      context.out.write({text.data(), text.size()});
      continue;
    }
    const std::vector<std::string> head = {printable(name), std::to_string(producer.id.value()),
                                           std::to_string(producer.epoch)};
    if (places.empty()) table.add({head[0], head[1], head[2], "-", "-", "-"});
    for (const Known& place : places) {
      table.add({head[0], head[1], head[2],
                 partition_directory_name(place.partition->topic, place.partition->partition),
                 std::to_string(place.last.last_sequence), std::to_string(place.last.last_offset.value())});
    }
  }
  context.out.write(table.text());
  return context.diagnostics.exit_code();
}

int run_producers_delete(const ProducersDeleteOptions& options, Context& context) {
  static_cast<void>(Store::open(context.fs, context.directory, {}));
  const Store store = open_store_for_writing(context);
  delete_named_producer(context.fs, store.directory(), options.name, lock_wait(context));
  return 0;
}

}  // namespace tk
