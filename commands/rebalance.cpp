// tk rebalance GROUP: members join, stay and leave.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "commands/broker_rows.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/open_store.h"
#include "commands/rebalance_options.h"
#include "commands/table.h"
#include "core/base/json_writer.h"
#include "core/group/group_json.h"
#include "core/group/membership.h"
#include "core/io/output.h"

namespace tk {
namespace {

using Kind = RebalanceStep::Kind;

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || !is_utf8(name.data())) return "localhost";
  return name.data();
}

class Rebalance {
 public:
  Rebalance(const RebalanceOptions& options, const Store& store, Context& context)
      : options_(options), store_(store), logs_(store), context_(context) {}

  void run();

 private:
  void take_steps(GroupTurn& turn);
  MemberReply take_step(GroupTurn& turn, const RebalanceStep& step);
  MemberReply join(GroupTurn& turn, const RebalanceStep& step);
  MemberReply heartbeat(GroupTurn& turn, const RebalanceStep& step);
  void warn_of_unknown_topics(const std::vector<std::string>& topics);
  void print() const;
  void print_json(const std::string& id, const GroupMember& member) const;
  [[nodiscard]] std::int64_t moved(const std::string& id, const GroupMember& member) const;

  const RebalanceOptions& options_;
  const Store& store_;
  GroupLogs logs_;
  Context& context_;
  std::map<TopicPartition, std::string> before_;
  GroupState after_;
  std::map<std::string, MemberReply> replies_;
  bool clock_regressed_ = false;
};

void Rebalance::warn_of_unknown_topics(const std::vector<std::string>& topics) {
  for (const std::string& topic : topics) {
    if (store_.find(topic) != nullptr) continue;
    std::vector<std::string> names;
    for (const TopicInfo& known : store_.topics()) names.push_back(known.name);
    const auto nearest = nearest_name(topic, names);
    context_.diagnostics.warning(
        fmt::format("there is no topic '{}'{}: its partitions are given out once there is", printable(topic),
                    nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : std::string()));
  }
}

MemberReply Rebalance::join(GroupTurn& turn, const RebalanceStep& step) {
  JoinRequest request;
  request.member = step.member;
  request.instance = options_.instance;
  request.topics = step.topics.empty() ? options_.topics : step.topics;
  request.protocol = options_.protocol;
  request.assignor = options_.assignor;
  request.session_timeout_ms = options_.session_timeout_ms;
  request.rebalance_timeout_ms = options_.max_poll_interval_ms;
  request.client = "tk";
  request.host = host_name();
  warn_of_unknown_topics(request.topics);
  return tk::join(turn, request);
}

MemberReply Rebalance::heartbeat(GroupTurn& turn, const RebalanceStep& step) {
  const bool known = turn.group.members.contains(step.member);
  if (options_.epoch == 0 && !known) return join(turn, step);
  if (options_.epoch == -1) return leave(turn, {.member = step.member, .instance = options_.instance});
  const auto generation = options_.epoch ? options_.epoch : options_.generation;
  return tk::heartbeat(turn, {.member = step.member,
                              .instance = options_.instance,
                              .generation = generation,
                              .owned = options_.owned,
                              .polls = false});
}

MemberReply Rebalance::take_step(GroupTurn& turn, const RebalanceStep& step) {
  switch (step.kind) {
    case Kind::join:
      return join(turn, step);
    case Kind::heartbeat:
      return heartbeat(turn, step);
    case Kind::leave:
      return leave(turn, {.member = step.member,
                          .instance = step.leaving_instance ? step.leaving_instance : options_.instance});
    case Kind::sync_group:
      return sync(turn, {.member = step.member,
                         .instance = options_.instance,
                         .generation = options_.generation,
                         .owned = {}});
  }
  return {};
}

void Rebalance::take_steps(GroupTurn& turn) {
  const bool joins = std::ranges::any_of(options_.steps, [&](const RebalanceStep& step) {
    return step.kind == Kind::join || (step.kind == Kind::heartbeat && options_.epoch == 0);
  });
  if (!turn.exists && !joins) throw open_groups(context_).unknown_group(options_.group);
  if (turn.before != nullptr) before_ = holders(*turn.before);
  if (options_.expire) notice_partitions(turn);
  for (const RebalanceStep& step : options_.steps) {
    MemberReply reply = take_step(turn, step);
    replies_[reply.member] = std::move(reply);
  }
  after_ = turn.group;
}

