#include "core/sim/quorum_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace tk {

QuorumRun::QuorumRun(FileSystem& fs, const std::string& directory, std::int32_t voters, const Rules& rules) {
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 1; id <= voters; ++id) ids.push_back(id);
  for (const std::int32_t id : ids) {
    voters_[id] = std::make_unique<QuorumVoter>(
        fs, id, ids, join_path(directory, fmt::format("controller-{}", id)), rules, SyncPolicy::never);
    voters_[id]->start(0);
  }
}

void QuorumRun::fail(std::string what) {
  if (!found_) found_.emplace("R14", std::move(what));
}

QuorumRun::Outcome QuorumRun::run(const Step& step) {
  found_.reset();
  Outcome outcome;
  const std::string op = step.words.empty() ? "" : step.words.front();
  const auto number = [&](std::size_t at) {
    return at < step.words.size() ? parse_int(step.words[at]).value_or(-1) : -1;
  };
  const auto voter = [&](std::int64_t id) -> QuorumVoter* {
    const auto found = voters_.find(static_cast<std::int32_t>(id));
    return found == voters_.end() ? nullptr : found->second.get();
  };
  QuorumVoter* of = voter(op == "append" ? step.to : number(1));
  const bool up = of != nullptr && of->up();
  try {
    if (op == "stand" && up && of->role() != QuorumRole::leader) {
      stand(*of);
      outcome.reply = quorum_role_name(of->role());
    } else if (op == "fetch" && up) {
      outcome.reply = fetch(*of, step.max);
    } else if (op == "append" && up && step.words.size() > 1) {
      const auto at = of->append(step.words[1], now_);
      outcome.reply = at ? std::to_string(at->value()) : "NOT_LEADER_OR_FOLLOWER";
    } else if (op == "kill" && up) {
      of->kill();
    } else if (op == "start" && of != nullptr && !of->up()) {
      of->start(now_);
    } else if (op == "cut") {
      const auto a = static_cast<std::int32_t>(number(1)), b = static_cast<std::int32_t>(number(2));
      if (a != b) cut_.insert({std::min(a, b), std::max(a, b)});
    } else if (op == "heal") {
      cut_.clear();
    } else if (op == "tick") {
      now_ += std::max<std::int64_t>(number(1), 0);
      for (auto& [id, one] : voters_) {
        if (one->up()) one->check_quorum(now_);
      }
    } else {
      outcome.skipped = true;
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt_state) throw;
    fail(error.message());
  }
  check();
  outcome.violation = std::move(found_);
  return outcome;
}

void QuorumRun::stand(QuorumVoter& candidate) {
  const VoteRequest request = candidate.stand(now_);
  votes_[{request.epoch.value(), candidate.id()}] = candidate.id();
  for (auto& [id, voter] : voters_) {
    if (id == candidate.id() || !voter->up() || !linked(id, candidate.id())) continue;
    const bool granted = voter->vote(request, now_);
    if (granted) {
      const auto [vote, is_new] = votes_.try_emplace({request.epoch.value(), id}, candidate.id());
      if (!is_new && vote->second != candidate.id())
        fail(fmt::format("voter {} voted for {} and {} in epoch {}", id, vote->second, candidate.id(),
                         request.epoch.value()));
    }
    candidate.take_vote(id, request.epoch, granted, now_);
  }
  if (candidate.role() == QuorumRole::leader) tell_leader(candidate);
}

void QuorumRun::tell_leader(QuorumVoter& leader) {
  for (auto& [id, voter] : voters_) {
    if (id != leader.id() && voter->up() && linked(id, leader.id()))
      voter->hear_leader(leader.epoch(), leader.id(), now_);
  }
}

std::string QuorumRun::fetch(QuorumVoter& follower, std::int64_t max) {
  // Who does not know the leader asks around.
  if (!follower.leader()) {
    for (auto& [id, voter] : voters_) {
      if (voter->up() && voter->role() == QuorumRole::leader && voter->epoch() >= follower.epoch() &&
          linked(id, follower.id()))
        follower.hear_leader(voter->epoch(), id, now_);
    }
  }
  const auto request = follower.next_fetch(max);
  if (!request) return "idle";
  QuorumVoter& leader = *voters_.at(*follower.leader());
  if (!leader.up() || !linked(leader.id(), follower.id())) return "unreachable";
  return follower.take(leader.handle(*request, now_), now_);
}

// R14: one leader an epoch; committed metadata are the same everywhere and for ever.
void QuorumRun::check() {
  for (auto& [id, voter] : voters_) {
    if (!voter->up()) continue;
    const auto& entries = voter->log().epochs();
    if (voter->role() == QuorumRole::leader) {
      const auto [leader, is_new] = leader_of_epoch_.try_emplace(voter->epoch().value(), id);
      if (!is_new && leader->second != id)
        fail(fmt::format("{} and {} both lead in epoch {}", leader->second, id, voter->epoch().value()));
    }
    if (!voter->high_watermark()) continue;
    const Offset known = *voter->high_watermark();
    const Offset shared = std::min(known, committed_end_);
    for (Offset at(0); at < shared; ++at) {
      if (entries.epoch_at(at) != committed_.epoch_at(at)) {
        return fail(fmt::format("the committed metadata record {} is another one on {}", at.value(), id));
      }
    }
    for (Offset at = committed_end_; at < known; ++at) {
      committed_.assign(entries.epoch_at(at).value_or(LeaderEpoch(0)), at);
    }
    committed_end_ = std::max(committed_end_, known);
  }
}

}  // namespace tk
