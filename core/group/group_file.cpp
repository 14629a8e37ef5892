// Writes a group's state as text.
#include "core/group/group_file.h"

#include <fmt/format.h>

#include "core/base/crc.h"
#include "core/base/json_writer.h"

namespace tk {
namespace {

/// Writes members of objects one after the other; the caller opens and closes what lies within.
class Writer {
 public:
  void open(char bracket) {
    comma();
    to_.push_back(bracket);
    first_ = true;
  }
  void close(char bracket) {
    to_.push_back(bracket);
    first_ = false;
  }
  Writer& name(std::string_view name) {
    comma();
    append_json_string(to_, name);
    to_.push_back(':');
    first_ = true;
    return *this;
  }

  void value(std::int64_t number) {
    comma();
    append_number(to_, number);
  }
  void value(std::string_view text) {
    comma();
    append_json_string(to_, text);
  }
  void literal(std::string_view text) {
    comma();
    append(to_, text);
  }

  void number(std::string_view member, std::int64_t number) { name(member).value(number); }
  void number(std::string_view member, const std::optional<std::int64_t>& number) {
    number ? name(member).value(*number) : name(member).literal("null");
  }
  void text(std::string_view member, std::string_view text) { name(member).value(text); }
  void text_or_null(std::string_view member, const std::optional<std::string>& text) {
    text ? name(member).value(std::string_view(*text)) : name(member).literal("null");
  }
  void boolean(std::string_view member, bool value) { name(member).literal(value ? "true" : "false"); }

  /// {"t":[0,1,2]}
  void partitions(const PartitionList& list) {
    open('{');
    const std::string* topic = nullptr;
    for (const TopicPartition& partition : list) {
      if (topic == nullptr || *topic != partition.topic) {
        if (topic != nullptr) close(']');
        topic = &partition.topic;
        name(*topic).open('[');
      }
      value(partition.partition.value());
    }
    if (topic != nullptr) close(']');
    close('}');
  }

  /// {"t":{"0":...}} with `each` writing what stands for a partition.
  template <class Map, class Each>
  void by_partition(const Map& map, Each each) {
    open('{');
    const std::string* topic = nullptr;
    for (const auto& [partition, entry] : map) {
      if (topic == nullptr || *topic != partition.topic) {
        if (topic != nullptr) close('}');
        topic = &partition.topic;
        name(*topic).open('{');
      }
      name(std::to_string(partition.partition.value()));
      each(entry);
    }
    if (topic != nullptr) close('}');
    close('}');
  }

  [[nodiscard]] std::string take() const { return {to_.begin(), to_.end()}; }

 private:
  void comma() {
    if (!first_) to_.push_back(',');
    first_ = false;
  }

