// tk verify: reads everything, changes nothing, and says what is wrong (cli.md §5).
#include <fmt/format.h>

#include <map>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/progress.h"
#include "commands/targets.h"
#include "commands/verify_options.h"
#include "commands/verify_report.h"
#include "core/base/error.h"
#include "core/catalog/directory_check.h"
#include "core/io/output.h"
#include "core/log/verify.h"

namespace tk {
namespace {

class Verification {
 public:
  Verification(const VerifyOptions& options, Context& context)
      : options_(options),
        context_(context),
        report_(context),
        progress_(context, "verified"),
        verifier_(
            context.fs, [this](const Problem& problem) { report_.problem(problem); },
            [this] {
              progress_.update(verifier_.totals().bytes);
              return stopped();
            }) {}

  void verify(const Target& target);
  int finish();

 private:
  [[nodiscard]] bool stopped() const { return context_.out.closed() || context_.interrupted.load() != 0; }
  void verify_data_directory(const std::string& directory);
  void verify_partition(const std::string& directory);
  void verify_segment(const std::string& path);
  const DirectoryFacts& facts_of(const std::string& directory);
  template <class Step>
  void attempt(Step&& step);

  const VerifyOptions& options_;
  Context& context_;
  VerifyReport report_;
  Progress progress_;
  PartitionVerifier verifier_;
  std::map<std::string, DirectoryFacts> facts_;
};

/// Runs a step; its failure is reported and the others go on. Only one without a path, which is the output's,
/// ends the command.
template <class Step>
void Verification::attempt(Step&& step) {
  try {
    step();
  } catch (const Error& error) {
    if (error.path().empty()) throw;
    context_.diagnostics.error(error);
  }
}

const DirectoryFacts& Verification::facts_of(const std::string& directory) {
  const auto known = facts_.find(directory);
  if (known != facts_.end()) return known->second;
  return facts_.emplace(directory, read_log_directory(context_.fs, directory)).first->second;
}

void Verification::verify(const Target& target) {
  if (stopped()) return;
  attempt([&] {
    switch (target.kind) {
      case Target::Kind::file:
        return verify_segment(target.path);
      case Target::Kind::partition:
        return verify_partition(target.path);
      case Target::Kind::data:
        return verify_data_directory(target.path);
    }
  });
}

void Verification::verify_data_directory(const std::string& directory) {
  report_.set_partition("");
  facts_[directory] = check_log_directory(context_.fs, directory, verifier_.report());
  for (const std::string& partition : partition_directories(context_.fs, directory)) {
    if (stopped()) return;
    attempt([&] {
      report_.set_partition(base_name(partition));
      verifier_.verify(partition, facts_[directory].scope_of(partition, options_.quick));
    });
  }
}

void Verification::verify_partition(const std::string& directory) {
  report_.set_partition(base_name(directory));
  verifier_.verify(directory, facts_of(parent_path(directory)).scope_of(directory, options_.quick));
}

void Verification::verify_segment(const std::string& path) {
  const std::string directory = parent_path(path);
  report_.set_partition(base_name(directory));
  VerifyScope scope;
  scope.quick = options_.quick;
  verifier_.verify_segment(path, scope);
}

int Verification::finish() {
  const VerifyTotals& totals = verifier_.totals();
  if (context_.interrupted.load() == 0) report_.summary(totals);
  if (totals.damage + totals.derived > 0) {
    context_.diagnostics.error(Error(ErrorCode::corrupt_message, fmt::format("{} damaged, {} to be rebuilt",
                                                                             totals.damage, totals.derived))
                                   .hint("'tk recover --dry-run' says what a repair would do"));
  }
  return context_.diagnostics.exit_code();
}

}  // namespace

int run_verify(const VerifyOptions& options, Context& context) {
  Verification verification(options, context);
  for (const Target& target : resolve_targets(options.targets, context)) verification.verify(target);
  return verification.finish();
}

}  // namespace tk
