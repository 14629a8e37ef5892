// What the handlers of requests share: the topics, the groups, the clock, limits, and whom to tell.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/net/options.h"
#include "core/net/partition.h"
#include "core/net/topics.h"

namespace tk::net {

/// What happens beside answers, for whoever runs the server. All are called by the loop.
class ServerEvents {
 public:
  virtual ~ServerEvents() = default;
  virtual void listening(std::string_view listener, const Address& address) = 0;
  virtual void ready(std::size_t topics, std::size_t partitions, std::int64_t ms) = 0;
  virtual void warning(const Error& error, const PartitionInfo* partition) = 0;
  virtual void topic_created(const std::string& topic, std::int32_t partitions, const std::string& by) = 0;
  virtual void group_changed(const std::string& group, std::string_view state, std::int64_t generation,
                             std::size_t members) = 0;
  virtual void connection(std::string_view listener, const std::string& client, bool open) = 0;
  virtual void request(const std::string& line) = 0;
};

class Service {
 public:
  /// Opens the directory. Throws what Topics throws, and log_dir_locked if another server writes it.
  Service(FileSystem& fs, const Clock& clock, ServerOptions options, ServerEvents& events);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  [[nodiscard]] const ServerOptions& options() const { return options_; }
  [[nodiscard]] FileSystem& fs() { return fs_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Loop& loop() { return loop_; }
  [[nodiscard]] Workers& workers() { return *workers_; }
  [[nodiscard]] ServerEvents& events() { return events_; }
  [[nodiscard]] Topics& topics() { return *topics_; }
  [[nodiscard]] std::shared_ptr<const Catalog> catalog() const { return topics_->now(); }
  [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
  /// Changes of topics and configs, one after the other.
  [[nodiscard]] SerialQueue& admin() { return admin_; }
  [[nodiscard]] PartitionHost& host() { return host_; }

  /// Runs `work` in the admin queue; what it throws goes to `done` on the loop, else nothing.
  void administer(std::function<void()> work, std::function<void(const Error*)> done);
  /// Makes missing topics as clients' metadata requests do; `done` on the loop, in any case. What nobody
  /// wants any more when its turn comes is not made (`wanted`, for any thread): a client that leaves holds up
  /// nobody.
  void auto_create(std::vector<std::string> names, const std::string& by, std::function<void()> done,
                   std::function<bool()> wanted = {});

  /// A warning from any thread.
  void warn(Error error, const PartitionInfo* partition = nullptr);
  /// Of something that was thrown where nobody expects it.
  void warn_of(const std::exception& error);

  /// True while requests hold as much memory as they may: whoever could wait is answered. For the loop.
  std::function<bool()> is_crowded = [] { return false; };
  /// How many bytes an answer may take that may as well be smaller: less when readers leave much lying. For
  /// the loop.
  std::function<std::int64_t()> room_for_answer = [] { return INT64_MAX; };
  /// What answers that workers make may take, until they are made. For the loop.
  std::int64_t answers_in_making = 0;

  [[nodiscard]] bool draining() const { return draining_; }
  /// No new work; and after so many ms nobody waits for a lock any more.
  void set_draining(std::int64_t locks_for_ms = INT64_MAX);
  /// How long work waits for a lock of state files.
  [[nodiscard]] LockWait lock_wait() const {
    return {options_.lock_timeout_ms, [this] { return monotonic_ms() > no_locks_after_ms_.load(); }};
  }

  /// Ends the work of partitions and workers: everything is forced.
  void shut_down();

  /// The first address of Kafka's protocol, as text; empty: none.
  std::string listening_kafka;
  std::uint64_t requests = 0;
  std::atomic<std::uint64_t> records_in{0};
  std::uint64_t records_out = 0;

  /// The APIs' own state, made on demand. For any thread.
  template <class T>
  T& part() {
    static const char key = 0;
    const std::lock_guard lock(parts_mutex_);
    for (auto& [k, value] : parts_) {
      if (k == &key) return *static_cast<T*>(value.get());
    }
    parts_.emplace_back(&key, std::make_shared<T>(*this));
    return *static_cast<T*>(parts_.back().second.get());
  }

 private:
  FileSystem& fs_;
  const Clock& clock_;
  ServerOptions options_;
  ServerEvents& events_;
  Loop loop_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<Workers> writers_;
  PartitionHost host_;
  std::unique_ptr<LockFile> serve_lock_;
  std::unique_ptr<Topics> topics_;
  std::string cluster_id_;
  SerialQueue admin_;
  std::atomic<bool> draining_{false};
  std::atomic<std::int64_t> no_locks_after_ms_{INT64_MAX};
  std::recursive_mutex parts_mutex_;
  std::vector<std::pair<const void*, std::shared_ptr<void>>> parts_;
};

inline constexpr std::string_view kServeLockFile = "tk-serve.lock";

}  // namespace tk::net
