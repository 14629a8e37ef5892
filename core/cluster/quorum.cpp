#include "core/cluster/quorum.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/cluster/metadata_snapshot.h"
#include "core/cluster/quorum_records.h"

namespace tk {
namespace {

constexpr std::string_view kStateFile = "quorum-state";
constexpr std::string_view kRoleNames[] = {"unattached", "voted",  "follower",
                                           "candidate",  "leader", "resigned"};

ReplicaLog::Options of_kafka(ReplicaLog::Options options) {
  options.format = TopicFormat::kafka;
  return options;
}

}  // namespace

std::string_view quorum_role_name(QuorumRole role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

std::optional<QuorumRole> parse_quorum_role(std::string_view name) {
  const auto found = std::find(std::begin(kRoleNames), std::end(kRoleNames), name);
  if (found == std::end(kRoleNames)) return std::nullopt;
  return static_cast<QuorumRole>(found - std::begin(kRoleNames));
}

QuorumVoter::QuorumVoter(FileSystem& fs, std::int32_t id, std::vector<std::int32_t> voters,
                         std::string directory, const Rules& rules, ReplicaLog::Options log)
    : fs_(fs),
      id_(id),
      voters_(std::move(voters)),
      directory_(std::move(directory)),
      rules_(rules),
      forced_(log.sync != SyncPolicy::never),
      log_(fs, directory_, of_kafka(std::move(log))) {}

void QuorumVoter::start(std::int64_t now) {
  fs_.make_directories(directory_);
  log_.open();
  load();
  up_ = true;
  role_ = leader_ ? QuorumRole::follower : voted_ ? QuorumRole::voted : QuorumRole::unattached;
  // A leader that comes back does not know what the others did meanwhile.
  if (leader_ == id_) {
    leader_.reset();
    role_ = QuorumRole::resigned;
  }
  high_watermark_.reset();
  deadline_ = now + timeouts_.fetch_ms;
}

void QuorumVoter::resume(const QuorumMemory& memory, std::int64_t now) {
  load();
  up_ = memory.up;
  if (!up_) return;
  high_watermark_ = memory.high_watermark;
  if (memory.epoch != epoch_) {
    // What it knew is of an epoch that is over.
    role_ = leader_ == id_ ? QuorumRole::resigned
            : leader_      ? QuorumRole::follower
            : voted_       ? QuorumRole::voted
                           : QuorumRole::unattached;
    if (leader_ == id_) leader_.reset();
    high_watermark_.reset();
    deadline_ = now + timeouts_.fetch_ms;
    return;
  }
  role_ = memory.role;
  epoch_start_ = memory.epoch_start;
  deadline_ = memory.deadline_ms;
  fetched_ = memory.fetched;
  fetched_at_ = memory.fetched_at;
}

QuorumMemory QuorumVoter::memory() const {
  return {up_, role_, epoch_, epoch_start_, high_watermark_, deadline_, fetched_, fetched_at_};
}

void QuorumVoter::open() {
  if (!up_ || log_.is_open()) return;
  fs_.make_directories(directory_);
  log_.open();
}

std::int64_t QuorumVoter::election_wait() const {
  const std::int64_t spread = (id_ * 7919LL + epoch_.value() * 4801LL) % timeouts_.election_ms;
  return timeouts_.election_ms + spread;
}

void QuorumVoter::kill() {
  up_ = false;
  role_ = QuorumRole::unattached;
  log_.abandon();
  high_watermark_.reset();
  votes_.clear();
  fetched_.clear();
}

// quorum-state, version 0 (kafka-on-disk.md §13.4.4).
void QuorumVoter::save() {
  nlohmann::ordered_json json;
  json["clusterId"] = cluster_id_;
  json["leaderId"] = leader_.value_or(-1);
  json["leaderEpoch"] = epoch_.value();
  json["votedId"] = voted_.value_or(-1);
  json["appliedOffset"] = 0;
  json["currentVoters"] = nlohmann::ordered_json::array();
  for (const std::int32_t voter : voters_) json["currentVoters"].push_back({{"voterId", voter}});
  json["data_version"] = 0;
  replace_atomically(fs_, join_path(directory_, kStateFile), as_bytes(json.dump()), forced_);
}

void QuorumVoter::load() {
  const std::string path = join_path(directory_, kStateFile);
  epoch_ = LeaderEpoch(0);
  leader_.reset();
  voted_.reset();
  if (!fs_.stat(path)) {
    // The file was removed, or never there: no epoch of the log may come again.
    epoch_ = read_leader_epochs(fs_, directory_).latest().value_or(epoch_);
    return;
  }
  const auto json = nlohmann::ordered_json::parse(read_whole(fs_, path), nullptr, false);
  const auto number = [&](const char* name) {
    if (!json.is_object() || !json.contains(name) || !json[name].is_number_integer())
      throw Error(ErrorCode::corrupt_state, fmt::format("quorum-state has no whole number \"{}\"", name))
          .at(path);
    return json[name].get<std::int32_t>();
  };
  epoch_ = LeaderEpoch(number("leaderEpoch"));
  if (number("leaderId") >= 0) leader_ = number("leaderId");
  if (number("votedId") >= 0) voted_ = number("votedId");
  // Without the rule a vote is only in memory.
  if (!rules_.quorum_vote_fsync) voted_.reset();
}

std::pair<LeaderEpoch, Offset> QuorumVoter::last() const {
  const auto latest = log_.epochs().latest();
  return {latest ? *latest : snapshot_epoch(), log_.end()};
}

LeaderEpoch QuorumVoter::snapshot_epoch() const {
  const auto snapshot = newest_snapshot(fs_, directory_);
  return snapshot ? snapshot->epoch : LeaderEpoch(0);
}

std::pair<LeaderEpoch, Offset> QuorumVoter::last_on_disk() {
  if (log_.is_open()) return last();
  if (!fs_.stat(directory_)) return {LeaderEpoch(0), Offset(0)};
  const LeaderEpochs epochs = read_leader_epochs(fs_, directory_);
  return {std::max(epochs.latest().value_or(LeaderEpoch(0)), snapshot_epoch()), log_.end_on_disk()};
}

void QuorumVoter::begin_at(const SnapshotId& snapshot) {
  log_.restart_at(snapshot.end);
  log_.begin_epoch(snapshot.epoch);
}

void QuorumVoter::enter_epoch(LeaderEpoch epoch) {
  epoch_ = epoch;
  leader_.reset();
  voted_.reset();
  votes_.clear();
  fetched_.clear();
  role_ = QuorumRole::unattached;
}

VoteRequest QuorumVoter::stand(std::int64_t now) {
  enter_epoch(LeaderEpoch(epoch_.value() + 1));
  voted_ = id_;
  role_ = QuorumRole::candidate;
  votes_[id_] = true;
  save();
  deadline_ = now + election_wait();
  if (votes_.size() >= majority()) become_leader(now);
  return {id_, epoch_, last().first, last().second};
}

bool QuorumVoter::vote(const VoteRequest& request, std::int64_t now) {
  if (request.epoch < epoch_) return false;
  if (request.epoch > epoch_) enter_epoch(request.epoch);
  const bool free = !leader_ && (!voted_ || voted_ == request.candidate);
  const bool grant = free && std::pair(request.last_epoch, request.log_end) >= last();
  if (grant) {
    voted_ = request.candidate;
    role_ = QuorumRole::voted;
    deadline_ = now + election_wait();
  }
  save();
  return grant;
}

void QuorumVoter::take_vote(std::int32_t from, LeaderEpoch epoch, bool granted, std::int64_t now) {
  if (role_ != QuorumRole::candidate || epoch != epoch_) return;
  votes_[from] = granted;
  const auto given = static_cast<std::size_t>(
      std::count_if(votes_.begin(), votes_.end(), [](const auto& vote) { return vote.second; }));
  if (given >= majority()) become_leader(now);
}

void QuorumVoter::become_leader(std::int64_t now) {
  role_ = QuorumRole::leader;
  leader_ = id_;
  epoch_start_ = log_.end();
  // What was committed is known again once a record of this epoch is on a majority.
  high_watermark_.reset();
  fetched_.clear();
  fetched_at_.clear();
  for (const std::int32_t voter : voters_) fetched_at_[voter] = now;
  save();
  Buffer unit;
  const UnitInfo info = encode_leader_change(unit, log_.end(), epoch_, id_, voters_, now);
  append_batch(info, unit.view());
}

void QuorumVoter::hear_leader(LeaderEpoch epoch, std::int32_t leader, std::int64_t now) {
  if (epoch < epoch_ || (epoch == epoch_ && leader_)) return;
  if (epoch > epoch_) enter_epoch(epoch);
  leader_ = leader;
  role_ = QuorumRole::follower;
  deadline_ = now + timeouts_.fetch_ms;
  save();
}

std::optional<Offset> QuorumVoter::append(std::string_view value, std::int64_t now) {
  if (role_ != QuorumRole::leader) return std::nullopt;
  NewRecord record;
  record.value = value;
  record.timestamp = now;
  const Offset at = log_.append(record, epoch_);
  advance();
  return at;
}

void QuorumVoter::append_batch(const UnitInfo& info, ByteView batch) {
  log_.append_unit(info, batch);
  advance();
}

std::optional<QuorumFetch> QuorumVoter::next_fetch(std::int64_t max_records) const {
  if (!up_ || role_ != QuorumRole::follower || !leader_) return std::nullopt;
  QuorumFetch fetch{id_, epoch_, log_.end(), kNoLeaderEpoch, max_records};
  if (const auto latest = log_.epochs().latest()) fetch.last_epoch = *latest;
  return fetch;
}

QuorumReply QuorumVoter::handle(const QuorumFetch& fetch, std::int64_t now) {
  QuorumReply reply;
  reply.epoch = epoch_;
  reply.leader = leader_.value_or(-1);
  reply.fetch_offset = fetch.offset;
  if (fetch.epoch > epoch_) {
    enter_epoch(fetch.epoch);
    save();
  }
  // Only fetches of its own epoch count.
  if (role_ != QuorumRole::leader || fetch.epoch != epoch_) {
    reply.fenced = true;
    return reply;
  }
  fetched_at_[fetch.voter] = now;
  if (fetch.offset < log_.start()) {
    reply.snapshot = true;
    return reply;
  }
  if (fetch.last_epoch != kNoLeaderEpoch) {
    reply.end = log_.epochs().end_offset_for(fetch.last_epoch, log_.end());
    if (reply.end.epoch != fetch.last_epoch || reply.end.offset < fetch.offset) {
      reply.diverging = true;
      return reply;
    }
  }
  fetched_[fetch.voter] = fetch.offset;
  advance();
  reply.high_watermark = high_watermark_;
  log_.read(fetch.offset, fetch.max_records, 1U << 20, reply.units);
  return reply;
}

std::string QuorumVoter::take(const QuorumReply& reply, std::int64_t now) {
  if (reply.epoch > epoch_) {
    enter_epoch(reply.epoch);
    save();
  }
  if (reply.fenced || role_ != QuorumRole::follower || reply.epoch != epoch_ ||
      reply.fetch_offset != log_.end())
    return "dropped";
  deadline_ = now + timeouts_.fetch_ms;
  if (reply.diverging) {
    const LeaderEpochs::End mine = log_.epochs().end_offset_for(reply.end.epoch, log_.end());
    Offset to = std::min(reply.end.offset, log_.end());
    if (mine.epoch != kNoLeaderEpoch)
      to = mine.epoch == reply.end.epoch ? std::min(to, mine.offset) : mine.offset;
    if (reply.end.epoch == kNoLeaderEpoch) to = Offset(0);
    if (high_watermark_ && to < *high_watermark_) {
      throw Error(
          ErrorCode::corrupt_state,
          fmt::format("voter {} would have to give up committed metadata from {} on", id_, to.value()))
          .at(directory_);
    }
    return fmt::format("diverging ({},{}) truncated {}", reply.end.epoch.value(), reply.end.offset.value(),
                       log_.truncate(to));
  }
  log_.append_copied(reply.units);
  if (reply.high_watermark) {
    const Offset seen = std::min(*reply.high_watermark, log_.end());
    high_watermark_ = std::max(high_watermark_.value_or(Offset(0)), seen);
  }
  return fmt::format("+{}", reply.units.records);
}

// The majority-th largest log end; it counts only with a record of this epoch (K3).
void QuorumVoter::advance() {
  std::vector<Offset> ends;
  for (const std::int32_t voter : voters_) {
    if (voter == id_) {
      ends.push_back(log_.end());
    } else {
      const auto known = fetched_.find(voter);
      ends.push_back(known == fetched_.end() ? Offset(-1) : known->second);
    }
  }
  std::sort(ends.rbegin(), ends.rend());
  const Offset reached = ends[majority() - 1];
  const Offset above = rules_.quorum_epoch_start ? epoch_start_ : Offset(0);
  if (reached > above && (!high_watermark_ || reached > *high_watermark_)) high_watermark_ = reached;
}

void QuorumVoter::check_quorum(std::int64_t now) {
  if (role_ != QuorumRole::leader) return;
  std::size_t heard = 1;
  for (const auto& [voter, at] : fetched_at_)
    heard += voter != id_ && now - at <= timeouts_.fetch_ms * 3 / 2 ? 1 : 0;
  if (heard >= majority()) return;
  role_ = QuorumRole::resigned;
  leader_.reset();
  high_watermark_.reset();
  deadline_ = now + election_wait();
  save();
}

}  // namespace tk
