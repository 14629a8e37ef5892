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
#include "core/catalog/log_directory.h"
#include "core/io/output.h"
#include "core/log/replica_compare.h"
#include "core/log/verify.h"
#include "core/store/broker_state.h"
#include "core/store/state_files_check.h"

namespace tk {
namespace {

/// Without a word on what cannot be read: the partitions of `__transaction_state` are verified themselves.
TransactionCoordinators read_coordinators(FileSystem& fs, const std::string& directory) {
  try {
    return read_transaction_coordinators(Store::open(fs, directory, {}),
                                         {[](const Error&) {}, [](const std::string&) {}});
  } catch (const Error&) {
    return {};
  }
}

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

  void expect(const std::vector<Target>& targets);
  void verify(const Target& target);
  /// Partitions that were met in more than one data directory.
  void compare();
  int finish();

 private:
  [[nodiscard]] bool stopped() const { return context_.out.closed() || context_.interrupted.load() != 0; }
  void verify_data_directory(const std::string& directory);
  void verify_partition(const std::string& directory);
  void verify_segment(const std::string& path);
  const DirectoryFacts& facts_of(const std::string& directory);
  VerifyScope scope_of(const std::string& partition);
  void check_identity(const std::string& directory, const DirectoryFacts& facts);
  void compare_partition(const std::string& name, const std::vector<std::string>& directories);
  template <class Step>
  void attempt(Step&& step);

