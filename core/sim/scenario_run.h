// Runs steps of the scenario language on a cluster, one at a time, on whatever disk the cluster has.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/sim/log_values.h"
#include "core/sim/quorum_run.h"
#include "core/sim/step.h"

namespace tk {

/// A message on its way.
struct InFlight {
  std::int32_t partition = 0;
  /// Nothing: a request.
  std::optional<FetchReply> reply;
  FetchRequest request;
};

/// What a consumer read, for the checks.
struct ReadResult {
  BrokerId from = kNoBroker;
  std::int32_t partition = 0;
  bool committed = false;
  Offset limit;
  LogValues values;
};

class ScenarioRun {
 public:
  /// `topic`: of the steps; it exists.
  ScenarioRun(Cluster& cluster, std::string topic)
      : cluster_(cluster), topic_(std::move(topic)), quorum_(cluster) {
    cluster_.on_answer = [this](const PartitionReplica& leader, AckLevel level, Offset first, Offset last,
                                LeaderEpoch epoch,
                                ReplicaError error) { answered(leader, level, first, last, epoch, error); };
  }

  struct Outcome {
    /// What the step answered ("3 4", "+2 hw=5", an error's name), or nothing.
    std::string reply;
    /// A step that did not apply to the state it met.
    bool skipped = false;
    /// An expectation that does not hold: what was expected and what is so.
    std::optional<std::string> failed;
    /// An invariant that the step itself shows to be broken: its name, and how.
    std::optional<std::pair<std::string, std::string>> violation;
  };
  Outcome run(const Step& step);
  /// Fills the disk of a broker, or makes room on it; empty where disks are real.
  std::function<void(BrokerId, bool full)> fill_disk;

  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] const std::string& topic() const { return topic_; }
  [[nodiscard]] const std::vector<InFlight>& in_flight() const { return in_flight_; }
  [[nodiscard]] const std::optional<ReadResult>& last_read() const { return last_read_; }
  [[nodiscard]] std::string partition_name(std::int32_t number) const;
  /// Values that were acknowledged at this level and are not in the leader's log, in the order of the
  /// appends.
  std::vector<std::string> lost_values(std::int32_t partition, AckLevel level);

  /// What the records appended by steps are: by partition, offset and epoch. The checks compare logs with it.
  struct Sent {
    std::string value;
    std::int32_t partition = 0;
    Offset offset;
    LeaderEpoch epoch;
    std::optional<AckLevel> acked;
    std::int32_t sequence = -1;
  };
  [[nodiscard]] const std::vector<Sent>& sent() const { return sent_; }

 private:
  Outcome run_step(const Step& step);
  // By what the step acts on; one that does not apply to the state it meets is skipped.
  Outcome broker(const Step& step);
  Outcome replicas(const Step& step);
  Outcome expectation(const Step& step);
  [[nodiscard]] bool is_up(BrokerId id) const;
  Outcome append(const Step& step);
  Outcome read(const Step& step);
  Outcome transaction(const Step& step);
  Outcome message(const Step& step);
  Outcome disk(const Step& step);
  Outcome elect(const Step& step);
  Outcome partition(const Step& step);
  Outcome expect_log(const Step& step);
  Outcome expect_leader(const Step& step);
  Outcome expect_lost(const Step& step);
  Outcome expect_logs(const Step& step);
  void answered(const PartitionReplica& leader, AckLevel level, Offset first, Offset last, LeaderEpoch epoch,
                ReplicaError error);

  Cluster& cluster_;
  std::string topic_;
  std::vector<Sent> sent_;
  std::vector<InFlight> in_flight_;
  std::optional<ReadResult> last_read_;
  std::map<std::string, Offset> group_offsets_;
  std::map<std::int64_t, std::vector<std::int32_t>> open_transactions_;  // partitions by pid
  std::string last_reply_;
  QuorumRun quorum_;
};

/// "0@0 1@3" and so on, with `between`.
std::string epochs_text(const LeaderEpochs& epochs, std::string_view between);
std::string ids_text(const BrokerIds& ids, std::string_view between);

}  // namespace tk
