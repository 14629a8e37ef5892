// The controllers of a simulated cluster: what a `quorum` step does to them, and what must hold of them
// (R14).
//
//     quorum stand N | fetch N [max=M] | append V to=N | kill N | start N | cut A B | heal | tick MS
//
// An appended V is a record without meaning. It is committed only by the fetches of later steps.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/quorum.h"
#include "core/sim/step.h"

namespace tk {

class QuorumRun {
 public:
  explicit QuorumRun(Cluster& cluster);

  struct Outcome {
    std::string reply;
    bool skipped = false;
  };
  Outcome run(const Step& step);
  /// What any step has broken: R14.
  std::optional<std::pair<std::string, std::string>> check();

 private:
  void check_voter(QuorumVoter& voter);
  void fail(std::string what);

  Cluster& cluster_;
  ControllerQuorum& quorum_;
  // What was seen so far.
  std::map<std::int32_t, std::int32_t> leader_of_epoch_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> votes_;  // (epoch, voter) -> candidate
  LeaderEpochs committed_;
  Offset committed_end_{0};
  struct Seen {
    Offset end, high_watermark;
    LeaderEpoch epoch;
    QuorumRole role = QuorumRole::unattached;
    bool operator==(const Seen&) const = default;
  };
  std::map<std::int32_t, Seen> seen_;
  std::optional<std::pair<std::string, std::string>> found_;
};

}  // namespace tk
