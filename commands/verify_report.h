// Problems that `tk verify` finds, as lines of text or as NDJSON (cli.md §5).
#pragma once

#include <string>
#include <vector>

#include "commands/context.h"
#include "core/base/text.h"
#include "core/log/problem.h"
#include "core/log/replica_compare.h"

namespace tk {

class VerifyReport {
 public:
  explicit VerifyReport(Context& context) : context_(context) {}

  /// The partition that the problems from here on concern; empty: the data directory itself.
  void set_partition(std::string name) { partition_ = std::move(name); }
  void problem(const Problem& problem);
  /// A partition that several directories have.
  void comparison(const std::string& partition, const std::vector<Replica>& replicas,
                  const ReplicaComparison& result);
  void summary(const VerifyTotals& totals);

 private:
  void write_json(const Problem& problem);
  void write_text(const Problem& problem);

  Context& context_;
  std::string partition_;
  TextBuffer line_;
};

}  // namespace tk
