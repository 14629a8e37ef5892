// The controllers of a cluster: the voters of its metadata log, and what goes to and fro between them
// (replication.md §5). Commands and the simulator drive the very same voters through it.
//
// Nothing runs by itself. A record is committed by rounds of fetches within the call that appends it; a voter
// that has heard of no leader for too long stands when tick() lets time pass.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/cluster/quorum.h"

namespace tk {

inline constexpr std::string_view kMetadataPartition = "__cluster_metadata-0";

/// What a cluster keeps of its controllers between commands, beside their own files.
struct QuorumRecord {
  /// Metadata below it were seen committed.
  Offset committed{0};
  std::map<std::int32_t, QuorumMemory> voters;
  std::set<std::pair<std::int32_t, std::int32_t>> cut;
};

class ControllerQuorum {
 public:
  /// `directory`: of the cluster. Its voters are 1 to `count`; of them voter 1 has metadata/, N metadata-N/.
  ControllerQuorum(FileSystem& fs, std::string directory, const Rules& rules, ReplicaLog::Options log);

  void set_up(std::int32_t count, const std::string& cluster_id);
  /// Starts all voters of a new cluster, and lets the first be elected.
  void begin(std::int64_t now);
  /// Goes on where the commands before stopped. Nothing is opened or written.
  void resume(const QuorumRecord& record, std::int64_t now);
  [[nodiscard]] QuorumRecord record() const;
  /// Opens the logs of all voters that are up.
  void open();
  /// Makes all logs durable and lets go of them.
  void close();

  [[nodiscard]] std::map<std::int32_t, std::unique_ptr<QuorumVoter>>& voters() { return voters_; }
  /// Throws broker_not_available where there is none of this number.
  QuorumVoter& voter(std::int32_t id);
  /// The voter that leads and that a majority can fetch from; null if there is none: then nothing is decided.
  QuorumVoter* leader();
  /// True if a majority is up and not cut off from each other, so that one can be elected.
  [[nodiscard]] bool can_elect() const;
  /// The end of what is committed for sure.
  [[nodiscard]] Offset committed() const { return committed_; }
  /// The voter whose files hold everything that is committed: of the latest epoch, then the longest.
  QuorumVoter& best_copy();

  /// The others fetch from the leader until its log is committed; false if they cannot.
  bool commit(std::int64_t now);
  /// An election: the candidate asks everybody it reaches, and a winner tells them.
  void stand(QuorumVoter& candidate, std::int64_t now);
  /// One fetch, there and back; says what came of it.
  std::string fetch(QuorumVoter& follower, std::int64_t max_records, std::int64_t now);
  /// Time has passed: who is reached has fetched; leaders without a majority resign, and who has waited too
  /// long stands.
  void tick(std::int64_t now);

  void cut(std::int32_t a, std::int32_t b);
  void heal() { cut_.clear(); }
  [[nodiscard]] bool linked(std::int32_t a, std::int32_t b) const {
    return cut_.empty() || !cut_.contains({std::min(a, b), std::max(a, b)});
  }

  /// Told of every vote that was given.
  std::function<void(LeaderEpoch epoch, std::int32_t voter, std::int32_t candidate)> on_vote;

 private:
  void note_committed(const QuorumVoter& voter);
  void fetch_snapshot(QuorumVoter& follower, QuorumVoter& leader);

  FileSystem& fs_;
  std::string directory_;
  const Rules& rules_;
  ReplicaLog::Options log_;
  std::map<std::int32_t, std::unique_ptr<QuorumVoter>> voters_;
  std::set<std::pair<std::int32_t, std::int32_t>> cut_;
  Offset committed_{0};
};

}  // namespace tk
