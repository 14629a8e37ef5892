#include "commands/consume_group.h"
#include "commands/broker_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "commands/consume_plan.h"
#include "commands/consume_print.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/group_reader.h"
#include "commands/heartbeat_while.h"
#include "commands/open_store.h"
#include "core/base/text.h"
#include "core/group/group_session.h"
#include "core/io/output.h"
#include "core/io/watch.h"

namespace tk {
namespace {

/// How often a member that waits for others looks at most, when the group's file changes, ms: members that
/// wait for the same one must not wake each other without end.
constexpr std::int64_t kImpatientMs = 50;

// What is due is done first. A cluster is one thing under one lock, which must not be held while its topics
// are read.
Store store_to_read(Context& context) {
  Store store = open_store_for_groups(context);
  if (store.cluster() == nullptr) return store;
  static_cast<void>(Store(std::move(store)));  // closed
  return open_store(context);
}

class GroupConsumer {
 public:
  GroupConsumer(const ConsumeOptions& options, Context& context)
      : options_(options),
        group_(*options.group),
        context_(context),
        printer_(options, context),
        filter_(options),
        store_(store_to_read(context)),
        logs_(store_),
        // A signal ends the reading, but not the wait for the lock of the last commit.
        groups_(context.fs, context.directory, context.clock,
                {.lock_wait = LockWait(context.lock_timeout_ms)}),
        session_(groups_, logs_, session_options()),
        heartbeat_(session_, group_.heartbeat_ms) {}

  void run();

 private:
  [[nodiscard]] GroupSession::Options session_options();
  [[nodiscard]] bool done() const { return ended_ || printer_.done(); }

  // Membership.
  void take_in(Membership now);
  void adopt(const Membership& now, const std::optional<Error>& refusal);
  void add(const TopicPartition& partition, const std::optional<GroupState>& group);
  void lose(const PartitionList& partitions, const std::optional<Error>& refusal);
  void rejoin(const Membership& expelled);
  void beat_if_due();
  [[nodiscard]] bool group_has_news();
  void name_what_others_hold();

  // Reading.
  void read_all();
  bool read_some(const TopicPartition& id);
  [[nodiscard]] Offset taken_up_to(const PrintPlace& place, std::size_t text, std::uint64_t bytes) const;
  [[nodiscard]] bool damage_stops() const;
  void wait_for_more();
  void watch_all();

  // Commits.
  std::optional<Membership> commit();
  std::optional<Membership> commit_now(std::vector<OffsetCommit> offsets);

  const ConsumeOptions& options_;
  const GroupReading& group_;
  Context& context_;
  RecordPrinter printer_;
  RecordFilter filter_;
  Store store_;
  GroupLogs logs_;
  GroupStore groups_;
  GroupSession session_;
  HeartbeatWhile heartbeat_;

