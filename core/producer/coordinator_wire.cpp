// Transactions of clients over the wire (serve.md §2.8).
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/producer/coordinator.h"
#include "core/producer/coordinator_session.h"

namespace tk {
namespace {

/// The last epoch is left for the marker of the last transaction.
constexpr std::int16_t kLastEpoch = INT16_MAX - 1;

Error not_the_holder(const std::string& id) {
  return Error(ErrorCode::unknown_producer_id,
               fmt::format("transactional id '{}' has another producer id, or none", printable(id)));
}

Error is_fenced(const std::string& id, std::int16_t given, std::int16_t now) {
  return Error(ErrorCode::invalid_producer_epoch,
               fmt::format("epoch {} of transactional id '{}' is not the one at hand, which is {}", given,
                           printable(id), now));
}

}  // namespace

TransactionEntry& Coordinator::require_holder(Session& session, const std::string& id, const Holder& holder) {
  const auto at = session.file.transactions.find(id);
  if (at == session.file.transactions.end() || at->second.id != holder.id) throw not_the_holder(id);
  return at->second;
}

TransactionEntry Coordinator::init_holder(const std::string& id, std::int64_t timeout_ms,
                                          std::optional<Holder> held) {
  check_producer_name(id, "the transactional id");
  Session session = open();
  complete_due(session);
  const auto [at, is_new] = session.file.transactions.try_emplace(id);
  TransactionEntry& entry = at->second;
  // The epoch before is that of a holder whose last answer was lost; not where another one has come since.
  const bool asks_again = held && entry.previous_epoch == held->epoch && held->epoch + 1 == entry.epoch;
  const bool current =
      !held || is_new || (held->id == entry.id && (held->epoch == entry.epoch || asks_again));
  if (!current) throw is_fenced(id, held->epoch, entry.epoch);
  const std::int16_t before = entry.epoch;
  if (entry.decided()) complete(session, entry);
  const bool was_open = entry.state == TransactionState::ongoing;
  if (was_open) end(session, entry, false);
  if (is_new || entry.epoch >= kLastEpoch) {
    entry.id = ProducerId(session.file.next_producer_id++);
    entry.epoch = 0;
    entry.committed.reset();
  } else if (!was_open) {
    ++entry.epoch;
  }
  entry.previous_epoch = held && entry.epoch != 0 ? std::optional(before) : std::nullopt;
  entry.timeout_ms = timeout_ms;
  entry.started_ms = -1;
  entry.committed.reset();
  write(session);
  return entry;
}

TransactionEntry Coordinator::add(const std::string& id, const Holder& holder,
                                  const std::vector<TopicPartition>& partitions,
                                  const std::vector<std::string>& groups) {
  Session session = open();
  complete_due(session);
  TransactionEntry& entry = require_holder(session, id, holder);
  if (holder.epoch != entry.epoch) throw is_fenced(id, holder.epoch, entry.epoch);
  const TransactionEntry before = entry;
  if (entry.state != TransactionState::ongoing) {
    entry.state = TransactionState::ongoing;
    entry.started_ms = clock_.now_ms();
    entry.committed.reset();
  }
  entry.partitions.insert(entry.partitions.end(), partitions.begin(), partitions.end());
  sort_and_unite(entry.partitions);
  for (const std::string& group : groups) {
    if (std::ranges::find(entry.groups, group) == entry.groups.end()) entry.groups.push_back(group);
  }
  const bool changed =
      before.state != entry.state || before.partitions != entry.partitions || before.groups != entry.groups;
  if (changed) write(session);
  return entry;
}

TransactionEntry Coordinator::end_by(const std::string& id, const Holder& holder, bool commits, bool raises) {
  Session session = open();
  {
    const auto at = session.file.transactions.find(id);
    if (at != session.file.transactions.end() && at->second.id == holder.id && at->second.decided())
      complete(session, at->second);
  }
  complete_due(session);
  TransactionEntry& entry = require_holder(session, id, holder);
  const auto refuse = [&](const char* why) {
    throw Error(ErrorCode::invalid_txn_state, fmt::format("transactional id '{}': {}", printable(id), why));
  };
  if (holder.epoch == entry.epoch && entry.state == TransactionState::ongoing) {
    end(session, entry, commits, raises);
  } else if (raises && holder.epoch + 1 == entry.epoch && entry.committed) {
    // Asked again, as the answer was lost: the same one.
    if (*entry.committed != commits) refuse("the transaction was ended the other way");
    return entry;
  } else if (holder.epoch != entry.epoch) {
    throw is_fenced(id, holder.epoch, entry.epoch);
  } else if (!raises) {
    if (entry.committed != commits) refuse("no transaction is open");
    return entry;
  } else if (commits) {
    refuse("no transaction is open");
  } else {
    ++entry.epoch;
    entry.committed = false;
    write(session);
  }
  if (raises && entry.epoch >= kLastEpoch) {
    entry.id = ProducerId(session.file.next_producer_id++);
    entry.epoch = 0;
    entry.previous_epoch.reset();
    write(session);
  } else if (raises) {
    entry.previous_epoch = holder.epoch;
    write(session);
  }
  return entry;
}

}  // namespace tk
