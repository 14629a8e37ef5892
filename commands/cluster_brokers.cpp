// tk cluster stop, tk cluster start
#include <fmt/format.h>

#include "commands/cluster_options.h"
#include "commands/cluster_session.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "core/base/error.h"

namespace tk {
namespace {

/// All that is wrong with the brokers named is found before anything is done to one of them.
void check_brokers(Cluster& cluster, const std::vector<std::int32_t>& ids, bool up) {
  for (const std::int32_t id : ids) {
    if (cluster.broker(id).up == up) continue;
    throw Error(ErrorCode::broker_not_available,
                fmt::format("broker {} is {} already", id, up ? "stopped" : "up"))
        .at(cluster.broker_directory(id));
  }
}

void check_controllers(Cluster& cluster, const std::vector<std::int32_t>& ids, bool up) {
  for (const std::int32_t id : ids) {
    QuorumVoter& voter = cluster.quorum().voter(id);
    if (voter.up() == up) continue;
    throw Error(ErrorCode::broker_not_available,
                fmt::format("controller {} is {} already", id, voter.up() ? "up" : "stopped"))
        .at(voter.directory());
  }
}

}  // namespace

int run_cluster_stop(const ClusterStopOptions& options, Context& context) {
  ClusterSession session = ClusterSession::open(context);
  check_brokers(session.cluster(), options.brokers, true);
  check_controllers(session.cluster(), options.controllers, true);
  for (const std::int32_t id : options.brokers) {
    if (options.controlled) {
      session.cluster().stop(id);
    } else {
      session.cluster().kill(id, false);
    }
    session.end_step(options.controlled ? "stop" : "kill", {std::to_string(id)}, "", "");
  }
  for (const std::int32_t id : options.controllers) {
    session.cluster().kill_controller(id);
    session.end_step("quorum", {"kill", std::to_string(id)}, "", "");
  }
  session.finish();
  return 0;
}

int run_cluster_start(const ClusterStartOptions& options, Context& context) {
  ClusterSession session = ClusterSession::open(context);
  check_brokers(session.cluster(), options.brokers, false);
  check_controllers(session.cluster(), options.controllers, false);
  for (const std::int32_t id : options.controllers) {
    session.cluster().start_controller(id);
    session.end_step("quorum", {"start", std::to_string(id)}, "", "");
  }
  for (const std::int32_t id : options.brokers) {
    session.cluster().start(id);
    session.end_step("start", {std::to_string(id)}, "", "");
  }
  session.finish();
  return 0;
}

}  // namespace tk
