// The files that a cluster keeps between commands (replication.md §8): tk-cluster.json, and per broker
// tk-broker.json and Kafka's checkpoints.
//
// Order of a save: metadata (written when it was decided), then the logs, then the state files. What a
// process that dies in between leaves is a state that a live cluster may be in: a decision that a broker has
// not heard of, records that nobody was told about. Nothing was acknowledged before the save was over.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/catalog/state_json.h"
#include "core/cluster/cluster.h"
#include "core/format/checkpoint_file.h"
#include "core/format/meta_properties.h"

namespace tk {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kVersion = 1;
constexpr std::int32_t kMostControllers = 9;
constexpr std::string_view kBrokerFile = "tk-broker.json";
constexpr std::string_view kCleanMark = ".kafka_cleanshutdown";
constexpr std::string_view kHighWatermarks = "replication-offset-checkpoint";
constexpr std::string_view kRecoveryPoints = "recovery-point-offset-checkpoint";
constexpr std::string_view kLogStarts = "log-start-offset-checkpoint";
constexpr std::uint64_t kLargestState = 256U << 20;

/// Members of a state file, checked as they are read.
class Members {
 public:
  Members(const Json& json, const StateJson& state, std::string what)
      : json_(json), state_(state), what_(std::move(what)) {
    if (!json_.is_object()) state_.refuse(fmt::format("{} is no object", what_));
  }
  [[nodiscard]] bool has(const char* name) const { return json_.contains(name); }
  [[nodiscard]] std::int64_t integer(const char* name, std::int64_t otherwise) const {
    if (!has(name)) return otherwise;
    if (!json_[name].is_number_integer()) refuse(name, "no whole number");
    return json_[name].get<std::int64_t>();
  }
  [[nodiscard]] std::int32_t int32(const char* name, std::int32_t otherwise) const {
    const std::int64_t value = integer(name, otherwise);
    if (value < INT32_MIN || value > INT32_MAX) refuse(name, "out of range");
    return static_cast<std::int32_t>(value);
  }
  [[nodiscard]] bool boolean(const char* name, bool otherwise) const {
    if (!has(name)) return otherwise;
    if (!json_[name].is_boolean()) refuse(name, "neither true nor false");
    return json_[name].get<bool>();
  }
  [[nodiscard]] std::string text(const char* name, const std::string& otherwise) const {
    if (!has(name)) return otherwise;
    if (!json_[name].is_string()) refuse(name, "no string");
    return json_[name].get<std::string>();
  }
  [[nodiscard]] BrokerIds ids(const char* name) const {
    BrokerIds ids;
    for (const Json& id : list(name)) {
      if (!id.is_number_integer()) refuse(name, "no list of broker ids");
      ids.push_back(id.get<BrokerId>());
    }
    return ids;
  }
  [[nodiscard]] const Json& list(const char* name) const {
    static const Json none = Json::array();
    if (!has(name)) return none;
    if (!json_[name].is_array()) refuse(name, "no list");
    return json_[name];
  }
  [[nodiscard]] const Json& object(const char* name) const {
    static const Json none = Json::object();
    if (!has(name)) return none;
    if (!json_[name].is_object()) refuse(name, "no object");
    return json_[name];
  }
  /// Three whole numbers.
  [[nodiscard]] AckedRange range(const Json& json) const {
    if (!json.is_array() || json.size() != 3 || !json[0].is_number_integer() ||
        !json[1].is_number_integer() || !json[2].is_number_integer())
      refuse("", "no range [epoch, first, last]");
    return {LeaderEpoch(json[0].get<std::int32_t>()), Offset(json[1].get<std::int64_t>()),
            Offset(json[2].get<std::int64_t>())};
  }
  [[noreturn]] void refuse(const char* name, const char* problem) const {
    state_.refuse(fmt::format("{}: \"{}\" is {}", what_, name, problem));
  }

