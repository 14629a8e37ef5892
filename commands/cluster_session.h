// What the commands about a cluster share: its lock, its state, and the lines that they leave in
// events.ndjson.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/event_log.h"

namespace tk {

struct Context;

class ClusterSession {
 public:
  /// For changing: takes the cluster's lock. Throws storage_error where there is no cluster.
  static ClusterSession open(Context& context);
  /// For looking: no lock is taken, and nothing written.
  static ClusterSession look(Context& context);

  [[nodiscard]] Cluster& cluster() { return *cluster_; }
  /// Ends a step: its line goes to events.ndjson when the session is finished, and is handed back.
  std::string end_step(const std::string& op, std::vector<std::string> args, const std::string& reply,
                       const std::string& partition);
  /// Makes everything durable.
  void finish();

 private:
  explicit ClusterSession(Context& context) : context_(&context) {}
  void load(Cluster::LoadFor what);

  Context* context_;
  std::unique_ptr<LockFile> directory_lock_;
  std::unique_ptr<LockFile> lock_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<std::vector<std::string>> events_ = std::make_unique<std::vector<std::string>>();
  std::string lines_;
};

/// "orders-0" of an argument that names one partition. Throws unknown_topic_or_partition, with the nearest
/// name.
std::string cluster_partition(const Cluster& cluster, const std::string& name);

}  // namespace tk
