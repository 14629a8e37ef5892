#include "core/producer/coordinator.h"
#include "core/producer/coordinator_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/format/end_marker.h"

namespace tk {

Coordinator::Session Coordinator::open() {
  Session session{lock_producers_file(fs_, directory_, options_.lock_wait), {}};
  if (auto there = read_producers_file(fs_, directory_)) {
    session.file = std::move(*there);
  } else {
    session.file.next_producer_id = logs_.first_id();
  }
  return session;
}

void Coordinator::write(const Session& session) {
  write_producers_file(fs_, directory_, session.file);
}

namespace {

Error not_there(const std::string& id,
                const std::map<std::string, TransactionEntry, std::less<>>& transactions,
                const std::string& path) {
  std::vector<std::string> ids;
  for (const auto& [known, entry] : transactions) ids.push_back(known);
  const auto nearest = nearest_name(id, ids);
  return Error(ErrorCode::invalid_txn_state, fmt::format("there is no transaction '{}'", printable(id)))
      .at(path)
      .hint(nearest ? fmt::format("did you mean '{}'?", printable(*nearest))
                    : fmt::format("begin one: tk txn begin {}", printable(id)));
}

Error not_open(const std::string& id, const TransactionEntry& entry, const std::string& path) {
  return Error(ErrorCode::invalid_txn_state,
               fmt::format("transaction '{}' is not open{}", printable(id),
                           !entry.committed   ? ""
                           : *entry.committed ? ": the last one was committed"
                                              : ": the last one was aborted, or ran out of time"))
      .at(path)
      .hint(fmt::format("begin one: tk txn begin {}", printable(id)));
}

Error fenced(const std::string& id, std::int16_t held, std::int16_t now, const std::string& path) {
  return Error(ErrorCode::invalid_producer_epoch,
               fmt::format("epoch {} of transaction '{}' is not the one at hand, which is {}", held,
                           printable(id), now))
      .at(path)
      .hint(
          "another holder has begun or ended it since; what this one wrote in it is committed or aborted "
          "with that");
}

}  // namespace

TransactionEntry& Coordinator::require_open(Session& session, const std::string& id,
                                            std::optional<std::int16_t> epoch) {
  const std::string path = join_path(directory_, kProducersFile);
  const auto at = session.file.transactions.find(id);
  if (at == session.file.transactions.end()) throw not_there(id, session.file.transactions, path);
  TransactionEntry& entry = at->second;
  const bool is_open = entry.state == TransactionState::ongoing;
  // The one that ended last had one epoch less: whoever held it is too late rather than fenced.
  const bool ended = epoch && !is_open && *epoch + 1 == entry.epoch;
  if (epoch && *epoch != entry.epoch && !ended) throw fenced(id, *epoch, entry.epoch, path);
  if (!is_open) throw not_open(id, entry, path);
  return entry;
}

TransactionEntry Coordinator::begin(const std::string& id, std::int64_t timeout_ms) {
  check_producer_name(id, "the transactional id");
  Session session = open();
  complete_due(session);
  const auto [at, is_new] = session.file.transactions.try_emplace(id);
  TransactionEntry& entry = at->second;
  if (entry.decided()) complete(session, entry);  // it could not be completed just now: that must be told
  if (entry.state == TransactionState::ongoing) end(session, entry, false);
  // The last epoch is left for a marker.
  if (is_new || entry.epoch == INT16_MAX) {
    entry.id = ProducerId(session.file.next_producer_id++);
    entry.epoch = 0;
  }
  entry.state = TransactionState::ongoing;
  entry.timeout_ms = timeout_ms;
  entry.started_ms = clock_.now_ms();
  write(session);
  return entry;
}

TransactionEntry Coordinator::join(const std::string& id, std::optional<std::int16_t> epoch,
                                   const std::vector<TopicPartition>& partitions) {
  check_producer_name(id, "the transactional id");
  Session session = open();
  complete_due(session);
  TransactionEntry& entry = require_open(session, id, epoch);
  std::vector<TopicPartition> joined = entry.partitions;
  joined.insert(joined.end(), partitions.begin(), partitions.end());
  std::ranges::sort(joined);
  joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
  if (joined.size() != entry.partitions.size()) {
    entry.partitions = std::move(joined);
    write(session);
  }
  return entry;
}

void Coordinator::commit(const std::string& id, std::optional<std::int16_t> epoch,
                         const TransactionOffsets* offsets) {
  Session session = open();
  const auto before = session.file.transactions.find(id);
  // Decided by a commit that did not come to its end: this one is that commit, tried again.
  const bool again = before != session.file.transactions.end() &&
                     before->second.state == TransactionState::prepare_commit && offsets == nullptr &&
                     (!epoch || *epoch + 1 == before->second.epoch);
  if (again) return complete(session, before->second);
  complete_due(session);
  TransactionEntry& entry = require_open(session, id, epoch);
  if (offsets != nullptr) {
    if (std::ranges::find(entry.groups, offsets->group) == entry.groups.end()) {
      entry.groups.push_back(offsets->group);
      write(session);
    }
    CommitRequest request = offsets->request;
    request.producer_id = entry.id.value();
    request.producer_epoch = entry.epoch;
    groups_.change(offsets->group, topics_, [&](GroupTurn& turn) { tk::commit(turn, request); });
  }
  end(session, entry, true);
}

void Coordinator::abort(const std::string& id, std::optional<std::int16_t> epoch) {
  Session session = open();
  const auto before = session.file.transactions.find(id);
  const bool again = before != session.file.transactions.end() &&
                     before->second.state == TransactionState::prepare_abort &&
                     (!epoch || *epoch + 1 == before->second.epoch);
  if (again) return complete(session, before->second);
  complete_due(session);
  end(session, require_open(session, id, epoch), false);
}

void Coordinator::end(Session& session, TransactionEntry& entry, bool commits, bool raises) {
  entry.state = commits ? TransactionState::prepare_commit : TransactionState::prepare_abort;
  if (raises) ++entry.epoch;
  write(session);
  complete(session, entry);
}

// Every step leaves alone what it finds done.
void Coordinator::complete(Session& session, TransactionEntry& entry) {
  const bool commits = entry.state == TransactionState::prepare_commit;
  write_markers(entry, commits);
  for (const std::string& group : entry.groups) {
    const auto there = groups_.read(group);
    if (!there || !there->pending_txn.contains(entry.id.value())) continue;
    groups_.change(group, topics_,
                   [&](GroupTurn& turn) { complete_transaction(turn, entry.id.value(), commits); });
  }
  entry.state = TransactionState::empty;
  entry.committed = commits;
  entry.partitions.clear();
  entry.groups.clear();
  write(session);
}

void Coordinator::write_markers(const TransactionEntry& entry, bool commits) {
  for (const TopicPartition& partition : entry.partitions) {
    const auto log = logs_.open(partition);
    if (!log) continue;
    log->begin();
    const ProducerEntry* const known = log->producers().find(entry.id);
    if (known == nullptr || !known->transaction_first) {
      log->yield();
      continue;
    }
    Buffer unit;
    const EndMarker marker{entry.id, entry.epoch, commits, clock_.now_ms(), 0};
    const UnitInfo info =
        encode_end_marker(unit, logs_.format(partition), log->log_end(), log->leader_epoch(), marker);
    log->append_at(info, log->leader_epoch(), unit.view());
    log->close();
  }
}

std::vector<std::string> Coordinator::complete_due() {
  Session session = open();
  return complete_due(session);
}

std::vector<std::string> Coordinator::complete_due(Session& session) {
  std::vector<std::string> expired;
  const std::int64_t now = clock_.now_ms();
  for (auto& [id, entry] : session.file.transactions) {
    try {
      if (entry.decided()) {
        complete(session, entry);
      } else if (entry.expired(now)) {
        const std::int64_t age = now - entry.started_ms;
        end(session, entry, false);
        expired.push_back(id);
        if (options_.note) {
          options_.note(
              fmt::format("transaction '{}' was aborted: it was open for {} ms, and its timeout is {}",
                          printable(id), age, entry.timeout_ms));
        }
      }
    } catch (const Error& error) {
      if (options_.note) {
        options_.note(fmt::format("transaction '{}' cannot be completed yet: {}{}{}", printable(id),
                                  error.message(), error.path().empty() ? "" : " at ", error.path()));
      }
    }
  }
  return expired;
}

void require_open_transaction(FileSystem& fs, const std::string& directory, const std::string& id,
                              std::int16_t epoch) {
  const std::string path = join_path(directory, kProducersFile);
  const auto file = read_producers_file(fs, directory);
  const auto at = file ? file->transactions.find(id) : decltype(file->transactions.find("")){};
  if (!file || at == file->transactions.end()) throw not_there(id, {}, path);
  const TransactionEntry& entry = at->second;
  if (entry.state == TransactionState::ongoing && entry.epoch == epoch) return;
  throw fenced(id, epoch, entry.epoch, path);
}

}  // namespace tk