 private:
  const Json& json_;
  const StateJson& state_;
  std::string what_;
};

Json to_json(const ReplicaMemory& memory) {
  Json json = Json::object();
  json["role"] = memory.role == ReplicaRole::leader     ? "leader"
                 : memory.role == ReplicaRole::follower ? "follower"
                                                        : "none";
  json["leader"] = memory.leader;
  json["leader_epoch"] = memory.leader_epoch.value();
  json["partition_epoch"] = memory.partition_epoch;
  json["isr"] = memory.isr;
  json["hw"] = memory.high_watermark.value();
  if (memory.role == ReplicaRole::leader) json["epoch_start"] = memory.epoch_start.value();
  if (memory.asks_end_of_epoch) json["asks_end_of_epoch"] = true;
  if (!memory.followers.empty()) {
    Json followers = Json::object();
    for (const auto& [id, view] : memory.followers) {
      followers[std::to_string(id)] = {{"leo", view.log_end.value()},
                                       {"leader_end", view.leader_end.value()},
                                       {"fetched", view.fetched_ms},
                                       {"caught_up", view.caught_up_ms}};
    }
    json["followers"] = std::move(followers);
  }
  if (!memory.pending.empty()) {
    Json pending = Json::array();
    for (const PendingAck& ack : memory.pending)
      pending.push_back({ack.epoch.value(), ack.first.value(), ack.last.value()});
    json["pending"] = std::move(pending);
  }
  return json;
}

ReplicaMemory memory_of(const Json& json, const StateJson& state, const std::string& name) {
  const Members members(json, state, name);
  ReplicaMemory memory;
  const std::string role = members.text("role", "none");
  memory.role = role == "leader"     ? ReplicaRole::leader
                : role == "follower" ? ReplicaRole::follower
                                     : ReplicaRole::none;
  memory.leader = members.int32("leader", kNoBroker);
  memory.leader_epoch = LeaderEpoch(members.int32("leader_epoch", -1));
  memory.partition_epoch = members.int32("partition_epoch", -1);
  memory.isr = members.ids("isr");
  memory.high_watermark = Offset(std::max<std::int64_t>(members.integer("hw", 0), 0));
  memory.epoch_start = Offset(members.integer("epoch_start", 0));
  memory.asks_end_of_epoch = members.boolean("asks_end_of_epoch", false);
  for (const auto& [id, follower] : members.object("followers").items()) {
    const Members of(follower, state, name);
    FollowerView& view = memory.followers[std::atoi(id.c_str())];
    view.log_end = Offset(of.integer("leo", -1));
    view.leader_end = Offset(of.integer("leader_end", -1));
    view.fetched_ms = of.integer("fetched", 0);
    view.caught_up_ms = of.integer("caught_up", FollowerView::kNever);
    // Numbers of requests begin anew with each command: none is on its way between two.
    view.broker_epoch = -1;
  }
  for (const Json& ack : members.list("pending")) {
    const AckedRange range = members.range(ack);
    memory.pending.push_back({range.first, range.last, range.epoch});
  }
  return memory;
}

Json to_json(const QuorumRecord& record) {
  Json json = Json::object();
  json["committed"] = record.committed.value();
  Json voters = Json::object();
  for (const auto& [id, memory] : record.voters) {
    Json voter = Json::object();
    voter["up"] = memory.up;
    voter["role"] = quorum_role_name(memory.role);
    voter["epoch"] = memory.epoch.value();
    if (memory.role == QuorumRole::leader) voter["epoch_start"] = memory.epoch_start.value();
    if (memory.high_watermark) voter["hw"] = memory.high_watermark->value();
    voter["deadline"] = memory.deadline_ms;
    if (!memory.fetched.empty() && memory.role == QuorumRole::leader) {
      Json fetched = Json::object();
      for (const auto& [other, offset] : memory.fetched) {
        const auto at = memory.fetched_at.find(other);
        fetched[std::to_string(other)] = {{"leo", offset.value()},
                                          {"fetched", at == memory.fetched_at.end() ? 0 : at->second}};
      }
      voter["followers"] = std::move(fetched);
    }
    voters[std::to_string(id)] = std::move(voter);
  }
  json["voters"] = std::move(voters);
  Json links = Json::array();
  for (const auto& [a, b] : record.cut) links.push_back({a, b});
  if (!links.empty()) json["cut"] = std::move(links);
  return json;
}

QuorumRecord quorum_record(const Members& members, const StateJson& state) {
  QuorumRecord record;
  record.committed = Offset(members.integer("committed", 0));
  for (const auto& [id, json] : members.object("voters").items()) {
    const Members of(json, state, "controller " + id);
    QuorumMemory& memory = record.voters[std::atoi(id.c_str())];
    memory.up = of.boolean("up", true);
    memory.role = parse_quorum_role(of.text("role", "unattached")).value_or(QuorumRole::unattached);
    memory.epoch = LeaderEpoch(of.int32("epoch", 0));
    memory.epoch_start = Offset(of.integer("epoch_start", 0));
    if (of.has("hw")) memory.high_watermark = Offset(of.integer("hw", 0));
    memory.deadline_ms = of.integer("deadline", 0);
    for (const auto& [other, follower] : of.object("followers").items()) {
      const Members view(follower, state, "controller " + id);
      memory.fetched[std::atoi(other.c_str())] = Offset(view.integer("leo", 0));
      memory.fetched_at[std::atoi(other.c_str())] = view.integer("fetched", 0);
    }
  }
  for (const Json& link : members.list("cut")) {
    if (!link.is_array() || link.size() != 2 || !link[0].is_number_integer() || !link[1].is_number_integer())
      members.refuse("cut", "no list of links");
    record.cut.insert({link[0].get<std::int32_t>(), link[1].get<std::int32_t>()});
  }
  return record;
}

}  // namespace

