#include "commands/verify_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json_writer.h"
#include "core/io/output.h"

namespace tk {
namespace {

/// File names are shown whole.
constexpr std::size_t kLongestPath = 4096;

std::optional<std::int64_t> as_number(const std::optional<Offset>& offset) {
  return offset ? std::optional(offset->value()) : std::nullopt;
}
std::optional<std::int64_t> as_number(const std::optional<std::uint64_t>& position) {
  return position ? std::optional(static_cast<std::int64_t>(*position)) : std::nullopt;
}

/// Places in text files are lines.
bool is_text_file(std::string_view kind) {
  return kind == "epoch_checkpoint" || kind == "offset_checkpoint" || kind == "partition_metadata" ||
         kind == "meta_properties";
}

void append_range(JsonLine& line, const DamagedRange& range) {
  line.number("size", static_cast<std::int64_t>(range.end - range.begin));
  line.raw("bad_bytes", fmt::format("[{},{}]", range.begin, range.end));
  if (range.offsets) {
    line.raw("bad_offsets",
             fmt::format("[{},{}]", range.offsets->first.value(), range.offsets->second.value()));
  } else {
    line.null("bad_offsets");
  }
  line.boolean("bad_offsets_verified", range.offsets_verified);
  line.number_or_null("next_good_offset", as_number(range.next_good_offset));
  line.number_or_null("next_good_position", as_number(range.next_good_position));
  line.number("good_units_after", static_cast<std::int64_t>(range.good_units_after));
}

std::string_view colour_of(Severity severity) {
  if (severity == Severity::damage) return "\x1b[31m";
  return severity == Severity::derived ? "\x1b[33m" : "\x1b[2m";
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

void VerifyReport::problem(const Problem& problem) {
  line_.clear();
  if (context_.json) {
    write_json(problem);
  } else {
    write_text(problem);
  }
  context_.out.write({line_.data(), line_.size()});
}

void VerifyReport::write_json(const Problem& problem) {
  JsonLine line(line_);
  line.text("type", "problem").text("severity", severity_name(problem.severity)).text("kind", problem.kind);
  if (partition_.empty()) {
    line.null("partition");
  } else {
    line.text("partition", partition_);
  }
  line.text("file", problem.file)
      .number_or_null("position", as_number(problem.position))
      .number_or_null("offset", as_number(problem.offset))
      .number_or_null("found", problem.found)
      .number_or_null("expected", problem.expected)
      .text("message", problem.message);
  if (problem.range) append_range(line, *problem.range);
  line.end();
}

void VerifyReport::write_text(const Problem& problem) {
  const bool colour = context_.color_out;
  std::string text =
      fmt::format("{}{}{}: {}", colour ? colour_of(problem.severity) : "", severity_name(problem.severity),
                  colour ? "\x1b[0m" : "", printable(problem.file, kLongestPath));
  if (problem.position) {
    text += fmt::format(": {} {}", is_text_file(problem.kind) ? "line" : "byte", *problem.position);
  }
  if (problem.offset) text += fmt::format(": offset {}", problem.offset->value());
  text += fmt::format(": {}: {}", problem.kind, printable(problem.message, kLongestPath));
  const bool told = problem.range || !problem.found || !problem.expected;
  if (!told) text += fmt::format(" (found {}, expected {})", *problem.found, *problem.expected);
  append(line_, text);
  line_.push_back('\n');
}

namespace {

template <class Each>
std::string list_of(std::size_t count, Each&& each) {
  std::string list = "[";
  for (std::size_t i = 0; i < count; ++i) list += (i > 0 ? "," : "") + each(i);
  return list + "]";
}

std::string number_or_null(const std::optional<Offset>& offset) {
  return offset ? std::to_string(offset->value()) : "null";
}

std::string quoted(const std::string& path) {
  TextBuffer text;
  append_json_string(text, printable(path, kLongestPath));
  return {text.data(), text.size()};
}

/// Records' offsets that a follower drops.
std::int64_t dropped(const Replica& replica, Offset to) {
  return std::max<std::int64_t>(replica.view.log_end - to, 0);
}

std::string comparison_text(const std::string& partition, const std::vector<Replica>& replicas,
                            const ReplicaComparison& result) {
  std::string text =
      fmt::format("replicas of {}: equal up to offset {}", partition, result.common_end.value());
  if (result.first_difference)
    text += fmt::format(", first difference at offset {}", result.first_difference->value());
  if (result.common_epoch) text += fmt::format(", common leader epoch {}", result.common_epoch->value());
  text += "\n";
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const Replica& replica = replicas[i];
    text += fmt::format("  {}: log end {}, high watermark {}", printable(replica.directory, kLongestPath),
                        replica.view.log_end.value(),
                        replica.high_watermark ? std::to_string(replica.high_watermark->value()) : "unknown");
    if (i == result.leader) {
      text += ", would lead\n";
    } else {
      text += fmt::format(", a follower would drop {} from offset {} on\n",
                          dropped(replica, result.truncate_to[i]), result.truncate_to[i].value());
    }
  }
  return text;
}

}  // namespace

void VerifyReport::comparison(const std::string& partition, const std::vector<Replica>& replicas,
                              const ReplicaComparison& result) {
  line_.clear();
  if (!context_.json) {
    append(line_, comparison_text(partition, replicas, result));
  } else {
    const std::size_t count = replicas.size();
    JsonLine line(line_);
    line.text("type", "compare").text("partition", partition);
    line.raw("paths", list_of(count, [&](std::size_t i) { return quoted(replicas[i].directory); }));
    line.raw("log_end_offsets",
             list_of(count, [&](std::size_t i) { return std::to_string(replicas[i].view.log_end.value()); }));
    line.number("common_end", result.common_end.value());
    line.number_or_null("first_difference", as_number(result.first_difference));
    line.number_or_null("common_epoch", result.common_epoch
                                            ? std::optional<std::int64_t>(result.common_epoch->value())
                                            : std::nullopt);
    line.raw("truncate", list_of(count, [&](std::size_t i) {
               return std::to_string(dropped(replicas[i], result.truncate_to[i]));
             }));
    line.raw("truncate_to",
             list_of(count, [&](std::size_t i) { return std::to_string(result.truncate_to[i].value()); }));
    line.raw("high_watermarks",
             list_of(count, [&](std::size_t i) { return number_or_null(replicas[i].high_watermark); }));
    line.raw("log_start_offsets", list_of(count, [&](std::size_t i) {
               return std::to_string(replicas[i].view.log_start.value());
             }));
    line.text("leader", replicas[result.leader].directory);
    line.end();
  }
  context_.out.write({line_.data(), line_.size()});
}

void VerifyReport::summary(const VerifyTotals& totals) {
  line_.clear();
  if (context_.json) {
    const auto number = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
    JsonLine line(line_);
    line.text("type", "summary")
        .number("partitions", number(totals.partitions))
        .number("segments", number(totals.segments))
        .number("bytes", number(totals.bytes))
        .number("batches", number(totals.batches))
        .number("records", number(totals.records))
        .number("damage", number(totals.damage))
        .number("derived", number(totals.derived))
        .number("notes", number(totals.notes))
        .number("unprotected", number(totals.unprotected));
    line.end();
  } else if (!context_.quiet) {
    std::string text = fmt::format(
        "{}, {}, {}, {}, {}: ", counted(totals.partitions, "partition", "partitions"),
        counted(totals.segments, "segment", "segments"), counted(totals.bytes, "byte", "bytes"),
        counted(totals.batches, "batch", "batches"), counted(totals.records, "record", "records"));
    if (totals.damage == 0 && totals.derived == 0) {
      text += "nothing wrong";
    } else {
      text += fmt::format("{} damaged, {} to be rebuilt", totals.damage, totals.derived);
    }
    if (totals.notes > 0) text += ", " + counted(totals.notes, "note", "notes");
    append(line_, text);
    line_.push_back('\n');
  }
  context_.out.write({line_.data(), line_.size()});
}

}  // namespace tk
