// The controllers' quorum: Raft with followers that pull (KIP-595; replication.md §5). A voter's log is a
// replica log like any other, its vote a file that is forced before anybody hears of it.
//
// Voters are driven from outside: who calls stand(), fetches and votes decides what travels and what is lost.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/replica_log.h"
#include "core/cluster/rules.h"

namespace tk {

enum class QuorumRole : std::uint8_t { unattached, voted, follower, candidate, leader, resigned };
std::string_view quorum_role_name(QuorumRole role);
std::optional<QuorumRole> parse_quorum_role(std::string_view name);

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

/// What a voter's process knows and its files do not say; a cluster of directories keeps it between commands.
struct QuorumMemory {
  bool up = true;
  QuorumRole role = QuorumRole::unattached;
  /// Of quorum-state when this was noted. The file may be ahead: whoever wrote it died before it noted more.
  LeaderEpoch epoch{0};
  Offset epoch_start{0};
  std::optional<Offset> high_watermark;
  std::int64_t deadline_ms = 0;
  /// Of a leader: what each voter has fetched up to, and when it last fetched.
  std::map<std::int32_t, Offset> fetched;
  std::map<std::int32_t, std::int64_t> fetched_at;
};

struct QuorumReply {
  bool fenced = false;
  LeaderEpoch epoch;
  std::int32_t leader = 0;
  bool diverging = false;
  LeaderEpochs::End end;
  std::optional<Offset> high_watermark;
  Offset fetch_offset;
  /// The log begins above the offset: what was before comes as a snapshot.
  bool snapshot = false;
  StoredUnits units;
};

class QuorumVoter {
 public:
  QuorumVoter(FileSystem& fs, std::int32_t id, std::vector<std::int32_t> voters, std::string directory,
              const Rules& rules, ReplicaLog::Options log);

  /// Reads quorum-state and opens the log. A voter that led before is in no epoch's lead any more.
  void start(std::int64_t now);
  /// Goes on where a process between two commands stopped; the log stays closed. A voter whose quorum-state
  /// has moved on since then starts anew.
  void set_cluster_id(const std::string& id) { cluster_id_ = id; }
  void resume(const QuorumMemory& memory, std::int64_t now);
  [[nodiscard]] QuorumMemory memory() const;
  /// Opens the log of a voter that is up, if it is not open.
  void open();
  /// A snapshot has taken the place of all that the log held.
  void begin_at(const struct SnapshotId& snapshot);
  /// The last epoch and end of the files, whether the log is open or not: who has more may lead.
  [[nodiscard]] std::pair<LeaderEpoch, Offset> last_on_disk();
  /// Makes the log durable and lets go of it.
  void close() { log_.close(); }
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
  [[nodiscard]] const ReplicaLog& log() const { return log_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }

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
  /// Appends a batch that was encoded for this log's end and epoch. The voter leads.
  void append_batch(const UnitInfo& info, ByteView batch);
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

 private:
  void enter_epoch(LeaderEpoch epoch);
  void become_leader(std::int64_t now);
  void advance();
  void save();
  void load();
  /// Voters of one epoch are patient for different times, or they would stand together for ever (K5). Which
  /// is a matter of their number and epoch alone: a history repeats itself.
  [[nodiscard]] std::int64_t election_wait() const;
  [[nodiscard]] std::pair<LeaderEpoch, Offset> last() const;
  [[nodiscard]] LeaderEpoch snapshot_epoch() const;
  [[nodiscard]] std::size_t majority() const { return voters_.size() / 2 + 1; }

  FileSystem& fs_;
  std::int32_t id_;
  std::vector<std::int32_t> voters_;
  std::string directory_;
  std::string cluster_id_;
  const Rules& rules_;
  bool forced_;
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
