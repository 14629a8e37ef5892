// ConsumerGroupHeartbeat: the one request by which members of the consumer protocol join, stay and leave
// (KIP-848, serve.md §2.7).
#include <fmt/format.h>

#include <algorithm>

#include "core/net/groups.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"

namespace tk::kafka {
namespace {

constexpr std::int32_t kHeartbeatIntervalMs = 5000;
constexpr std::int64_t kSessionMs = 45000;
/// Where a group begins that a client makes: a broker (4.4, ModernGroup) begins at 1, so that the first
/// member gets epoch 2.
constexpr std::int64_t kFirstEpoch = 1;

using Request = ConsumerGroupHeartbeatRequest;
using Response = ConsumerGroupHeartbeatResponse;

struct Beat {
  Request request;
  Response answer;
  std::shared_ptr<const net::Catalog> catalog;
  std::string client;
  std::string host;
};

/// The topics that a regular expression stands for: a plain name, or one with ".*" at its end. Nothing: it is
/// more than that, and there is no engine here whose time is bounded (serve.md §2.7).
std::optional<std::vector<std::string>> topics_of_regex(const std::string& regex,
                                                        const net::Catalog& catalog) {
  const bool prefix = regex.ends_with(".*");
  const std::string text = prefix ? regex.substr(0, regex.size() - 2) : regex;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '.' || text[i + 1] == '-'))
      ++i;
    else if (std::string_view("^$.|?*+()[]{}\\").find(text[i]) != std::string_view::npos)
      return std::nullopt;
    plain += text[i];
  }
  std::vector<std::string> topics;
  for (const auto& [name, topic] : catalog.topics()) {
    if (prefix ? name.starts_with(plain) && !topic->internal() : name == plain) topics.push_back(name);
  }
  return topics;
}

PartitionList owned_of(const Beat& beat) {
  PartitionList owned;
  for (const auto& topic : *beat.request.topic_partitions) {
    const auto found = beat.catalog->find(topic.topic_id);
    if (!found) continue;
    for (const std::int32_t number : topic.partitions) owned.push_back({found->name, PartitionId(number)});
  }
  sort_and_unite(owned);
  return owned;
}

void fill_assignment(const PartitionList& partitions, Beat& beat) {
  auto& out = beat.answer.assignment.emplace();
  for (const TopicPartition& partition : partitions) {
    const auto topic = beat.catalog->find(partition.topic);
    if (!topic) continue;
    if (out.topic_partitions.empty() || out.topic_partitions.back().topic_id != topic->id)
      out.topic_partitions.emplace_back().topic_id = topic->id;
    out.topic_partitions.back().partitions.push_back(partition.partition.value());
  }
}

void require_consumer_group(const GroupState& state) {
  if (state.members.empty() || state.protocol == GroupProtocol::consumer) return;
  throw Error(ErrorCode::group_id_not_found, fmt::format("Group {} is not a consumer group.", state.group));
}

/// The topics that the member asks for, by names and by its regular expression, or nothing if it says none.
std::optional<std::vector<std::string>> wanted_topics(Beat& beat, net::Groups::Sent& sent) {
  const Request& request = beat.request;
  if (request.subscribed_topic_regex) {
    sent.regex = request.subscribed_topic_regex->empty() ? std::nullopt : request.subscribed_topic_regex;
  }
  if (!request.subscribed_topic_names && !sent.regex) return std::nullopt;
  std::vector<std::string> topics = request.subscribed_topic_names.value_or(std::vector<std::string>());
  if (sent.regex) {
    const auto more = topics_of_regex(*sent.regex, *beat.catalog);
    topics.insert(topics.end(), more->begin(), more->end());
  }
  sort_and_unite(topics);
  return topics;
}

JoinRequest join_request(const Beat& beat, std::vector<std::string> topics) {
  JoinRequest join;
  join.member = beat.request.member_id;
  join.instance = beat.request.instance_id;
  join.topics = std::move(topics);
  join.protocol = GroupProtocol::consumer;
  if (beat.request.server_assignor) join.assignor = parse_assignor(*beat.request.server_assignor);
  join.session_timeout_ms = kSessionMs;
  if (beat.request.rebalance_timeout_ms >= 0) join.rebalance_timeout_ms = beat.request.rebalance_timeout_ms;
  join.client = beat.client;
  join.host = beat.host;
  join.over_wire = true;
  return join;
}

void stay(GroupTurn& turn, Beat& beat, net::Groups::Sent& sent) {
  const Request& request = beat.request;
  require_member(turn.group, request.member_id, request.instance_id);
  tk::HeartbeatRequest inner;
  inner.member = request.member_id;
  inner.instance = request.instance_id;
  inner.generation = request.member_epoch;
  if (request.topic_partitions) inner.owned = owned_of(beat);
  heartbeat(turn, inner);
  const auto topics = wanted_topics(beat, sent);
  if (topics && *topics != turn.group.members.at(request.member_id).topics)
    join(turn, join_request(beat, *topics));
}

