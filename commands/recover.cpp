#include <fmt/format.h>

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
  return paths;
}

}  // namespace

int run_recover(const RecoverOptions& options, Context& context) {
  if (options.as_broker) return report_broker_start(partition_paths(options, context), context);
  RecoverReport report(options, context);
  Progress progress(context, "looked at");
  std::uint64_t bytes = 0;
  std::set<std::string> directories;
  for (const std::string& path : partition_paths(options, context)) {
    if (context.interrupted.load() != 0) break;
    try {
      std::optional<RecoveryLocks> locks;
      if (!options.dry_run) locks.emplace(context.fs, path, lock_wait(context));
      directories.insert(parent_path(path));
      if (const std::string line = restore_partition_metadata(context.fs, path, options.dry_run);
          !line.empty())
        context.diagnostics.note(line);
      RecoveryOptions settings = recovery_settings(context.fs, path);
      settings.mode = mode_of(options.damage);
      settings.full = options.full;
      const RecoveryPlan plan = plan_recovery(context.fs, path, settings);
      if (!options.dry_run) {
        if (plan.changes_anything()) before_recovery(context.fs, path);
        apply_recovery(context.fs, plan);
        locks.reset();
        if (plan.cuts_anything()) after_recovery(context.fs, path, plan.log_end, lock_wait(context));
      }
      report.print(plan);
      for (const SegmentRecovery& segment : plan.segments) bytes += segment.segment.size;
      progress.update(bytes);
      if (options.dry_run && plan.whole_afterwards()) {
        for (const SegmentRecovery& segment : plan.segments) {
          if (segment.action == RecoveryAction::none) continue;
          context.diagnostics.error(
              Error(ErrorCode::corrupt_message,
                    fmt::format("{}: not repaired, as this is a dry run", fault_text(segment.reason)))
                  .at(segment.segment.log_path, segment.position));
        }
      }
    } catch (const Error& error) {
      context.diagnostics.error(error);
    }
  }
  for (const std::string& directory : directories) {
    if (context.interrupted.load() != 0) break;
    try {
      for (const std::string& line :
           restore_checkpoints(context.fs, directory, lock_wait(context), options.dry_run))
        context.diagnostics.note(line);
    } catch (const Error& error) {
      context.diagnostics.error(error);
    }
  }
  return context.diagnostics.exit_code();
}

}  // namespace tk
