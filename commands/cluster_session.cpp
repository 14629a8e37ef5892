#include "commands/cluster_session.h"

#include <fmt/format.h>

#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/cluster/interrupted.h"
#include "core/io/turn_lock.h"

namespace tk {

void ClusterSession::load(Cluster::LoadFor what) {
  if (!is_cluster(context_->fs, context_->directory)) {
    throw Error(ErrorCode::storage_error, "there is no cluster here")
        .at(context_->directory)
        .hint("'tk cluster init --brokers 3' makes one of an empty or new directory");
  }
  Cluster::Options options;
  options.lock_wait = lock_wait(*context_);
  options.waits_for_controllers = true;
  options.note = [context = context_](const std::string& line) { context->diagnostics.warning(line); };
  options.on_damage = [context = context_](const Error& error) { context->diagnostics.error(error); };
  options.on_event = [events = events_.get()](const ClusterEvent& event) {
    events->push_back(event_json(event));
  };
  cluster_ =
      std::make_unique<Cluster>(context_->fs, context_->directory, ClusterSettings{}, std::move(options));
  cluster_->load(what);
  // A frozen clock moves the cluster's forward, never back.
  if (const auto* fixed = dynamic_cast<const FixedClock*>(&context_->clock))
    cluster_->set_now(fixed->now_ms());
}

ClusterSession ClusterSession::open(Context& context) {
  ClusterSession session(context);
  if (is_cluster(context.fs, context.directory)) {
    session.directory_lock_ = lock_directory_shared(context.fs, context.directory);
    session.lock_ =
        lock_exclusive(context.fs, join_path(context.directory, kClusterLockFile), lock_wait(context));
  }
  session.load(Cluster::LoadFor::changing);
  finish_interrupted(*session.cluster_);
  return session;
}

ClusterSession ClusterSession::look(Context& context) {
  ClusterSession session(context);
  session.load(Cluster::LoadFor::looking);
  return session;
}

std::string ClusterSession::end_step(const std::string& op, std::vector<std::string> args,
                                     const std::string& reply, const std::string& partition) {
  StepReport report;
  report.step = ++cluster_->steps;
  report.op = op;
  report.args = std::move(args);
  report.reply = reply;
  report.events = std::move(*events_);
  events_->clear();
  report.partition = partition;
  TextBuffer text;
  append_step_line(text, *cluster_, report);
  lines_.append(text.data(), text.size());
  return {text.data(), text.size()};
}

void ClusterSession::finish() {
  cluster_->save();
  append_to_event_log(context_->fs, context_->directory, lines_);
  lines_.clear();
}

std::string cluster_partition(const Cluster& cluster, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [topic_name, topic] : cluster.image().topics) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      names.push_back(fmt::format("{}-{}", topic_name, i));
      if (names.back() == name) return name;
    }
  }
  // A topic of one partition may stand for it.
  const TopicState* topic = cluster.image().topic(name);
  if (topic != nullptr && topic->partitions.size() == 1) return name + "-0";
  Error error = Error(ErrorCode::unknown_topic_or_partition,
                      fmt::format("there is no partition '{}'", printable(name, 300)))
                    .at(cluster.directory());
  if (const auto nearest = nearest_name(name, names))
    throw std::move(error).hint(fmt::format("did you mean '{}'?", *nearest));
  throw error;
}

}  // namespace tk
