#include "core/group/group_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/group/deadlines.h"
#include "core/group/group_file.h"
#include "core/group/group_name.h"
#include "core/group/invariants.h"

namespace tk {
namespace {

/// 10,000 partitions take some 2 MB.
constexpr std::uint64_t kLargestFile = 256U << 20;

GroupState new_group(const std::string& name) {
  GroupState group;
  group.group = name;
  return group;
}

}  // namespace

std::vector<std::string> GroupStore::keys() const {
  std::vector<std::string> keys;
  for (const DirEntry& entry : fs_.list(directory_)) {
    if (entry.is_directory) continue;
    std::string key = key_of_file_name(entry.name);
    if (!key.empty()) keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<std::string> GroupStore::names() const {
  std::vector<std::string> names;
  for (const std::string& key : keys()) names.push_back(group_of_key(key));
  return names;
}

std::optional<GroupState> GroupStore::read_key(const std::string& key) const {
  const std::string path = path_of(group_state_name(key));
  if (!fs_.stat(path)) return std::nullopt;
  GroupState group = parse_group_file(read_whole(fs_, path, kLargestFile), path);
  if (group_key(group.group) == key) return group;
  throw Error(ErrorCode::corrupt_state,
              fmt::format("the file is that of group '{}', by what it holds", printable(group.group)))
      .at(path)
      .hint("give the file its own name back, or move it away");
}

std::optional<GroupState> GroupStore::read(const std::string& group) const {
  check_group_id(group);
  return read_key(group_key(group));
}

std::optional<GroupState> GroupStore::at_this_moment(std::optional<GroupState> group,
                                                     const GroupTopics& topics) const {
  if (!group) return group;
  GroupTurn turn{.group = *group,
                 .now_ms = std::max(now_ms(), group->last_now_ms),
                 .topics = topics,
                 .config = options_.config};
  catch_up(turn);
  group->last_now_ms = turn.now_ms;
  if (turn.remove_group) return std::nullopt;
  return group;
}

std::unique_ptr<LockFile> GroupStore::lock(const std::string& key) const {
  return lock_exclusive(fs_, path_of(group_lock_name(key)), options_.lock_wait);
}

std::unique_ptr<LockFile> GroupStore::open_lock(const std::string& group) const {
  return fs_.open_lock(path_of(group_lock_name(group_key(group))));
}

Error GroupStore::unknown_group(const std::string& group) const {
  Error error = Error(ErrorCode::group_id_not_found, fmt::format("there is no group '{}'", printable(group)))
                    .at(directory_);
  const auto nearest = nearest_name(group, names());
  if (!nearest) return error;
  return std::move(error).hint(fmt::format("did you mean '{}'?", printable(*nearest)));
}

GroupStore::Outcome GroupStore::change(const std::string& group, const GroupTopics& topics,
                                       const Operation& operation, const Conduct& conduct) {
  check_group_id(group);
  const std::string key = group_key(group);
  const auto held = lock(key);
  const std::optional<GroupState> before = read_key(key);
  GroupState state = before.value_or(new_group(group));
  if (conduct.prepare) conduct.prepare(state);
  const std::int64_t clock_ms = now_ms();
  GroupTurn turn{.group = state,
                 .now_ms = std::max(clock_ms, state.last_now_ms),
                 .topics = topics,
                 .config = options_.config,
                 .before = before ? &*before : nullptr,
                 .exists = before.has_value()};
  const bool regressed = clock_ms < state.last_now_ms;
  const bool caught_up = catch_up(turn);
  if (turn.remove_group) {
    // Its last offset has expired: what follows begins with nothing, but for what must not go back.
    turn.remove_group = turn.exists = false;
    state = new_group(group);
    state.seq = before->seq;
    state.generation = before->generation;
    state.next_member_seq = before->next_member_seq;
    state.next_commit_seq = before->next_commit_seq;
  }
  GroupState fallen_due = state;
  const GroupState untouched = before ? GroupState() : state;
  const std::size_t events = turn.events.size();
  try {
    operation(turn);
  } catch (const Error&) {
    // What the operation did is undone, but for the note that it was refused.
    const auto done = turn.events.begin() + static_cast<std::ptrdiff_t>(events);
    turn.events.erase(std::remove_if(done, turn.events.end(),
                                     [](const GroupEvent& event) { return event.what != "fenced"; }),
                      turn.events.end());
    if (caught_up) {
      state = std::move(fallen_due);
      turn.remove_group = !turn.exists;
      save(key, before, turn);
    } else if (before && !turn.events.empty()) {
      note_history(key, turn);
    }
    throw;
  }
  Outcome outcome;
  // Of what is not there nothing must come to be by a look.
  const bool nothing = conduct.skips_write && !before && state == untouched;
  if (nothing || (!turn.remove_group && conduct.skips_write &&
                  conduct.skips_write(before ? &*before : nullptr, state))) {
    outcome.written = false;
  } else {
    outcome = save(key, before, turn);
  }
  outcome.clock_regressed = regressed;
  return outcome;
}

void GroupStore::write(const std::string& key, const std::optional<GroupState>& before, GroupTurn& turn) {
  GroupState& group = turn.group;
  ++group.seq;
  group.last_now_ms = turn.now_ms;
  auto broken = broken_invariant(group);
  if (!broken && before) broken = broken_change(*before, group);
  if (broken) {
    throw Error(ErrorCode::unknown_server_error,
                fmt::format("the change would break an invariant of groups and was not made: {}", *broken))
        .at(path_of(group_state_name(key)))
        .hint("this is a mistake of the program: please report it with the group's file");
  }
  replace_atomically(fs_, path_of(group_state_name(key)), as_bytes(format_group_file(group)),
                     options_.durable);
}

GroupStore::Outcome GroupStore::save(const std::string& key, const std::optional<GroupState>& before,
                                     GroupTurn& turn) {
  Outcome outcome;
  if (turn.remove_group) {
    remove_files(key, false);
    outcome.removed = true;
  } else {
    write(key, before, turn);
  }
  outcome.history_error = note_history(key, turn);
  return outcome;
}

std::optional<Error> GroupStore::note_history(const std::string& key, const GroupTurn& turn) {
  try {
    append_events(fs_, path_of(group_events_name(key)), turn.group.group, turn.events);
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

void GroupStore::remove_files(const std::string& key, bool history) {
  fs_.remove(path_of(group_state_name(key)));
  if (history) fs_.remove(path_of(group_events_name(key)));
  if (options_.durable) fs_.sync_directory(directory_);
}

void GroupStore::remove(const std::string& group, const GroupTopics& topics,
                        const std::function<void(const GroupState&)>& allowed) {
  check_group_id(group);
  const std::string key = group_key(group);
  const auto held = lock(key);
  const auto state = at_this_moment(read_key(key), topics);
  if (state) {
    allowed(*state);
  } else if (!fs_.stat(path_of(group_state_name(key)))) {
    throw unknown_group(group);
  }
  remove_files(key, true);
}

std::string GroupStore::set_aside(const std::string& group) {
  check_group_id(group);
  const std::string key = group_key(group);
  const auto held = lock(key);
  const std::string path = path_of(group_state_name(key));
  if (!fs_.stat(path)) throw unknown_group(group);
  try {
    static_cast<void>(read_key(key));
    return {};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt_state) throw;
  }
  const std::string to = fmt::format("{}.damaged-{}", path, now_ms());
  fs_.rename(path, to);
  if (options_.durable) fs_.sync_directory(directory_);
  return to;
}

History GroupStore::history(const std::string& group) const {
  check_group_id(group);
  return read_events(fs_, path_of(group_events_name(group_key(group))));
}

}  // namespace tk
