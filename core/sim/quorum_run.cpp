#include "core/sim/quorum_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/format/internal_record.h"

namespace tk {
namespace {

/// A record of the metadata log that says nothing.
std::string no_op() {
  Buffer value;
  static_cast<void>(encode_metadata_record(
      "NoOpRecord", 0, SchemaValue::of(*internal_schemas().find("NoOpRecord", 0)), value));
  return std::string(as_text(value.view()));
}

}  // namespace

QuorumRun::QuorumRun(Cluster& cluster) : cluster_(cluster), quorum_(cluster.quorum()) {
  quorum_.on_vote = [this](LeaderEpoch epoch, std::int32_t voter, std::int32_t candidate) {
    const auto [vote, is_new] = votes_.try_emplace({epoch.value(), voter}, candidate);
    if (!is_new && vote->second != candidate)
      fail(fmt::format("voter {} voted for {} and {} in epoch {}", voter, vote->second, candidate,
                       epoch.value()));
  };
}

void QuorumRun::fail(std::string what) {
  if (!found_) found_.emplace("R14", std::move(what));
}

QuorumRun::Outcome QuorumRun::run(const Step& step) {
  Outcome outcome;
  const std::string op = step.words.empty() ? "" : step.words.front();
  const auto number = [&](std::size_t at) {
    return at < step.words.size() ? parse_int(step.words[at]).value_or(-1) : -1;
  };
  const auto found = quorum_.voters().find(static_cast<std::int32_t>(op == "append" ? step.to : number(1)));
  QuorumVoter* const of = found == quorum_.voters().end() ? nullptr : found->second.get();
  const bool up = of != nullptr && of->up();
  const std::int64_t now = cluster_.now();
  quorum_.open();
  if (op == "stand" && up && of->role() != QuorumRole::leader) {
    quorum_.stand(*of, now);
    outcome.reply = quorum_role_name(of->role());
  } else if (op == "fetch" && up) {
    outcome.reply = quorum_.fetch(*of, step.max, now);
  } else if (op == "append" && up && step.words.size() > 1) {
    const auto at = of->append(no_op(), now);
    outcome.reply = at ? std::to_string(at->value()) : "NOT_LEADER_OR_FOLLOWER";
  } else if (op == "kill" && up) {
    of->kill();
  } else if (op == "start" && of != nullptr && !of->up()) {
    of->start(now);
  } else if (op == "cut") {
    quorum_.cut(static_cast<std::int32_t>(number(1)), static_cast<std::int32_t>(number(2)));
  } else if (op == "heal") {
    quorum_.heal();
  } else if (op == "tick") {
    // Nobody fetches meanwhile.
    cluster_.set_now(now + std::max<std::int64_t>(number(1), 0));
    for (auto& [id, one] : quorum_.voters()) {
      if (one->up()) one->check_quorum(cluster_.now());
    }
  } else {
    outcome.skipped = true;
  }
  return outcome;
}

// R14: one leader an epoch; committed metadata are the same everywhere and for ever.
std::optional<std::pair<std::string, std::string>> QuorumRun::check() {
  for (auto& [id, voter] : quorum_.voters()) {
    if (voter->up() && voter->log().is_open()) check_voter(*voter);
  }
  auto violation = std::move(found_);
  found_.reset();
  return violation;
}

void QuorumRun::check_voter(QuorumVoter& voter) {
  const std::int32_t id = voter.id();
  const Seen now{voter.log().end(), voter.high_watermark().value_or(Offset(-1)), voter.epoch(), voter.role()};
  const auto [seen, is_first] = seen_.try_emplace(id, now);
  if (!is_first && seen->second == now) return;
  seen->second = now;
  if (voter.role() == QuorumRole::leader) {
    const auto [leader, is_new] = leader_of_epoch_.try_emplace(voter.epoch().value(), id);
    if (!is_new && leader->second != id)
      fail(fmt::format("{} and {} both lead in epoch {}", leader->second, id, voter.epoch().value()));
  }
  if (!voter.high_watermark()) return;
  const auto& entries = voter.log().epochs();
  const Offset known = *voter.high_watermark();
  const Offset shared = std::min(known, committed_end_);
  // Two histories part where an epoch begins, if they do.
  const auto look = [&](Offset at) {
    if (at < shared && entries.epoch_at(at) != committed_.epoch_at(at))
      fail(fmt::format("the committed metadata record {} is another one on {}", at.value(), id));
  };
  if (shared > Offset(0)) look(Offset(0));
  for (const LeaderEpochEntry& entry : entries.entries()) look(entry.start);
  for (const LeaderEpochEntry& entry : committed_.entries()) look(entry.start);
  for (const LeaderEpochEntry& entry : entries.entries()) {
    const Offset from = std::max(entry.start, committed_end_);
    if (from < known && entries.epoch_at(from) == entry.epoch) committed_.assign(entry.epoch, from);
  }
  committed_end_ = std::max(committed_end_, known);
}

}  // namespace tk
