// Reads a group's state from text, and believes nothing of it.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "core/base/crc.h"
#include "core/base/error.h"
#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/catalog/topics_file.h"
#include "core/group/group_file.h"
#include "core/group/invariants.h"

namespace tk {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostInt32 = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kSumName = ",\"crc32c\":\"";

class Reader {
 public:
  Reader(std::string_view text, const std::string& path) : text_(text), path_(path), in_(text) {}

  GroupState read();

 private:
  [[noreturn]] void refuse_at(std::string message, std::uint64_t position) const;
  [[noreturn]] void refuse(std::string message) const;
  void check_sum() const;
  void check_version(std::int64_t version) const;

  template <class Each>
  void each_member(Each each);
  template <class Each>
  void each_element(Each each);
  std::int64_t number(std::int64_t least = 0, std::int64_t most = kMost);
  std::int32_t small(std::int64_t least = 0) { return static_cast<std::int32_t>(number(least, kMostInt32)); }
  std::optional<std::int64_t> number_or_none(std::int64_t least = 0, std::int64_t most = kMost);
  std::string text();
  std::string base64();
  std::optional<std::string> text_or_none();
  bool boolean();
  template <class T>
  T named(std::optional<T> (*parse)(std::string_view), std::string_view what);
  Assignor assignor();
  std::string topic(std::string_view name) const;
  PartitionId partition_number(std::string_view name) const;
  PartitionList partitions();
  template <class Each>
  void each_partition(Each each);

  bool read_head(std::string_view name);
  bool read_body(std::string_view name);
  void read_timers();
  GroupMember read_member();
  bool read_member_part(std::string_view name, GroupMember& member);
  bool read_member_protocol(std::string_view name, GroupMember& member);
  CommittedOffset read_offset();
  void read_pending();
  void read_cost();

