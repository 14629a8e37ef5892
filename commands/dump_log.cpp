// tk dump-log: what is in the files of a log, as kafka-dump-log prints it, or as NDJSON (cli.md §5).
#include <fmt/format.h>

#include <algorithm>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/dump_files.h"
#include "commands/dump_index.h"
#include "commands/dump_log_options.h"
#include "commands/dump_reports.h"
#include "commands/dump_segment.h"
#include "commands/targets.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/catalog/topic_name.h"
#include "core/io/file_system.h"
#include "core/io/output.h"
#include "core/io/spool.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

constexpr std::string_view kBootstrapFile = "bootstrap.checkpoint";

DumpStyle style_of(const DumpLogOptions& options, const Context& context) {
  DumpStyle style;
  style.json = context.json;
  style.records = options.deep_iteration || options.print_data_log;
  style.data = options.print_data_log;
  style.decoder = options.decoder;
  style.skip_record_metadata = options.skip_record_metadata;
  style.from = options.from_offset;
  style.to = options.to_offset;
  return style;
}

/// The number before the first dot of a file's name.
std::optional<Offset> base_of(const std::string& path) {
  const std::string name = base_name(path);
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string_view digits = std::string_view(name).substr(0, dot);
  if (digits.empty() ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  const auto number = parse_int(digits);
  return number ? std::optional(Offset(*number)) : std::nullopt;
}

class LogDump {
 public:
  LogDump(const DumpLogOptions& options, Context& context)
      : options_(options), context_(context), style_(style_of(options, context)) {}

  void dump_target(const Target& target);
  void note_decoder() const;
  /// "-" is standard input.
  void dump_file(const std::string& path);
  void print_reports() const { reports_.print(context_.diagnostics); }

 private:
  [[nodiscard]] bool stopped() const { return context_.out.closed() || context_.interrupted.load() != 0; }
  void dump_partition(const std::string& directory);
  [[nodiscard]] DumpStyle style_for(const std::string& path) const;
  void dump_small_files(const std::string& directory);
  void dump_as(DumpKind kind, const DumpSource& source);
  void dump_index(DumpKind kind, const DumpSource& source);
  void dump_log(const DumpSource& source);
  void dump_checkpoint(const DumpSource& source);
  [[nodiscard]] DumpFile kind_of(const DumpSource& source) const;
  [[nodiscard]] std::optional<std::uint64_t> max_bytes() const;
  std::optional<Offset> next_segment(const std::string& path, Offset base);
  template <class Step>
  void attempt(Step&& step);

  const DumpLogOptions& options_;
  Context& context_;
  DumpStyle style_;
  bool in_directory_ = false;  // files are met in a directory that was named
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

// The tool decodes what it is told to; a file given by its path is shown as it does.
DumpStyle LogDump::style_for(const std::string& path) const {
  DumpStyle style = style_;
  if (style.decoder != DumpDecoder::none || (!style.json && !in_directory_)) return style;
  const auto name = parse_partition_directory(base_name(parent_path(path)));
  if (name) style.decoder = decoder_of_topic(name->topic);
  return style;
}

void LogDump::note_decoder() const {
  if (!options_.foreign_decoder.empty()) {
    context_.diagnostics.warning(fmt::format(
        "{}: keys and values are shown as text: this decoder is not known here", options_.foreign_decoder));
  }
}

void LogDump::dump_target(const Target& target) {
  if (stopped()) return;
  in_directory_ = target.kind != Target::Kind::file;
  if (target.kind == Target::Kind::file) return dump_file(target.path);
  attempt([&] {
    if (target.kind == Target::Kind::partition) return dump_partition(target.path);
    if (style_.json) dump_small_files(target.path);
    for (const std::string& directory : partition_directories(context_.fs, target.path)) {
      if (stopped()) return;
      attempt([&] { dump_partition(directory); });
    }
  });
}

// As text only what the tool knows by its name: of the rest it has nothing to say. JSON shows leftovers'
// content only when they are asked for: it may be twice in the directory.
void LogDump::dump_partition(const std::string& directory) {
  for (const DirEntry& entry : context_.fs.list(directory)) {
    if (stopped()) return;
    const DumpFile file = dump_kind_of_name(entry.name);
    if (entry.is_directory || !file.by_name || !tool_knows(file.kind)) continue;
    const bool named = file.kind == DumpKind::checkpoint ? parse_snapshot_name(entry.name).has_value()
                                                         : parse_segment_file_name(entry.name).has_value();
    if (named) dump_file(join_path(directory, entry.name));
  }
  if (style_.json) dump_small_files(directory);
}

void LogDump::dump_small_files(const std::string& directory) {
  for (const DirEntry& entry : context_.fs.list(directory)) {
    if (stopped()) return;
    const DumpFile file = dump_kind_of_name(entry.name);
    const bool leftover = parse_segment_file_name(entry.name).has_value();
    const bool bootstrap = entry.name == kBootstrapFile;
    if (entry.is_directory || leftover || file.kind == DumpKind::unknown) continue;
    if (!tool_knows(file.kind) || bootstrap) dump_file(join_path(directory, entry.name));
  }
}

void LogDump::dump_file(const std::string& path) {
  if (stopped()) return;
  attempt([&] {
    std::optional<SpooledInput> spooled;
    if (needs_spooling(path)) spooled = spool_input(path);
    const DumpSource source{path, spooled ? spooled->path : path};
    DumpFile file = options_.kind ? DumpFile{*options_.kind, true} : kind_of(source);
    // The tool goes by the name; whoever wants more says so.
    const bool asked = style_.json || style_.records || spooled.has_value();
    if (file.kind != DumpKind::unknown && (file.by_name || asked || !tool_knows(file.kind)))
      return dump_as(file.kind, source);
    if (!style_.json) context_.out.write(fmt::format("Dumping {}\n", path));
    context_.diagnostics.warning(fmt::format("Ignoring unknown file {}", path));
    if (file.kind != DumpKind::unknown) {
      context_.diagnostics.note(fmt::format("{}: holds a {}: '--as {}' or --json shows it", path,
                                            dump_kind_name(file.kind), dump_kind_name(file.kind)));
    }
  });
}

/// By the name; by the content where that does not tell.
DumpFile LogDump::kind_of(const DumpSource& source) const {
  const DumpFile named = dump_kind_of_name(base_name(source.name));
  if (named.kind != DumpKind::unknown) return named;
  const auto found = context_.fs.stat(source.opens);
  if (!found || found->is_directory) return {};
  return {dump_kind_of_content(context_.fs, source.opens), false};
}

void LogDump::dump_as(DumpKind kind, const DumpSource& source) {
  switch (kind) {
    case DumpKind::log:
      return dump_log(source);
    case DumpKind::checkpoint:
      return dump_checkpoint(source);
    case DumpKind::index:
    case DumpKind::time_index:
      return dump_index(kind, source);
    case DumpKind::txn_index:
      return dump_txn_index(source, style_, context_);
    case DumpKind::snapshot:
      return dump_producer_snapshot(source, style_, context_);
    default:
      return dump_text_file(kind, source, style_, context_);
  }
}

void LogDump::dump_index(DumpKind kind, const DumpSource& source) {
  const auto base = base_of(source.name);
  if (!base) {
    throw Error(ErrorCode::storage_error, "the name of an index must be the base offset of its segment")
        .at(source.name);
  }
  if (kind == DumpKind::time_index) {
    dump_time_index(source.name, *base, options_, style_, reports_, context_);
  } else {
    dump_offset_index(source.name, *base, options_, style_, reports_, context_);
  }
}

std::optional<std::uint64_t> LogDump::max_bytes() const {
  if (options_.max_bytes == DumpLogOptions().max_bytes) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(options_.max_bytes, 0));
}

void LogDump::dump_log(const DumpSource& source) {
  SegmentPlace place{.path = source.name, .base = base_of(source.name), .below = {}, .opens = source.opens};
  if (place.base && source.name == source.opens) place.below = next_segment(source.name, *place.base);
  const DumpStyle style = style_for(source.name);
  dump_segment(place, style, max_bytes(), reports_, context_);
}

// The offsets of a snapshot begin at 0, whatever its name says: that is where the log goes on.
void LogDump::dump_checkpoint(const DumpSource& source) {
  SegmentPlace place{.path = source.name, .base = Offset(0), .below = {}, .opens = source.opens};
  const std::string name = base_name(source.name);
  const auto id = parse_snapshot_name(name);
  place.headline = "KRaft bootstrap snapshot";
  if (name != kBootstrapFile && id)
    place.headline = fmt::format("Snapshot end offset: {}, epoch: {}", id->end.value(), id->epoch.value());
  const DumpStyle style = style_for(source.name);
  dump_segment(place, style, max_bytes(), reports_, context_);
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
  dump.note_decoder();
  const Targets& targets = options.targets;
  if (!targets.names.empty() || !targets.topics.empty() || options.files.empty()) {
    for (const Target& target : resolve_targets(targets, context)) dump.dump_target(target);
  }
  for (const std::string& path : options.files) dump.dump_target({Target::Kind::file, path});
  dump.print_reports();
  return context.diagnostics.exit_code();
}

}  // namespace tk
