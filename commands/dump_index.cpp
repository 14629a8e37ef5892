#include "commands/dump_index.h"

#include <fmt/format.h>

#include <vector>

#include "commands/diagnostics.h"
#include "commands/dump_reports.h"
#include "commands/log_cursor.h"
#include "core/base/error.h"
#include "core/base/json_writer.h"
#include "core/io/output.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

constexpr std::size_t kOffsetEntry = 8;
constexpr std::size_t kTimeEntry = 12;
/// An index file is at most so large in Kafka; a larger one is read as far as this.
constexpr std::uint64_t kMostIndexBytes = 256U << 20;

std::string beside(const std::string& path, std::string_view old_suffix, std::string_view suffix) {
  return path.substr(0, path.size() - old_suffix.size()) + std::string(suffix);
}

Buffer read_index(FileSystem& fs, const std::string& path, std::uint64_t& file_size) {
  const auto file = fs.open(path, OpenMode::read);
  file_size = file->size();
  Buffer bytes;
  bytes.resize(static_cast<std::size_t>(std::min(file_size, kMostIndexBytes)));
  bytes.resize(file->read_at(0, {bytes.data(), bytes.size()}));
  return bytes;
}

/// One index file while it is dumped.
struct IndexDump {
  const std::string& path;
  Offset base;
  const DumpLogOptions& options;
  const DumpStyle& style;
  DumpReports& reports;
  Context& context;
  Buffer bytes{};
  std::uint64_t file_size = 0;

  void say(std::string_view text) const {
    if (!style.json) context.out.write(text);
  }
  void damage(std::uint64_t position, std::string_view what) const {
    context.diagnostics.error(Error(ErrorCode::corrupt_message, std::string(what))
                                  .at(path, position)
                                  .hint("an index is derived from its log: recover rebuilds it"));
  }
  /// Reads the file; false if it does not get to its entries, because the sanity check is all that was asked
  /// for.
  bool open(std::size_t entry_size);
  void sanity_result(std::size_t entry_size) const;
  [[nodiscard]] std::size_t count(std::size_t entry_size) const { return bytes.size() / entry_size; }
  [[nodiscard]] std::string sanity_fault(std::size_t entry_size) const;
};

/// What the broker's own check has against the file; empty if nothing (§5.2, §5.3).
std::string IndexDump::sanity_fault(std::size_t entry_size) const {
  if (file_size % entry_size != 0) {
    return fmt::format("sanity check: {} bytes are not a multiple of {}", file_size, entry_size);
  }
  if (bytes.empty()) return "";
  const std::uint8_t* const first = bytes.data();
  const std::uint8_t* const last = first + (count(entry_size) - 1) * entry_size;
  const bool time_index = entry_size == kTimeEntry;
  if (time_index && load_be<std::int64_t>(last) < load_be<std::int64_t>(first)) {
    return fmt::format("sanity check: the last timestamp {} is less than the first {}",
                       load_be<std::int64_t>(last), load_be<std::int64_t>(first));
  }
  const auto relative = load_be<std::int32_t>(last + (time_index ? 8 : 0));
  if (relative >= 0) return "";
  return fmt::format("sanity check: the last offset {} is less than the base offset {}",
                     (base + relative).value(), base.value());
}

void IndexDump::sanity_result(std::size_t entry_size) const {
  const std::string fault = sanity_fault(entry_size);
  if (fault.empty()) {
    say(fmt::format("{} passed sanity check.\n", path));
  } else {
    damage(file_size, fault);
  }
  if (!style.json) return;
  TextBuffer line;
  JsonLine(line).text("type", "index_sanity").text("file", path).boolean("passed", fault.empty()).end();
  context.out.write({line.data(), line.size()});
}

bool IndexDump::open(std::size_t entry_size) {
  bytes = read_index(context.fs, path, file_size);
  if (entry_size == kOffsetEntry && count(entry_size) == 0) {
    say(fmt::format("{} is empty.\n", path));
    return false;
  }
  if (!options.index_sanity_check) return true;
  sanity_result(entry_size);
  return false;
}

void show_offset_entry(const IndexDump& index, Offset offset, std::int32_t position) {
  if (index.options.verify_index_only || !index.style.wants(offset)) return;
  if (!index.style.json) return index.say(fmt::format("offset: {} position: {}\n", offset.value(), position));
  TextBuffer line;
  JsonLine(line)
      .text("type", "index")
      .text("file", index.path)
      .number("offset", offset.value())
      .number("position", position)
      .end();
  index.context.out.write({line.data(), line.size()});
}

