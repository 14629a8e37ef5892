// One view of a data directory for the commands: its topics, where to read, where to append.
//
// The directory is opened as what it is: tk's own (topics in tk-topics.json), a Kafka broker's
// (meta.properties or its checkpoints are there), or just partition directories. Looking changes nothing and
// takes no lock. What cannot be used (foreign entries, broken state files) is collected as notes, never a
// reason to give up on the rest.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/uuid.h"
#include "core/catalog/broker_metadata.h"
#include "core/catalog/topic_config.h"
#include "core/catalog/topic_name.h"
#include "core/catalog/topics_file.h"
#include "core/format/topic_format.h"
#include "core/io/file_system.h"
#include "core/log/log_view.h"
#include "core/log/partition_log.h"
#include "core/log/transactions.h"

namespace tk {

class Cluster;  // core/cluster/cluster.h

struct PartitionInfo {
  std::string topic;
  PartitionId partition;
  PartitionState state = PartitionState::live;
  /// Path of the partition's directory. It may not be there yet (a crash while the topic was made): such a
  /// partition is empty, and its directory is made when somebody appends.
  std::string directory;
  /// Set if tk made it (tk-topics.json lists it, and no broker uses the directory), so that its last index
  /// entry is the recovery point.
  bool tk_made = false;
  /// In a cluster, of the leader: consumers see the offsets below its high watermark. Nothing there: no
  /// leader is up.
  bool in_cluster = false;
  std::optional<Offset> high_watermark = {};
  std::optional<Offset> cluster_log_start = {};
};

struct TopicInfo {
  std::string name;
  /// What its segments show, else what tk-topics.json says, else the directory's default.
  TopicFormat format = TopicFormat::json;
  /// False if that is only the default: nothing is stored in it, and tk-topics.json does not list it.
  bool format_settled = true;
  /// Of tk-topics.json, else of the first partition.metadata that can be read, else of the metadata log.
  std::optional<Uuid> id;
  /// Those of tk-topics.json over those of a broker's metadata log.
  ConfigMap configs;
  /// Set if tk made the topic, here or in a broker's directory. One that tk only altered is not.
  bool tk_made = false;
  PartitionState state = PartitionState::live;
  /// By number, live ones only (for a topic that is not live: its directories of that state).
  std::vector<PartitionInfo> partitions;
};

struct NewTopic {
  std::string name;
  std::int32_t partitions = 1;
  /// Nothing: the store's default.
  std::optional<TopicFormat> format;
  /// Values as given; they are stored as check_config() has them.
  ConfigMap configs;
  /// Nothing: in a cluster 3, or as many as it has brokers; elsewhere 1, and more are refused.
  std::optional<std::int32_t> replicas = {};
};

/// What can be said against a topic without looking at a disk: throws invalid_topic, invalid_partitions,
/// invalid_config.
void check_new_topic(const NewTopic& topic);

/// Pointers and references to topics and partitions hold until the next create, alter or delete. For one
/// thread.
class Store {
 public:
  struct Options {
    LockWait lock_wait = 10000;
    /// $TK_FORMAT.
    std::optional<TopicFormat> default_format;
    /// With it, logs opened for appending apply their topic's own retention whenever they close a segment.
    const Clock* clock = nullptr;
    /// Told of what a cluster's disks have lost, when that is found. Without it notes() gets it.
    std::function<void(const std::string&)> warn = {};
  };

  /// Opens an existing directory for looking. Throws storage_error if it is missing or no directory.
  static Store open(FileSystem& fs, const std::string& directory, const Options& options);
  /// Opens a directory for writing, making it if need be; takes the directory's lock shared for the life of
  /// the store (log_dir_locked at once if a live broker holds it).
  static Store open_for_writing(FileSystem& fs, const std::string& directory, const Options& options);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] FileSystem& file_system() const { return *fs_; }
  /// True if the directory belongs to a Kafka broker.
  [[nodiscard]] bool is_broker() const { return is_broker_; }
  /// What a broker's metadata log says; null if the directory has none. It is read when it is first asked
  /// for; a damaged one says as much as can be read. Without who leads, and brokers (MetadataDetail::topics).
  [[nodiscard]] const BrokerMetadata* metadata() const;
  /// Null where the directory is no cluster. In a store for writing its lock is held, and save_cluster()
  /// keeps what was changed.
  [[nodiscard]] Cluster* cluster() const { return cluster_.get(); }
  void save_cluster();
  /// What was found and is none of the log's: one line each.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  /// Why tk-topics.json could not be used, if so: then the topics are what the partition directories show. A
  /// store for writing is not opened at all.
  [[nodiscard]] const std::optional<Error>& state_error() const { return state_error_; }
  /// The format of topics made without one: $TK_FORMAT, else kafka in a broker's directory, else json.
  [[nodiscard]] TopicFormat default_format() const;

  /// Live topics by name. Asks the segments of each for its format, so a command about some of them uses
  /// find().
  [[nodiscard]] const std::vector<TopicInfo>& topics() const;
  /// The same as the listing and tk-topics.json have them, without a look at any segment: format and id of a
  /// topic that find() has not given are only what tk-topics.json says.
  [[nodiscard]] const std::vector<TopicInfo>& listed_topics() const { return live_.topics; }
  /// Looks at the directory anew, for who lives longer than a command. A state file that cannot be used is
  /// in state_error() then.
  void refresh() { load(); }
  /// Topics of -delete, -stray and -future directories.
  [[nodiscard]] const std::vector<TopicInfo>& set_aside() const;
  /// Null if there is no such live topic.
  [[nodiscard]] const TopicInfo* find(std::string_view topic) const;

