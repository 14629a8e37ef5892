// A cluster of brokers as directories: what may happen to it, one step at a time (replication.md §2, §8, §9).
//
// Nothing runs by itself: time passes by tick(), followers fetch when told. The same class serves the
// commands (real files, loaded and saved around each command: cluster_file.cpp) and the simulator (a disk in
// memory, never saved).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/cluster/accounting.h"
#include "core/cluster/controller.h"
#include "core/cluster/replica.h"

namespace tk {

/// The controller as an end of a link.
inline constexpr BrokerId kControllerNode = 0;

/// What happened, for events.ndjson (replication.md §9).
struct ClusterEvent {
  std::string_view kind = {};
  BrokerId broker = kNoBroker;
  std::string partition = {};
  std::int64_t from = -1;
  std::int64_t to = -1;
  BrokerIds from_set = {};
  BrokerIds to_set = {};
  std::string_view level = {};
  std::string_view detail = {};
};

struct ClusterSettings {
  std::int32_t brokers = 3;
  /// Voters of the metadata log.
  std::int32_t controllers = 1;
  bool elr = true;
  bool unclean = false;
  bool strict_hw = true;
  Truncation truncation = Truncation::fetch;
  std::int64_t lag_ms = 30000;
  std::int64_t session_ms = 9000;
  /// Brokers whose session has run out are fenced by tick().
  bool auto_fence = true;
  bool flush_each = false;
  std::int32_t min_isr = 1;
  Rules rules;
};

/// A partition's replica on a broker, and what the broker's disk knows of it.
struct ReplicaSlot {
  std::unique_ptr<PartitionReplica> replica;
  /// replication-offset-checkpoint
  Offset checkpointed_hw{0};
  /// Below it everything survives a loss of power (recovery-point-offset-checkpoint).
  Offset durable{0};
  /// Why the log of a broker that is up is not used: it is damaged, and no other replica may lead.
  std::optional<Error> offline;
  /// Of such a log, once it was asked for: the offset after the last good unit before the damage.
  std::optional<Offset> good_end;
  /// Damage to the log of a leader that goes on was told.
  bool told_damage = false;
};

struct Broker {
  BrokerId id = kNoBroker;
  bool up = false;
  /// The stop before left the clean-shutdown mark.
  bool clean_stop = true;
  std::int64_t broker_epoch = -1;
  std::int64_t heartbeat_ms = 0;
  Uuid directory_id;
  std::map<std::string, ReplicaSlot, std::less<>> slots;
};

/// What a disk forgets when its broker dies: the last records, the last bytes, or all that was not flushed.
struct DiskLoss {
  enum class What : std::uint8_t { nothing, records, bytes, unsynced };
  What what = What::nothing;
  std::int64_t count = 0;
};

struct NewClusterTopic {
  std::string name;
  std::int32_t partitions = 1;
  std::int32_t replicas = 3;
  TopicFormat format = TopicFormat::json;
  ConfigMap configs = {};
  /// The replicas of partition 0 in their order; those of others go round. Empty: from broker 1 on.
  BrokerIds assignment = {};
};

class Cluster final : public ReplicaHost {
 public:
  struct Options {
    SyncPolicy sync = SyncPolicy::at_end;
    LockWait lock_wait = 10000;
    std::function<void(const std::string&)> note;
    /// Told of each log that cannot be used (ReplicaSlot::offline).
    std::function<void(const Error&)> on_damage;
    /// Told of everything that happens.
    std::function<void(const ClusterEvent&)> on_event;
    /// What needs a decision lets cluster time pass till the controllers have a leader again, if a majority
    /// is up. Otherwise it throws leader_not_available at once.
    bool waits_for_controllers = false;
    /// Each broker has a disk of its own, and dies when it cannot write to it. Otherwise the error is thrown:
    /// where all brokers are directories of one file system, it is the command that fails.
    bool own_disks = false;
    /// Ids of topics and incarnations come from here; nothing: from the system's randomness.
    std::function<Uuid()> new_id;
  };

  Cluster(FileSystem& fs, std::string directory, ClusterSettings settings, Options options);
  ~Cluster() override;

  /// Makes the brokers and the metadata log of a new cluster in its directory.
  void make(const ConfigMap& broker_configs);

