#include "core/net/groups.h"

#include <algorithm>

#include "core/group/deadlines.h"
#include "core/group/group_file.h"
#include "core/group/group_name.h"
#include "core/io/memory_file_system.h"
#include "core/log/offset_search.h"
#include "core/net/failure.h"
#include "core/store/broker_state.h"

namespace tk::net {

// ---- topics

std::shared_ptr<Partition> CatalogTopics::find(const TopicPartition& partition) const {
  const auto topic = catalog_->find(partition.topic);
  return topic ? topic->partition(partition.partition.value()) : nullptr;
}

std::optional<std::int32_t> CatalogTopics::partition_count(const std::string& topic) const {
  const auto found = catalog_->find(topic);
  if (!found || found->partitions.empty()) return std::nullopt;
  return static_cast<std::int32_t>(found->partitions.size());
}

std::optional<Uuid> CatalogTopics::topic_id(const std::string& topic) const {
  const auto found = catalog_->find(topic);
  return found ? std::optional(found->id) : std::nullopt;
}

std::optional<LogEdges> CatalogTopics::edges(const TopicPartition& partition) const {
  const auto found = find(partition);
  if (!found) return std::nullopt;
  if (!found->is_open()) {
    const LogView view = found->view();
    return LogEdges{view.log_start, view.log_end, view.log_end};
  }
  const PartitionEdges edges = found->edges();
  return LogEdges{edges.start, edges.end, edges.end};
}

Offset CatalogTopics::last_stable(const TopicPartition& partition) const {
  const auto found = find(partition);
  return found ? found->edges().stable : Offset(0);
}

LeaderEpochs CatalogTopics::leader_epochs(const TopicPartition& partition) const {
  const auto found = find(partition);
  return found ? found->leader_epochs() : LeaderEpochs();
}

std::optional<Offset> CatalogTopics::offset_for_time(const TopicPartition& partition,
                                                     std::int64_t timestamp_ms) const {
  const auto found = find(partition);
  if (!found) return std::nullopt;
  return tk::offset_for_time(service_.fs(), found->view(), timestamp_ms);
}

// ---- groups

/// One group that somebody has asked for since the start. Everything but `timer` belongs to its queue.
struct Groups::Live {
  Live(std::string group, Workers& workers) : name(std::move(group)), queue(workers) {}