void beat_once(GroupTurn& turn, Beat& beat, net::Groups& groups) {
  const Request& request = beat.request;
  require_consumer_group(turn.group);
  if (request.member_epoch == -1) {
    leave(turn, {request.member_id, request.instance_id});
    return;
  }
  net::Groups::Sent& sent = groups.sent(request.group_id, request.member_id);
  if (request.member_epoch == 0) {
    sent = {};
    GroupState& group = turn.group;
    if (group.members.empty() && group.generation == 0) group.generation = group.target_epoch = kFirstEpoch;
    join(turn, join_request(beat, wanted_topics(beat, sent).value_or(std::vector<std::string>())));
  } else if (request.member_epoch == kEpochAway) {
    tk::HeartbeatRequest away;
    away.member = request.member_id;
    away.instance = request.instance_id;
    away.generation = kEpochAway;
    heartbeat(turn, away);
    return;
  } else {
    stay(turn, beat, sent);
  }
  const GroupMember& member = turn.group.members.at(request.member_id);
  beat.answer.member_epoch = member.epoch;
  const bool full = request.member_epoch == 0 || (request.rebalance_timeout_ms >= 0 &&
                                                  request.subscribed_topic_names && request.topic_partitions);
  if (full || !sent.valid || sent.assignment != member.assignment) {
    fill_assignment(member.assignment, beat);
    sent.assignment = member.assignment;
    sent.valid = true;
  }
}

std::int16_t judge(const Call& call, const Request& request, const net::Catalog& catalog,
                   std::string& message) {
  const auto refuse = [&](std::int16_t code, std::string why) {
    message = std::move(why);
    return code;
  };
  if (request.group_id.empty()) return refuse(kInvalidRequest, "GroupId can't be empty.");
  if (request.member_id.empty() && (call.version() >= 1 || request.member_epoch != 0))
    return refuse(kInvalidRequest, "MemberId can't be empty.");
  if (request.instance_id && request.instance_id->empty())
    return refuse(kInvalidRequest, "InstanceId can't be empty.");
  if (request.member_epoch < -2) return refuse(kInvalidRequest, "MemberEpoch is invalid.");
  if (request.member_epoch == -2 && !request.instance_id)
    return refuse(kInvalidRequest, "InstanceId can't be null.");
  if (request.member_epoch == 0) {
    if (request.rebalance_timeout_ms < 0)
      return refuse(kInvalidRequest, "RebalanceTimeoutMs must be provided in first request.");
    const bool regex = request.subscribed_topic_regex && !request.subscribed_topic_regex->empty();
    if (!request.subscribed_topic_names && !regex)
      return refuse(kInvalidRequest, "Either SubscribedTopicNames or SubscribedTopicRegex must be provided.");
    if (request.topic_partitions && !request.topic_partitions->empty())
      return refuse(kInvalidRequest, "TopicPartitions must be empty when (re-)joining.");
  }
  if (request.server_assignor && *request.server_assignor != "uniform" && *request.server_assignor != "range")
    return refuse(kUnsupportedAssignor,
                  fmt::format("ServerAssignor {} is not supported. Supported assignors: uniform, range.",
                              *request.server_assignor));
  if (request.subscribed_topic_regex && !request.subscribed_topic_regex->empty() &&
      !topics_of_regex(*request.subscribed_topic_regex, catalog))
    return refuse(kInvalidRegularExpression, "only a name, or one with .* at its end, is taken here");
  return kNone;
}

}  // namespace

void handle_consumer_group_heartbeat(const CallPtr& call, Request request) {
  const auto beat = std::make_shared<Beat>();
  beat->request = std::move(request);
  beat->catalog = call->service().catalog();
  beat->client = call->client_id();
  beat->host = "/" + call->peer().address.host;
  Response& answer = beat->answer;
  const auto refuse = [call, beat](std::int16_t error, const std::string& message) {
    Response refused;
    refused.error_code = error;
    refused.error_message = message;
    refused.member_epoch = 0;
    call->note_error(error);
    call->answer(refused);
  };
  std::string message;
  if (const std::int16_t error = judge(*call, beat->request, *beat->catalog, message); error != kNone)
    return refuse(error, message);
  if (beat->request.member_id.empty()) beat->request.member_id = Uuid::random().text();
  answer.member_id = beat->request.member_id;
  answer.member_epoch = beat->request.member_epoch;
  answer.heartbeat_interval_ms = beat->request.member_epoch < 0 ? 0 : kHeartbeatIntervalMs;
  net::Groups& groups = call->service().part<net::Groups>();
  const bool quiet = beat->request.member_epoch > 0;
  groups.change(
      beat->request.group_id, [beat, &groups](GroupTurn& turn) { beat_once(turn, *beat, groups); },
      [call, beat, refuse](const Error* error) {
        if (error != nullptr) return refuse(group_error_of(*error), error->message());
        call->answer(beat->answer);
      },
      quiet);
}

}  // namespace tk::kafka
