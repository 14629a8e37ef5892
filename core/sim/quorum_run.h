// The controllers of a simulated cluster: what a `quorum` step does to them, and what must hold of them
// (R14).
//
//     quorum stand N | fetch N [max=M] | append V to=N | kill N | start N | cut A B | heal | tick MS
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/quorum.h"
#include "core/sim/step.h"

namespace tk {

class QuorumRun {
 public:
  QuorumRun(FileSystem& fs, const std::string& directory, std::int32_t voters, const Rules& rules);

  struct Outcome {
    std::string reply;
    bool skipped = false;
    std::optional<std::pair<std::string, std::string>> violation;
  };
  Outcome run(const Step& step);
  [[nodiscard]] std::map<std::int32_t, std::unique_ptr<QuorumVoter>>& voters() { return voters_; }
  [[nodiscard]] std::int64_t now() const { return now_; }

 private:
  void stand(QuorumVoter& candidate);
  std::string fetch(QuorumVoter& follower, std::int64_t max);
  void tell_leader(QuorumVoter& leader);
  void check();
  void fail(std::string what);
  [[nodiscard]] bool linked(std::int32_t a, std::int32_t b) const {
    return !cut_.contains({std::min(a, b), std::max(a, b)});
  }

  std::map<std::int32_t, std::unique_ptr<QuorumVoter>> voters_;
  std::set<std::pair<std::int32_t, std::int32_t>> cut_;
  std::int64_t now_ = 0;
  // What was seen so far.
  std::map<std::int32_t, std::int32_t> leader_of_epoch_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> votes_;  // (epoch, voter) -> candidate
  LeaderEpochs committed_;
  Offset committed_end_{0};
  std::optional<std::pair<std::string, std::string>> found_;
};

}  // namespace tk