  std::string_view text_;
  const std::string& path_;
  JsonReader in_;
  GroupState group_;
  bool has_version_ = false;
};

void Reader::refuse_at(std::string message, std::uint64_t position) const {
  throw Error(ErrorCode::corrupt_state, std::move(message))
      .at(path_, position)
      .hint("the file was left as it is; 'tk groups delete GROUP' sets it aside, and the group begins anew");
}

void Reader::refuse(std::string message) const {
  // A mistake of the reader came before whatever was found out after it.
  if (!in_.ok()) message = fmt::format("the file is no whole JSON text: {}", in_.error());
  refuse_at(std::move(message), in_.position());
}

// The sum comes first: what is wrong in the bytes may look like anything else.
void Reader::check_sum() const {
  const std::size_t at = text_.rfind(kSumName);
  if (at == std::string_view::npos) return;
  const std::string right = fmt::format("{:08x}\"}}", crc32c(as_bytes(text_.substr(0, at))));
  const std::size_t sum_at = at + kSumName.size();
  std::string_view there = text_.substr(sum_at);
  if (there.ends_with('\n')) there.remove_suffix(1);
  if (there == right) return;
  refuse_at(fmt::format("the file's checksum is wrong: it says {}, its bytes give {}",
                        printable(there.substr(0, 8)), right.substr(0, 8)),
            sum_at);
}

void Reader::check_version(std::int64_t version) const {
  if (version == kVersion) return;
  throw Error(ErrorCode::unsupported_version,
              fmt::format("the file has version {}, and this program knows {}", version, kVersion))
      .at(path_)
      .hint("use the version of tk that wrote it, or a later one");
}

template <class Each>
void Reader::each_member(Each each) {
  if (!in_.enter_object()) refuse("there is no object where one belongs");
  std::string_view name;
  while (in_.next_member(name)) each(name);
  if (!in_.ok()) refuse("");
}

template <class Each>
void Reader::each_element(Each each) {
  if (!in_.enter_array()) refuse("there is no list where one belongs");
  while (in_.next_element()) each();
  if (!in_.ok()) refuse("");
}

std::int64_t Reader::number(std::int64_t least, std::int64_t most) {
  const std::int64_t value = in_.integer();
  if (!in_.ok()) refuse("");
  if (value < least || value > most) refuse(fmt::format("{} is not from {} to {}", value, least, most));
  return value;
}

std::optional<std::int64_t> Reader::number_or_none(std::int64_t least, std::int64_t most) {
  if (in_.null()) return std::nullopt;
  return number(least, most);
}

std::string Reader::text() {
  std::string scratch;
  std::string value(in_.string(scratch));
  if (!in_.ok()) refuse("");
  return value;
}

std::string Reader::base64() {
  auto bytes = decode_base64(text());
  if (!bytes) refuse("bytes that are no base64");
  return std::move(*bytes);
}

std::optional<std::string> Reader::text_or_none() {
  if (in_.null()) return std::nullopt;
  return text();
}

bool Reader::boolean() {
  const bool value = in_.boolean();
  if (!in_.ok()) refuse("");
  return value;
}

template <class T>
T Reader::named(std::optional<T> (*parse)(std::string_view), std::string_view what) {
  const std::string name = text();
  if (const auto value = parse(name)) return *value;
  refuse(fmt::format("'{}' is no {}", printable(name), what));
}

Assignor Reader::assignor() {
  const std::string name = text();
  try {
    return parse_assignor(name);
  } catch (const Error&) {
    refuse(fmt::format("'{}' is no assignor", printable(name)));
  }
}

// Topics are looked up by their names, odd ones too; a name never becomes a path here.
std::string Reader::topic(std::string_view name) const {
  if (name.empty()) refuse("a topic without a name");
  return std::string(name);
}

PartitionId Reader::partition_number(std::string_view name) const {
  const auto value = parse_int(name);
  if (!value || *value < 0 || *value > kMostInt32 || std::to_string(*value) != name) {
    refuse(fmt::format("'{}' is no partition's number", printable(name)));
  }
  return PartitionId(static_cast<std::int32_t>(*value));
}

PartitionList Reader::partitions() {
  PartitionList list;
  each_member([&](std::string_view name) {
    const std::string its_topic = topic(name);
    each_element([&] {
      TopicPartition partition{its_topic, PartitionId(small())};
      if (!list.empty() && list.back() >= partition) refuse("partitions are not in their order");
      list.push_back(std::move(partition));
    });
  });
  return list;
}

template <class Each>
void Reader::each_partition(Each each) {
  each_member([&](std::string_view name) {
    const std::string its_topic = topic(name);
    each_member([&](std::string_view number) { each(TopicPartition{its_topic, partition_number(number)}); });
  });
}

GroupState Reader::read() {
  check_sum();
  each_member([&](std::string_view name) {
    if (name == "format") {
      check_version(number(std::numeric_limits<std::int64_t>::min()));
      has_version_ = true;
    } else if (name == "crc32c") {
      text();
      // Checked by its place, which is the end.
      if (text_.rfind(kSumName) == std::string_view::npos) refuse("the checksum does not stand at the end");
    } else if (!read_head(name) && !read_body(name)) {
      refuse(fmt::format("'{}' is no member of a group's file", printable(name)));
    }
  });
  if (!in_.finish()) refuse("something stands behind the object");
  if (!has_version_) refuse("the file has no \"format\"");
  if (group_.group.empty()) refuse("the file names no group");
  if (const auto fault = broken_invariant(group_)) refuse_at(*fault, 0);
  return std::move(group_);
}

bool Reader::read_head(std::string_view name) {
  if (name == "group") {
    group_.group = text();
  } else if (name == "seq") {
    group_.seq = number();
  } else if (name == "last_now_ms") {
    group_.last_now_ms = number();
  } else if (name == "protocol") {
    group_.protocol = named(parse_group_protocol, "protocol");
  } else if (name == "protocol_type") {
    const std::string type = text();
    if (type != "consumer" && !type.empty()) refuse(fmt::format("protocol type '{}'", printable(type)));
    group_.had_members = !type.empty();
  } else if (name == "state") {
    group_.phase = named(parse_group_phase, "state of a group");
  } else if (name == "state_since_ms") {
    group_.state_since_ms = number();
  } else if (name == "generation") {
    group_.generation = number(0, kMostInt32);
  } else if (name == "assignor") {
    if (!in_.null()) group_.assignor = assignor();
  } else if (name == "wire_type") {
    group_.wire_type = text();
  } else if (name == "wire_protocol") {
    group_.wire_protocol = text();
  } else if (name == "leader") {
    group_.leader = text_or_none().value_or("");
  } else if (name == "next_member_seq") {
    group_.next_member_seq = number();
  } else if (name == "next_commit_seq") {
    group_.next_commit_seq = number();
  } else {
    return false;
  }
  return true;
}

bool Reader::read_body(std::string_view name) {
  const auto once = [&](bool is_new) {
    if (!is_new) refuse("something stands there twice");
  };
  if (name == "static") {
    each_member([&](std::string_view instance) {
      std::string key(instance);
      once(group_.static_members.emplace(std::move(key), text()).second);
    });
  } else if (name == "pending") {
    each_member([&](std::string_view id) {
      std::string key(id);
      once(group_.pending_members.emplace(std::move(key), number()).second);
    });
  } else if (name == "partition_counts") {
    each_member([&](std::string_view its_topic) {
      std::string key = topic(its_topic);
      const auto count = static_cast<std::int32_t>(number(0, kMaxPartitions));
      once(group_.partition_counts.emplace(std::move(key), count).second);
    });
  } else if (name == "rebalance") {
    read_timers();
  } else if (name == "members") {
    each_member([&](std::string_view id) {
      std::string key(id);
      once(group_.members.emplace(std::move(key), read_member()).second);
    });
  } else if (name == "group_epoch") {
    number_or_none();  // the generation
  } else if (name == "target_epoch") {
    group_.target_epoch = number_or_none(0, kMostInt32).value_or(0);
  } else if (name == "target") {
    if (in_.null()) return true;
    each_member([&](std::string_view id) {
      std::string key(id);
      once(group_.target.emplace(std::move(key), partitions()).second);
    });
  } else if (name == "offsets") {
    each_partition([&](TopicPartition partition) {
      once(group_.offsets.emplace(std::move(partition), read_offset()).second);
    });
  } else if (name == "pending_txn") {
    read_pending();
  } else if (name == "last_rebalance") {
    read_cost();
  } else {
    return false;
  }
  return true;
}

void Reader::read_timers() {
  RebalanceTimers& timers = group_.rebalance;
  each_member([&](std::string_view name) {
    if (name == "initial") {
      timers.initial = boolean();
    } else if (name == "join_deadline_ms") {
      timers.join_deadline_ms = number_or_none();
    } else if (name == "delay_ms") {
      timers.delay_ms = number();
    } else if (name == "remaining_ms") {
      timers.remaining_ms = number();
    } else if (name == "new_member_added") {
      timers.new_member_added = boolean();
    } else if (name == "sync_deadline_ms") {
      timers.sync_deadline_ms = number_or_none();
    } else if (name == "pending_sync") {
      each_element([&] { timers.pending_sync.insert(text()); });
    } else {
      refuse(fmt::format("'{}' is no member of a rebalance", printable(name)));
    }
  });
}

GroupMember Reader::read_member() {
  GroupMember member;
  each_member([&](std::string_view name) {
    if (!read_member_part(name, member) && !read_member_protocol(name, member)) {
      refuse(fmt::format("'{}' is no part of a group's member", printable(name)));
    }
  });
  return member;
}

bool Reader::read_member_part(std::string_view name, GroupMember& member) {
  if (name == "number") {
    member.number = number(0, kMostInt32);
  } else if (name == "instance") {
    member.instance = text_or_none();
  } else if (name == "client") {
    member.client = text();
  } else if (name == "host") {
    member.host = text();
  } else if (name == "topics") {
    each_element([&] {
      std::string next = topic(text());
      if (!member.topics.empty() && member.topics.back() >= next) refuse("topics are not in their order");
      member.topics.push_back(std::move(next));
    });
  } else if (name == "protocols") {
    each_element([&] { member.assignors.push_back(assignor()); });
  } else if (name == "over_wire") {
    member.over_wire = boolean();
  } else if (name == "metadata_b64") {
    each_member([&](std::string_view protocol) {
      std::string its_name(protocol);
      member.wire_protocols.push_back({std::move(its_name), base64()});
    });
  } else if (name == "assignment_b64") {
    member.wire_assignment = base64();
  } else if (name == "session_timeout_ms") {
    member.session_timeout_ms = number();
  } else if (name == "rebalance_timeout_ms") {
    member.rebalance_timeout_ms = number();
  } else if (name == "session_deadline_ms") {
    member.session_deadline_ms = number_or_none();
  } else if (name == "poll_deadline_ms") {
    member.poll_deadline_ms = number_or_none();
  } else if (name == "poll_expired") {
    member.poll_expired = boolean();
  } else {
    return false;
  }
  return true;
}

bool Reader::read_member_protocol(std::string_view name, GroupMember& member) {
  if (name == "awaiting_join") {
    member.awaiting_join = boolean();
  } else if (name == "is_new") {
    member.is_new = boolean();
  } else if (name == "owned_generation") {
    member.owned_generation = number(-1, kMostInt32);
  } else if (name == "assignment") {
    member.assignment = partitions();
  } else if (name == "revoking") {
    member.revoking = partitions();
  } else if (name == "revoke_deadline_ms") {
    member.revoke_deadline_ms = number_or_none();
  } else if (name == "epoch") {
    member.epoch = static_cast<std::int32_t>(number_or_none(kEpochAway, kMostInt32).value_or(0));
  } else if (name == "previous_epoch") {
    member.previous_epoch = static_cast<std::int32_t>(number_or_none(kEpochAway, kMostInt32).value_or(0));
  } else if (name == "member_state") {
    if (!in_.null()) member.phase = named(parse_member_phase, "state of a member");
  } else {
    return false;
  }
  return true;
}

CommittedOffset Reader::read_offset() {
  CommittedOffset offset;
  each_member([&](std::string_view name) {
    if (name == "offset") {
      offset.offset = number(std::numeric_limits<std::int64_t>::min());
    } else if (name == "topic_id") {
      offset.topic_id = named(Uuid::parse, "topic id");
    } else if (name == "leader_epoch") {
      offset.leader_epoch = small(-1);
    } else if (name == "metadata") {
      offset.metadata = text();
    } else if (name == "commit_ts_ms") {
      offset.commit_ts_ms = number();
    } else if (name == "commit_seq") {
      offset.commit_seq = number();
    } else if (name == "member") {
      offset.member = text();
    } else if (name == "generation") {
      offset.generation = number(kEpochAway);
    } else if (name == "expire_ts_ms") {
      offset.expire_ts_ms = number_or_none();
    } else {
      refuse(fmt::format("'{}' is no part of a committed offset", printable(name)));
    }
  });
  return offset;
}

void Reader::read_pending() {
  each_member([&](std::string_view producer) {
    const auto id = parse_int(producer);
    if (!id) refuse(fmt::format("'{}' is no producer's id", printable(producer)));
    PendingTransaction& pending = group_.pending_txn[*id];
    each_member([&](std::string_view name) {
      if (name == "epoch") {
        pending.epoch = small();
      } else if (name == "offsets") {
        each_partition([&](TopicPartition partition) {
          pending.offsets.insert_or_assign(std::move(partition), read_offset());
        });
      } else {
        refuse(fmt::format("'{}' is no part of a pending commit", printable(name)));
      }
    });
  });
}

void Reader::read_cost() {
  if (in_.null()) return;
  RebalanceCost cost;
  const std::pair<std::string_view, std::int64_t*> parts[] = {
      {"moved", &cost.moved},    {"forced", &cost.forced},     {"kept", &cost.kept},
      {"added", &cost.added},    {"orphaned", &cost.orphaned}, {"spread", &cost.spread},
      {"stopped", &cost.stopped}};
  each_member([&](std::string_view name) {
    if (name == "least_moved") {
      cost.least_moved = number_or_none();
      return;
    }
    for (const auto& [part, to] : parts) {
      if (part != name) continue;
      *to = number();
      return;
    }
    refuse(fmt::format("'{}' is no part of a rebalance's cost", printable(name)));
  });
  cost.voluntary = cost.moved - cost.forced;
  group_.cost = cost;
}

}  // namespace

GroupState parse_group_file(std::string_view text, const std::string& path) {
  return Reader(text, path).read();
}

}  // namespace tk