  struct Selection {
    const TopicInfo* topic = nullptr;
    /// The partition that the name asked for; nothing: all.
    std::optional<PartitionId> partition;
  };
  /// Finds what TOPIC or TOPIC-P names (a topic that bears the whole name first, cli.md §1). Throws
  /// unknown_topic_or_partition with the nearest name.
  [[nodiscard]] Selection resolve(std::string_view name) const;

  /// A read view of a partition, with the log start offset of the directory's checkpoint. A directory that is
  /// not there (yet, or any more) is an empty partition.
  [[nodiscard]] LogView view(const PartitionInfo& partition) const;
  /// The partition's log start offset of the directory's checkpoint.
  [[nodiscard]] std::optional<Offset> checkpointed_start(const PartitionInfo& partition) const;
  /// True if the partition may hold batches with producer ids: tk writes a snapshot with the first one that
  /// it appends for.
  [[nodiscard]] static bool may_have_producers(const PartitionInfo& partition, const LogView& view) {
    return !partition.tk_made || !view.files.snapshots.empty();
  }
  /// The aborted and open transactions of a view. A partition that tk made without producer snapshots has
  /// none, and is not scanned.
  [[nodiscard]] Transactions transactions(const PartitionInfo& partition, const LogView& view) const;

  // What follows needs a store that was opened for writing; each takes the lock of tk-topics.json and looks
  // at the directory anew.

  /// Makes a topic durable on disk: tk-topics.json, directories, partition.metadata. Throws
  /// topic_already_exists, and what check_new_topic throws.
  const TopicInfo& create_topic(const NewTopic& topic);
  /// Adds partitions up to `count` and changes configs of a topic (one that tk did not make gets an entry).
  /// Throws unknown_topic_or_partition, invalid_partitions for fewer than there are, invalid_config.
  const TopicInfo& alter_topic(std::string_view name, std::optional<std::int32_t> count, const ConfigMap& set,
                               const std::vector<std::string>& unset);
  /// Renames the topic's partitions to the -delete form, drops its entry, and removes them, and what earlier
  /// deletions left (in a broker's directory, those of this topic only: what else waits there is the
  /// broker's). Waits for writers. Returns the directories removed, by the names they had. Throws
  /// unknown_topic_or_partition, log_dir_locked.
  std::vector<std::string> delete_topic(std::string_view name);
  /// The directories that delete_topic would remove. Needs no store for writing.
  [[nodiscard]] std::vector<std::string> would_delete(std::string_view name) const;

  /// Notes an offset of the partition in one of the directory's checkpoint files (kLogStartFile,
  /// kCleanerFile), unless it has a larger one. Throws corrupt_state for a damaged file.
  void raise_checkpoint(std::string_view file, const PartitionInfo& partition, Offset offset);
  [[nodiscard]] const LockWait& lock_wait() const { return options_.lock_wait; }

  /// Opens a partition for appending (its lock is not taken yet: PartitionLog::begin does). In a broker's
  /// directory the clean-shutdown marker is removed first, so that the broker rebuilds what lies above its
  /// recovery points. `note` is told what opening the log puts right. Call it before the turn of another
  /// partition is taken: a missing directory is made under the lock of tk-topics.json, which comes before
  /// those of partitions (design.md §3). A partition without a segment begins at `start_if_empty`.
  std::unique_ptr<PartitionLog> open_for_append(const TopicInfo& topic, PartitionId partition,
                                                SyncPolicy sync = SyncPolicy::at_end,
                                                std::function<void(const std::string&)> note = {},
                                                Offset start_if_empty = Offset(0));

 private:
  // Topics as the listing and tk-topics.json have them; format and id are settled when somebody asks.
  struct Slot {
    std::vector<TopicInfo> topics;
    std::vector<bool> settled;
    void add(TopicInfo topic);
  };

  Store(FileSystem& fs, std::string directory, Options options);
  void load();
  void load_cluster();
  void list_cluster_topics();
  const TopicInfo& create_cluster_topic(const NewTopic& wanted);
  const TopicInfo& alter_cluster_topic(std::string_view name, std::optional<std::int32_t> count,
                                       const ConfigMap& set, const std::vector<std::string>& unset);
  std::unique_ptr<PartitionLog> open_cluster_log(const TopicInfo& topic, const PartitionInfo& partition,
                                                 PartitionLog::Options options);
  void settle(Slot& slot, std::size_t index) const;
  void settle_all(Slot& slot) const;
  [[nodiscard]] std::size_t index_of(std::string_view topic) const;
  [[nodiscard]] Error unknown_topic(std::string_view name) const;

  [[nodiscard]] bool is_leftover_of(const PartitionInfo& partition, std::string_view topic) const;
  [[nodiscard]] std::vector<std::string> leftovers(std::string_view topic) const;
  void make_partitions(std::string_view topic, const TopicEntry& entry);
  void make_partition(std::string_view topic, PartitionId partition, const std::string& directory,
                      const Uuid& id);
  void set_aside_for_deletion(const PartitionInfo& partition, std::vector<std::string>& renamed);
  TopicEntry entry_of(const TopicInfo& topic, const TopicsFile& file) const;
  void remove_clean_shutdown();

  FileSystem* fs_;
  std::string directory_;
  Options options_;
  bool is_broker_ = false;
  bool has_clean_shutdown_ = false;
  std::vector<std::string> notes_;
  std::optional<Error> state_error_;
  mutable Slot live_;
  mutable bool metadata_read_ = false;
  mutable std::optional<BrokerMetadata> metadata_;
  mutable Slot set_aside_;
  std::map<std::string, Offset> log_starts_;  // by "topic-partition"
  std::unique_ptr<LockFile> lock_;
  std::shared_ptr<Cluster> cluster_;
  std::unique_ptr<LockFile> cluster_lock_;
};

}  // namespace tk