  std::map<TopicPartition, GroupReader> readers_;
  std::uint64_t reader_number_ = 0;
  bool settled_ = true;
  /// A commit was refused for good: the member is no member any more.
  bool ended_ = false;
  std::int64_t group_generation_ = -1;
  std::int64_t next_beat_ms_ = 0;
  std::int64_t last_news_ms_ = 0;
  std::int64_t quiet_since_ms_ = 0;
  std::int64_t records_since_commit_ = 0;
  std::unique_ptr<DirectoryWatch> watch_;
  CursorChunk chunk_;
  ConsumeSink sink_;
  RecordDecoder decoder_;
};

GroupSession::Options GroupConsumer::session_options() {
  GroupSession::Options out;
  out.group = group_.group;
  out.member = group_.member.value_or("");
  out.instance = group_.instance;
  out.session_timeout_ms = group_.session_timeout_ms;
  out.max_poll_interval_ms = group_.max_poll_interval_ms;
  for (const std::string& name : options_.topics) {
    const Store::Selection selection = store_.resolve(name);
    if (selection.partition) {
      throw Error(ErrorCode::invalid_request,
                  fmt::format("'{}' is one partition, and a group shares out whole topics", printable(name)))
          .hint(fmt::format("give the topic '{}', or leave -g out", printable(selection.topic->name)));
    }
    out.topics.push_back(selection.topic->name);
  }
  std::ranges::sort(out.topics);
  out.topics.erase(std::unique(out.topics.begin(), out.topics.end()), out.topics.end());
  return out;
}

void GroupConsumer::run() {
  refuse_brokers_group(group_.group, store_, groups_, context_);
  quiet_since_ms_ = monotonic_ms();
  Membership joined = session_.join();
  try {
    take_in(std::move(joined));
    name_what_others_hold();
    for (;;) {
      read_all();
      if (!options_.follow || done()) break;
      wait_for_more();
      if (options_.idle_timeout_ms && monotonic_ms() - quiet_since_ms_ >= *options_.idle_timeout_ms) break;
      if (context_.out.reader_gone()) break;
    }
    if (options_.output == ConsumeOptions::Output::count)
      context_.out.write(fmt::format("{}\n", printer_.printed()));
    commit();
  } catch (...) {
    // The partitions go to the others at once, not when the session ends.
    try {
      session_.close();
    } catch (const Error& error) {
      context_.diagnostics.error(error);
    }
    throw;
  }
  session_.close();
}

// ---- membership

// What a call of the session has brought. What is to be given up is committed and let go, which may bring
// more.
void GroupConsumer::take_in(Membership now) {
  for (;;) {
    if (now.expelled) {
      rejoin(now);
      now = session_.join();
      continue;
    }
    adopt(now, std::nullopt);
    if (now.revoking.empty() || ended_) return;
    if (auto news = commit()) {
      now = std::move(*news);
      continue;
    }
    for (const TopicPartition& partition : now.revoking) readers_.erase(partition);
    now = session_.release();
  }
}

// Makes the readers what the group says: there is one for each partition that this member reads.
void GroupConsumer::adopt(const Membership& now, const std::optional<Error>& refusal) {
  next_beat_ms_ = monotonic_ms() + group_.heartbeat_ms;
  if (now.clock_regressed)
    context_.diagnostics.detail(
        "the clock is behind what the group has seen: the group's own time was taken");
  if (now.history_error)
    context_.diagnostics.warning("the group's history was not written: " + now.history_error->message());
  settled_ = now.settled;
  group_generation_ = now.group_generation;
  lose(now.lost, refusal);
  std::optional<GroupState> group;
  for (const TopicPartition& partition : now.reading) {
    if (readers_.contains(partition)) continue;
    if (!group) group = session_.group();
    try {
      add(partition, group);
    } catch (const Error& error) {
      // In a cluster: the next heartbeat asks once more.
      if (!options_.follow || error.code() != ErrorCode::leader_not_available) throw;
    }
  }
  watch_.reset();
}

void GroupConsumer::add(const TopicPartition& partition, const std::optional<GroupState>& group) {
  const PartitionInfo* const info = logs_.find(partition);
  if (info == nullptr) return;  // deleted meanwhile; the group will notice
  const PartitionInfo copy = *info;
  auto plan = plan_partition(logs_.store(), copy, options_, context_);
  std::optional<std::int64_t> committed;
  if (options_.offset.kind == OffsetSpec::Kind::stored) {
    const Position position =
        session_.position(group, partition, group_.reset, options_.isolation == Isolation::read_committed);
    plan->scope.from = position.offset;
    plan->skip = 0;
    const auto say = [&](std::string_view why) {
      context_.diagnostics.note(
          fmt::format("{}: {}: reading from {}", partition_label(partition), why, position.offset.value()));
    };
    switch (position.reason) {
      case Position::Reason::committed:
        committed = position.offset.value();
        break;
      case Position::Reason::no_commit:
        break;
      case Position::Reason::out_of_range:
        say("what was committed is not in the log");
        break;
      case Position::Reason::truncated:
        say(fmt::format("the log has lost {} offsets that were read", position.rewound));
        break;
      case Position::Reason::no_epoch:
        say("the log knows nothing of the epoch that was read in");
        break;
    }
  }
  readers_.insert_or_assign(partition, GroupReader(++reader_number_, std::move(plan), committed));
}

// Partitions that others have now. What was printed of them and not committed is printed again by these.
void GroupConsumer::lose(const PartitionList& partitions, const std::optional<Error>& refusal) {
  std::string again;
  for (const TopicPartition& partition : partitions) {
    const auto found = readers_.find(partition);
    if (found == readers_.end()) continue;
    const GroupReader& reader = found->second;
    const auto from = reader.committed();
    if (group_.commits && reader.uncommitted() && (!from || reader.progress().value() > *from)) {
      again += fmt::format("{}{} {}..{}", again.empty() ? "" : ", ", partition_label(partition),
                           from ? std::to_string(*from) : "-", reader.progress().value() - 1);
    }
    readers_.erase(found);
  }
  if (again.empty()) return;
  const ErrorCode code = refusal ? refusal->code() : ErrorCode::illegal_generation;
  context_.diagnostics.error(
      Error(code, fmt::format("{}: these records will be read again by others: {}",
                              refusal ? refusal->message() : "partitions were taken away", again))
          .hint("commit more often (--commit every=N), or give the member more time (--max-poll-interval, "
                "--session-timeout)"));
}

void GroupConsumer::rejoin(const Membership& expelled) {
  lose(expelled.lost,
       Error(ErrorCode::unknown_member_id, fmt::format("member '{}' was expelled from group '{}'",
                                                       printable(expelled.member), printable(group_.group))));
  context_.diagnostics.note(
      fmt::format("member '{}' was expelled from the group, and joins it again", printable(expelled.member)));
  readers_.clear();
}

void GroupConsumer::beat_if_due() {
  if (monotonic_ms() >= next_beat_ms_) take_in(session_.poll());
}

// Looks at the group's file, which a reader may at any time, so as not to change it for nothing.
bool GroupConsumer::group_has_news() {
  const auto group = groups_.read(group_.group);
  if (!group || !group->members.contains(session_.member())) return true;
  if (group->generation != group_generation_) return true;
  if (settled_ || monotonic_ms() - last_news_ms_ < kImpatientMs) return false;
  last_news_ms_ = monotonic_ms();
  return true;
}

void GroupConsumer::name_what_others_hold() {
  const auto group = groups_.read(group_.group);
  if (!group || settled_) return;
  const auto wanted = group->target.find(session_.member());
  if (wanted == group->target.end()) return;
  PartitionList missing;
  for (const TopicPartition& partition : wanted->second)
    if (!readers_.contains(partition)) missing.push_back(partition);
  if (missing.empty()) return;
  context_.diagnostics.note(fmt::format("other members still hold {}, which {} left out until they let go",
                                        partitions_text(missing), missing.size() == 1 ? "is" : "are"));
}

// ---- reading

void GroupConsumer::read_all() {
  bool more = true;
  while (more && !done()) {
    more = false;
    // A heartbeat may change the map: the next reader is found by its name.
    std::optional<TopicPartition> last;
    for (;;) {
      const auto at = last ? readers_.upper_bound(*last) : readers_.begin();
      if (at == readers_.end() || done()) break;
      last = at->first;
      // Partition by partition; by turns where there is no end.
      do {
        if (!readers_.contains(*last) || !read_some(*last)) break;
        more = true;
        beat_if_due();
      } while (!options_.follow && !done());
    }
  }
}

// One piece of a partition; false at its end.
bool GroupConsumer::read_some(const TopicPartition& id) {
  GroupReader* reader = &readers_.at(id);
  if (!reader->next(context_.fs, chunk_)) return false;
  const RecordFormatter formatter(options_, id.topic, id.partition);
  sink_.start(filter_, formatter, true);
  ReadScope scope = reader->plan().scope;
  scope.from = reader->progress();
  walk_records(chunk_, scope, decoder_, sink_);
  const std::uint64_t number = reader->number();
  PrintPlace place;
  for (bool go_on = true; go_on && !place.is_end_of(sink_);) {
    const std::int64_t before = printer_.printed();
    const std::size_t text = place.text;
    const std::uint64_t taken = context_.out.taken();
    const std::int64_t most = group_.commit_every ? *group_.commit_every - records_since_commit_ : INT64_MAX;
    std::optional<Membership> news = heartbeat_.run([&] {
      go_on = printer_.print_some(sink_, place, reader->plan().skip, most);
      context_.out.flush();
    });
    reader->advance(taken_up_to(place, text, context_.out.taken() - taken));
    if (printer_.printed() > before) quiet_since_ms_ = monotonic_ms();
    records_since_commit_ += printer_.printed() - before;
    const bool due = group_.commit_every && records_since_commit_ >= *group_.commit_every;
    if (!news && !due) continue;
    if (news) take_in(std::move(*news));
    if (due && (news = commit())) take_in(std::move(*news));
    // The group may have taken the partition away, and given it back: then the rest is read anew.
    const auto found = readers_.find(id);
    if (found == readers_.end() || found->second.number() != number) return true;
    reader = &found->second;
  }
  if (place.is_end_of(sink_) && !context_.out.closed() && !damage_stops()) reader->advance(reader->behind());
  return true;
}

// The next offset to read when the sink is printed up to `place`, from `text` on by what the output has
// taken.
Offset GroupConsumer::taken_up_to(const PrintPlace& place, std::size_t text, std::uint64_t bytes) const {
  auto count = static_cast<std::size_t>(place.records);
  if (context_.out.closed()) {
    const std::size_t end = text + static_cast<std::size_t>(bytes);
    const auto beyond = std::ranges::upper_bound(sink_.marks, end, {}, &ConsumeSink::Mark::end);
    count = std::min(count, static_cast<std::size_t>(beyond - sink_.marks.begin()));
  }
  return count == 0 ? Offset(-1) : sink_.marks[count - 1].offset + 1;
}

bool GroupConsumer::damage_stops() const {
  return !sink_.found.empty() && options_.on_damage == ConsumeOptions::OnDamage::stop;
}

void GroupConsumer::watch_all() {
  watch_ = std::make_unique<DirectoryWatch>();
  watch_->add(context_.directory);
  for (auto& [id, reader] : readers_) watch_->add(reader.plan().view.files.directory);
}

void GroupConsumer::wait_for_more() {
  // Watched first and looked at then: nothing is missed between the two.
  if (!watch_) {
    watch_all();
  } else {
    std::int64_t wait = std::max<std::int64_t>(0, next_beat_ms_ - monotonic_ms());
    if (!settled_) wait = std::min(wait, std::max<std::int64_t>(kImpatientMs, group_.heartbeat_ms / 10));
    if (options_.idle_timeout_ms) {
      wait = std::min(
          wait, std::max<std::int64_t>(0, quiet_since_ms_ + *options_.idle_timeout_ms - monotonic_ms()));
    }
    watch_->wait(wait);
  }
  if (context_.interrupted.load() != 0) return;
  if (monotonic_ms() >= next_beat_ms_ || group_has_news()) take_in(session_.poll());
  if (logs_.store().cluster() != nullptr) logs_.refresh();
  for (auto& [id, reader] : readers_) reader.look_again(logs_.store(), options_, context_);
}

// ---- commits

// Commits what the output has taken. If that was refused because the group has moved on, what is kept is
// committed all the same, and how the member stands now is returned.
std::optional<Membership> GroupConsumer::commit() {
  records_since_commit_ = 0;
  if (!group_.commits || ended_) return std::nullopt;
  context_.out.flush();
  std::vector<OffsetCommit> offsets;
  for (const auto& [id, reader] : readers_) {
    if (!reader.uncommitted()) continue;
    OffsetCommit offset;
    offset.partition = id;
    offset.offset = reader.progress().value();
    offsets.push_back(std::move(offset));
  }
  if (offsets.empty()) return std::nullopt;
  return commit_now(std::move(offsets));
}

std::optional<Membership> GroupConsumer::commit_now(std::vector<OffsetCommit> offsets) {
  const auto commit_once = [&] {
    session_.commit(offsets);
    for (const OffsetCommit& offset : offsets)
      if (const auto at = readers_.find(offset.partition); at != readers_.end()) at->second.note_committed();
  };
  try {
    commit_once();
    return std::nullopt;
  } catch (const Error& refusal) {
    if (refusal.code() != ErrorCode::illegal_generation && refusal.code() != ErrorCode::stale_member_epoch &&
        refusal.code() != ErrorCode::unknown_member_id && refusal.code() != ErrorCode::fenced_instance_id) {
      throw;
    }
    Membership now = session_.poll();
    if (now.expelled) {
      PartitionList all;
      for (const auto& [id, reader] : readers_) all.push_back(id);
      lose(all, refusal);
      ended_ = true;
      return now;
    }
    adopt(now, refusal);
    std::erase_if(offsets, [&](const OffsetCommit& offset) { return !readers_.contains(offset.partition); });
    if (!offsets.empty()) commit_once();
    return now;
  }
}

}  // namespace

int run_consume_group(const ConsumeOptions& options, Context& context) {
  GroupConsumer(options, context).run();
  return context.diagnostics.exit_code();
}

}  // namespace tk
