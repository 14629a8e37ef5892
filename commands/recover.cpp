#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/damage_text.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/progress.h"
#include "commands/recover_as_broker.h"
#include "commands/recover_options.h"
#include "commands/targets.h"
#include "core/base/json_writer.h"
#include "core/base/ordered_workers.h"
#include "core/cluster/cluster.h"
#include "core/io/output.h"
#include "core/log/recovery.h"
#include "core/store/directory_recovery.h"
#include "core/store/recovery_settings.h"

namespace tk {
namespace {

RecoveryMode mode_of(RecoverOptions::Damage damage) {
  if (damage == RecoverOptions::Damage::truncate) return RecoveryMode::truncate;
  return damage == RecoverOptions::Damage::salvage ? RecoveryMode::salvage : RecoveryMode::refuse;
}

/// Reports one partition's plan, after it was performed or in place of it.
class RecoverReport {
 public:
  RecoverReport(const RecoverOptions& options, Context& context) : options_(options), context_(context) {}

  void print(const RecoveryPlan& plan) {
    for (const std::string& note : plan.notes) context_.diagnostics.note(note);
    for (const SegmentRecovery& segment : plan.segments) {
      if (context_.json) {
        print_json(plan, segment);
      } else {
        print_text(plan, segment);
      }
    }
    for (const auto& [path, damage] : plan.remaining)
      context_.diagnostics.error(remaining_error(path, damage, plan));
  }

 private:
  [[nodiscard]] std::string_view index_word(const SegmentRecovery& segment) const {
    return segment.rebuild_indexes ? "rebuilt" : "ok";
  }

  void print_json(const RecoveryPlan& plan, const SegmentRecovery& segment) {
    TextBuffer line;
    JsonLine json(line);
    const auto optional = [](const auto& value) -> std::optional<std::int64_t> {
      if (!value) return std::nullopt;
      return static_cast<std::int64_t>(*value);
    };
    json.text("partition", base_name(plan.directory))
        .text("segment", base_name(segment.segment.beside(".log")))
        .number("file_bytes", static_cast<std::int64_t>(segment.segment.size))
        .number("valid_bytes", static_cast<std::int64_t>(segment.valid_bytes))
        .number("cut_bytes", static_cast<std::int64_t>(segment.cut_bytes))
        .number("records", segment.records)
        .number("next_offset", segment.next_offset.value())
        .text("reason", fault_name(segment.reason.kind))
        .text("action", action_name(segment.action, options_.dry_run))
        .text("index", index_word(segment));
    if (segment.reason) {
      json.number("position", static_cast<std::int64_t>(segment.position));
      if (segment.bad_offsets) {
        json.raw("bad_offsets", fmt::format("[{},{}]", segment.bad_offsets->first.value(),
                                            segment.bad_offsets->second.value()));
      } else {
        json.null("bad_offsets");
      }
      json.number_or_null("next_good_offset", segment.next_good_offset
                                                  ? std::optional(segment.next_good_offset->value())
                                                  : std::nullopt)
          .number_or_null("next_good_position", optional(segment.next_good_position))
          .number("good_records_after", segment.good_records_after);
    }
    json.end();
    context_.out.write({line.data(), line.size()});
  }

  void print_text(const RecoveryPlan& plan, const SegmentRecovery& segment) {
    const std::string name = base_name(plan.directory) + "/" + base_name(segment.segment.beside(".log"));
    std::string text =
        fmt::format("{}: {} records, next offset {}", name, segment.records, segment.next_offset.value());
    if (segment.reason) text += fmt::format(", {} at byte {}", fault_text(segment.reason), segment.position);
    if (segment.bad_offsets)
      text += fmt::format(", offsets {} to {} lost", segment.bad_offsets->first.value(),
                          segment.bad_offsets->second.value());
    if (segment.reason && segment.good_records_after > 0) {
      text += fmt::format(", {} good records behind it", segment.good_records_after);
      if (segment.next_good_position)
        text += fmt::format(" (from offset {} at byte {})", segment.next_good_offset->value(),
                            *segment.next_good_position);
    }
    if (segment.cut_bytes > 0)
      text += fmt::format(", {} of {} bytes {}", segment.cut_bytes, segment.segment.size,
                          options_.dry_run ? "would go" : "cut");
    if (segment.action != RecoveryAction::none)
      text += fmt::format(": {}", action_name(segment.action, options_.dry_run));
    if (segment.rebuild_indexes)
      text += options_.dry_run ? ", indexes would be rebuilt" : ", indexes rebuilt";
    if (!context_.quiet) context_.out.write(text + "\n");
  }

  static Error remaining_error(const std::string& path, const DamageRange& damage, const RecoveryPlan& plan) {
    Error error(ErrorCode::corrupt_message,
                fmt::format("{}: {} bytes stay damaged", fault_text(damage.fault), damage.size));
    error = std::move(error).at(path, damage.position);
    if (plan.mode == RecoveryMode::refuse) {
      return std::move(error).hint(
          "readable records follow: '--salvage' drops only the damaged bytes, '--truncate' drops everything "
          "from there on, as a broker would");
    }
    return std::move(error).hint("a broker does not notice it; '--salvage' drops it");
  }