bool is_cluster(FileSystem& fs, const std::string& directory) {
  return fs.stat(join_path(directory, kClusterFile)).has_value();
}

bool is_cluster_broker(FileSystem& fs, const std::string& directory) {
  return fs.stat(join_path(directory, kBrokerFile)).has_value();
}

// ---- reading

void Cluster::load(LoadFor what) {
  only_looks_ = what == LoadFor::looking;
  load_cluster_file();
  if (what == LoadFor::changing && quorum_.voters().size() > 1) {
    quorum_.open();
    quorum_.commit(now_);
  }
  metadata_.replay(controller_.image());
  for (BrokerId id = 1; id <= settings_.brokers; ++id) {
    brokers_[id].id = id;
    load_broker(brokers_[id]);
  }
  refresh_settings();
  for (const auto& [name, topic] : image().topics) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      for (const BrokerId id : topic.partitions[i].replicas)
        make_slot(broker(id), fmt::format("{}-{}", name, i), topic);
    }
  }
}

void Cluster::load_cluster_file() {
  const std::string path = join_path(directory_, kClusterFile);
  const StateJson state(
      path, "it is a cluster's clock and accounts; the logs and the metadata log hold everything else");
  const Json json = state.parse(read_whole(fs_, path, kLargestState), kVersion);
  const Members members(json, state, "the cluster");
  cluster_id_ = members.text("cluster_id", "");
  now_ = members.integer("now_ms", 0);
  steps = members.integer("steps", 0);
  const Members config(members.object("config"), state, "config");
  settings_.brokers = config.int32("brokers", 3);
  if (settings_.brokers < 1 || settings_.brokers > 1000) members.refuse("brokers", "out of range");
  settings_.controllers = config.int32("controllers", 1);
  if (settings_.controllers < 1 || settings_.controllers > kMostControllers)
    members.refuse("controllers", "out of range");
  quorum_.set_up(settings_.controllers, cluster_id_);
  quorum_.resume(quorum_record(Members(members.object("quorum"), state, "quorum"), state), now_);
  settings_.elr = config.boolean("elr", true);
  settings_.unclean = config.boolean("unclean", false);
  settings_.strict_hw = config.boolean("hw.strict", true);
  settings_.truncation = parse_truncation(config.text("trunc", "fetch")).value_or(Truncation::fetch);
  settings_.lag_ms = config.integer("lag.ms", 30000);
  settings_.session_ms = config.integer("session.ms", 9000);
  settings_.auto_fence = config.boolean("auto.fence", true);
  settings_.flush_each = config.boolean("flush.each", false);
  settings_.min_isr = config.int32("min.isr", 1);
  propagate_ = config.boolean("propagate", true);
  Controller::Settings& controller = controller_.settings();
  controller.elr = settings_.elr;
  controller.unclean = settings_.unclean;
  controller.min_isr = settings_.min_isr;
  for (const Json& link : members.list("cut")) {
    if (!link.is_array() || link.size() != 2) members.refuse("cut", "no list of links");
    cut_.insert({link[0].get<BrokerId>(), link[1].get<BrokerId>()});
  }
  constexpr std::array<const char*, 3> levels = {"0", "1", "all"};
  for (const auto& [partition_name, acked] : members.object("acked").items()) {
    const Members of(acked, state, "acked " + partition_name);
    for (std::size_t level = 0; level < levels.size(); ++level) {
      for (const Json& range : of.list(levels[level]))
        accounting_.partitions()[partition_name][level].push_back(of.range(range));
    }
  }
}