  // ---- what there is
  [[nodiscard]] const ClusterSettings& cluster_settings() const { return settings_; }
  [[nodiscard]] const MetadataImage& image() const { return controller_.image(); }
  [[nodiscard]] Controller& controller() { return controller_; }
  [[nodiscard]] MetadataLog& metadata_log() { return metadata_; }
  [[nodiscard]] ControllerQuorum& quorum() { return quorum_; }
  [[nodiscard]] std::map<BrokerId, Broker>& brokers() { return brokers_; }
  [[nodiscard]] const std::map<BrokerId, Broker>& brokers() const { return brokers_; }
  [[nodiscard]] Accounting& accounting() { return accounting_; }
  [[nodiscard]] FileSystem& file_system() { return fs_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
  void on_event(std::function<void(const ClusterEvent&)> told) { options_.on_event = std::move(told); }
  [[nodiscard]] std::string broker_directory(BrokerId id) const;
  [[nodiscard]] std::set<std::pair<BrokerId, BrokerId>>& cut_links() { return cut_; }
  /// Throws unknown_topic_or_partition, or broker_not_available for a broker that is none.
  Broker& broker(BrokerId id);
  [[nodiscard]] const PartitionRegistration& partition(const std::string& name) const;
  /// The replica; null if the broker has none of this partition. Its log is opened, unless the broker is
  /// down, the log cannot be used, or the cluster is only looked at.
  PartitionReplica* replica(BrokerId id, std::string_view partition);
  /// The same, and null unless the log is open.
  PartitionReplica* live_replica(BrokerId id, std::string_view partition);
  /// The replica that leads by the controller's word and its own, on a live broker; null if there is none.
  PartitionReplica* true_leader(std::string_view partition);
  /// The same; where there is none it throws why: corrupt_message if the leader's log cannot be used, else
  /// leader_not_available.
  PartitionReplica& need_leader(std::string_view partition);
  /// Records acknowledged, by level, that are not in the true leader's log now.
  Counts lost(std::string_view partition);

  // ---- topics
  void create_topic(const NewClusterTopic& topic);
  void alter_topic(const std::string& name, std::optional<std::int32_t> partitions, const ConfigMap& set,
                   const std::vector<std::string>& unset);
  std::vector<std::string> delete_topic(const std::string& name);

  // ---- clients
  /// Appends to the leader, or to `to` if it believes that it leads.
  PartitionReplica::Appended append(std::string_view partition, const NewRecord& record, AckLevel level,
                                    BrokerId to = kNoBroker);
  PartitionReplica::Appended append_marker(std::string_view partition, const struct EndMarker& marker,
                                           BrokerId to = kNoBroker);

  // ---- replication
  enum class Lose : std::uint8_t { nothing, request, reply };
  /// One fetch of a follower, there and back; says what came of it.
  std::string fetch(BrokerId follower, std::string_view partition, std::int64_t max_records = kNoLimit,
                    Lose lose = Lose::nothing);
  /// A round: every follower of the partition fetches once.
  void round(std::string_view partition);
  /// The two halves of a fetch, for messages that travel.
  std::optional<FetchRequest> make_fetch(BrokerId follower, std::string_view partition,
                                         std::int64_t max_records);
  std::optional<FetchReply> serve_fetch(const FetchRequest& request, std::string_view partition);
  std::string take_reply(FetchReply& reply, std::string_view partition);

  // ---- time and controller
  void tick(std::int64_t ms);
  /// Throws leader_not_available where the controllers cannot decide anything.
  void need_controller();
  void start_controller(std::int32_t id);
  /// Dies at once; nobody is told.
  void kill_controller(std::int32_t id);
  void set_now(std::int64_t now) { now_ = std::max(now_, now); }
  void fence(BrokerId id);
  void unfence(BrokerId id);
  ElectionOutcome elect(const std::string& partition, ElectionKind kind, BrokerId wanted = kNoBroker);
  /// A rebuilt log: the replica leaves the ISR, loses its log, and starts anew from the leader.
  void rebuild(BrokerId id, std::string_view partition);
  /// Reads the replica's whole log. Where it is damaged another replica leads, this one leaves ISR and ELR,
  /// and is built anew from the leader; with no other that may lead nothing is done. Says what it found.
  std::string scrub(BrokerId id, std::string_view partition);
  void propagate(bool on);
  [[nodiscard]] bool propagates() const { return propagate_; }
  /// The controller's state of every partition reaches the broker.
  void learn(BrokerId id);

  // ---- brokers
  /// Dies at once, as by kill -9 (`clean`: with its logs flushed and the mark written); `loss` is what its
  /// disk forgets.
  void kill(BrokerId id, bool clean, DiskLoss loss = {});
  /// False if its disk is full: it stays down.
  bool start(BrokerId id);
  /// A restart that the controller does not see.
  void bounce(BrokerId id);
  /// Controlled shutdown.
  void stop(BrokerId id);
  void checkpoint();
  void flush(BrokerId id);
  void retain(std::string_view partition, Offset start);
  bool corrupt(BrokerId id, std::string_view partition, Offset offset, std::size_t byte);
  void tear(BrokerId id, std::string_view partition, std::uint64_t bytes);
  void cut(BrokerId a, BrokerId b, bool both_ways = true);
  void heal();
  [[nodiscard]] bool linked(BrokerId a, BrokerId b) const {
    return cut_.empty() || (!cut_.contains({a, b}) && !cut_.contains({b, a}));
  }

  // ---- files (cluster_file.cpp)
  enum class LoadFor : std::uint8_t { looking, changing };
  /// Reads the state of a cluster that lies in the directory. For changing it, its lock is held: what the
  /// controllers were about to commit when a command was killed is finished first. Throws corrupt_state,
  /// unsupported_version.
  void load(LoadFor what);
  /// Makes everything durable and writes the state files.
  void save();
  std::int64_t steps = 0;

  // ---- ReplicaHost
  [[nodiscard]] std::int64_t now() const override { return now_; }
  [[nodiscard]] const Rules& rules() const override { return settings_.rules; }
  [[nodiscard]] const ReplicaSettings& settings(const PartitionReplica& replica) const override;
  [[nodiscard]] bool active(BrokerId id) const override { return controller_.active(id); }
  [[nodiscard]] std::int64_t broker_epoch(BrokerId id) const override;
  void propose_isr(PartitionReplica& leader, const BrokerIds& isr) override;
  void answered(PartitionReplica& leader, AckLevel level, Offset first, Offset last, LeaderEpoch epoch,
                ReplicaError error) override;
  void high_watermark_moved(PartitionReplica& replica, Offset from) override;
  void truncated(PartitionReplica& replica, Offset from, Offset to) override;

  /// Also told of each answer, in order; the simulator's clients live by it.
  std::function<void(const PartitionReplica& leader, AckLevel level, Offset first, Offset last,
                     LeaderEpoch epoch, ReplicaError error)>
      on_answer;

 private:
  void event(const ClusterEvent& event) const {
    if (options_.on_event) options_.on_event(event);
  }
  ReplicaSlot& make_slot(Broker& broker, const std::string& partition, const TopicState& topic);

  // ---- logs (cluster_slots.cpp)
  enum class Opening : std::uint8_t {
    /// Between two commands: the process that writes the log goes on.
    goes_on,
    /// The broker's process has started anew, and recovers its logs.
    restarts,
  };
  /// False if the log is not open then: its broker is down, or it cannot be used.
  bool open_slot(Broker& broker, ReplicaSlot& slot, Opening opening = Opening::goes_on);
  /// Opens a log that must still have all that was committed. Where it has not, the replica is cut to what is
  /// readable and gives up its seats, if another may lead; else corrupt_message is thrown and nothing done.
  void open_again(Broker& broker, ReplicaSlot& slot);
  void require_other_leader(const Broker& broker, const PartitionReplica& replica, const Error& damage);
  /// What stands before the damage of a leader's log that cannot be used; nothing if there is no such leader.
  std::optional<FetchReply> serve_before_damage(const FetchRequest& request, std::string_view partition);
  void send_sound_part(ReplicaSlot& slot, const Error& damage);
  void tell_damage(const FetchRequest& request, std::string_view partition);
  void tell_lost(const PartitionReplica& replica, Offset last, const Error& damage);
  void make_partition_directory(const PartitionReplica& replica);
  /// What the disk loses when the process dies.
  void forget(Broker& broker, DiskLoss loss);
  void partition_changed(const std::string& topic, std::int32_t number, const PartitionRegistration& before,
                         const PartitionRegistration& now, bool unclean);
  void refresh_settings();
  void learn(Broker& broker, const std::string& partition, const PartitionRegistration& state);
  void end_process(Broker& broker);
  void give_up_seats(BrokerId id, std::string_view partition);
  /// Runs what uses the broker's disk; false if the disk failed, and with it the broker.
  template <class Use>
  bool on_disk_of(Broker& broker, Use&& use);
  void disk_failed(Broker& broker, const Error& error);
  [[nodiscard]] Uuid new_id() const;
  void load_cluster_file();
  void load_broker(Broker& broker);
  void fence_expired();
  void save_broker(const Broker& broker);
  void save_checkpoints(const Broker& broker);

  FileSystem& fs_;
  std::string directory_;
  ClusterSettings settings_;
  Options options_;
  ControllerQuorum quorum_;
  MetadataLog metadata_;
  Controller controller_;
  std::map<BrokerId, Broker> brokers_;
  Accounting accounting_;
  std::set<std::pair<BrokerId, BrokerId>> cut_;
  std::map<std::string, ReplicaSettings, std::less<>> replica_settings_;
  std::string cluster_id_;
  std::int64_t now_ = 0;
  bool propagate_ = true;
  /// Nothing is opened for writing, and no decision taken.
  bool only_looks_ = false;
};

template <class Use>
bool Cluster::on_disk_of(Broker& broker, Use&& use) {
  try {
    use();
    return true;
  } catch (const Error& error) {
    // A log that is damaged where it must be cut is as good as none.
    const bool of_disk =
        error.code() == ErrorCode::storage_error || error.code() == ErrorCode::corrupt_message;
    if (!options_.own_disks || !of_disk) throw;
    disk_failed(broker, error);
    return false;
  }
}

inline constexpr std::string_view kClusterFile = "tk-cluster.json";
inline constexpr std::string_view kClusterLockFile = "tk-cluster.lock";

/// True if the directory holds a cluster of tk's.
bool is_cluster(FileSystem& fs, const std::string& directory);
/// True if the directory is one broker's of a cluster.
bool is_cluster_broker(FileSystem& fs, const std::string& directory);

}  // namespace tk