  TextBuffer to_;
  bool first_ = true;
};

std::string base64(std::string_view bytes) {
  TextBuffer text;
  append_base64(text, bytes);
  return {text.begin(), text.end()};
}

void write_timers(Writer& out, const RebalanceTimers& timers) {
  out.name("rebalance").open('{');
  out.boolean("initial", timers.initial);
  out.number("join_deadline_ms", timers.join_deadline_ms);
  out.number("delay_ms", timers.delay_ms);
  out.number("remaining_ms", timers.remaining_ms);
  out.boolean("new_member_added", timers.new_member_added);
  out.number("sync_deadline_ms", timers.sync_deadline_ms);
  out.name("pending_sync").open('[');
  for (const std::string& id : timers.pending_sync) out.value(id);
  out.close(']');
  out.close('}');
}

void write_member(Writer& out, const GroupMember& member, bool epochs) {
  out.open('{');
  if (member.over_wire) out.boolean("over_wire", true);
  out.number("number", member.number);
  out.text_or_null("instance", member.instance);
  out.text("client", member.client);
  out.text("host", member.host);
  out.name("topics").open('[');
  for (const std::string& topic : member.topics) out.value(topic);
  out.close(']');
  out.name("protocols").open('[');
  for (const Assignor assignor : member.assignors) out.value(assignor_name(assignor));
  out.close(']');
  if (!member.wire_protocols.empty()) {
    out.name("metadata_b64").open('{');
    for (const WireProtocol& protocol : member.wire_protocols)
      out.text(protocol.name, base64(protocol.metadata));
    out.close('}');
    out.text("assignment_b64", base64(member.wire_assignment));
  }
  out.number("session_timeout_ms", member.session_timeout_ms);
  out.number("rebalance_timeout_ms", member.rebalance_timeout_ms);
  out.number("session_deadline_ms", member.session_deadline_ms);
  out.number("poll_deadline_ms", member.poll_deadline_ms);
  out.boolean("poll_expired", member.poll_expired);
  out.boolean("awaiting_join", member.awaiting_join);
  out.boolean("is_new", member.is_new);
  out.number("owned_generation", member.owned_generation);
  out.name("assignment").partitions(member.assignment);
  if (epochs) {
    out.number("epoch", std::int64_t{member.epoch});
    out.number("previous_epoch", std::int64_t{member.previous_epoch});
    out.text("member_state", member_phase_name(member.phase));
  } else {
    for (const char* none : {"epoch", "previous_epoch", "member_state"}) out.name(none).literal("null");
  }
  out.name("revoking").partitions(member.revoking);
  out.number("revoke_deadline_ms", member.revoke_deadline_ms);
  out.close('}');
}

void write_target(Writer& out, const GroupState& group) {
  if (group.protocol != GroupProtocol::consumer) {
    for (const char* none : {"group_epoch", "target_epoch", "target"}) out.name(none).literal("null");
    return;
  }
  out.number("group_epoch", group.generation);
  out.number("target_epoch", group.target_epoch);
  out.name("target").open('{');
  for (const auto& [id, partitions] : group.target) out.name(id).partitions(partitions);
  out.close('}');
}

void write_offset(Writer& out, const CommittedOffset& offset) {
  out.open('{');
  out.number("offset", offset.offset);
  if (offset.topic_id) out.text("topic_id", offset.topic_id->text());
  out.number("leader_epoch", std::int64_t{offset.leader_epoch});
  out.text("metadata", offset.metadata);
  out.number("commit_ts_ms", offset.commit_ts_ms);
  out.number("commit_seq", offset.commit_seq);
  out.text("member", offset.member);
  out.number("generation", offset.generation);
  if (offset.expire_ts_ms) out.number("expire_ts_ms", *offset.expire_ts_ms);
  out.close('}');
}

void write_pending(Writer& out, const GroupState& group) {
  out.name("pending_txn").open('{');
  for (const auto& [producer, pending] : group.pending_txn) {
    out.name(std::to_string(producer)).open('{');
    out.number("epoch", std::int64_t{pending.epoch});
    out.name("offsets").by_partition(pending.offsets,
                                     [&](const CommittedOffset& offset) { write_offset(out, offset); });
    out.close('}');
  }
  out.close('}');
}

void write_cost(Writer& out, const std::optional<RebalanceCost>& cost) {
  if (!cost) return out.name("last_rebalance").literal("null");
  out.name("last_rebalance").open('{');
  out.number("moved", cost->moved);
  out.number("forced", cost->forced);
  out.number("kept", cost->kept);
  out.number("added", cost->added);
  out.number("orphaned", cost->orphaned);
  out.number("spread", cost->spread);
  out.number("stopped", cost->stopped);
  out.number("least_moved", cost->least_moved);
  out.close('}');
}

void write_head(Writer& out, const GroupState& group) {
  out.number("format", 1);
  out.text("group", group.group);
  out.number("seq", group.seq);
  out.number("last_now_ms", group.last_now_ms);
  out.text("protocol", group_protocol_name(group.protocol));
  out.text("protocol_type", group.had_members ? "consumer" : "");
  out.text("state", group_phase_name(group.phase));
  out.number("state_since_ms", group.state_since_ms);
  out.number("generation", group.generation);
  if (group.assignor) {
    out.text("assignor", assignor_name(*group.assignor));
  } else {
    out.name("assignor").literal("null");
  }
  if (!group.wire_type.empty()) out.text("wire_type", group.wire_type);
  if (!group.wire_protocol.empty()) out.text("wire_protocol", group.wire_protocol);
  group.leader.empty() ? out.name("leader").literal("null") : out.text("leader", group.leader);
  out.number("next_member_seq", group.next_member_seq);
  out.number("next_commit_seq", group.next_commit_seq);
  out.name("static").open('{');
  for (const auto& [instance, id] : group.static_members) out.text(instance, id);
  out.close('}');
  out.name("pending").open('{');
  for (const auto& [id, until] : group.pending_members) out.number(id, until);
  out.close('}');
  out.name("partition_counts").open('{');
  for (const auto& [topic, count] : group.partition_counts) out.number(topic, std::int64_t{count});
  out.close('}');
}

}  // namespace

std::string format_group_file(const GroupState& group) {
  Writer out;
  out.open('{');
  write_head(out, group);
  write_timers(out, group.rebalance);
  out.name("members").open('{');
  for (const auto& [id, member] : group.members) {
    out.name(id);
    write_member(out, member, group.protocol == GroupProtocol::consumer);
  }
  out.close('}');
  write_target(out, group);
  out.name("offsets").by_partition(group.offsets,
                                   [&](const CommittedOffset& offset) { write_offset(out, offset); });
  write_pending(out, group);
  write_cost(out, group.cost);
  std::string text = out.take();
  text += fmt::format(",\"crc32c\":\"{:08x}\"}}\n", crc32c(as_bytes(text)));
  return text;
}

}  // namespace tk
