// tk failover
#include <fmt/format.h>

#include <map>

#include "commands/cluster_options.h"
#include "commands/cluster_session.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "core/base/error.h"
#include "core/base/json_writer.h"
#include "core/cluster/failover.h"
#include "core/io/output.h"

namespace tk {
namespace {

std::string ids_text(const BrokerIds& ids) {
  std::string text;
  for (const BrokerId id : ids) text += fmt::format("{}{}", text.empty() ? "" : ",", id);
  return text.empty() ? "-" : text;
}

std::string truncated_json(const FailoverLoss& loss) {
  std::string text = "{";
  for (const auto& [id, count] : loss.truncated)
    text += fmt::format("{}\"{}\":{}", text.size() > 1 ? "," : "", id, count);
  return text + "}";
}

std::string counts_json(const Counts& counts) {
  return fmt::format(R"({{"0":{},"1":{},"all":{}}})", counts[0], counts[1], counts[2]);
}

std::string loss_text(const FailoverLoss& loss) {
  std::string text;
  for (const auto& [id, count] : loss.truncated) {
    text += fmt::format("  broker {} drops {} record{} when it follows\n", id, count, count == 1 ? "" : "s");
  }
  text += fmt::format("  committed records lost: {}\n", loss.committed_lost);
  text += fmt::format("  acknowledged records lost: acks=all {}, acks=1 {}, acks=0 {}\n", loss.acked_lost[2],
                      loss.acked_lost[1], loss.acked_lost[0]);
  return text;
}

class Failover {
 public:
  Failover(const FailoverOptions& options, Context& context, ClusterSession& session)
      : options_(options),
        context_(context),
        session_(session),
        cluster_(session.cluster()),
        partition_(cluster_partition(cluster_, options.partition)) {
    for (const auto& [name, topic] : cluster_.image().topics) {
      for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
        const std::string partition_name = fmt::format("{}-{}", name, i);
        before_[partition_name] = {topic.partitions[i], committed_end(cluster_, partition_name)};
      }
    }
    if (options.to) check_wanted(*options.to);
  }

  void run() {
    for (const auto& [id, broker] : cluster_.brokers()) {
      if (!broker.up) cluster_.fence(id);
    }
    const BrokerId old_leader = before_.at(partition_).state.leader;
    const auto leader = [&] { return cluster_.partition(partition_).leader; };
    const bool is_there =
        leader() != old_leader && leader() != kNoBroker && (!options_.to || leader() == *options_.to);
    if (!is_there && !(options_.to && leader() == *options_.to && leader() != old_leader)) elect();
    session_.end_step("failover", arguments(), "", partition_);
    for (const auto& [name, was] : before_) {
      if (name != partition_ && cluster_.partition(name).leader != was.state.leader)
        print(name, was.state.leader, cluster_.partition(name), was.committed);
    }
    const Before& was = before_.at(partition_);
    print(partition_, was.state.leader, cluster_.partition(partition_), was.committed);
  }

  void preview() {
    const Before& was = before_.at(partition_);
    for (const BrokerId id : was.state.replicas) print_candidate(id);
    const PartitionChange change = would_elect(options_.unclean);
    if (change.state.leader == kNoBroker) refuse();
    print(partition_, was.state.leader, change.state, was.committed);
  }

 private:
  struct Before {
    PartitionRegistration state;
    Offset committed;
  };

  [[nodiscard]] std::vector<std::string> arguments() const {
    std::vector<std::string> arguments = {partition_};
    if (options_.to) arguments.push_back(fmt::format("to={}", *options_.to));
    if (options_.unclean) arguments.emplace_back("unclean");
    if (options_.preferred) arguments.emplace_back("preferred");
    return arguments;
  }

  [[nodiscard]] bool alive(BrokerId id) const {
    return cluster_.brokers().at(id).up && cluster_.linked(id, kControllerNode);
  }