  std::string name;
  SerialQueue queue;
  bool met = false;
  /// Session deadlines that are later than the file's.
  std::map<std::string, std::int64_t> deadlines;
  std::int64_t saved_ms = INT64_MIN;
  std::map<std::string, Parked> parked;
  std::map<std::string, Sent> sent;
  GroupPhase phase = GroupPhase::empty;
  std::int64_t generation = -1;
  // Tasks that wait in the queue or run; under the mutex of all groups.
  std::size_t users = 0;
  // The loop's:
  Loop::TimerId timer = Loop::kNoTimer;
};

namespace {

/// Offsets expire, checked so often.
constexpr std::int64_t kExpiryCheckMs = 600000;
/// Ids that clients were given and have not joined with yet.
constexpr std::size_t kMostPromised = 10000;

bool same_but_deadlines(const GroupState& before, GroupState after) {
  after.last_now_ms = before.last_now_ms;
  after.seq = before.seq;
  if (before.members.size() != after.members.size()) return false;
  auto old = before.members.begin();
  for (auto& [id, member] : after.members) {
    if (old->first != id) return false;
    member.session_deadline_ms = old->second.session_deadline_ms;
    ++old;
  }
  return before == after;
}

std::int64_t shortest_session(const GroupState& state) {
  std::int64_t shortest = 45000;
  for (const auto& [id, member] : state.members) {
    if (member.session_timeout_ms > 0) shortest = std::min(shortest, member.session_timeout_ms);
  }
  return shortest;
}

}  // namespace

Groups::Groups(Service& service) : service_(service) {
  GroupStore::Options options;
  options.lock_wait = service.lock_wait();
  options.durable = service.options().sync;
  options.config.initial_rebalance_delay_ms = service.options().rebalance_delay_ms;
  if (service.options().read_only) {
    memory_ = std::make_unique<MemoryFileSystem>();
    memory_->make_directories(service.options().directory);
  }
  store_ = std::make_unique<GroupStore>(memory_ ? *memory_ : service.fs(), service.options().directory,
                                        service.clock(), options);
  service.loop().after(kExpiryCheckMs, [this] { expire_sometimes(); });
}

Groups::~Groups() = default;

Groups::LivePtr Groups::live(const std::string& group) {
  const std::lock_guard lock(mutex_);
  LivePtr& found = live_[group];
  if (!found) found = std::make_shared<Live>(group, service_.workers());
  ++found->users;
  return found;
}

// In the group's queue, at the end of a task. Nothing is kept of a group that there is not: anybody may ask
// for any number of names.
void Groups::done_with(const LivePtr& live, bool exists) {
  const std::lock_guard lock(mutex_);
  if (--live->users == 0 && !exists && live->parked.empty()) live_.erase(live->name);
}

// Of a broker's groups the commits are taken: who were members of a broker that runs no more are none here.
void Groups::bring_in_broker() {
  service_.topics().with_own_store([&](Store& store) {
    BrokerStateNotes notes;
    notes.damage = [&](const Error& error) { service_.warn(error); };
    notes.note = [](const std::string&) {};
    for (const auto& [name, group] : read_broker_groups(store, notes).groups) {
      if (group.type == BrokerGroupType::share || group.state.offsets.empty()) continue;
      GroupState state;
      state.group = name;
      state.protocol = group.state.protocol;
      state.had_members = !group.protocol_type.empty() || group.type != BrokerGroupType::classic;
      state.generation = group.state.generation;
      state.target_epoch = std::min(group.state.target_epoch, group.state.generation);
      state.state_since_ms = state.last_now_ms = service_.clock().now_ms();
      state.offsets = group.state.offsets;
      for (const auto& [partition, offset] : state.offsets)
        state.next_commit_seq = std::max(state.next_commit_seq, offset.commit_seq + 1);
      const std::string path = join_path(service_.options().directory, group_state_name(group_key(name)));
      if (!memory_->stat(path)) replace_atomically(*memory_, path, as_bytes(format_group_file(state)));
    }
  });
}

// A read-only server's groups begin with what the directory says.
void Groups::bring_in(const std::string& group) {
  if (!memory_) return;
  std::call_once(broker_read_, [this] {
    try {
      if (service_.topics().is_broker()) bring_in_broker();
    } catch (const Error& error) {
      service_.warn(error);
    }
  });
  if (group.empty()) return;
  try {
    const std::string path = join_path(service_.options().directory, group_state_name(group_key(group)));
    if (service_.fs().stat(path) && !memory_->stat(path))
      replace_atomically(*memory_, path, as_bytes(read_whole(service_.fs(), path)));
  } catch (const Error& error) {
    service_.warn(error);
  }
}

void Groups::change(const std::string& group, Operation operation, Done done, bool quiet) {
  const LivePtr one = live(group);
  one->queue.post([this, one, operation = std::move(operation), done = std::move(done), quiet] {
    done_with(one, run(one, operation, done, quiet));
  });
}

// Members of a stored group get a whole session when the server first meets it; later what memory knows.
void Groups::prepare(Live& live, GroupState& state) {
  const std::int64_t now_ms = std::max(service_.clock().now_ms(), state.last_now_ms);
  for (auto& [id, member] : state.members) {
    if (!member.over_wire || !member.session_deadline_ms) continue;
    if (!live.met) live.deadlines[id] = later(now_ms, member.session_timeout_ms);
    const auto known = live.deadlines.find(id);
    if (known != live.deadlines.end() && known->second > *member.session_deadline_ms)
      member.session_deadline_ms = known->second;
  }
  live.met = true;
}

bool Groups::run(const LivePtr& live, const Operation& operation, const Done& done, bool quiet) {
  std::optional<GroupState> state;
  const std::shared_ptr<Error> failed = failure_of([&] {
    if (!live->met) bring_in(live->name);
    const CatalogTopics topics(service_);
    GroupStore::Conduct conduct;
    conduct.prepare = [&](GroupState& loaded) { prepare(*live, loaded); };
    conduct.skips_write = [&](const GroupState* before, const GroupState& after) {
      state = after;
      if (!quiet || before == nullptr || !same_but_deadlines(*before, after)) return false;
      return service_.clock().now_ms() - live->saved_ms < shortest_session(after) / 3;
    };
    const GroupStore::Outcome outcome = store_->change(live->name, topics, operation, conduct);
    if (outcome.written) live->saved_ms = service_.clock().now_ms();
    if (outcome.removed) state.reset();
  });
  if (failed) {
    if (failed->code() == ErrorCode::unknown_server_error) service_.warn(*failed);
    // What was to be sent was not: members are told anew.
    live->sent.clear();
    // What had fallen due may have been saved.
    state.reset();
    const auto lost = failure_of([&] {
      state = store_->read(live->name);
      if (state) prepare(*live, *state);
    });
    if (lost) state.reset();
  }
  if (state) {
    after(live, *state);
  } else if (!failed) {
    GroupState gone;
    gone.group = live->name;
    after(live, gone);
  }
  if (done) service_.loop().post([done, failed] { done(failed.get()); });
  return state.has_value();
}

void Groups::after(const LivePtr& live, const GroupState& state) {
  live->deadlines.clear();
  for (const auto& [id, member] : state.members) {
    if (member.over_wire && member.session_deadline_ms) live->deadlines[id] = *member.session_deadline_ms;
  }
  std::erase_if(live->sent, [&](const auto& entry) { return !state.members.contains(entry.first); });
  std::erase_if(live->parked, [&](const auto& entry) { return entry.second(&state); });
  if (state.phase != live->phase || state.generation != live->generation) {
    live->phase = state.phase;
    live->generation = state.generation;
    service_.loop().post([this, name = live->name, phase = state.phase, generation = state.generation,
                          members = state.members.size()] {
      service_.events().group_changed(name, group_phase_name(phase), generation, members);
    });
  }
  const auto next = next_deadline(state);
  const std::int64_t wait = next ? std::max<std::int64_t>(*next - service_.clock().now_ms(), 1) : -1;
  service_.loop().post([this, live, wait] {
    service_.loop().cancel(std::exchange(live->timer, Loop::kNoTimer));
    if (wait < 0 || service_.draining()) return;
    live->timer = service_.loop().after(std::min<std::int64_t>(wait, 3600000), [this, live] {
      live->timer = Loop::kNoTimer;
      tick(live->name);
    });
  });
}

void Groups::tick(const std::string& group) {
  change(
      group, [](GroupTurn&) {}, {}, true);
}

void Groups::look(const std::string& group, std::function<void(const GroupState*, const GroupTopics&)> look,
                  Done done) {
  const LivePtr one = live(group);
  one->queue.post([this, one, look = std::move(look), done = std::move(done)] {
    bool exists = false;
    const std::shared_ptr<Error> failed = failure_of([&] {
      if (!one->met) bring_in(one->name);
      const CatalogTopics topics(service_);
      std::optional<GroupState> state = store_->read(one->name);
      if (state) prepare(*one, *state);
      state = store_->at_this_moment(std::move(state), topics);
      exists = state.has_value();
      look(state ? &*state : nullptr, topics);
    });
    service_.loop().post([done, failed] { done(failed.get()); });
    done_with(one, exists);
  });
}

void Groups::with_store(std::function<void(GroupStore&, const GroupTopics&)> work, Done done) {
  service_.workers().post([this, work = std::move(work), done = std::move(done)] {
    const std::shared_ptr<Error> failed = failure_of([&] {
      if (memory_) {
        bring_in("");
        GroupStore real(service_.fs(), service_.options().directory, service_.clock(), {});
        for (const std::string& name : real.names()) bring_in(name);
      }
      const CatalogTopics topics(service_);
      work(*store_, topics);
    });
    service_.loop().post([done, failed] { done(failed.get()); });
  });
}

void Groups::park(const std::string& group, const std::string& name, Parked parked) {
  const LivePtr one = live_now(group);
  const auto at = one->parked.find(name);
  if (at != one->parked.end()) at->second(nullptr);
  one->parked[name] = std::move(parked);
}

Groups::LivePtr Groups::live_now(const std::string& group) {
  const std::lock_guard lock(mutex_);
  return live_.at(group);
}

void Groups::promise(const std::string& group, const std::string& member, std::int64_t for_ms) {
  const std::int64_t now = monotonic_ms();
  const std::lock_guard lock(mutex_);
  if (promised_.size() >= kMostPromised) {
    std::erase_if(promised_, [&](const auto& entry) { return entry.second < now; });
    // Whoever asks for so many at once does not want them.
    if (promised_.size() >= kMostPromised) promised_.clear();
  }
  promised_[{group, member}] = now + for_ms;
}

bool Groups::take_promise(const std::string& group, const std::string& member) {
  const std::lock_guard lock(mutex_);
  const auto at = promised_.find({group, member});
  if (at == promised_.end() || at->second < monotonic_ms()) return false;
  promised_.erase(at);
  return true;
}

Groups::Sent& Groups::sent(const std::string& group, const std::string& member) {
  return live_now(group)->sent[member];
}

void Groups::drain() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, one] : live_) {
    service_.loop().cancel(std::exchange(one->timer, Loop::kNoTimer));
    one->queue.post([one = one] {
      for (const auto& [id, parked] : std::exchange(one->parked, {})) parked(nullptr);
    });
  }
}

void Groups::file_changed(const std::string& file_name) {
  const std::string key = key_of_file_name(file_name);
  if (key.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const auto& entry : live_) {
    if (group_key(entry.first) != key) continue;
    const auto one = entry.second;
    ++one->users;
    one->queue.post([this, one] {
      bool exists = true;
      if (!one->parked.empty())
        exists = run(
            one, [](GroupTurn&) {}, {}, true);
      done_with(one, exists);
    });
  }
}

void Groups::expire_sometimes() {
  service_.loop().after(kExpiryCheckMs, [this] { expire_sometimes(); });
  with_store(
      [this](GroupStore& store, const GroupTopics&) {
        for (const std::string& name : store.names())
          change(
              name, [](GroupTurn&) {}, {}, true);
      },
      [](const Error*) {});
}

}  // namespace tk::net
