// tk dump-log: what is in the files of a log, as kafka-dump-log prints it, or as NDJSON (cli.md §5).
#include <fmt/format.h>

#include <algorithm>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/dump_index.h"
#include "commands/dump_log_options.h"
#include "commands/dump_reports.h"
#include "commands/dump_segment.h"
#include "commands/targets.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/io/file_system.h"
#include "core/io/output.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

DumpStyle style_of(const DumpLogOptions& options, const Context& context) {
  DumpStyle style;
  style.json = context.json;
  style.records = options.deep_iteration || options.print_data_log;
  style.data = options.print_data_log;
  style.skip_record_metadata = options.skip_record_metadata;
  style.from = options.from_offset;
  style.to = options.to_offset;
  return style;
}

/// The number before the first dot of a file's name.
std::optional<Offset> base_of(const std::string& path) {
  const std::string name = base_name(path);
  const std::string_view digits = std::string_view(name).substr(0, name.find('.'));
  if (digits.empty() ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  const auto number = parse_int(digits);
  return number ? std::optional(Offset(*number)) : std::nullopt;
}

bool is_known(std::string_view name) {
  return name.ends_with(kLogSuffix) || name.ends_with(kIndexSuffix) || name.ends_with(kTimeIndexSuffix);
}

class LogDump {
 public:
  LogDump(const DumpLogOptions& options, Context& context)
      : options_(options), context_(context), style_(style_of(options, context)) {}

  void dump_target(const Target& target);
  void dump_file(const std::string& path);
  void print_reports() const { reports_.print(context_.diagnostics); }

 private:
  [[nodiscard]] bool stopped() const { return context_.out.closed() || context_.interrupted.load() != 0; }
  void dump_partition(const std::string& directory);
  void dump_known(const std::string& path);
  void dump_log(const std::string& path);
  std::optional<Offset> next_segment(const std::string& path, Offset base);
  template <class Step>
  void attempt(Step&& step);

  const DumpLogOptions& options_;
  Context& context_;
  DumpStyle style_;
  DumpReports reports_;
  // The segments of the directory looked at last, by base.
  std::optional<std::string> listed_;
  std::vector<Offset> bases_;
};

/// Runs a step; its failure is reported and the others go on. Only one without a path, which is the output's,
/// ends the command.
template <class Step>
void LogDump::attempt(Step&& step) {
  try {
    step();
  } catch (const Error& error) {
    if (error.path().empty()) throw;
    context_.diagnostics.error(error);
  }
}

void LogDump::dump_target(const Target& target) {
  if (stopped()) return;
  if (target.kind == Target::Kind::file) return dump_file(target.path);
  attempt([&] {
    if (target.kind == Target::Kind::partition) return dump_partition(target.path);
    for (const std::string& directory : partition_directories(context_.fs, target.path)) {
      if (stopped()) return;
      attempt([&] { dump_partition(directory); });
    }
  });
}

void LogDump::dump_partition(const std::string& directory) {
  for (const DirEntry& entry : context_.fs.list(directory)) {
    if (stopped()) return;
    const auto name = parse_segment_file_name(entry.name);
    if (entry.is_directory || !name || !is_known(name->suffix) || name->suffix.rfind('.') != 0) continue;
    dump_file(join_path(directory, entry.name));
  }
}

void LogDump::dump_file(const std::string& path) {
  if (stopped()) return;
  attempt([&] {
    const std::string name = base_name(path);
    if (is_known(name)) return dump_known(path);
    if (!style_.json) context_.out.write(fmt::format("Dumping {}\n", path));
    context_.diagnostics.warning(fmt::format("Ignoring unknown file {}", path));
  });
}

void LogDump::dump_known(const std::string& path) {
  if (path.ends_with(kLogSuffix)) return dump_log(path);
  const auto base = base_of(path);
  if (!base) {
    throw Error(ErrorCode::storage_error, "the name of an index must be the base offset of its segment")
        .at(path);
  }
  if (path.ends_with(kTimeIndexSuffix)) {
    dump_time_index(path, *base, options_, style_, reports_, context_);
  } else {
    dump_offset_index(path, *base, options_, style_, reports_, context_);
  }
}

void LogDump::dump_log(const std::string& path) {
  SegmentPlace place{path, base_of(path), std::nullopt};
  if (place.base) place.below = next_segment(path, *place.base);
  std::optional<std::uint64_t> max_bytes;
  if (options_.max_bytes != DumpLogOptions().max_bytes) {
    max_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(options_.max_bytes, 0));
  }
  dump_segment(place, style_, max_bytes, reports_, context_);
}

/// The base of the segment behind this one, if the file lies in a partition's directory.
std::optional<Offset> LogDump::next_segment(const std::string& path, Offset base) {
  const std::string directory = parent_path(path);
  if (listed_ != directory) {
    bases_.clear();
    listed_ = directory;
    const auto found = context_.fs.stat(directory);
    if (!found || !found->is_directory) return std::nullopt;
    for (const DirEntry& entry : context_.fs.list(directory)) {
      const auto name = parse_segment_file_name(entry.name);
      if (name && !entry.is_directory && name->suffix == kLogSuffix) bases_.push_back(name->base);
    }
    std::sort(bases_.begin(), bases_.end());
  }
  const auto next = std::upper_bound(bases_.begin(), bases_.end(), base);
  return next == bases_.end() ? std::nullopt : std::optional(*next);
}

}  // namespace

int run_dump_log(const DumpLogOptions& options, Context& context) {
  LogDump dump(options, context);
  const Targets& targets = options.targets;
  if (!targets.names.empty() || !targets.topics.empty() || options.files.empty()) {
    for (const Target& target : resolve_targets(targets, context)) dump.dump_target(target);
  }
  for (const std::string& path : options.files) dump.dump_file(path);
  dump.print_reports();
  return context.diagnostics.exit_code();
}

}  // namespace tk