  void check_wanted(BrokerId id) {
    const Broker& broker = cluster_.broker(id);
    const PartitionRegistration& state = cluster_.partition(partition_);
    if (!holds(state.replicas, id)) {
      throw Error(ErrorCode::invalid_request,
                  fmt::format("broker {} has no replica of {}; its replicas are {}", id, partition_,
                              ids_text(state.replicas)));
    }
    if (!broker.up) {
      throw Error(ErrorCode::eligible_leaders_not_available, fmt::format("broker {} is down", id))
          .at(cluster_.broker_directory(id));
    }
    if (!options_.unclean && !holds(state.isr, id) && !holds(state.elr, id))
      refuse_candidate(id, fmt::format("broker {} is no in-sync replica of {}", id, partition_));
  }

  [[nodiscard]] ElectionKind kind() const {
    return options_.preferred ? ElectionKind::preferred
           : options_.unclean ? ElectionKind::unclean
                              : ElectionKind::online;
  }

  /// The next in-sync replica after a live leader, in the replicas' order.
  BrokerId next_in_order(const PartitionRegistration& state) {
    for (const BrokerId id : state.replicas) {
      if (id != state.leader && holds(state.isr, id) && alive(id)) return id;
    }
    return kNoBroker;
  }

  void elect() {
    const PartitionRegistration state = cluster_.partition(partition_);
    BrokerId wanted = options_.to.value_or(kNoBroker);
    if (options_.preferred) {
      if (state.leader == state.replicas.front()) {
        throw Error(ErrorCode::election_not_needed,
                    fmt::format("{} is led by its first replica, {}, already", partition_, state.leader));
      }
    } else if (wanted == kNoBroker && state.leader != kNoBroker) {
      wanted = next_in_order(state);
      if (wanted == kNoBroker) refuse();
    }
    if (wanted != kNoBroker && wanted == state.leader) return;
    const ElectionOutcome outcome = cluster_.elect(partition_, kind(), wanted);
    if (outcome == ElectionOutcome::preferred_not_available) {
      throw Error(ErrorCode::preferred_leader_not_available,
                  fmt::format("broker {} cannot lead {}: it is not a live member of the ISR {}",
                              state.replicas.front(), partition_, ids_text(state.isr)));
    }
    if (cluster_.partition(partition_).leader == kNoBroker) refuse();
  }

  PartitionChange would_elect(bool unclean) {
    PartitionRegistration state = before_.at(partition_).state;
    PartitionChangeRequest request;
    request.isr.emplace();
    for (const BrokerId id : state.isr) {
      if (alive(id)) request.isr->push_back(id);
    }
    request.election = options_.preferred ? ElectionKind::preferred
                       : unclean          ? ElectionKind::unclean
                                          : ElectionKind::online;
    if (options_.to)
      request.wanted = *options_.to;
    else if (state.leader != kNoBroker && alive(state.leader))
      request.wanted = next_in_order(state);
    const TopicPartition name = split_topic_partition(partition_);
    ElectionRules rules = cluster_.controller().election_rules(name.topic, name.partition.value());
    rules.active = [this](BrokerId id) { return alive(id); };
    return change_partition(state, request, rules);
  }

  void print_candidate(BrokerId id) {
    const PartitionRegistration& state = before_.at(partition_).state;
    const ReplicaLook look = look_at_replica(cluster_, id, partition_);
    const FailoverLoss loss = loss_of(cluster_, partition_, id, before_.at(partition_).committed);
    const std::int64_t epoch = look.epochs.latest().value_or(LeaderEpoch(-1)).value();
    if (!context_.json) {
      context_.out.write(fmt::format("candidate {}: log end {}, high watermark {}, epoch {}{}{}{}\n", id,
                                     look.log_end.value(), look.high_watermark.value(), epoch,
                                     holds(state.isr, id) ? ", in sync" : "",
                                     holds(state.elr, id) ? ", eligible" : "", alive(id) ? "" : ", down"));
      context_.out.write(loss_text(loss));
      return;
    }
    TextBuffer text;
    JsonLine(text)
        .number("broker", id)
        .number("leo", look.log_end.value())
        .number("hw", look.high_watermark.value())
        .number("epoch", epoch)
        .boolean("in_isr", holds(state.isr, id))
        .boolean("in_elr", holds(state.elr, id))
        .boolean("alive", alive(id))
        .raw("truncated", truncated_json(loss))
        .number("committed_lost", loss.committed_lost)
        .raw("acked_lost", counts_json(loss.acked_lost))
        .end();
    context_.out.write({text.data(), text.size()});
  }

