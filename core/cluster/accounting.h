// What producers were told, so that what is missing later can be counted (replication.md §8, loss
// accounting).
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/cluster/replica.h"

namespace tk {

/// Records [first, last], appended under `epoch`, were acknowledged.
struct AckedRange {
  LeaderEpoch epoch;
  Offset first;
  Offset last;
  friend bool operator==(const AckedRange&, const AckedRange&) = default;
};

/// By level 0, 1 and all.
using Counts = std::array<std::int64_t, 3>;

class Accounting {
 public:
  using Ranges = std::array<std::vector<AckedRange>, 3>;

  void acked(const std::string& partition, AckLevel level, LeaderEpoch epoch, Offset first, Offset last);
  [[nodiscard]] Counts acked_counts() const;
  /// The acknowledged records that a log does not have: those of another epoch there, or beyond its end.
  /// Below `start` none counts.
  [[nodiscard]] std::array<std::vector<AckedRange>, 3> missing(const std::string& partition,
                                                               const LeaderEpochs& epochs, Offset start,
                                                               Offset end) const;
  [[nodiscard]] const std::map<std::string, Ranges>& partitions() const { return partitions_; }
  [[nodiscard]] std::map<std::string, Ranges>& partitions() { return partitions_; }

 private:
  std::map<std::string, Ranges> partitions_;
};

/// How many records a list of ranges holds.
std::int64_t count(const std::vector<AckedRange>& ranges);

}  // namespace tk
