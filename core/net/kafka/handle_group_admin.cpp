// What groups there are, and what they are like: ListGroups, DescribeGroups, DeleteGroups,
// ConsumerGroupDescribe.
#include <fmt/format.h>

#include <algorithm>

#include "core/group/commits.h"
#include "core/group/group_name.h"
#include "core/net/groups.h"
#include "core/net/kafka/consumer_protocol.h"
#include "core/net/kafka/handlers.h"
#include "core/net/kafka/topic_lookup.h"
#include "core/net/kafka/unique.h"

namespace tk::kafka {
namespace {

/// READ, DELETE, DESCRIBE, and of the configs.
constexpr std::int32_t kGroupOperations = 3400;

net::Groups& groups_of(const CallPtr& call) {
  return call->service().part<net::Groups>();
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return std::tolower(x) == std::tolower(y); });
}

bool selected(const std::vector<std::string>& filter, std::string_view name) {
  return filter.empty() ||
         std::ranges::any_of(filter, [&](const std::string& one) { return equal_ignoring_case(one, name); });
}

std::string_view type_of(const GroupState& state) {
  return state.protocol == GroupProtocol::consumer ? "consumer" : "classic";
}

std::string protocol_type_of(const GroupState& state) {
  if (!state.had_members) return "";
  return state.wire_type.empty() ? "consumer" : state.wire_type;
}

void describe(const GroupState& state, DescribeGroupsResponse::Group& out) {
  out.group_state = group_phase_name(state.phase);
  out.protocol_type = protocol_type_of(state);
  if (state.members.empty()) return;
  out.protocol_data = state.wire_protocol;
  if (out.protocol_data.empty() && state.assignor) out.protocol_data = assignor_name(*state.assignor);
  for (const auto& [id, member] : state.members) {
    auto& row = out.members.emplace_back();
    row.member_id = id;
    row.group_instance_id = member.instance;
    row.client_id = member.client;
    row.client_host = member.host.starts_with('/') ? member.host : "/" + member.host;
    if (member.wire_protocols.empty()) {
      row.member_metadata.data = write_subscription(member.topics);
      row.member_assignment.data = write_assignment(member.assignment);
      continue;
    }
    for (const WireProtocol& protocol : member.wire_protocols) {
      if (protocol.name == state.wire_protocol) row.member_metadata.data = protocol.metadata;
    }
    row.member_assignment.data = member.wire_assignment;
  }
}

template <class Assignment>
void fill_assignment(const PartitionList& partitions, const GroupTopics& topics, Assignment& out) {
  for (const TopicPartition& partition : partitions) {
    const auto id = topics.topic_id(partition.topic);
    if (!id) continue;
    if (out.topic_partitions.empty() || out.topic_partitions.back().topic_name != partition.topic) {
      auto& row = out.topic_partitions.emplace_back();
      row.topic_name = partition.topic;
      row.topic_id = *id;
    }
    out.topic_partitions.back().partitions.push_back(partition.partition.value());
  }
}

void describe(const GroupState& state, const GroupTopics& topics, ConsumerGroupDescribeResponse::Group& out) {
  out.group_state = group_phase_name(state.phase);
  out.group_epoch = static_cast<std::int32_t>(state.generation);
  out.assignment_epoch = static_cast<std::int32_t>(state.target_epoch);
  out.assignor_name = state.assignor ? assignor_name(*state.assignor) : "uniform";
  for (const auto& [id, member] : state.members) {
    auto& row = out.members.emplace_back();
    row.member_id = id;
    row.instance_id = member.instance;
    row.member_epoch = member.epoch;
    row.client_id = member.client;
    row.client_host = member.host.starts_with('/') ? member.host : "/" + member.host;
    row.subscribed_topic_names = member.topics;
    row.subscribed_topic_regex = "";
    row.member_type = 1;
    fill_assignment(member.assignment, topics, row.assignment);
    const auto target = state.target.find(id);
    if (target != state.target.end()) fill_assignment(target->second, topics, row.target_assignment);
  }
}

/// Asks for several groups, one after the other; `done` on the loop when all have been looked at.
template <class Look>
void look_at_all(const CallPtr& call, const std::vector<std::string>& names, Look look,
                 std::function<void(std::size_t, const Error&)> failed, std::function<void()> done) {
  const auto left = std::make_shared<std::size_t>(names.size() + 1);
  const auto count_down = [left, done] {
    if (--*left == 0) done();
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    groups_of(call).look(
        names[i], [look, i](const GroupState* state, const GroupTopics& topics) { look(i, state, topics); },
        [count_down, failed, i](const Error* error) {
          if (error != nullptr) failed(i, *error);
          count_down();
        });
  }
  count_down();
}

}  // namespace