  void print(const std::string& name, BrokerId old_leader, const PartitionRegistration& now,
             Offset committed) {
    const FailoverLoss loss = loss_of(cluster_, name, now.leader, committed);
    const TopicPartition split = split_topic_partition(name);
    if (!context_.json) {
      context_.out.write(fmt::format("{}: leader {} -> {}, epoch {}, ISR {}\n", name,
                                     old_leader == kNoBroker ? "none" : std::to_string(old_leader),
                                     now.leader, now.leader_epoch, ids_text(now.isr)));
      context_.out.write(loss_text(loss));
      return;
    }
    std::string isr = "[";
    for (const BrokerId id : now.isr) isr += fmt::format("{}{}", isr.size() > 1 ? "," : "", id);
    TextBuffer text;
    JsonLine(text)
        .text("topic", split.topic)
        .number("partition", split.partition.value())
        .number_or_null("old_leader",
                        old_leader == kNoBroker ? std::nullopt : std::optional<std::int64_t>(old_leader))
        .number("new_leader", now.leader)
        .number("leader_epoch", now.leader_epoch)
        .raw("isr", isr + "]")
        .raw("truncated", truncated_json(loss))
        .number("committed_lost", loss.committed_lost)
        .raw("acked_lost", counts_json(loss.acked_lost))
        .end();
    context_.out.write({text.data(), text.size()});
  }

  [[noreturn]] void refuse_candidate(BrokerId id, const std::string& why) {
    const FailoverLoss loss = loss_of(cluster_, partition_, id, before_.at(partition_).committed);
    throw Error(ErrorCode::eligible_leaders_not_available,
                fmt::format("{}; with --unclean broker {} would lead, and "
                            "lose {} committed record{} (acknowledged: acks=all {}, "
                            "acks=1 {}, acks=0 {})",
                            why, id, loss.committed_lost, loss.committed_lost == 1 ? "" : "s",
                            loss.acked_lost[2], loss.acked_lost[1], loss.acked_lost[0]))
        .at(cluster_.directory())
        .hint("start a member of the ISR with 'tk cluster start B', or accept the loss with --unclean");
  }

  [[noreturn]] void refuse() {
    for (const BrokerId id : cluster_.partition(partition_).replicas) {
      if (alive(id) && id != cluster_.partition(partition_).leader)
        refuse_candidate(id, fmt::format("no in-sync replica of {} is alive", partition_));
    }
    throw Error(ErrorCode::eligible_leaders_not_available,
                fmt::format("no other replica of {} is alive", partition_))
        .at(cluster_.directory());
  }

  const FailoverOptions& options_;
  Context& context_;
  ClusterSession& session_;
  Cluster& cluster_;
  std::string partition_;
  std::map<std::string, Before> before_;
};

}  // namespace

int run_failover(const FailoverOptions& options, Context& context) {
  if (options.dry_run) {
    ClusterSession session = ClusterSession::look(context);
    Failover(options, context, session).preview();
    return 0;
  }
  ClusterSession session = ClusterSession::open(context);
  try {
    Failover(options, context, session).run();
  } catch (const Error& error) {
    // What the controller has learnt of dead brokers stays known.
    if (error.code() != ErrorCode::invalid_request) session.finish();
    throw;
  }
  session.finish();
  return 0;
}

}  // namespace tk
