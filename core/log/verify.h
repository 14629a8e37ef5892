// Checks a partition without changing anything: every checksum, every record, the order of offsets, and
// whether the files made from them agree (kafka-on-disk.md §9.5: the broker itself checks none of it below
// its recovery point).
//
// Chunks are summed and decoded by all cores (verify_units.h) and put in order by one (verify_order.h).
// Memory does not grow with the log.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/log/verify_order.h"

namespace tk {

/// Verifies partitions one after the other with reused buffers.
class PartitionVerifier {
 public:
  /// `sink` gets the problems of each partition, roughly in the order of the log. `stopped` is asked now and
  /// then; once it says true, the rest is left out.
  PartitionVerifier(FileSystem& fs, ProblemSink sink, std::function<bool()> stopped);
  ~PartitionVerifier();

  /// Verifies the partition in `directory`. Throws if it cannot be listed, or a segment not be read.
  void verify(const std::string& directory, const VerifyScope& scope);
  /// Verifies one segment with its indexes, by the path of its .log, .index or .timeindex. Throws
  /// invalid_request if it is none of these, storage_error if there is no such .log.
  void verify_segment(const std::string& path, const VerifyScope& scope);

  [[nodiscard]] const VerifyTotals& totals() const { return totals_; }
  /// Counts and passes on what is found elsewhere.
  [[nodiscard]] ProblemCounter& report() { return report_; }

 private:
  struct Job;
  void scan(const PartitionFiles& files, const VerifyScope& scope,
            const std::optional<std::vector<LeaderEpochEntry>>& epochs);
  void check_protection(const PartitionFiles& files, std::uint64_t unprotected);
  [[nodiscard]] bool held_by_writer(const std::string& directory, bool in_broker_directory) const;

  FileSystem& fs_;
  ProblemSink sink_;
  std::function<bool()> stopped_;
  VerifyTotals totals_;
  ProblemCounter report_;
  std::vector<std::unique_ptr<Job>> jobs_;
};

}  // namespace tk
