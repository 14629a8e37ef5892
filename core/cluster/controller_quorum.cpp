#include "core/cluster/controller_quorum.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/cluster/metadata_snapshot.h"

namespace tk {
namespace {

/// A follower takes what is missing, says that it has it, and hears the high watermark; an epoch that parts
/// from the leader's costs one fetch more.
constexpr int kMostFetches = 1000;

}  // namespace

ControllerQuorum::ControllerQuorum(FileSystem& fs, std::string directory, const Rules& rules,
                                   ReplicaLog::Options log)
    : fs_(fs), directory_(std::move(directory)), rules_(rules), log_(std::move(log)) {}

void ControllerQuorum::set_up(std::int32_t count, const std::string& cluster_id) {
  voters_.clear();
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 1; id <= count; ++id) ids.push_back(id);
  for (const std::int32_t id : ids) {
    const std::string own = id == 1 ? "metadata" : fmt::format("metadata-{}", id);
    voters_[id] = std::make_unique<QuorumVoter>(
        fs_, id, ids, join_path(join_path(directory_, own), kMetadataPartition), rules_, log_);
    voters_[id]->set_cluster_id(cluster_id);
  }
}

void ControllerQuorum::begin(std::int64_t now) {
  for (auto& [id, voter] : voters_) voter->start(now);
  stand(*voters_.begin()->second, now);
  commit(now);
}

void ControllerQuorum::resume(const QuorumRecord& record, std::int64_t now) {
  cut_ = record.cut;
  committed_ = record.committed;
  for (auto& [id, voter] : voters_) {
    const auto known = record.voters.find(id);
    voter->resume(known == record.voters.end() ? QuorumMemory{} : known->second, now);
  }
}

QuorumRecord ControllerQuorum::record() const {
  QuorumRecord record;
  record.committed = committed_;
  record.cut = cut_;
  for (const auto& [id, voter] : voters_) record.voters[id] = voter->memory();
  return record;
}

void ControllerQuorum::open() {
  for (auto& [id, voter] : voters_) voter->open();
}

void ControllerQuorum::close() {
  for (auto& [id, voter] : voters_) voter->close();
}

QuorumVoter& ControllerQuorum::voter(std::int32_t id) {
  const auto found = voters_.find(id);
  if (found != voters_.end()) return *found->second;
  throw Error(ErrorCode::broker_not_available,
              fmt::format("there is no controller {}; the cluster has 1 to {}", id, voters_.size()))
      .at(directory_);
}

QuorumVoter* ControllerQuorum::leader() {
  QuorumVoter* found = nullptr;
  for (auto& [id, voter] : voters_) {
    if (!voter->up() || voter->role() != QuorumRole::leader) continue;
    if (found != nullptr && found->epoch() > voter->epoch()) continue;
    std::size_t reached = 0;
    for (const auto& [other, follower] : voters_)
      reached += follower->up() && linked(id, other) && follower->epoch() <= voter->epoch() ? 1 : 0;
    if (reached >= voters_.size() / 2 + 1) found = voter.get();
  }
  return found;
}

bool ControllerQuorum::can_elect() const {
  for (const auto& [id, voter] : voters_) {
    std::size_t reached = 0;
    for (const auto& [other, follower] : voters_)
      reached += voter->up() && follower->up() && linked(id, other) ? 1 : 0;
    if (reached >= voters_.size() / 2 + 1) return true;
  }
  return false;
}

QuorumVoter& ControllerQuorum::best_copy() {
  QuorumVoter* best = voters_.begin()->second.get();
  if (voters_.size() == 1) return *best;
  std::pair<LeaderEpoch, Offset> most = best->last_on_disk();
  for (auto& [id, voter] : voters_) {
    const auto last = voter->last_on_disk();
    if (last <= most) continue;
    most = last;
    best = voter.get();
  }
  return *best;
}

void ControllerQuorum::note_committed(const QuorumVoter& voter) {
  committed_ = std::max(committed_, voter.high_watermark().value_or(Offset(0)));
}

