#include "core/format/checkpoint_file.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/text.h"

namespace tk {

namespace {

constexpr std::string_view kBlanks = " \t\v\f";
constexpr std::int64_t kVersion = 0;

std::string quoted(std::string_view text) {
  return "'" + printable(text) + "'";
}

/// A number from 0 to `max`, in the digits that Java's parsers take.
std::optional<std::int64_t> parse_count(std::string_view text, std::int64_t max) {
  const std::optional<std::int64_t> number = parse_int(text);
  return number && *number >= 0 && *number <= max ? number : std::nullopt;
}
std::optional<std::int64_t> parse_int32(std::string_view text) {
  return parse_count(text, std::numeric_limits<std::int32_t>::max());
}
std::optional<std::int64_t> parse_int64(std::string_view text) {
  return parse_count(text, std::numeric_limits<std::int64_t>::max());
}

/// Splits a line into exactly N fields at blanks, of which some may trail but none may lead.
template <std::size_t N>
bool split(std::string_view line, std::array<std::string_view, N>& fields) {
  for (std::string_view& field : fields) {
    const std::size_t length = line.find_first_of(kBlanks);
    field = line.substr(0, length);
    if (field.empty()) return false;
    line.remove_prefix(field.size());
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  }
  return line.empty();
}

/// Reads the frame that the checkpoints share: version, count, then as many lines, each given to `take`,
/// which is false for a line that is malformed.
template <class Take>
std::optional<TextFault> read_frame(std::string_view text, Take&& take) {
  TextLines lines(text);
  std::string_view line;
  if (!lines.next(line)) return std::nullopt;
  const auto fault = [&lines](std::string reason) { return TextFault{lines.number(), std::move(reason)}; };
  if (parse_int32(line) != kVersion) return fault("the version is " + quoted(line) + " instead of 0");
  if (!lines.next(line)) return std::nullopt;
  const std::optional<std::int64_t> count = parse_int32(line);
  if (!count) return fault("the number of entries is " + quoted(line));
  std::int64_t found = 0;
  while (lines.next(line)) {
    if (!take(line)) return fault("malformed line " + quoted(line));
    ++found;
  }
  if (found == *count) return std::nullopt;
  return TextFault{2,
                   std::to_string(*count) + " entries are announced, but there are " + std::to_string(found)};
}

std::string frame_head(std::size_t count) {
  return "0\n" + std::to_string(count) + "\n";
}

/// What stands behind `name` and ": " (any blanks, at least one) in a line of partition.metadata.
std::optional<std::string_view> property(std::string_view line, std::string_view name) {
  if (!line.starts_with(name) || !line.substr(name.size()).starts_with(":")) return std::nullopt;
  const std::string_view behind = line.substr(name.size() + 1);
  const std::size_t value = behind.find_first_not_of(kBlanks);
  if (value == 0 || value == std::string_view::npos) return std::nullopt;
  return behind.substr(value);
}

}  // namespace

OffsetCheckpoint parse_offset_checkpoint(std::string_view text) {
  OffsetCheckpoint result;
  result.fault = read_frame(text, [&result](std::string_view line) {
    std::array<std::string_view, 3> fields;
    if (!split(line, fields) || !is_utf8(fields[0])) return false;
    const auto partition = parse_int32(fields[1]);
    const auto offset = parse_int64(fields[2]);
    if (!partition || !offset) return false;
    result.entries.push_back(
        {std::string(fields[0]), PartitionId(static_cast<std::int32_t>(*partition)), Offset(*offset)});
    return true;
  });
  if (result.fault) result.entries.clear();
  return result;
}

std::string format_offset_checkpoint(std::span<const OffsetCheckpointEntry> entries) {
  std::string text = frame_head(entries.size());
  for (const OffsetCheckpointEntry& entry : entries) {
    text += entry.topic;
    text += ' ';
    text += std::to_string(entry.partition.value());
    text += ' ';
    text += std::to_string(entry.offset.value());
    text += '\n';
  }
  return text;
}

LeaderEpochCheckpoint parse_leader_epoch_checkpoint(std::string_view text) {
  LeaderEpochCheckpoint result;
  result.fault = read_frame(text, [&result](std::string_view line) {
    std::array<std::string_view, 2> fields;
    if (!split(line, fields)) return false;
    const auto epoch = parse_int32(fields[0]);
    const auto start = parse_int64(fields[1]);
    if (!epoch || !start) return false;
    result.entries.push_back({LeaderEpoch(static_cast<std::int32_t>(*epoch)), Offset(*start)});
    return true;
  });
  if (result.fault) result.entries.clear();
  return result;
}

std::string format_leader_epoch_checkpoint(std::span<const LeaderEpochEntry> entries) {
  std::string text = frame_head(entries.size());
  for (const LeaderEpochEntry& entry : entries) {
    text += std::to_string(entry.epoch.value());
    text += ' ';
    text += std::to_string(entry.start.value());
    text += '\n';
  }
  return text;
}

PartitionMetadata parse_partition_metadata(std::string_view text) {
  PartitionMetadata result;
  TextLines lines(text);
  const auto fault = [&result](std::size_t line, std::string reason) {
    result = {};
    result.fault = TextFault{line, std::move(reason)};
    return result;
  };
  std::string_view line;
  if (!lines.next(line)) return fault(0, "the file is empty");
  const auto version_text = property(line, "version");
  const auto version = version_text ? parse_int32(*version_text) : std::nullopt;
  if (!version) return fault(1, "no version in " + quoted(line));
  result.version = static_cast<std::int32_t>(*version);
  if (!lines.next(line)) return fault(0, "the topic id is missing");
  const auto id_text = property(line, "topic_id");
  const auto id = id_text ? Uuid::parse(*id_text) : std::nullopt;
  if (!id) return fault(2, "no topic id in " + quoted(line));
  if (id->is_zero()) return fault(2, "the topic id is all zeros");
  result.topic_id = *id;
  return result;
}

std::string format_partition_metadata(const Uuid& topic_id) {
  return "version: 0\ntopic_id: " + topic_id.text();
}

}  // namespace tk