void Cluster::load_broker(Broker& of) {
  const std::string directory = broker_directory(of.id);
  const std::string path = join_path(directory, kBrokerFile);
  if (!fs_.stat(path)) {
    // Its directory was removed by hand, or never written: a broker with empty disks that must be started.
    of.up = false;
    of.clean_stop = false;
    of.directory_id = new_id();
  } else {
    const StateJson state(path,
                          "it is what the broker's process knew; without it the broker counts as killed");
    const Json json = state.parse(read_whole(fs_, path, kLargestState), kVersion);
    const Members members(json, state, "the broker");
    of.up = members.boolean("up", false);
    of.broker_epoch = members.integer("broker_epoch", -1);
    of.heartbeat_ms = members.integer("heartbeat_ms", 0);
    of.directory_id = Uuid::parse(members.text("directory_id", "")).value_or(new_id());
    of.clean_stop = !of.up && fs_.stat(join_path(directory, kCleanMark)).has_value();
    const auto& memories = members.object("volatile");
    for (const auto& [name, topic] : image().topics) {
      for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
        if (!holds(topic.partitions[i].replicas, of.id)) continue;
        const std::string partition_name = fmt::format("{}-{}", name, i);
        ReplicaSlot& slot = make_slot(of, partition_name, topic);
        if (of.up && memories.contains(partition_name))
          slot.replica->memory() = memory_of(memories[partition_name], state, partition_name);
      }
    }
  }
  const auto read = [&](std::string_view file, const auto& use) {
    const std::string checkpoint_path = join_path(directory, file);
    if (!fs_.stat(checkpoint_path)) return;
    const OffsetCheckpoint parsed = parse_offset_checkpoint(read_whole(fs_, checkpoint_path));
    if (parsed.fault) {
      if (options_.note) options_.note(checkpoint_path + ": damaged, taken as missing");
      return;
    }
    for (const OffsetCheckpointEntry& entry : parsed.entries) {
      const auto slot = of.slots.find(fmt::format("{}-{}", entry.topic, entry.partition.value()));
      if (slot != of.slots.end()) use(slot->second, entry.offset);
    }
  };
  read(kHighWatermarks, [](ReplicaSlot& slot, Offset offset) { slot.checkpointed_hw = offset; });
  read(kRecoveryPoints, [](ReplicaSlot& slot, Offset offset) { slot.durable = offset; });
  read(kLogStarts, [](ReplicaSlot& slot, Offset offset) { slot.replica->log().set_start(offset); });
  if (of.up) return;
  for (auto& [name, slot] : of.slots) slot.replica->memory().high_watermark = slot.checkpointed_hw;
}

// ---- writing

void Cluster::save_broker(const Broker& of) {
  Json json = Json::object();
  json["format"] = kVersion;
  json["up"] = of.up;
  json["broker_epoch"] = of.broker_epoch;
  json["heartbeat_ms"] = of.heartbeat_ms;
  json["directory_id"] = of.directory_id.text();
  Json memories = Json::object();
  if (of.up) {
    for (const auto& [name, slot] : of.slots) memories[name] = to_json(slot.replica->memory());
  }
  json["volatile"] = std::move(memories);
  replace_atomically(fs_, join_path(broker_directory(of.id), kBrokerFile), as_bytes(json.dump() + "\n"),
                     options_.sync != SyncPolicy::never);
}

