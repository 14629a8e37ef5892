// The coordinator of the server's groups (serve.md §2.7): the group code of core/group and its files, with
// what a server adds: answers that wait for other members, timers, deadlines that are renewed far more often
// than they are written.
//
// All that counts is in a group's file; memory holds who waits, and session deadlines that are later than the
// file's. A group is worked on in its own queue, by one worker at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/group/group_store.h"
#include "core/group/group_topics.h"
#include "core/group/membership.h"
#include "core/net/service.h"

namespace tk::net {

/// The topics of a catalog as groups look at them. For any thread.
class CatalogTopics final : public GroupTopics {
 public:
  CatalogTopics(Service& service) : service_(service), catalog_(service.catalog()) {}

  void refresh() override { catalog_ = service_.catalog(); }
  [[nodiscard]] std::optional<std::int32_t> partition_count(const std::string& topic) const override;
  [[nodiscard]] std::optional<Uuid> topic_id(const std::string& topic) const override;
  [[nodiscard]] std::optional<LogEdges> edges(const TopicPartition& partition) const override;
  [[nodiscard]] Offset last_stable(const TopicPartition& partition) const override;
  [[nodiscard]] LeaderEpochs leader_epochs(const TopicPartition& partition) const override;
  [[nodiscard]] std::optional<Offset> offset_for_time(const TopicPartition& partition,
                                                      std::int64_t timestamp_ms) const override;

 private:
  [[nodiscard]] std::shared_ptr<Partition> find(const TopicPartition& partition) const;

  Service& service_;
  std::shared_ptr<const Catalog> catalog_;
};

class Groups {
 public:
  explicit Groups(Service& service);
  ~Groups();

  /// What an operation on a group is given; called in the group's queue, may throw an Error.
  using Operation = std::function<void(GroupTurn&)>;
  /// Called by the loop: null, or why not.
  using Done = std::function<void(const Error*)>;

  /// Changes a group under its lock. `quiet`: an operation that only renews deadlines, which is not written
  /// each time.
  void change(const std::string& group, Operation operation, Done done, bool quiet = false);
  /// Hands the group as it is at this moment (null: there is none) to `look`, in the group's queue; then
  /// `done` on the loop.
  void look(const std::string& group, std::function<void(const GroupState*, const GroupTopics&)> look,
            Done done);
  /// Runs `work` with the store of all groups, on a worker; then `done` on the loop.
  void with_store(std::function<void(GroupStore&, const GroupTopics&)> work, Done done);

  /// A parked answer: asked, in the group's queue, after each change whether it can be given. True: it has
  /// been, or never will be. Null: the server ends, or another request took the place.
  using Parked = std::function<bool(const GroupState*)>;
  /// In the group's queue, from within an operation: parks under a name, in place of what was there.
  void park(const std::string& group, const std::string& name, Parked parked);
  /// An id that a client is to join with (KIP-394), for as long as its session may last; and whether one was
  /// given. In the group's queue.
  void promise(const std::string& group, const std::string& member, std::int64_t for_ms);
  bool take_promise(const std::string& group, const std::string& member);
  /// Answers all that is parked with COORDINATOR_NOT_AVAILABLE.
  void drain();

  /// What members of the consumer protocol were last sent, by group and member. In the group's queue.
  struct Sent {
    PartitionList assignment;
    std::optional<std::string> regex;
    bool valid = false;
  };
  Sent& sent(const std::string& group, const std::string& member);

  /// Something happened to the file of that group.
  void file_changed(const std::string& file_name);

  [[nodiscard]] GroupStore& store() { return *store_; }

 private:
  struct Live;
  using LivePtr = std::shared_ptr<Live>;

  LivePtr live(const std::string& group);
  void done_with(const LivePtr& live, bool exists);
  /// The one that a task in its queue works on.
  LivePtr live_now(const std::string& group);
  /// True if there is such a group afterwards.
  bool run(const LivePtr& live, const Operation& operation, const Done& done, bool quiet);
  void prepare(Live& live, GroupState& state);
  void after(const LivePtr& live, const GroupState& state);
  void tick(const std::string& group);
  void bring_in(const std::string& group);
  void bring_in_broker();
  void expire_sometimes();

  Service& service_;
  std::unique_ptr<FileSystem> memory_;  // of a read-only server
  std::once_flag broker_read_;
  std::unique_ptr<GroupStore> store_;
  std::mutex mutex_;
  std::map<std::string, LivePtr> live_;
  // Ids that clients were given, by group and id, until when (by the monotonic clock); under mutex_.
  std::map<std::pair<std::string, std::string>, std::int64_t> promised_;
};

}  // namespace tk::net