void handle_list_groups(const CallPtr& call, ListGroupsRequest request) {
  const auto answer = std::make_shared<ListGroupsResponse>();
  groups_of(call).with_store(
      [answer, request = std::move(request)](GroupStore& store, const GroupTopics& topics) {
        for (const std::string& key : store.keys()) {
          std::optional<GroupState> state;
          try {
            state = store.at_this_moment(store.read_key(key), topics);
          } catch (const Error&) {
            continue;
          }
          if (!state) continue;
          if (!selected(request.states_filter, group_phase_name(state->phase)) ||
              !selected(request.types_filter, type_of(*state)))
            continue;
          auto& row = answer->groups.emplace_back();
          row.group_id = state->group;
          row.protocol_type = protocol_type_of(*state);
          row.group_state = group_phase_name(state->phase);
          row.group_type = type_of(*state);
        }
      },
      [call, answer](const Error* error) {
        if (error != nullptr) answer->error_code = group_error_of(*error);
        call->answer(*answer);
      });
}

void handle_describe_groups(const CallPtr& call, DescribeGroupsRequest request) {
  const auto answer = std::make_shared<DescribeGroupsResponse>();
  keep_first(request.groups);
  for (const std::string& name : request.groups) {
    auto& row = answer->groups.emplace_back();
    row.group_id = name;
    row.group_state = "Dead";
    row.authorized_operations = request.include_authorized_operations ? kGroupOperations : INT32_MIN;
  }
  const std::int16_t version = call->version();
  look_at_all(
      call, request.groups,
      [answer, version](std::size_t i, const GroupState* state, const GroupTopics&) {
        auto& row = answer->groups[i];
        if (state != nullptr && state->protocol != GroupProtocol::consumer) return describe(*state, row);
        if (version < 6) return;
        row.error_code = kGroupIdNotFound;
        row.error_message = fmt::format("Group {} {}", row.group_id,
                                        state == nullptr ? "not found." : "is not a classic group.");
      },
      [answer](std::size_t i, const Error& error) {
        answer->groups[i].error_code = group_error_of(error);
        answer->groups[i].error_message = error.message();
      },
      [call, answer] {
        for (const auto& row : answer->groups) call->note_error(row.error_code);
        call->answer(*answer);
      });
}

void handle_consumer_group_describe(const CallPtr& call, ConsumerGroupDescribeRequest request) {
  const auto answer = std::make_shared<ConsumerGroupDescribeResponse>();
  keep_first(request.group_ids);
  for (const std::string& name : request.group_ids) {
    auto& row = answer->groups.emplace_back();
    row.group_id = name;
    row.authorized_operations = request.include_authorized_operations ? kGroupOperations : INT32_MIN;
  }
  look_at_all(
      call, request.group_ids,
      [answer](std::size_t i, const GroupState* state, const GroupTopics& topics) {
        auto& row = answer->groups[i];
        if (state != nullptr && state->protocol == GroupProtocol::consumer)
          return describe(*state, topics, row);
        row.error_code = kGroupIdNotFound;
        row.error_message = fmt::format("Group {} {}", row.group_id,
                                        state == nullptr ? "not found." : "is not a consumer group.");
      },
      [answer](std::size_t i, const Error& error) {
        answer->groups[i].error_code = group_error_of(error);
        answer->groups[i].error_message = error.message();
      },
      [call, answer] {
        for (const auto& row : answer->groups) call->note_error(row.error_code);
        call->answer(*answer);
      });
}

void handle_delete_groups(const CallPtr& call, DeleteGroupsRequest request) {
  const auto answer = std::make_shared<DeleteGroupsResponse>();
  groups_of(call).with_store(
      [answer, request = std::move(request)](GroupStore& store, const GroupTopics& topics) {
        for (const std::string& name : request.groups_names) {
          auto& row = answer->results.emplace_back();
          row.group_id = name;
          try {
            store.remove(name, topics,
                         [](const GroupState& state) { require_no_members(state, "deleting it"); });
          } catch (const Error& error) {
            row.error_code = group_error_of(error);
            row.error_message = error.message();
          }
        }
      },
      [call, answer](const Error*) {
        for (const auto& row : answer->results) call->note_error(row.error_code);
        call->answer(*answer);
      });
}

}  // namespace tk::kafka