void Cluster::save_checkpoints(const Broker& of) {
  std::vector<OffsetCheckpointEntry> high_watermarks, recovery_points, starts;
  for (const auto& [name, slot] : of.slots) {
    const TopicPartition split = split_topic_partition(name);
    const PartitionId number(split.partition.value());
    high_watermarks.push_back({split.topic, number, slot.checkpointed_hw});
    recovery_points.push_back({split.topic, number, slot.durable});
    const Offset start = slot.replica->log().known_start();
    if (start > Offset(0)) starts.push_back({split.topic, number, start});
  }
  const std::string directory = broker_directory(of.id);
  const auto write = [&](std::string_view file, const std::vector<OffsetCheckpointEntry>& entries) {
    const std::string path = join_path(directory, file);
    const std::string text = format_offset_checkpoint(entries);
    if (fs_.stat(path) && read_whole(fs_, path) == text) return;
    replace_atomically(fs_, path, as_bytes(text), options_.sync != SyncPolicy::never);
  };
  write(kHighWatermarks, high_watermarks);
  write(kRecoveryPoints, recovery_points);
  if (!starts.empty() || fs_.stat(join_path(directory, kLogStarts))) write(kLogStarts, starts);
  const std::string mark = join_path(directory, kCleanMark);
  if (!of.up && of.clean_stop) {
    if (!fs_.stat(mark)) {
      const std::string text = fmt::format("{{\"version\":0,\"brokerEpoch\":{}}}", of.broker_epoch);
      replace_atomically(fs_, mark, as_bytes(text), options_.sync != SyncPolicy::never);
    }
  } else if (fs_.stat(mark)) {
    fs_.remove(mark);
  }
  const std::string properties = join_path(directory, "meta.properties");
  if (!fs_.stat(properties)) {
    const std::string text = fmt::format("#\nversion=1\ncluster.id={}\nnode.id={}\ndirectory.id={}\n",
                                         cluster_id_, of.id, of.directory_id.text());
    replace_atomically(fs_, properties, as_bytes(text), options_.sync != SyncPolicy::never);
  }
}

void Cluster::save() {
  metadata_.shorten(image());
  quorum_.close();
  for (auto& [id, of] : brokers_) {
    for (auto& [name, slot] : of.slots) slot.replica->log().close();
  }
  for (auto& [id, of] : brokers_) {
    save_checkpoints(of);
    save_broker(of);
  }
  Json json = Json::object();
  json["format"] = kVersion;
  json["cluster_id"] = cluster_id_;
  json["now_ms"] = now_;
  json["steps"] = steps;
  json["config"] = {{"brokers", settings_.brokers},
                    {"controllers", settings_.controllers},
                    {"elr", settings_.elr},
                    {"unclean", settings_.unclean},
                    {"hw.strict", settings_.strict_hw},
                    {"trunc", truncation_name(settings_.truncation)},
                    {"lag.ms", settings_.lag_ms},
                    {"session.ms", settings_.session_ms},
                    {"auto.fence", settings_.auto_fence},
                    {"flush.each", settings_.flush_each},
                    {"min.isr", settings_.min_isr},
                    {"propagate", propagate_}};
  Json links = Json::array();
  for (const auto& [a, b] : cut_) links.push_back({a, b});
  json["cut"] = std::move(links);
  Json acked = Json::object();
  for (const auto& [partition_name, ranges] : accounting_.partitions()) {
    Json levels = Json::object();
    constexpr std::array<const char*, 3> names = {"0", "1", "all"};
    for (std::size_t level = 0; level < names.size(); ++level) {
      if (ranges[level].empty()) continue;
      Json list = Json::array();
      for (const AckedRange& range : ranges[level])
        list.push_back({range.epoch.value(), range.first.value(), range.last.value()});
      levels[names[level]] = std::move(list);
    }
    acked[partition_name] = std::move(levels);
  }
  json["acked"] = std::move(acked);
  json["quorum"] = to_json(quorum_.record());
  replace_atomically(fs_, join_path(directory_, kClusterFile), as_bytes(json.dump() + "\n"),
                     options_.sync != SyncPolicy::never);
}

}  // namespace tk