bool ControllerQuorum::commit(std::int64_t now) {
  QuorumVoter* const leading = leader();
  if (leading == nullptr) return false;
  const Offset end = leading->log().end();
  const auto reached = [&] { return leading->high_watermark().value_or(Offset(-1)) >= end; };
  for (auto& [id, follower] : voters_) {
    if (follower.get() == leading || !follower->up() || !linked(id, leading->id())) continue;
    // A voter that was down, or voted for somebody else, hears who leads (BeginQuorumEpoch is repeated).
    follower->hear_leader(leading->epoch(), leading->id(), now);
    // Once more than until it has everything: only its next fetch says so.
    bool has_all = false;
    for (int i = 0; i < kMostFetches; ++i) {
      const bool said = has_all;
      fetch(*follower, INT64_MAX, now);
      if (said || follower->leader() != leading->id()) break;
      has_all = follower->log().end() >= end;
    }
  }
  note_committed(*leading);
  return reached();
}

void ControllerQuorum::stand(QuorumVoter& candidate, std::int64_t now) {
  const VoteRequest request = candidate.stand(now);
  if (on_vote) on_vote(request.epoch, candidate.id(), candidate.id());
  for (auto& [id, voter] : voters_) {
    if (id == candidate.id() || !voter->up() || !linked(id, candidate.id())) continue;
    const bool granted = voter->vote(request, now);
    if (granted && on_vote) on_vote(request.epoch, id, candidate.id());
    candidate.take_vote(id, request.epoch, granted, now);
  }
  if (candidate.role() != QuorumRole::leader) return;
  for (auto& [id, voter] : voters_) {
    if (id != candidate.id() && voter->up() && linked(id, candidate.id()))
      voter->hear_leader(candidate.epoch(), candidate.id(), now);
  }
}

std::string ControllerQuorum::fetch(QuorumVoter& follower, std::int64_t max_records, std::int64_t now) {
  // Who does not know the leader asks around.
  if (!follower.leader()) {
    for (auto& [id, voter] : voters_) {
      if (voter->up() && voter->role() == QuorumRole::leader && voter->epoch() >= follower.epoch() &&
          linked(id, follower.id()))
        follower.hear_leader(voter->epoch(), id, now);
    }
  }
  const auto request = follower.next_fetch(max_records);
  if (!request) return "idle";
  QuorumVoter& leader = *voters_.at(*follower.leader());
  if (!leader.up() || !linked(leader.id(), follower.id())) return "unreachable";
  const QuorumReply reply = leader.handle(*request, now);
  if (reply.snapshot) {
    fetch_snapshot(follower, leader);
    return "snapshot";
  }
  return follower.take(reply, now);
}

// FetchSnapshot: what the leader's log does not hold any more comes as the state that it led to.
void ControllerQuorum::fetch_snapshot(QuorumVoter& follower, QuorumVoter& leader) {
  const auto newest = newest_snapshot(fs_, leader.directory());
  if (!newest) return;
  replace_atomically(fs_, join_path(follower.directory(), snapshot_name(*newest)),
                     as_bytes(read_whole(fs_, join_path(leader.directory(), snapshot_name(*newest)))),
                     log_.sync != SyncPolicy::never);
  follower.begin_at(*newest);
}

void ControllerQuorum::tick(std::int64_t now) {
  if (voters_.size() == 1) {
    // Alone it needs nobody's word.
    QuorumVoter& only = *voters_.begin()->second;
    if (!only.wants_to_stand(now)) return;
    only.open();
    stand(only, now);
    commit(now);
    return;
  }
  open();
  commit(now);
  for (auto& [id, voter] : voters_) voter->check_quorum(now);
  for (auto& [id, voter] : voters_) {
    if (!voter->wants_to_stand(now)) continue;
    stand(*voter, now);
    commit(now);
  }
}

void ControllerQuorum::cut(std::int32_t a, std::int32_t b) {
  if (a != b) cut_.insert({std::min(a, b), std::max(a, b)});
}

}  // namespace tk
