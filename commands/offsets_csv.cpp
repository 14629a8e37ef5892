#include "commands/offsets_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace tk {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

// The fields of a line; nothing if a quote is not closed, or text follows it.
std::optional<std::vector<std::string>> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool in_quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_quotes && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (in_quotes && c == '"') {
      in_quotes = false;
      if (i + 1 < line.size() && line[i + 1] != ',') return std::nullopt;
    } else if (!in_quotes && c == '"' && fields.back().empty()) {
      in_quotes = true;
    } else if (!in_quotes && c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (in_quotes) return std::nullopt;
  return fields;
}

}  // namespace

std::string csv_line(const TopicPartition& partition, std::int64_t offset) {
  return fmt::format("{},{},{}\n", quoted(partition.topic), partition.partition.value(), offset);
}

OffsetsFile parse_offsets_csv(std::string_view text, const std::string& group, const std::string& path) {
  OffsetsFile file;
  std::int64_t number = 0;
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::invalid_request, fmt::format("line {}: {}", number, what))
        .at(path)
        .hint("a line is topic,partition,offset or group,topic,partition,offset");
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    auto fields = fields_of(line);
    if (!fields || fields->size() < 3 || fields->size() > 4) refuse("there are not three or four fields");
    if (fields->size() == 4) {
      const std::string of = fields->front();
      fields->erase(fields->begin());
      if (of != group) {
        file.other_groups.insert(of);
        continue;
      }
    }
    const auto partition = parse_int((*fields)[1]);
    const auto offset = parse_int((*fields)[2]);
    if (!partition || *partition < 0 || *partition > INT32_MAX) {
      refuse(fmt::format("'{}' is no partition's number", printable((*fields)[1])));
    }
    if (!offset || *offset < 0) refuse(fmt::format("'{}' is no offset", printable((*fields)[2])));
    const TopicPartition key{(*fields)[0], PartitionId(static_cast<std::int32_t>(*partition))};
    if (!file.offsets.emplace(key, *offset).second) refuse("the partition stands there twice");
  }
  return file;
}

}  // namespace tk