void show_time_entry(const IndexDump& index, std::int64_t timestamp, Offset offset) {
  if (index.options.verify_index_only || !index.style.wants(offset)) return;
  if (!index.style.json) {
    return index.say(fmt::format("timestamp: {} offset: {}\n", timestamp, offset.value()));
  }
  TextBuffer line;
  JsonLine(line)
      .text("type", "timeindex")
      .text("file", index.path)
      .number("ts", timestamp)
      .number("offset", offset.value())
      .end();
  index.context.out.write({line.data(), line.size()});
}

/// The position that the offset index gives for `offset`: Kafka's search, which a file that is not in order
/// leads astray but not out of it.
std::uint64_t look_up(const Buffer& index, Offset base, Offset offset) {
  const auto relative = [&](std::size_t i) { return load_be<std::int32_t>(index.data() + i * kOffsetEntry); };
  std::size_t low = 0, high = index.size() / kOffsetEntry;
  // Zeros behind the entries are room that was never written.
  while (high > 1 && relative(high - 1) == 0) --high;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (base + relative(middle) <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  const auto position = load_be<std::int32_t>(index.data() + (low - 1) * kOffsetEntry + 4);
  return position > 0 ? static_cast<std::uint64_t>(position) : 0;
}

}  // namespace

void dump_offset_index(const std::string& path, Offset base, const DumpLogOptions& options,
                       const DumpStyle& style, DumpReports& reports, Context& context) {
  IndexDump index{path, base, options, style, reports, context};
  index.say(fmt::format("Dumping {}\n", path));
  LogCursor log(context.fs.open(beside(path, kIndexSuffix, kLogSuffix), OpenMode::read));
  if (!index.open(kOffsetEntry)) return;
  for (std::size_t i = 0; i < index.count(kOffsetEntry) && !context.out.closed(); ++i) {
    const std::uint8_t* const entry = index.bytes.data() + i * kOffsetEntry;
    const Offset offset = base + load_be<std::int32_t>(entry);
    const auto position = load_be<std::int32_t>(entry + 4);
    // A relative offset of 0 behind the first entry is room that was never written.
    if (i > 0 && offset == base) return;
    const auto head = position < 0 ? std::nullopt : log.head_at(static_cast<std::uint64_t>(position));
    if (!head) {
      index.damage(i * kOffsetEntry,
                   fmt::format("the entry of offset {} points at byte {} of the log, where no "
                               "batch begins",
                               offset.value(), position));
    } else if (head->last_offset != offset) {
      reports.index_mismatch(path, offset, head->last_offset);
    }
    show_offset_entry(index, offset, position);
  }
}

void dump_time_index(const std::string& path, Offset base, const DumpLogOptions& options,
                     const DumpStyle& style, DumpReports& reports, Context& context) {
  IndexDump index{path, base, options, style, reports, context};
  index.say(fmt::format("Dumping {}\n", path));
  LogCursor log(context.fs.open(beside(path, kTimeIndexSuffix, kLogSuffix), OpenMode::read));
  std::uint64_t offset_index_size = 0;
  const Buffer offset_index =
      read_index(context.fs, beside(path, kTimeIndexSuffix, kIndexSuffix), offset_index_size);
  if (!index.open(kTimeEntry)) return;
  std::int64_t previous = kNoTimestamp;
  for (std::size_t i = 0; i < index.count(kTimeEntry) && !context.out.closed(); ++i) {
    const std::uint8_t* const entry = index.bytes.data() + i * kTimeEntry;
    const auto timestamp = load_be<std::int64_t>(entry);
    const Offset offset = base + load_be<std::int32_t>(entry + 8);
    if (i > 0 && offset == base) return;
    std::uint64_t start = look_up(offset_index, base, offset);
    if (!log.head_at(start)) start = 0;
    const auto head = log.find(start, offset);
    if (!head || head->last_offset != offset) {
      reports.offset_not_found(path, offset, head ? head->last_offset : Offset(-1));
    } else {
      const std::int64_t found = log.max_timestamp(*head);
      if (found != timestamp) reports.timestamp_mismatch(path, timestamp, found);
      if (timestamp <= previous) reports.timestamp_out_of_order(path, timestamp, previous);
    }
    show_time_entry(index, timestamp, offset);
    previous = timestamp;
  }
}

}  // namespace tk
