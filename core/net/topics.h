// The topics that the server has: what tk-topics.json and the directory say, kept up to date while other
// commands change them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/net/partition.h"
#include "core/store/store.h"

namespace tk::net {

/// True for what a broker keeps for itself.
inline bool is_internal_topic(std::string_view name) {
  return name == "__consumer_offsets" || name == "__transaction_state";
}

struct Topic {
  std::string name;
  Uuid id;
  TopicFormat format = TopicFormat::kafka;
  ConfigMap configs;
  bool tk_made = false;
  /// By number; null where a directory is missing.
  std::vector<std::shared_ptr<Partition>> partitions;

  /// Null if there is none of that number.
  [[nodiscard]] std::shared_ptr<Partition> partition(std::int32_t number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= partitions.size()) return nullptr;
    return partitions[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] bool internal() const { return is_internal_topic(name); }
};

/// The topics at one moment.
class Catalog {
 public:
  void add(std::shared_ptr<const Topic> topic);
  /// Null if there is none.
  [[nodiscard]] std::shared_ptr<const Topic> find(std::string_view name) const;
  [[nodiscard]] std::shared_ptr<const Topic> find(const Uuid& id) const;
  [[nodiscard]] const std::map<std::string, std::shared_ptr<const Topic>, std::less<>>& topics() const {
    return by_name_;
  }
  [[nodiscard]] std::size_t partitions() const { return partitions_; }

 private:
  struct Hash {
    std::size_t operator()(const Uuid& id) const noexcept {
      return std::hash<std::string_view>{}({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
    }
  };
  std::map<std::string, std::shared_ptr<const Topic>, std::less<>> by_name_;
  std::unordered_map<Uuid, std::shared_ptr<const Topic>, Hash> by_id_;
  std::size_t partitions_ = 0;
};

class Topics {
 public:
  struct Options {
    std::string directory;
    bool read_only = false;
    /// Names or globs (`*`, `?`) of what is served; empty: everything.
    std::vector<std::string> only;
    LockWait lock_wait = 10000;
  };

  /// Opens the directory; for writing it is made if it is missing. Throws what Store throws.
  Topics(FileSystem& fs, Options options, PartitionHost& host);

  /// For any thread.
  [[nodiscard]] std::shared_ptr<const Catalog> now() const;
  /// True if a topic of that name may be seen or made.
  [[nodiscard]] bool serves(std::string_view name) const;
  [[nodiscard]] bool is_broker() const { return is_broker_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  // What follows may block: for workers.

  /// Looks at the directory anew.
  void reload();
  /// As Store has them; the catalog is up to date when they return.
  void create(const NewTopic& topic);
  void alter(const std::string& name, std::optional<std::int32_t> partitions, const ConfigMap& set,
             const std::vector<std::string>& unset);
  void remove(const std::string& name);
  std::unique_ptr<PartitionLog> open_log(const PartitionInfo& partition);
  std::optional<Offset> checkpointed_start(const PartitionInfo& partition);
  /// Calls `work` with a store of its own, for what takes long (retention, compaction, transactions).
  void with_own_store(const std::function<void(Store&)>& work);

  /// The directory's cluster id (serve.md §1.1); made and kept in tk-topics.json if there is none.
  std::string cluster_id();

 private:
  void rebuild();  // with store_mutex_ held
  [[nodiscard]] std::shared_ptr<const Topic> topic_of(const TopicInfo& info, const Catalog& before);

  FileSystem& fs_;
  Options options_;
  PartitionHost& host_;
  bool is_broker_ = false;
  std::vector<std::string> notes_;

  std::mutex store_mutex_;
  Store store_;

  mutable std::mutex mutex_;
  std::shared_ptr<const Catalog> catalog_;
};

/// True if `name` is what `pattern` says; `*` stands for any text, `?` for one character.
bool matches_glob(std::string_view pattern, std::string_view name);

}  // namespace tk::net
