// The controllers' quorum: Raft with followers that pull (KIP-595; replication.md §5). A voter's log is a
// replica log like any other, its vote a file that is forced before anybody hears of it.
//
// Voters are driven from outside: who calls stand(), fetches and votes decides what travels and what is lost.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/replica_log.h"
#include "core/cluster/rules.h"

namespace tk {

enum class QuorumRole : std::uint8_t { unattached, voted, follower, candidate, leader, resigned };
std::string_view quorum_role_name(QuorumRole role);

struct QuorumTimeouts {
  std::int64_t election_ms = 1000;
  std::int64_t fetch_ms = 2000;
  std::int64_t backoff_ms = 1000;
};

struct VoteRequest {
  std::int32_t candidate = 0;
  LeaderEpoch epoch;
  LeaderEpoch last_epoch;
  Offset log_end;
};

struct QuorumFetch {
  std::int32_t voter = 0;
  LeaderEpoch epoch;
  Offset offset;
  LeaderEpoch last_epoch = kNoLeaderEpoch;
  std::int64_t max_records = INT64_MAX;
};

struct QuorumReply {
  bool fenced = false;
  LeaderEpoch epoch;
  std::int32_t leader = 0;
  bool diverging = false;
  LeaderEpochs::End end;
  std::optional<Offset> high_watermark;
  Offset fetch_offset;
  StoredUnits units;
};

class QuorumVoter {
 public:
  QuorumVoter(FileSystem& fs, std::int32_t id, std::vector<std::int32_t> voters, std::string directory,
              const Rules& rules, SyncPolicy sync);

  /// Reads quorum-state and opens the log. A voter that led before is in no epoch's lead any more.
  void start(std::int64_t now);
  /// Dies; what was not forced of its vote is lost.
  void kill();
  [[nodiscard]] bool up() const { return up_; }

  [[nodiscard]] std::int32_t id() const { return id_; }
  [[nodiscard]] QuorumRole role() const { return role_; }
  [[nodiscard]] LeaderEpoch epoch() const { return epoch_; }
  [[nodiscard]] std::optional<std::int32_t> leader() const { return leader_; }
  /// Metadata below it are committed; nothing: not known in this epoch.
  [[nodiscard]] std::optional<Offset> high_watermark() const { return high_watermark_; }
  [[nodiscard]] ReplicaLog& log() { return log_; }

  /// Candidate of the next epoch; votes for itself. The request goes to all others.
  VoteRequest stand(std::int64_t now);
  /// True if the vote is given. A higher epoch makes the voter unattached in it.
  bool vote(const VoteRequest& request, std::int64_t now);
  /// A voter's answer. With a majority the candidate leads: its leader-change record is the epoch's first.
  void take_vote(std::int32_t from, LeaderEpoch epoch, bool granted, std::int64_t now);
  /// BeginQuorumEpoch: who leads is known.
  void hear_leader(LeaderEpoch epoch, std::int32_t leader, std::int64_t now);

  /// Appends one record as leader; nothing otherwise.
  std::optional<Offset> append(std::string_view value, std::int64_t now);
  std::optional<QuorumFetch> next_fetch(std::int64_t max_records) const;
  QuorumReply handle(const QuorumFetch& fetch, std::int64_t now);
  /// Throws corrupt_state if it would have to truncate below its high watermark.
  std::string take(const QuorumReply& reply, std::int64_t now);

  /// True if its patience is over: it has heard of no leader for the fetch timeout, or of no winner for the
  /// election's.
  [[nodiscard]] bool wants_to_stand(std::int64_t now) const {
    return up_ && role_ != QuorumRole::leader && now >= deadline_;
  }
  /// A leader that no majority has fetched from within 1.5 times the fetch timeout resigns.
  void check_quorum(std::int64_t now);
  void set_deadline(std::int64_t deadline) { deadline_ = deadline; }
  [[nodiscard]] const QuorumTimeouts& timeouts() const { return timeouts_; }

 private:
  void enter_epoch(LeaderEpoch epoch);
  void become_leader(std::int64_t now);
  void advance();
  void save();
  void load();
  [[nodiscard]] std::pair<LeaderEpoch, Offset> last() const;
  [[nodiscard]] std::size_t majority() const { return voters_.size() / 2 + 1; }

  FileSystem& fs_;
  std::int32_t id_;
  std::vector<std::int32_t> voters_;
  std::string directory_;
  const Rules& rules_;
  SyncPolicy sync_;
  ReplicaLog log_;
  QuorumTimeouts timeouts_;
  bool up_ = false;
  QuorumRole role_ = QuorumRole::unattached;
  LeaderEpoch epoch_{0};
  std::optional<std::int32_t> leader_, voted_;
  std::optional<Offset> high_watermark_;
  Offset epoch_start_{0};
  std::map<std::int32_t, bool> votes_;
  std::map<std::int32_t, Offset> fetched_;
  std::map<std::int32_t, std::int64_t> fetched_at_;
  std::int64_t deadline_ = 0;
};

}  // namespace tk
