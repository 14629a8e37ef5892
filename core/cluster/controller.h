// The controller: decides about brokers, leaders and ISRs, writes each decision into the metadata log first,
// and only then holds it for true (replication.md §2.4 to §2.8).
#pragma once

#include <functional>

#include "core/cluster/metadata_log.h"
#include "core/cluster/partition_change.h"
#include "core/cluster/rules.h"

namespace tk {

/// What comes of an election that was asked for.
enum class ElectionOutcome : std::uint8_t { done, not_needed, preferred_not_available, none_eligible };

class Controller {
 public:
  struct Settings {
    bool elr = true;
    /// unclean.leader.election.enable where a topic does not say.
    bool unclean = false;
    std::int32_t min_isr = 1;
    Rules rules;
  };

  /// Told of every change of a partition, after it was logged: name, state before and now, whether it was
  /// unclean.
  using Changed =
      std::function<void(const std::string& topic, std::int32_t number, const PartitionRegistration& before,
                         const PartitionRegistration& now, bool unclean)>;

  Controller(MetadataLog& log, Settings settings) : log_(log), settings_(settings) {}

  Changed on_change;

  [[nodiscard]] const MetadataImage& image() const { return image_; }
  [[nodiscard]] MetadataImage& image() { return image_; }
  [[nodiscard]] Settings& settings() { return settings_; }

  // Brokers.
  [[nodiscard]] bool active(BrokerId id) const;
  /// A broker's process has started: it gets a new broker epoch and is fenced. What an earlier incarnation
  /// held is given to others first; after an unclean stop it may have lost records, and has no seat to come
  /// back to (with ELR).
  void register_broker(BrokerId id, const Uuid& incarnation, const Uuid& directory, bool clean_stop);
  void fence(BrokerId id);
  void unfence(BrokerId id);
  /// Takes it from ISRs where others remain and moves its leaderships.
  void begin_controlled_shutdown(BrokerId id);

  // Topics.
  void create_topic(const std::string& name, const Uuid& id, const std::vector<BrokerIds>& replicas,
                    const ConfigMap& configs, const std::function<Uuid(BrokerId)>& directory);
  void add_partitions(const std::string& name, const std::vector<BrokerIds>& replicas,
                      const std::function<Uuid(BrokerId)>& directory);
  void delete_topic(const std::string& name);
  /// No value removes a setting. A change of min.insync.replicas clears the ELR (KIP-966).
  void set_configs(const std::string& topic,
                   const std::map<std::string, std::optional<std::string>>& settings);
  void set_feature(const std::string& name, std::int32_t level);

  // Partitions.
  [[nodiscard]] std::int32_t effective_min_isr(const TopicState& topic,
                                               const PartitionRegistration& partition) const;
  /// A leader proposes an ISR: taken only from the leader of this epoch, over the state of this partition
  /// epoch, of members that are active. Says what Kafka would; NONE if it was taken.
  std::string_view alter_partition(const std::string& topic, std::int32_t number, BrokerId leader,
                                   LeaderEpoch leader_epoch, std::int32_t partition_epoch,
                                   const BrokerIds& isr);
  /// A replica that may have lost records leaves ISR and ELR; if it led, another is elected.
  void fail_replica(const std::string& topic, std::int32_t number, BrokerId id);
  /// True if another replica would lead, and cleanly, when this one failed.
  [[nodiscard]] bool survives(const std::string& topic, std::int32_t number, BrokerId id) const;
  ElectionOutcome elect(const std::string& topic, std::int32_t number, ElectionKind kind,
                        BrokerId wanted = kNoBroker);
  /// What an election would do, without doing it.
  [[nodiscard]] ElectionRules election_rules(const std::string& topic, std::int32_t number) const {
    return rules_of(*image_.topic(topic), *image_.partition(topic, number));
  }
  [[nodiscard]] PartitionChange preview(const std::string& topic, std::int32_t number,
                                        const PartitionChangeRequest& request) const;

 private:
  void write(const std::vector<MetadataRecord>& records);
  bool change(const std::string& topic, std::int32_t number, const PartitionChangeRequest& request);
  [[nodiscard]] PartitionChangeRequest failure_of(const std::string& topic, std::int32_t number,
                                                  BrokerId id) const;
  void leave_isrs(BrokerId id, bool unclean_stop);
  void try_leaderless();
  [[nodiscard]] ElectionRules rules_of(const TopicState& topic, const PartitionRegistration& partition) const;

  MetadataLog& log_;
  Settings settings_;
  MetadataImage image_;
};

}  // namespace tk
