// tk cluster status, tk cluster events
#include <fmt/format.h>

#include "commands/cluster_options.h"
#include "commands/cluster_session.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/table.h"
#include "core/base/json_writer.h"
#include "core/io/output.h"

namespace tk {
namespace {

struct BrokerRow {
  const Broker* broker;
  bool fenced = true;
  std::int64_t leaders = 0;
  std::int64_t replicas = 0;
};

std::vector<BrokerRow> broker_rows(Cluster& cluster) {
  std::vector<BrokerRow> rows;
  for (const auto& [id, broker] : cluster.brokers()) {
    BrokerRow row{&broker};
    const BrokerState* state = cluster.image().broker(id);
    row.fenced = state == nullptr || state->fenced;
    for (const auto& [name, topic] : cluster.image().topics) {
      for (const PartitionRegistration& partition : topic.partitions) {
        row.leaders += partition.leader == id ? 1 : 0;
        row.replicas += holds(partition.replicas, id) ? 1 : 0;
      }
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

int run_cluster_status(const ClusterStatusOptions& /*options*/, Context& context) {
  ClusterSession session = ClusterSession::look(context);
  Cluster& cluster = session.cluster();
  const std::vector<BrokerRow> rows = broker_rows(cluster);
  MetadataLog& log = cluster.metadata_log();
  const std::int64_t end = log.replayed_end().value(), epoch = log.replayed_epoch().value();
  if (context.json) {
    TextBuffer text;
    for (const BrokerRow& row : rows) {
      JsonLine(text)
          .text("type", "broker")
          .number("broker", row.broker->id)
          .boolean("alive", row.broker->up)
          .boolean("fenced", row.fenced)
          .number("broker_epoch", cluster.broker_epoch(row.broker->id))
          .number("leaders", row.leaders)
          .number("replicas", row.replicas)
          .text("path", cluster.broker_directory(row.broker->id))
          .end();
    }
    JsonLine(text)
        .text("type", "controller")
        .number("controller", 1)
        .boolean("alive", true)
        .text("role", "leader")
        .number("epoch", epoch)
        .number("log_end_offset", end)
        .number("high_watermark", end)
        .end();
    JsonLine(text)
        .text("type", "cluster")
        .text("cluster_id", cluster.cluster_id())
        .number("now", cluster.now())
        .number("brokers", static_cast<std::int64_t>(rows.size()))
        .number("controllers", 1)
        .end();
    context.out.write({text.data(), text.size()});
    return 0;
  }
  context.out.write(fmt::format("cluster {}, {} ms, metadata epoch {}, end {}\n", cluster.cluster_id(),
                                cluster.now(), epoch, end));
  Table table({{"BROKER", true},
               {"ALIVE"},
               {"FENCED"},
               {"EPOCH", true},
               {"LEADERS", true},
               {"REPLICAS", true},
               {"PATH"}},
              2);
  for (const BrokerRow& row : rows) {
    table.add({std::to_string(row.broker->id), row.broker->up ? "yes" : "no", row.fenced ? "yes" : "no",
               std::to_string(cluster.broker_epoch(row.broker->id)), std::to_string(row.leaders),
               std::to_string(row.replicas), cluster.broker_directory(row.broker->id)});
  }
  context.out.write(table.text());
  return 0;
}

int run_cluster_events(const ClusterEventsOptions& /*options*/, Context& context) {
  static_cast<void>(ClusterSession::look(context));
  const std::string path = join_path(context.directory, kEventsFile);
  if (context.fs.stat(path)) context.out.write(read_whole(context.fs, path));
  return 0;
}

}  // namespace tk