  const VerifyOptions& options_;
  Context& context_;
  VerifyReport report_;
  Progress progress_;
  PartitionVerifier verifier_;
  std::map<std::string, DirectoryFacts> facts_;
  /// What the coordinators of each data directory say of transactions; read once one is found open.
  std::map<std::string, TransactionCoordinators> coordinators_;
  /// Where each partition was met, by its name.
  std::map<std::string, std::vector<std::string>> met_;
  /// The first data directory with a cluster id, and those of each broker and directory id.
  std::optional<std::pair<std::string, std::string>> cluster_;
  std::vector<std::string> data_directories_;
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

VerifyScope Verification::scope_of(const std::string& partition) {
  const std::string directory = parent_path(partition);
  VerifyScope scope = facts_of(directory).scope_of(partition, options_.quick);
  const auto name = parse_partition_directory(base_name(partition));
  if (!name) return scope;
  scope.hangs = [this, directory, place = TopicPartition{name->topic, name->partition}](ProducerId producer) {
    auto known = coordinators_.find(directory);
    if (known == coordinators_.end()) {
      known = coordinators_.emplace(directory, read_coordinators(context_.fs, directory)).first;
    }
    return known->second.hangs(producer, place);
  };
  return scope;
}

void Verification::expect(const std::vector<Target>& targets) {
  if (!progress_.is_wanted()) return;
  std::uint64_t total = 0;
  for (const Target& target : targets) {
    attempt([&] {
      if (target.kind == Target::Kind::partition) total += log_bytes(context_.fs, target.path);
      if (target.kind != Target::Kind::data) return;
      for (const std::string& partition : partition_directories(context_.fs, target.path))
        total += log_bytes(context_.fs, partition);
    });
  }
  progress_.expect(total);
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
  check_state_files(context_.fs, directory, verifier_.report());
  check_identity(directory, facts_[directory]);
  for (const std::string& partition : partition_directories(context_.fs, directory)) {
    if (stopped()) return;
    met_[base_name(partition)].push_back(partition);
    attempt([&] {
      report_.set_partition(base_name(partition));
      verifier_.verify(partition, scope_of(partition));
    });
  }
}

/// Directories of one broker, or of one cluster, that cannot belong together.
void Verification::check_identity(const std::string& directory, const DirectoryFacts& facts) {
  const auto say = [&](Severity severity, std::string message) {
    verifier_.report()({.severity = severity,
                        .kind = "meta_properties",
                        .file = join_path(directory, kMetaPropertiesFile),
                        .message = std::move(message)});
  };
  if (facts.cluster_id) {
    if (!cluster_) cluster_ = {*facts.cluster_id, directory};
    if (cluster_->first != *facts.cluster_id) {
      say(Severity::derived,
          fmt::format("cluster '{}' is another than '{}' of {}: a broker with both does not "
                      "start, and their partitions are no replicas of each other",
                      *facts.cluster_id, cluster_->first, cluster_->second));
    }
  }
  for (const std::string& other : data_directories_) {
    const DirectoryFacts& before = facts_[other];
    if (facts.directory_id && facts.directory_id == before.directory_id)
      say(Severity::note, fmt::format("the directory is a copy of {}, as their directory.id says", other));
  }
  data_directories_.push_back(directory);
}

/// A broker has a partition once; its directories are no replicas of each other.
bool same_broker(const DirectoryFacts& a, const DirectoryFacts& b) {
  return a.node_id && a.node_id == b.node_id && a.cluster_id == b.cluster_id && a.directory_id &&
         b.directory_id && a.directory_id != b.directory_id;
}

void Verification::compare() {
  for (const auto& met : met_) {
    const std::string& name = met.first;
    const std::vector<std::string>& directories = met.second;
    if (stopped()) return;
    if (directories.size() < 2) continue;
    report_.set_partition(name);
    for (std::size_t i = 1; i < directories.size(); ++i) {
      if (!same_broker(facts_of(parent_path(directories[0])), facts_of(parent_path(directories[i]))))
        continue;
      verifier_.report()(
          {.severity = Severity::derived,
           .kind = "replica",
           .file = directories[i],
           .message = fmt::format("the same broker has the partition in {}, too: it does not start",
                                  directories[0])});
    }
    // Of another cluster's there is nothing to compare.
    std::map<std::string, std::vector<std::string>> clusters;
    for (const std::string& directory : directories)
      clusters[facts_of(parent_path(directory)).cluster_id.value_or("")].push_back(directory);
    for (const auto& of_one : clusters) {
      const std::vector<std::string>& replicas = of_one.second;
      if (replicas.size() > 1) attempt([&] { compare_partition(name, replicas); });
    }
  }
}

void Verification::compare_partition(const std::string& name, const std::vector<std::string>& directories) {
  std::vector<Replica> replicas;
  for (const std::string& directory : directories) {
    const VerifyScope scope = facts_of(parent_path(directory)).scope_of(directory, options_.quick);
    replicas.push_back(open_replica(context_.fs, directory, scope.log_start, scope.high_watermark));
  }
  const ReplicaComparison result = compare_replicas(context_.fs, replicas, [this] { return stopped(); });
  if (stopped()) return;
  report_.comparison(name, replicas, result);
  if (!result.first_difference) return;
  const Replica& a = replicas[result.differs_a];
  const Replica& b = replicas[result.differs_b];
  // Below both high watermarks everything was agreed on.
  const bool agreed = a.high_watermark && b.high_watermark && *result.first_difference < *a.high_watermark &&
                      *result.first_difference < *b.high_watermark;
  const Replica& leader = replicas[result.leader];
  bool noticed = true;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const bool differs = i == result.differs_a || i == result.differs_b;
    if (differs && i != result.leader && result.truncate_to[i] > *result.first_difference) noticed = false;
  }
  verifier_.report()(
      {.severity = agreed || !noticed ? Severity::damage : Severity::note,
       .kind = "replica",
       .file = a.directory,
       .offset = *result.first_difference,
       .message = fmt::format(
           "{} {} {}{}{}", result.missing ? "one of the two has no record there:" : "differs from",
           b.directory, result.missing ? "has another log" : "there",
           agreed ? ", though both have it below their high watermarks" : "",
           noticed ? "" : fmt::format("; a follower of {} does not notice it", leader.directory))});
}

void Verification::verify_partition(const std::string& directory) {
  met_[base_name(directory)].push_back(directory);
  report_.set_partition(base_name(directory));
  verifier_.verify(directory, scope_of(directory));
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
  const std::vector<Target> targets = resolve_targets(options.targets, context);
  verification.expect(targets);
  for (const Target& target : targets) verification.verify(target);
  verification.compare();
  return verification.finish();
}

}  // namespace tk
