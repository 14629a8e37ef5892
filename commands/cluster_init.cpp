// tk cluster init
#include <fmt/format.h>

#include "commands/cluster_options.h"
#include "commands/cluster_session.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/io/turn_lock.h"

namespace tk {
namespace {

std::int64_t whole_number(const ConfigSetting& setting, std::int64_t least) {
  const auto value = parse_int(setting.value);
  if (!value || *value < least)
    throw Error(ErrorCode::invalid_config, fmt::format("'{}' is not a value of {}: a whole number from {}",
                                                       setting.value, setting.key, least));
  return *value;
}

bool truth(const ConfigSetting& setting) {
  if (setting.value == "true") return true;
  if (setting.value == "false") return false;
  throw Error(ErrorCode::invalid_config,
              fmt::format("'{}' is not a value of {}: true or false", setting.value, setting.key));
}

/// Kafka's broker configs that mean something here. The rest of the keys is those that topics have, as their
/// defaults.
void apply(const ConfigSetting& setting, ClusterSettings& to, ConfigMap& stored) {
  if (setting.key == "replica.lag.time.max.ms") {
    to.lag_ms = whole_number(setting, 1);
  } else if (setting.key == "broker.session.timeout.ms") {
    to.session_ms = whole_number(setting, 1);
  } else if (setting.key == "eligible.leader.replicas.enable") {
    to.elr = truth(setting);
    return;
  } else if (setting.key == "unclean.leader.election.enable") {
    to.unclean = truth(setting);
  } else if (setting.key == "min.insync.replicas") {
    to.min_isr = static_cast<std::int32_t>(std::min<std::int64_t>(whole_number(setting, 1), INT32_MAX));
  } else if (setting.key == "log.flush.interval.messages") {
    to.flush_each = whole_number(setting, 1) == 1;
  } else {
    static const std::vector<std::string> known = {
        "replica.lag.time.max.ms",        "broker.session.timeout.ms", "eligible.leader.replicas.enable",
        "unclean.leader.election.enable", "min.insync.replicas",       "log.flush.interval.messages"};
    Error error(ErrorCode::invalid_config,
                fmt::format("there is no broker config '{}' here", printable(setting.key)));
    if (const auto nearest = nearest_name(setting.key, known))
      throw std::move(error).hint(fmt::format("did you mean '{}'?", *nearest));
    throw error;
  }
  stored[setting.key] = setting.value;
}

}  // namespace

int run_cluster_init(const ClusterInitOptions& options, Context& context) {
  ClusterSettings settings;
  settings.brokers = options.brokers;
  settings.controllers = options.controllers;
  ConfigMap stored;
  for (const ConfigSetting& setting : options.configs) apply(setting, settings, stored);
  context.fs.make_directories(context.directory);
  const auto directory_lock = lock_directory_shared(context.fs, context.directory);
  const auto lock =
      lock_exclusive(context.fs, join_path(context.directory, kClusterLockFile), lock_wait(context));
  for (const DirEntry& entry : context.fs.list(context.directory)) {
    if (entry.name == ".lock" || entry.name == kClusterLockFile) continue;
    // What an init that was killed has left goes: it has no tk-cluster.json.
    if (entry.name == kClusterFile ||
        !(entry.name.starts_with("broker-") || entry.name.starts_with("metadata"))) {
      throw Error(ErrorCode::invalid_request,
                  fmt::format("the directory is not empty: it holds {}", printable(entry.name)))
          .at(context.directory)
          .hint("a cluster is made in a new directory");
    }
  }
  Cluster::Options made;
  made.lock_wait = lock_wait(context);
  Cluster cluster(context.fs, context.directory, settings, made);
  if (const auto* fixed = dynamic_cast<const FixedClock*>(&context.clock)) cluster.set_now(fixed->now_ms());
  cluster.make(stored);
  cluster.save();
  context.diagnostics.note(fmt::format("made a cluster of {} broker{} and {} controller{} in {}",
                                       options.brokers, options.brokers == 1 ? "" : "s", options.controllers,
                                       options.controllers == 1 ? "" : "s", context.directory));
  return 0;
}

}  // namespace tk