  const RecoverOptions& options_;
  Context& context_;
};

// A replica that loses records behind its cluster's back would still count as in sync.
void refuse_in_cluster(const std::string& partition, Context& context) {
  const std::string broker = parent_path(partition);
  if (!is_cluster_broker(context.fs, broker) && !is_cluster(context.fs, parent_path(broker))) return;
  throw Error(ErrorCode::invalid_request, "a replica of a cluster is not repaired by itself")
      .at(partition)
      .hint(
          "'tk replicate-sim TOPIC-P --step \"scrub B\"' builds it anew from its leader; 'tk cluster start' "
          "recovers a broker that was killed");
}

/// The partition directories that the targets name; a file stands for its partition.
std::vector<std::string> partition_paths(const RecoverOptions& options, Context& context) {
  std::vector<std::string> paths;
  for (const Target& target : resolve_targets(options.targets, context)) {
    if (target.kind == Target::Kind::partition) {
      paths.push_back(target.path);
    } else if (target.kind == Target::Kind::data) {
      const auto found = partition_directories(context.fs, target.path);
      paths.insert(paths.end(), found.begin(), found.end());
    } else {
      paths.push_back(parent_path(target.path));
    }
  }
  for (const std::string& path : paths) {
    if (!options.dry_run) refuse_in_cluster(path, context);
  }
  return paths;
}

}  // namespace

namespace {

/// One partition: what was found, and done.
struct RecoverJob {
  std::string path;
  std::optional<RecoveryPlan> plan;
  std::vector<std::string> notes;
  std::optional<Error> error;
};

/// Several partitions are looked at and repaired side by side; what is said of them comes in order.
class Recovery {
 public:
  Recovery(const RecoverOptions& options, Context& context)
      : options_(options),
        context_(context),
        wait_(lock_wait(context)),
        report_(options, context),
        progress_(context, "looked at") {}

  void run(std::vector<std::string> paths);
  void restore_shared_files();

 private:
  void work(RecoverJob& job) const;
  void give(const RecoverJob& job);

  const RecoverOptions& options_;
  Context& context_;
  LockWait wait_;
  RecoverReport report_;
  Progress progress_;
  std::uint64_t bytes_ = 0;
  std::set<std::string> directories_;
};

void Recovery::work(RecoverJob& job) const {
  try {
    FileSystem& fs = context_.fs;
    std::optional<RecoveryLocks> locks;
    if (!options_.dry_run) locks.emplace(fs, job.path, wait_);
    if (std::string line = restore_partition_metadata(fs, job.path, options_.dry_run); !line.empty())
      job.notes.push_back(std::move(line));
    RecoveryOptions settings = recovery_settings(fs, job.path);
    settings.mode = mode_of(options_.damage);
    settings.full = options_.full;
    job.plan = plan_recovery(fs, job.path, settings);
    const auto mend_ends = [&] {
      if (!options_.full) return;
      for (std::string& line : restore_ends(fs, job.path, job.plan->log_end, wait_, options_.dry_run))
        job.notes.push_back(std::move(line));
    };
    if (options_.dry_run) return mend_ends();
    if (job.plan->changes_anything()) before_recovery(fs, job.path);
    apply_recovery(fs, *job.plan);
    locks.reset();
    if (job.plan->cuts_anything()) after_recovery(fs, job.path, job.plan->log_end, wait_);
    mend_ends();
  } catch (const Error& error) {
    job.error = error;
  }
}

void Recovery::give(const RecoverJob& job) {
  directories_.insert(parent_path(job.path));
  for (const std::string& note : job.notes) context_.diagnostics.note(note);
  if (job.error) return context_.diagnostics.error(*job.error);
  const RecoveryPlan& plan = *job.plan;
  report_.print(plan);
  for (const SegmentRecovery& segment : plan.segments) bytes_ += segment.segment.size;
  progress_.update(bytes_);
  if (!options_.dry_run || !plan.whole_afterwards()) return;
  for (const SegmentRecovery& segment : plan.segments) {
    if (segment.action == RecoveryAction::none) continue;
    context_.diagnostics.error(
        Error(ErrorCode::corrupt_message,
              fmt::format("{}: not repaired, as this is a dry run", fault_text(segment.reason)))
            .at(segment.segment.log_path, segment.position));
  }
}

void Recovery::run(std::vector<std::string> paths) {
  if (progress_.is_wanted()) {
    std::uint64_t total = 0;
    for (const std::string& path : paths) total += log_bytes(context_.fs, path);
    progress_.expect(total);
  }
  std::vector<std::unique_ptr<RecoverJob>> jobs;
  for (std::size_t i = 0; i < std::min<std::size_t>(job_count(), paths.size()); ++i)
    jobs.push_back(std::make_unique<RecoverJob>());
  if (jobs.empty()) return;
  std::size_t next = 0;
  run_ordered(
      jobs,
      [&](RecoverJob& job) {
        if (next == paths.size() || context_.interrupted.load() != 0) return false;
        job = {std::move(paths[next++]), {}, {}, {}};
        return true;
      },
      [&](RecoverJob& job) { work(job); },
      [&](RecoverJob& job) {
        give(job);
        return true;
      },
      [](const RecoverJob&) { return true; });
}

void Recovery::restore_shared_files() {
  for (const std::string& directory : directories_) {
    if (context_.interrupted.load() != 0) return;
    try {
      for (const std::string& line : restore_checkpoints(context_.fs, directory, wait_, options_.dry_run))
        context_.diagnostics.note(line);
    } catch (const Error& error) {
      context_.diagnostics.error(error);
    }
  }
}

}  // namespace

int run_recover(const RecoverOptions& options, Context& context) {
  std::vector<std::string> paths = partition_paths(options, context);
  if (options.as_broker) return report_broker_start(paths, context);
  // Named twice, a partition would be repaired by two at a time.
  std::set<std::string> seen;
  std::erase_if(paths, [&](const std::string& path) { return !seen.insert(path).second; });
  Recovery recovery(options, context);
  recovery.run(std::move(paths));
  recovery.restore_shared_files();
  return context.diagnostics.exit_code();
}

}  // namespace tk