std::int64_t Rebalance::moved(const std::string& id, const GroupMember& member) const {
  return std::ranges::count_if(member.assignment, [&](const TopicPartition& partition) {
    const auto owner = before_.find(partition);
    return owner != before_.end() && owner->second != id;
  });
}

void Rebalance::print_json(const std::string& id, const GroupMember& member) const {
  const bool epochs = after_.protocol == GroupProtocol::consumer;
  const auto reply = replies_.find(id);
  TextBuffer text;
  JsonLine line(text);
  line.text("group", after_.group).number("generation", after_.generation);
  line.text_or_null("assignor",
                    after_.assignor ? std::optional(assignor_name(*after_.assignor)) : std::nullopt);
  line.text("member", id).raw("partitions", partitions_array(member.assignment));
  line.raw("revoking", partitions_array(member.revoking)).number("moved", moved(id, member));
  line.number_or_null("member_epoch", epochs ? std::optional<std::int64_t>(member.epoch) : std::nullopt);
  line.text("state", group_phase_name(after_.phase)).text("status", member_status(after_, id));
  line.text_or_null("leader", text_if(after_.leader));
  if (reply != replies_.end() && reply->second.skip_assignment) line.boolean("skip_assignment", true);
  if (reply != replies_.end() && reply->second.subscription_changed_without_rebalance) {
    line.boolean("subscription_changed_without_rebalance", true);
  }
  if (clock_regressed_) line.boolean("clock_regressed", true);
  line.end();
  context_.out.write({text.data(), text.size()});
}

void Rebalance::print() const {
  if (context_.json) {
    for (const auto& [id, member] : after_.members) print_json(id, member);
    return;
  }
  Table table({{"GROUP"},
               {"GENERATION", true},
               {"ASSIGNOR"},
               {"MEMBER"},
               {"EPOCH", true},
               {"STATUS"},
               {"MOVED", true},
               {"PARTITIONS"},
               {"REVOKING"}});
  for (const auto& [id, member] : after_.members) {
    const bool epochs = after_.protocol == GroupProtocol::consumer;
    table.add({after_.group, std::to_string(after_.generation),
               after_.assignor ? std::string(assignor_name(*after_.assignor)) : "-", id,
               epochs ? std::to_string(member.epoch) : "-", member_status(after_, id),
               std::to_string(moved(id, member)), partitions_text(member.assignment),
               partitions_text(member.revoking)});
  }
  context_.out.write(table.text());
}

void Rebalance::run() {
  GroupStore groups = open_groups(context_, options_.sync);
  const auto outcome = groups.change(options_.group, logs_, [this](GroupTurn& turn) { take_steps(turn); });
  clock_regressed_ = outcome.clock_regressed;
  report_outcome(outcome, options_.group, context_);
  print();
  if (after_.members.empty()) {
    context_.diagnostics.note(fmt::format("group '{}' has no members; generation {}",
                                          printable(options_.group), after_.generation));
  }
  for (const RebalanceStep& step : options_.steps) {
    const auto reply = replies_.find(step.member);
    if (step.kind != Kind::heartbeat || reply == replies_.end()) continue;
    if (reply->second.status != "rebalance_in_progress") continue;
    // Its session is renewed all the same.
    context_.diagnostics.error(Error(ErrorCode::rebalance_in_progress,
                                     fmt::format("group '{}' rebalances: '{}' has to join again",
                                                 printable(options_.group), printable(step.member))));
  }
  for (const auto& [id, reply] : replies_) {
    if (!reply.subscription_changed_without_rebalance) continue;
    context_.diagnostics.note(fmt::format(
        "'{}' has other topics now, and keeps what it has until the next rebalance", printable(id)));
  }
}

}  // namespace

int run_rebalance(const RebalanceOptions& options, Context& context) {
  if (options.preview) return run_rebalance_preview(options, context);
  // Only who joins may make a directory: by name, or with the first heartbeat of the consumer protocol.
  const bool joins = std::ranges::any_of(options.steps, [&](const RebalanceStep& step) {
    return step.kind == RebalanceStep::Kind::join ||
           (step.kind == RebalanceStep::Kind::heartbeat && options.epoch.has_value());
  });
  if (!joins) static_cast<void>(Store::open(context.fs, context.directory, {}));
  const Store store = open_store_for_writing(context);
  refuse_brokers_group(options.group, store, open_groups(context), context);
  Rebalance(options, store, context).run();
  return context.diagnostics.exit_code();
}

}  // namespace tk
