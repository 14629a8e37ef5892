#include "core/group/broker_groups.h"

#include <algorithm>

#include "core/format/internal_record.h"

namespace tk {
namespace {

/// Types of keys (§13.1).
enum KeyType : std::int32_t {
  kLegacyCommit = 0,
  kCommit = 1,
  kClassicGroup = 2,
  kConsumerGroup = 3,
  kConsumerMember = 5,
  kConsumerTarget = 6,
  kConsumerTargetMember = 7,
  kConsumerCurrent = 8,
  kShareMember = 10,
  kShareGroup = 11,
  kShareTarget = 12,
  kShareTargetMember = 13,
  kShareCurrent = 14,
  kExpression = 16,
  kStreamsGroup = 17,
  kStreamsMember = 19,
  kStreamsTarget = 20,
  kStreamsTargetMember = 21,
  kStreamsCurrent = 22,
};

constexpr std::string_view kDefaultServerAssignor = "uniform";

std::optional<Assignor> known_assignor(const std::string& name) {
  for (const std::string& known : assignor_names()) {
    if (known == name) return parse_assignor(name);
  }
  return std::nullopt;
}

std::string text_or_empty(const SchemaValue* value) {
  return value != nullptr && value->has_value() ? value->text() : std::string();
}

/// A message of the consumer protocol behind its version; nothing if it is none.
std::optional<SchemaValue> protocol_message(std::string_view name, const std::string& bytes) {
  ByteReader reader(as_bytes(bytes));
  const auto version = reader.be<std::int16_t>();
  const SchemaRecord* const record = internal_schemas().record(name);
  if (!reader.ok() || version < 0 || record == nullptr) return std::nullopt;
  const SchemaType* const type = internal_schemas().find(name, std::min<int>(version, record->highest));
  SchemaValue value;
  std::size_t used = 0;
  if (type == nullptr || decode_schema_prefix(*type, as_bytes(bytes).subspan(2), value, used))
    return std::nullopt;
  return value;
}

GroupMember classic_member(const SchemaValue& from, bool reads) {
  GroupMember member;
  member.client = from["client_id"].text();
  member.host = from["client_host"].text();
  member.session_timeout_ms = from["session_timeout"].integer();
  const SchemaValue* const rebalance = from.find("rebalance_timeout");
  member.rebalance_timeout_ms = rebalance != nullptr ? rebalance->integer() : member.session_timeout_ms;
  const std::string instance = text_or_empty(from.find("group_instance_id"));
  if (!instance.empty()) member.instance = instance;
  if (!reads) return member;
  if (const auto subscription =
          protocol_message("ConsumerProtocolSubscription", from["subscription"].bytes())) {
    for (const SchemaValue& topic : (*subscription)["topics"].array()) member.topics.push_back(topic.text());
    sort_and_unite(member.topics);
  }
  if (const auto assignment = protocol_message("ConsumerProtocolAssignment", from["assignment"].bytes())) {
    for (const SchemaValue& topic : (*assignment)["assigned_partitions"].array()) {
      for (const std::int32_t partition : topic["partitions"].int32s())
        member.assignment.push_back({topic["topic"].text(), PartitionId(partition)});
    }
    sort_and_unite(member.assignment);
  }
  return member;
}

/// Partitions by topic id.
PartitionList partitions_of(const SchemaValue& topics, const BrokerGroupReplay::TopicName& topic_name) {
  PartitionList list;
  for (const SchemaValue& topic : topics.array()) {
    std::string name = topic_name(topic["topic_id"].uuid());
    if (name.empty()) name = topic["topic_id"].uuid().text();
    for (const std::int32_t partition : topic["partitions"].int32s())
      list.push_back({name, PartitionId(partition)});
  }
  sort_and_unite(list);
  return list;
}

}  // namespace

std::string_view broker_group_type_name(BrokerGroupType type) {
  constexpr std::string_view names[] = {"classic", "consumer", "share", "streams"};
  return names[static_cast<std::size_t>(type)];
}

// A commit of a transaction settles late: one that is newer in the log stays.
void BrokerGroupReplay::take_commit(Raw& group, const SchemaValue& key, const SchemaValue* value,
                                    Offset offset) {
  const TopicPartition partition{key["topic"].text(), PartitionId(key["partition"].int32())};
  const auto known = group.offsets.find(partition);
  if (known != group.offsets.end() && known->second.at > offset) return;
  if (value == nullptr) {
    group.offsets.erase(partition);
    return;
  }
  Commit commit;
  commit.at = offset;
  commit.committed.offset = (*value)["offset"].integer();
  commit.committed.metadata = (*value)["metadata"].text();
  commit.committed.commit_ts_ms = (*value)["commit_timestamp"].integer();
  if (const SchemaValue* epoch = value->find("leader_epoch")) commit.committed.leader_epoch = epoch->int32();
  if (const SchemaValue* expiry = value->find("expire_timestamp");
      expiry != nullptr && expiry->integer() >= 0)
    commit.committed.expire_ts_ms = expiry->integer();
  if (const SchemaValue* id = value->find("topic_id"); id != nullptr && id->has_value())
    commit.committed.topic_id = id->uuid();
  group.offsets[partition] = std::move(commit);
}

bool BrokerGroupReplay::take_offsets(PartitionId partition, const std::optional<std::string_view>& key,
                                     const std::optional<std::string_view>& value, Offset offset) {
  InternalRecord k, v;
  if (decode_coordinator_key("group", key, k) || k.record == nullptr) return false;
  if (value && (decode_coordinator_value("group", k.type_id, value, v) || v.record == nullptr)) return false;
  const SchemaValue* const id =
      k.value.find("group") != nullptr ? k.value.find("group") : k.value.find("group_id");
  if (id == nullptr) return false;
  Raw& group = groups_[id->text()];
  group.held_by = partition;
  const auto member = [&]() -> Member& { return group.members[k.value["member_id"].text()]; };
  const auto set = [&](std::optional<SchemaValue>& to) {
    to.reset();
    if (value) to = v.value;
  };
  const auto set_epoch = [&](BrokerGroupType type) {
    if (!value) {
      group.epoch_type.reset();
      return;
    }
    group.epoch_type = type;
    group.epoch = v.value["epoch"].int32();
  };
  switch (k.type_id) {
    case kLegacyCommit:
    case kCommit:
      take_commit(group, k.value, value ? &v.value : nullptr, offset);
      break;
    case kClassicGroup:
      set(group.classic);
      break;
    case kConsumerGroup:
      set_epoch(BrokerGroupType::consumer);
      break;
    case kShareGroup:
      set_epoch(BrokerGroupType::share);
      break;
    case kStreamsGroup:
      set_epoch(BrokerGroupType::streams);
      break;
    case kConsumerTarget:
    case kShareTarget:
    case kStreamsTarget:
      group.target_epoch = value ? v.value["assignment_epoch"].int32() : 0;
      break;
    case kConsumerMember:
    case kShareMember:
    case kStreamsMember:
      set(member().metadata);
      break;
    case kConsumerCurrent:
    case kShareCurrent:
    case kStreamsCurrent:
      set(member().current);
      break;
    case kConsumerTargetMember:
    case kShareTargetMember:
    case kStreamsTargetMember:
      set(member().target);
      break;
    case kExpression:
      if (value) {
        group.expressions[k.value["regular_expression"].text()] = v.value;
      } else {
        group.expressions.erase(k.value["regular_expression"].text());
      }
      break;
    default:
      break;  // says nothing that is shown
  }
  std::erase_if(group.members, [](const auto& entry) {
    return !entry.second.metadata && !entry.second.current && !entry.second.target;
  });
  if (!group.exists() && group.share_starts.empty()) groups_.erase(id->text());
  return true;
}

bool BrokerGroupReplay::take_share_state(const std::optional<std::string_view>& key,
                                         const std::optional<std::string_view>& value) {
  InternalRecord k, v;
  if (decode_coordinator_key("share", key, k) || k.record == nullptr) return false;
  if (value && (decode_coordinator_value("share", k.type_id, value, v) || v.record == nullptr)) return false;
  Raw& group = groups_[k.value["group_id"].text()];
  const Uuid& topic = k.value["topic_id"].uuid();
  const std::pair place(topic.text(), k.value["partition"].int32());
  if (!value) {
    group.share_starts.erase(place);
    if (!group.exists() && group.share_starts.empty()) groups_.erase(k.value["group_id"].text());
    return true;
  }
  group.share_topics[place.first] = topic;
  const std::int64_t start = v.value["start_offset"].integer();
  // An update without a start leaves it where it was.
  if (start >= 0) group.share_starts[place] = start;
  return true;
}

BrokerGroup BrokerGroupReplay::classic_group(const Raw& raw) {
  BrokerGroup group;
  group.state.protocol = GroupProtocol::classic;
  if (!raw.classic) return group;
  const SchemaValue& value = *raw.classic;
  group.protocol_type = value["protocol_type"].text();
  group.assignor = text_or_empty(&value["protocol"]);
  group.state.assignor = known_assignor(group.assignor);
  group.state.generation = value["generation"].integer();
  group.state.leader = text_or_empty(&value["leader"]);
  group.state.had_members = !group.protocol_type.empty();
  if (const SchemaValue* since = value.find("current_state_timestamp"))
    group.state.state_since_ms = since->integer();
  const bool reads = group.protocol_type == "consumer";
  for (const SchemaValue& from : value["members"].array()) {
    GroupMember member = classic_member(from, reads);
    if (member.instance) group.state.static_members[*member.instance] = from["member_id"].text();
    group.state.members[from["member_id"].text()] = std::move(member);
  }
  group.state.phase = group.state.members.empty() ? GroupPhase::empty : GroupPhase::stable;
  return group;
}

namespace {

/// What a member of a consumer, share or streams group wrote of itself.
GroupMember epoch_member(const SchemaValue& from, const std::map<std::string, SchemaValue>& expressions) {
  GroupMember member;
  member.client = text_or_empty(from.find("client_id"));
  member.host = text_or_empty(from.find("client_host"));
  const std::string instance = text_or_empty(from.find("instance_id"));
  if (!instance.empty()) member.instance = instance;
  if (const SchemaValue* timeout = from.find("rebalance_timeout_ms"))
    member.rebalance_timeout_ms = timeout->integer();
  if (const SchemaValue* topics = from.find("subscribed_topic_names")) {
    for (const SchemaValue& topic : topics->array()) member.topics.push_back(topic.text());
  }
  const auto resolved = expressions.find(text_or_empty(from.find("subscribed_topic_regex")));
  if (resolved != expressions.end()) {
    for (const SchemaValue& topic : resolved->second["topics"].array()) member.topics.push_back(topic.text());
  }
  sort_and_unite(member.topics);
  return member;
}

void set_current(GroupMember& member, const SchemaValue& current,
                 const BrokerGroupReplay::TopicName& topic_name) {
  member.epoch = current["member_epoch"].int32();
  member.previous_epoch = current["previous_member_epoch"].int32();
  const SchemaValue* const state = current.find("state");
  if (state != nullptr && state->integer() == 1) member.phase = MemberPhase::unrevoked;
  if (state != nullptr && state->integer() == 2) member.phase = MemberPhase::unreleased;
  // A streams member has tasks instead.
  if (const SchemaValue* assigned = current.find("assigned_partitions"))
    member.assignment = partitions_of(*assigned, topic_name);
  if (const SchemaValue* revoking = current.find("partitions_pending_revocation"))
    member.revoking = partitions_of(*revoking, topic_name);
}

}  // namespace

BrokerGroup BrokerGroupReplay::epoch_group(const Raw& raw, const TopicName& topic_name) {
  BrokerGroup group;
  group.type = raw.epoch_type.value_or(BrokerGroupType::consumer);
  GroupState& state = group.state;
  state.protocol = GroupProtocol::consumer;
  state.had_members = true;
  state.generation = raw.epoch;
  state.target_epoch = raw.target_epoch;
  group.protocol_type = broker_group_type_name(group.type);
  std::map<std::string, int> asked;
  bool reconciled = true;
  for (const auto& [id, from] : raw.members) {
    if (!from.metadata) continue;
    GroupMember member = epoch_member(*from.metadata, raw.expressions);
    if (from.current) set_current(member, *from.current, topic_name);
    const std::string server = text_or_empty(from.metadata->find("server_assignor"));
    if (!server.empty()) ++asked[server];
    if (from.target) {
      if (const SchemaValue* partitions = from.target->find("topic_partitions"))
        state.target[id] = partitions_of(*partitions, topic_name);
    }
    reconciled = reconciled && member.epoch == raw.target_epoch && member.phase == MemberPhase::stable;
    if (member.instance) state.static_members[*member.instance] = id;
    state.members[id] = std::move(member);
  }
  if (group.type == BrokerGroupType::consumer) {
    // What most of the members ask for.
    group.assignor = kDefaultServerAssignor;
    const auto most = std::max_element(asked.begin(), asked.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != asked.end()) group.assignor = most->first;
    if (group.assignor == "uniform") state.assignor = Assignor::uniform;
    if (group.assignor == "range") state.assignor = Assignor::server_range;
  }
  if (state.members.empty()) {
    state.phase = GroupPhase::empty;
  } else if (group.type == BrokerGroupType::share) {
    state.phase = GroupPhase::stable;
  } else if (raw.epoch > raw.target_epoch) {
    state.phase = GroupPhase::assigning;
  } else {
    state.phase = reconciled ? GroupPhase::stable : GroupPhase::reconciling;
  }
  return group;
}

std::map<std::string, BrokerGroup> BrokerGroupReplay::groups(
    const TopicName& topic_name, const std::function<bool(const std::string&)>& held_here) const {
  std::map<std::string, BrokerGroup> groups;
  for (const auto& [id, raw] : groups_) {
    const bool share_only = !raw.exists();
    if (share_only && held_here(id)) continue;
    BrokerGroup group = raw.epoch_type || share_only ? epoch_group(raw, topic_name) : classic_group(raw);
    if (share_only) {
      group.type = BrokerGroupType::share;
      group.protocol_type = "share";
    }
    group.state.group = id;
    group.held_by = raw.held_by;
    for (const auto& [partition, commit] : raw.offsets) group.state.offsets[partition] = commit.committed;
    if (group.type == BrokerGroupType::share) {
      for (const auto& [place, start] : raw.share_starts) {
        const Uuid& topic = raw.share_topics.at(place.first);
        std::string name = topic_name(topic);
        CommittedOffset offset;
        offset.offset = start;
        offset.topic_id = topic;
        group.state.offsets[{name.empty() ? place.first : name, PartitionId(place.second)}] = offset;
      }
    }
    groups.emplace(id, std::move(group));
  }
  return groups;
}

}  // namespace tk
