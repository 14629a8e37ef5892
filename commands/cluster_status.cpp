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

struct ControllerRow {
  std::int32_t id;
  bool alive;
  std::string_view role;
  std::int64_t epoch;
  std::int64_t end;
  std::optional<std::int64_t> high_watermark;
  std::string path;
};

/// A voter that is alone has committed what it has. What one that is down last knew is in its files.
std::vector<ControllerRow> controller_rows(Cluster& cluster) {
  std::vector<ControllerRow> rows;
  for (const auto& [id, voter] : cluster.quorum().voters()) {
    const std::int64_t end = voter->last_on_disk().second.value();
    std::optional<std::int64_t> mark;
    if (const auto known = voter->high_watermark()) mark = known->value();
    if (cluster.quorum().voters().size() == 1 && voter->up()) mark = end;
    rows.push_back({id, voter->up(), voter->up() ? quorum_role_name(voter->role()) : "none",
                    voter->epoch().value(), end, mark, voter->directory()});
  }
  return rows;
}

void print_json(Cluster& cluster, const std::vector<BrokerRow>& rows,
                const std::vector<ControllerRow>& controllers, OutputStream& out) {
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
  for (const ControllerRow& row : controllers) {
    JsonLine(text)
        .text("type", "controller")
        .number("controller", row.id)
        .boolean("alive", row.alive)
        .text("role", row.role)
        .number("epoch", row.epoch)
        .number("log_end_offset", row.end)
        .number_or_null("high_watermark", row.high_watermark)
        .text("path", row.path)
        .end();
  }
  JsonLine(text)
      .text("type", "cluster")
      .text("cluster_id", cluster.cluster_id())
      .number("now", cluster.now())
      .number("brokers", static_cast<std::int64_t>(rows.size()))
      .number("controllers", static_cast<std::int64_t>(controllers.size()))
      .end();
  out.write({text.data(), text.size()});
}

/// The controllers are told of where there is more to say of them than that the only one is there.
void print_text(Cluster& cluster, const std::vector<BrokerRow>& rows,
                const std::vector<ControllerRow>& controllers, OutputStream& out) {
  const MetadataLog& log = cluster.metadata_log();
  out.write(fmt::format("cluster {}, {} ms, metadata epoch {}, end {}\n", cluster.cluster_id(), cluster.now(),
                        log.replayed_epoch().value(), log.replayed_end().value()));
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
  out.write(table.text());
  if (controllers.size() == 1 && controllers.front().alive) return;
  Table voters({{"CONTROLLER", true},
                {"ALIVE"},
                {"ROLE"},
                {"EPOCH", true},
                {"LOG END", true},
                {"HIGH WATERMARK", true},
                {"PATH"}},
               2);
  for (const ControllerRow& row : controllers) {
    voters.add({std::to_string(row.id), row.alive ? "yes" : "no", std::string(row.role),
                std::to_string(row.epoch), std::to_string(row.end),
                row.high_watermark ? std::to_string(*row.high_watermark) : "-", row.path});
  }
  out.write(voters.text());
}

}  // namespace

int run_cluster_status(const ClusterStatusOptions& /*options*/, Context& context) {
  ClusterSession session = ClusterSession::look(context);
  Cluster& cluster = session.cluster();
  const std::vector<BrokerRow> rows = broker_rows(cluster);
  const std::vector<ControllerRow> controllers = controller_rows(cluster);
  (context.json ? print_json : print_text)(cluster, rows, controllers, context.out);
  return 0;
}

int run_cluster_events(const ClusterEventsOptions& /*options*/, Context& context) {
  static_cast<void>(ClusterSession::look(context));
  const std::string path = join_path(context.directory, kEventsFile);
  if (context.fs.stat(path)) context.out.write(read_whole(context.fs, path));
  return 0;
}

}  // namespace tk
