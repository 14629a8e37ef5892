#include "core/group/group_json.h"

#include <set>

#include "core/catalog/topic_name.h"

namespace tk {

std::string names_array(const std::vector<std::string>& names) {
  TextBuffer out;
  out.push_back('[');
  for (const std::string& name : names) {
    if (out.size() > 1) out.push_back(',');
    append_json_string(out, name);
  }
  out.push_back(']');
  return {out.begin(), out.end()};
}

std::string partitions_array(const PartitionList& partitions) {
  std::vector<std::string> names;
  for (const TopicPartition& partition : partitions)
    names.push_back(partition_directory_name(partition.topic, partition.partition));
  return names_array(names);
}

std::vector<std::string> topics_of(const GroupState& group) {
  std::set<std::string> topics;
  for (std::string& topic : subscribed_topics(group)) topics.insert(std::move(topic));
  for (const auto& [partition, offset] : group.offsets) topics.insert(partition.topic);
  return {topics.begin(), topics.end()};
}

void member_json(JsonLine& line, const GroupState& group, const std::string& id, const GroupMember& member) {
  const bool epochs = group.protocol == GroupProtocol::consumer;
  line.text("group", group.group)
      .text("member", id)
      .text_or_null("instance",
                    member.instance ? std::optional<std::string_view>(*member.instance) : std::nullopt)
      .number("generation", group.generation)
      .number_or_null("member_epoch", epochs ? std::optional<std::int64_t>(member.epoch) : std::nullopt)
      .raw("topics", names_array(member.topics))
      .raw("partitions", partitions_array(member.assignment))
      .raw("revoking", partitions_array(member.revoking))
      .number_or_null("session_deadline", member.session_deadline_ms)
      .number_or_null("poll_deadline", member.poll_deadline_ms)
      .text("client", member.client)
      .text("host", member.host);
}

void commit_json(JsonLine& line, const std::string& group, const CommittedRow& row) {
  line.text("group", group)
      .text("topic", row.partition.topic)
      .number("partition", row.partition.partition.value())
      .number("offset", row.offset)
      .number_or_null("previous", row.previous)
      .boolean("went_back", row.went_back)
      .boolean("above_hw", row.above_high_watermark)
      .boolean("not_owner", row.not_owner);
}

}  // namespace tk
